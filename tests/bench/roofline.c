/* What the machine can do at best, on OMP_NUM_THREADS threads: the seconds that the benchmark compares the tools with, on stdout.
 *
 *   roofline copy BYTES            memcpy of so much memory
 *   roofline read BYTES            adding up so much memory
 *   roofline touch BYTES           the first touch of so much memory, all of it: what a machine must clear, a virtual one also obtain
 *   roofline write BYTES FILE      writing so much to a file that is made, by one thread
 *   roofline fft ROWS COLUMNS N    N real transforms by FFTW, in memory that stays in the cache if it can
 *   roofline lz4 ELEMENT <LIST     decompression alone of bitshuffled chunks; LIST has a line "offset size path" for each
 *
 * copy, read and fft measure a part and scale it up. */
#include <fcntl.h>
#include <fftw3.h>
#include <inttypes.h>
#include <lz4.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REPEATS = 5, MOST_BLOCK = 1 << 20, PATH_SIZE = 4096 };
static const size_t MOST_BYTES = (size_t)256 << 20; /* of memory that is copied or read, more than any cache */
static const double LEAST_S = 0.3;                  /* that transforms are measured for */

static void *must(void *memory)
{
	if (!memory) {
		fputs("roofline: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

static double copy_s(char *to, const char *from, size_t bytes)
{
	const double start = omp_get_wtime();
#pragma omp parallel
	{
		const size_t n = (size_t)omp_get_num_threads(), i = (size_t)omp_get_thread_num(), first = bytes * i / n, end = bytes * (i + 1) / n;
		memcpy(to + first, from + first, end - first);
	}
	return omp_get_wtime() - start;
}

static double read_s(const uint64_t *from, size_t words, uint64_t *sum)
{
	const double start = omp_get_wtime();
	uint64_t total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
	for (size_t i = 0; i < words; i++)
		total += from[i];
	*sum += total;
	return omp_get_wtime() - start;
}

/* Copying (or reading) `bytes`: the best of some passes over a part of them that was touched before. */
static double memory_s(bool copy, size_t bytes)
{
	const size_t part = bytes < MOST_BYTES ? (bytes + 7) / 8 * 8 : MOST_BYTES;
	char *from = must(malloc(part)), *to = must(malloc(part));
	double best = 1e30;
	volatile uint64_t used;
	uint64_t sum = 0;
	memset(from, 1, part);
	memset(to, 2, part);
	for (int i = 0; i < REPEATS; i++) {
		const double s = copy ? copy_s(to, from, part) : read_s((const uint64_t *)from, part / 8, &sum);
		best = s < best ? s : best;
		sum += (uint64_t)to[part - 1];
	}
	used = sum;
	(void)used;
	free(from);
	free(to);
	return best * (double)bytes / (double)part;
}

static double touch_s(size_t bytes)
{
	const size_t page = (size_t)2 << 20;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		must(NULL);
	madvise(memory, bytes, MADV_HUGEPAGE);
	const double start = omp_get_wtime();
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < bytes; i += page)
		for (size_t j = i; j < bytes && j < i + page; j += 4096)
			memory[j] = 1;
	const double s = omp_get_wtime() - start;
	munmap(memory, bytes);
	return s;
}

static double write_s(size_t bytes, const char *path)
{
	const size_t step = (size_t)4 << 20;
	char *block = must(calloc(1, step));
	const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
	const double start = omp_get_wtime();
	bool ok = file >= 0;
	for (size_t done = 0, n; ok && done < bytes; done += n) {
		n = bytes - done < step ? bytes - done : step;
		ok = write(file, block, n) == (ssize_t)n;
	}
	ok = ok && close(file) == 0;
	if (!ok) {
		fprintf(stderr, "roofline: cannot write '%s'\n", path);
		exit(1);
	}
	free(block);
	return omp_get_wtime() - start;
}

static double fft_s(int rows, int columns, double count)
{
	const size_t size = (size_t)rows * (size_t)columns, half = (size_t)rows * ((size_t)columns / 2 + 1);
	float *first_in = must(fftwf_alloc_real(size));
	fftwf_complex *first_out = must(fftwf_alloc_complex(half));
	fftwf_plan plan = must(fftwf_plan_dft_r2c_2d(rows, columns, first_in, first_out, FFTW_MEASURE));
	double rate = 0;
#pragma omp parallel reduction(+ : rate)
	{
		float *in = must(fftwf_alloc_real(size));
		fftwf_complex *out = must(fftwf_alloc_complex(half));
		memset(in, 0, size * sizeof *in);
		fftwf_execute_dft_r2c(plan, in, out);
#pragma omp barrier
		const double start = omp_get_wtime();
		double done = 0, elapsed = 0;
		for (; elapsed < LEAST_S && done < count; done++, elapsed = omp_get_wtime() - start)
			fftwf_execute_dft_r2c(plan, in, out);
		rate += done / elapsed;
		fftwf_free(in);
		fftwf_free(out);
	}
	fftwf_destroy_plan(plan);
	fftwf_free(first_in);
	fftwf_free(first_out);
	return count / rate;
}

/* ---- LZ4 ---- */

typedef struct chunk { size_t size; uint8_t *bytes; } chunk;

static uint64_t big_endian(const uint8_t *at, int bytes)
{
	uint64_t value = 0;
	for (int i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static chunk read_chunk(const char *path, off_t offset, size_t size)
{
	const chunk c = {size, must(malloc(size))};
	const int file = open(path, O_RDONLY);
	if (file < 0 || pread(file, c.bytes, size, offset) != (ssize_t)size) {
		fprintf(stderr, "roofline: cannot read '%s'\n", path);
		exit(1);
	}
	close(file);
	return c;
}

static chunk *read_list(size_t *count)
{
	char path[PATH_SIZE];
	size_t size, room = 0;
	intmax_t offset;
	chunk *list = NULL;
	for (*count = 0; scanf("%jd %zu %4095[^\n]", &offset, &size, path) == 3; ++*count) {
		if (*count == room)
			list = must(realloc(list, (room = 2 * room + 1000) * sizeof *list));
		list[*count] = read_chunk(path, (off_t)offset, size);
	}
	return list;
}

/* A chunk as bitshuffle has it: its size, its blocks' size, then each block's packed size and bytes; fewer than 8 elements at the end are
 * not packed. */
static bool unpack(const chunk *c, size_t element, char *block)
{
	if (c->size < 12)
		return false;
	const uint64_t total = big_endian(c->bytes, 8), block_size = big_endian(c->bytes + 8, 4);
	size_t at = 12;
	for (uint64_t left = total / (8 * element) * (8 * element), n; left > 0; left -= n) {
		n = left < block_size ? left : block_size;
		if (c->size - at < 4 || n > MOST_BLOCK)
			return false;
		const uint64_t packed = big_endian(c->bytes + at, 4);
		at += 4;
		if (packed > c->size - at || LZ4_decompress_safe((const char *)c->bytes + at, block, (int)packed, (int)n) != (int)n)
			return false;
		at += packed;
	}
	return true;
}

static double lz4_s(size_t element)
{
	size_t count, bad = 0;
	chunk *const list = read_list(&count);
	double best = 1e30;
	for (int repeat = 0; repeat < REPEATS; repeat++) {
		const double start = omp_get_wtime();
#pragma omp parallel reduction(+ : bad)
		{
			char *block = must(malloc(MOST_BLOCK));
#pragma omp for schedule(dynamic, 16)
			for (size_t i = 0; i < count; i++)
				bad += !unpack(&list[i], element, block);
			free(block);
		}
		const double s = omp_get_wtime() - start;
		best = s < best ? s : best;
	}
	if (bad || count == 0) {
		fprintf(stderr, "roofline: %zu of %zu chunks are not of bitshuffle with LZ4\n", bad / REPEATS, count);
		exit(1);
	}
	for (size_t i = 0; i < count; i++)
		free(list[i].bytes);
	free(list);
	return best;
}

int main(int argc, char **argv)
{
	double s;
	if (argc == 3 && (!strcmp(argv[1], "copy") || !strcmp(argv[1], "read")))
		s = memory_s(!strcmp(argv[1], "copy"), strtoull(argv[2], NULL, 10));
	else if (argc == 3 && !strcmp(argv[1], "touch") && strtoull(argv[2], NULL, 10) > 0)
		s = touch_s(strtoull(argv[2], NULL, 10));
	else if (argc == 4 && !strcmp(argv[1], "write"))
		s = write_s(strtoull(argv[2], NULL, 10), argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "fft"))
		s = fft_s(atoi(argv[2]), atoi(argv[3]), atof(argv[4]));
	else if (argc == 3 && !strcmp(argv[1], "lz4") && atoi(argv[2]) > 0)
		s = lz4_s((size_t)atoi(argv[2]));
	else
		return fputs("usage: roofline copy BYTES | read BYTES | touch BYTES | write BYTES FILE | fft ROWS COLUMNS N | lz4 ELEMENT <LIST\n", stderr), 2;
	printf("%.9g\n", s);
	return 0;
}
