#include "tools/transfer/evidence.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/meta.h"
#include "tools/transfer/half.h"

struct evidence_file {
	ssb_reader *reader;
	size_t array, bins_per_chunk;
	bool halves; /* G is stored so, and is `scale` times what is stored */
	float scale;
	atomic_int failed;
	ssb_error failure; /* the first */
};

void evidence_q(const evidence *e, size_t bin, double q[2])
{
	for (int axis = 0; axis < 2; axis++)
		q[axis] = dft_frequency(e->q_index[bin][axis], (long)e->scan[axis], e->step_A[axis]);
}

double evidence_multiplicity(const evidence *e, size_t bin)
{
	const size_t r = (size_t)e->q_index[bin][0], c = (size_t)e->q_index[bin][1];
	if ((r == 0 && c == 0) || 2 * r == e->scan[0] || 2 * c == e->scan[1])
		return 0;
	return c == 0 ? 1 : 2;
}

void evidence_k(const evidence *e, size_t b, double k[2])
{
	const optics_geometry *g = &e->geometry;
	for (int axis = 0; axis < 2; axis++)
		k[axis] = (e->pixel[b][axis] - g->centre_px[axis]) * g->sampling_rad[axis] / g->wavelength_A;
}

double evidence_sigma2(const evidence *e)
{
	return (double)(e->scan[0] * e->scan[1] - e->filled) * e->I0_counts;
}

static const float complex *unreadable(struct evidence_file *file, const ssb_error *err, size_t count, float complex *scratch)
{
#pragma omp critical(evidence_failure)
	{
		if (!file->failed)
			file->failure = *err;
		file->failed = 1;
	}
	return memset(scratch, 0, count * sizeof *scratch);
}

const float complex *evidence_G(const evidence *e, size_t bin, size_t first, size_t count, float complex *scratch)
{
	const void *elements;
	enum ssb_dtype stored;
	ssb_error err;
	struct evidence_file *file = e->file;
	if (e->row)
		return e->row[bin] + first;
	if (!ssb_reader_chunk(file->reader, file->array, bin / file->bins_per_chunk, &elements, &stored, &err))
		return unreadable(file, &err, count, scratch);
	const size_t offset = bin % file->bins_per_chunk * e->pixels + first;
	if (!file->halves)
		return (const float complex *)elements + offset;
	half_expand((const uint16_t *)elements + 2 * offset, 2 * count, file->scale, (float *)scratch);
	return scratch;
}

bool evidence_is_sound(const evidence *e, ssb_error *err)
{
	if (e->row || !e->file->failed)
		return true;
#pragma omp critical(evidence_failure)
	*err = e->file->failure;
	return false;
}

bool evidence_verify(const evidence *e, ssb_error *err)
{
#pragma omp parallel for schedule(dynamic)
	for (size_t bin = 0; bin < e->bins; bin += e->row ? e->bins : e->file->bins_per_chunk) {
		float complex none;
		evidence_G(e, bin, 0, 1, &none);
	}
	return evidence_is_sound(e, err);
}

double evidence_excess(const evidence *e, size_t bin)
{
	enum { BLOCK = 512 };
	float complex scratch[BLOCK];
	double sum = 0;
	if (e->excess)
		return e->excess[bin];
	for (size_t first = 0; first < e->pixels; first += BLOCK) {
		const size_t count = e->pixels - first < BLOCK ? e->pixels - first : BLOCK;
		const float complex *G = evidence_G(e, bin, first, count, scratch);
		for (size_t b = 0; b < count; b++) {
			const double re = crealf(G[b]), im = cimagf(G[b]);
			sum += re * re + im * im - e->counts[first + b];
		}
	}
	return sum;
}

static bool load_scalars(evidence *e, const json_t *meta, ssb_error *err)
{
	optics_geometry *g = &e->geometry;
	double semiangle_mrad, sampling_mrad[2];
	if (!meta_positive(meta, "wavelength_A", &g->wavelength_A, err) || !meta_positive(meta, "semiangle_mrad", &semiangle_mrad, err) ||
	    !meta_positive_pair(meta, "detector_sampling_mrad", sampling_mrad, err) || !meta_pair(meta, "bf_centre_px", g->centre_px, err) ||
	    !meta_positive(meta, "I0_counts", &e->I0_counts, err) || !meta_sizes(meta, "scan_shape", e->scan, err) ||
	    !meta_positive_pair(meta, "scan_step_A", e->step_A, err))
		return false;
	if (!e->scan[0] || !e->scan[1] || e->scan[0] > INT32_MAX || e->scan[1] > INT32_MAX)
		return ssb_fail(err, SSB_BAD_INPUT, "a scan of %zu x %zu positions cannot be", e->scan[0], e->scan[1]);
	if (json_object_get(meta, "filled_positions") && !meta_size(meta, "filled_positions", &e->filled, err))
		return false;
	if (e->filled >= e->scan[0] * e->scan[1])
		return ssb_fail(err, SSB_BAD_INPUT, "'filled_positions' is %zu: no position has a frame", e->filled);
	g->semiangle_rad = semiangle_mrad * 1e-3;
	for (int axis = 0; axis < 2; axis++)
		g->sampling_rad[axis] = sampling_mrad[axis] * 1e-3;
	return true;
}

