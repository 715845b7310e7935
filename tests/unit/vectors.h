/* Golden vectors of the oracle: .npy arrays and the evidence of one of its acquisitions. A missing or malformed file ends the program:
 * a test that cannot read its expectation must not pass. */
#ifndef UNIT_VECTORS_H
#define UNIT_VECTORS_H

#include <complex.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/transfer/backend.h"

/* What is read here lives as long as the program: between these two, allocations are no leaks. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define KEEP_BEGIN __lsan_disable()
#define KEEP_END __lsan_enable()
#else
#define KEEP_BEGIN (void)0
#define KEEP_END (void)0
#endif

typedef struct npy {
	size_t rank, shape[6], count;
	char type[8]; /* "<f8", "<c16" … */
	void *data;
} npy;

static FILE *open_vector(const char *folder, const char *name)
{
	char path[1200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

/* Any .npy of version 1 in C order, little-endian. */
static npy npy_read(const char *folder, const char *name)
{
	npy a = {.count = 1};
	FILE *f = open_vector(folder, name);
	unsigned char head[10];
	char text[4096] = "";
	if (fread(head, 1, 10, f) != 10 || fread(text, 1, head[8] + 256u * head[9], f) == 0 || strstr(text, "'fortran_order': True"))
		exit(fprintf(stderr, "%s/%s is no C-order .npy\n", folder, name));
	sscanf(strstr(text, "'descr': '") + 10, "%7[^']", a.type);
	for (const char *s = strstr(text, "'shape': (") + 10; *s && *s != ')'; s += *s != ')')
		if (strchr("0123456789", *s))
			a.count *= a.shape[a.rank++] = strtoul(s, (char **)&s, 10);
	const size_t size = strtoul(a.type + 2, NULL, 10);
	KEEP_BEGIN;
	a.data = malloc(a.count * size);
	KEEP_END;
	if (fread(a.data, size, a.count, f) != a.count)
		exit(fprintf(stderr, "%s/%s is short\n", folder, name));
	fclose(f);
	return a;
}

/* As complex double, whatever float type is stored. */
static double complex npy_at(const npy *a, size_t i)
{
	if (!strcmp(a->type, "<c16"))
		return ((const double complex *)a->data)[i];
	if (!strcmp(a->type, "<c8"))
		return ((const float complex *)a->data)[i];
	if (!strcmp(a->type, "<f8"))
		return ((const double *)a->data)[i];
	if (!strcmp(a->type, "<f4"))
		return ((const float *)a->data)[i];
	if (!strcmp(a->type, "<i4"))
		return ((const int32_t *)a->data)[i];
	exit(fprintf(stderr, "type %s\n", a->type));
}

static json_t *json_vector(const char *folder, const char *name)
{
	FILE *f = open_vector(folder, name);
	KEEP_BEGIN;
	json_t *json = json_loadf(f, 0, NULL);
	KEEP_END;
	fclose(f);
	if (!json)
		exit(fprintf(stderr, "%s/%s is no JSON\n", folder, name));
	return json;
}

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (!json_is_number(value))
		exit(fprintf(stderr, "no number %s\n", key));
	return json_number_value(value);
}

static double element(const json_t *object, const char *key, size_t i)
{
	return json_number_value(json_array_get(json_object_get(object, key), i));
}

/* The evidence of acquisition `folder` ("even", "odd"), every bin of the half plane stored. Lives as long as the program. */
__attribute__((unused)) static evidence *evidence_vector(const char *folder)
{
	KEEP_BEGIN;
	evidence *e = calloc(1, sizeof *e);
	const json_t *a = json_vector(folder, "acquisition.json");
	const npy G = npy_read(folder, "G.npy"), pixels = npy_read(folder, "pixels.npy");
	e->geometry.wavelength_A = number(a, "wavelength_A");
	e->geometry.semiangle_rad = number(a, "semiangle_rad");
	for (size_t axis = 0; axis < 2; axis++) {
		e->geometry.sampling_rad[axis] = element(a, "sampling_rad", axis);
		e->geometry.centre_px[axis] = element(a, "bf_centre_px", axis);
		e->step_A[axis] = element(a, "scan_step_A", axis);
		e->scan[axis] = (size_t)element(a, "scan_shape", axis);
	}
	e->I0_counts = number(a, "I0");
	e->pixels = pixels.shape[0];
	e->pixel = pixels.data;
	e->bins = G.shape[0] * G.shape[1];
	int32_t(*q)[2] = malloc(e->bins * sizeof *q);
	float complex *values = malloc(G.count * sizeof *values);
	const float complex **row = malloc(e->bins * sizeof *row);
	double *counts = malloc(e->pixels * sizeof *counts);
	for (size_t i = 0; i < G.count; i++)
		values[i] = (float complex)npy_at(&G, i);
	for (size_t i = 0; i < e->bins; i++) {
		q[i][0] = (int32_t)(i / G.shape[1]);
		q[i][1] = (int32_t)(i % G.shape[1]);
		row[i] = values + i * e->pixels;
	}
	for (size_t b = 0; b < e->pixels; b++)
		counts[b] = creal(npy_at(&G, b));
	e->q_index = q, e->row = row, e->counts = counts;
	KEEP_END;
	return e;
}

/* The parameters of a case.json of an acquisition that is transposed or not. */
__attribute__((unused)) static optics_parameters parameters_vector(const json_t *c, bool transposed)
{
	optics_parameters p = {.transposed = transposed, .thickness_A = number(c, "thickness_A"), .rotation_rad = number(c, "rotation_rad"),
	                       .tilt_rad = {element(c, "tilt_rad", 0), element(c, "tilt_rad", 1)}};
	for (int i = 0; i < ABERRATIONS; i++) {
		const json_t *value = json_object_get(json_object_get(c, "C_A"), aberration_terms[i].name);
		p.C_A[i] = value ? json_number_value(value) : 0;
	}
	return p;
}

#endif
