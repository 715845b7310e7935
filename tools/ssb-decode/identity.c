#include "tools/ssb-decode/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static bool digest_of(const char *path, char digest[17])
{
	uint8_t bytes[65536];
	FILE *const file = fopen(path, "rb");
	XXH3_state_t *const state = XXH3_createState();
	const bool ok = file && state;
	if (ok) {
		XXH3_64bits_reset(state);
		for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
			XXH3_64bits_update(state, bytes, got);
		snprintf(digest, 17, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(state));
	}
	XXH3_freeState(state);
	if (file)
		fclose(file);
	return ok;
}

json_t *identity_of(const acquisition *a)
{
	char digest[17];
	const char *const slash = strrchr(a->path, '/');
	json_t *const input = json_pack("{s:s, s:s}", "name", slash ? slash + 1 : a->path, "kind", "acquisition");
	if (strcmp(a->path, a->part[0].file) != 0 && digest_of(a->path, digest))
		json_object_set_new(input, "digest", json_string(digest));
	return json_pack("[o]", input);
}