/* Indices must lie on the half plane (ascending, (0, 0) first) and pixels be ascending: what the sums rely on. */
static bool check_indices(const evidence *e, ssb_error *err)
{
	const size_t columns = e->scan[1] / 2 + 1;
	if (e->bins == 0 || e->q_index[0][0] != 0 || e->q_index[0][1] != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "array 'q_index' does not begin with q = 0");
	for (size_t i = 0; i < e->bins; i++) {
		const int32_t *q = e->q_index[i], *before = e->q_index[i ? i - 1 : 0];
		if (q[0] < 0 || q[1] < 0 || (size_t)q[0] >= e->scan[0] || (size_t)q[1] >= columns ||
		    (i && (q[0] < before[0] || (q[0] == before[0] && q[1] <= before[1]))))
			return ssb_fail(err, SSB_BAD_INPUT, "array 'q_index': entry %zu (%d, %d) is out of place", i, (int)q[0], (int)q[1]);
	}
	for (size_t b = 1; b < e->pixels; b++)
		if (e->pixel[b][0] < e->pixel[b - 1][0] || (e->pixel[b][0] == e->pixel[b - 1][0] && e->pixel[b][1] <= e->pixel[b - 1][1]))
			return ssb_fail(err, SSB_BAD_INPUT, "array 'pixel_index': entry %zu is out of order", b);
	return true;
}

/* The chunks of G hold whole q. A pipe's are taken now, in their order. */
static bool open_G(evidence *e, ssb_reader *spectrum, ssb_error *err)
{
	size_t index;
	double scale = 0;
	if (!ssb_reader_find(spectrum, "G", 0, 2, &index, err))
		return false;
	const ssb_array *a = ssb_reader_array(spectrum, index);
	if (a->shape[0] != e->bins || a->shape[1] != e->pixels || a->chunk_elements % e->pixels != 0)
		return ssb_fail(err, SSB_BAD_INPUT, "array 'G' does not fit 'q_index' and 'pixel_index'");
	if (a->dtype != SSB_C8 && a->dtype != SSB_C4)
		return ssb_fail(err, SSB_BAD_INPUT, "array 'G' is %s, neither c8 nor c4", ssb_dtype_name(a->dtype));
	if (a->dtype == SSB_C4 && !meta_positive(ssb_reader_meta(spectrum), "G_scale", &scale, err))
		return false;
	if (a->dtype == SSB_C4 && !isnormal((float)scale))
		return ssb_fail(err, SSB_BAD_INPUT, "'G_scale' is %g, beyond single precision", scale);
	e->file = calloc(1, sizeof *e->file);
	if (!e->file)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	*e->file = (struct evidence_file){.reader = spectrum, .array = index, .bins_per_chunk = a->chunk_elements / e->pixels,
	                                 .halves = a->dtype == SSB_C4, .scale = (float)scale};
	const uint64_t chunks = ssb_reader_is_mapped(spectrum) ? 0 : ssb_array_chunks(a);
	for (uint64_t chunk = 0; chunk < chunks; chunk++) {
		const void *elements;
		enum ssb_dtype stored;
		if (!ssb_reader_chunk(spectrum, index, chunk, &elements, &stored, err))
			return false;
	}
	return true;
}

static bool load_excess(evidence *e, ssb_reader *spectrum, ssb_error *err)
{
	uint64_t bins[1];
	size_t index;
	ssb_error absent;
	if (!ssb_reader_find(spectrum, "excess", 0, 0, &index, &absent))
		return true;
	double *excess = ssb_load_array(spectrum, "excess", SSB_F8, 1, bins, err);
	e->excess = excess;
	if (excess && bins[0] != e->bins)
		return ssb_fail(err, SSB_BAD_INPUT, "array 'excess' does not fit 'q_index'");
	for (size_t i = 0; excess && i < e->bins; i++)
		if (!isfinite(excess[i]))
			return ssb_fail(err, SSB_BAD_INPUT, "array 'excess': entry %zu is not finite", i);
	return excess != NULL;
}

static bool load_arrays(evidence *e, ssb_reader *spectrum, ssb_error *err)
{
	uint64_t pixels[2], bins[2], sums[1];
	uint64_t *counts_sum = NULL;
	double *counts = NULL;
	bool ok = (e->pixel = ssb_load_array(spectrum, "pixel_index", SSB_I4, 2, pixels, err)) &&
	          (counts_sum = ssb_load_array(spectrum, "counts_sum", SSB_U8, 1, sums, err)) &&
	          (e->q_index = ssb_load_array(spectrum, "q_index", SSB_I4, 2, bins, err));
	if (ok && (pixels[0] == 0 || pixels[1] != 2 || bins[1] != 2 || sums[0] != pixels[0]))
		ok = ssb_fail(err, SSB_BAD_INPUT, "arrays 'pixel_index', 'counts_sum' and 'q_index' do not fit together");
	if (ok) {
		e->pixels = pixels[0];
		e->bins = bins[0];
		e->counts = counts = malloc(e->pixels * sizeof *counts);
		ok = counts || ssb_fail(err, SSB_RUNTIME, "out of memory");
	}
	for (size_t b = 0; ok && b < e->pixels; b++)
		counts[b] = (double)counts_sum[b];
	free(counts_sum);
	return ok && check_indices(e, err) && load_excess(e, spectrum, err) && open_G(e, spectrum, err);
}

evidence *evidence_load(ssb_reader *spectrum, ssb_error *err)
{
	evidence *e = calloc(1, sizeof *e);
	if (!e) {
		ssb_fail(err, SSB_RUNTIME, "out of memory");
		return NULL;
	}
	if (!load_scalars(e, ssb_reader_meta(spectrum), err) || !load_arrays(e, spectrum, err)) {
		ssb_fail_prefix(err, "cannot read '%s': ", ssb_reader_path(spectrum));
		evidence_free(e);
		return NULL;
	}
	return e;
}

void evidence_free(evidence *e)
{
	if (!e)
		return;
	free((void *)e->q_index);
	free((void *)e->pixel);
	free((void *)e->counts);
	free((void *)e->excess);
	free(e->file);
	free(e);
}
