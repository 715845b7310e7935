/* Runs a fuzz target over a committed corpus, without a fuzzer. Included by tests/unit/fuzz_NAME.c after the target, with FUZZ_CORPUS
 * the folders. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include "tests/unit/test.h"

static bool replay(const char *folder, const char *name)
{
	char path[512];
	uint8_t *data = malloc(1 << 20);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "rb");
	const bool ok = file && data;
	if (ok) {
		const size_t size = fread(data, 1, 1 << 20, file);
		uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees every read beyond the end */
		memcpy(exact, data, size);
		LLVMFuzzerTestOneInput(exact, size);
		free(exact);
	}
	if (file)
		fclose(file);
	free(data);
	return ok;
}

int main(void)
{
	static const char *const folders[] = {FUZZ_CORPUS};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		DIR *folder = opendir(folders[i]);
		size_t inputs = 0;
		for (const struct dirent *entry; folder && (entry = readdir(folder));)
			inputs += entry->d_name[0] != '.' && replay(folders[i], entry->d_name);
		if (folder)
			closedir(folder);
		CHECK(inputs > 0, "%zu inputs of %s", inputs, folders[i]);
	}
	return test_end();
}
