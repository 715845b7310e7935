#include "tools/ssb-save/content.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/meta.h"

const char *content_name(const save_content *content)
{
	return content->kind == SSB_PHASE ? "phase" : "sum_pattern";
}

const char *content_unit(const save_content *content)
{
	return content->kind == SSB_PHASE ? "rad" : "counts";
}

double content_value(const save_content *content, size_t index)
{
	return content->phase ? (double)content->phase[index] : (double)content->counts[index];
}

static void *load_image(save_content *content, ssb_reader *reader, enum ssb_dtype dtype, ssb_error *err)
{
	uint64_t shape[SSB_MAX_RANK];
	size_t index;
	const char *name = content_name(content);
	/* On a pipe a region's counts lie before its sum pattern, and need not be kept. */
	void *image = ssb_reader_find(reader, name, dtype, 2, &index, err) && ssb_reader_skip_to(reader, index, err)
	                      ? ssb_load_array(reader, name, dtype, 2, shape, err) : NULL;
	if (image && shape[0] && shape[1]) {
		content->rows = (size_t)shape[0];
		content->columns = (size_t)shape[1];
		return image;
	}
	if (image)
		ssb_fail(err, SSB_BAD_INPUT, "its %s is empty", name);
	free(image);
	return NULL;
}

static bool load_phase(save_content *content, ssb_reader *reader, ssb_error *err)
{
	content->phase = load_image(content, reader, SSB_F4, err);
	if (!content->phase || !meta_positive_pair(content->meta, "sampling_A", content->sampling_A, err))
		return false;
	for (size_t i = 0; i < content->rows * content->columns; i++)
		content->not_finite += !isfinite(content->phase[i]);
	return true;
}

static bool load_fit(save_content *content, ssb_reader *reader, ssb_error *err)
{
	if (!json_is_array(json_object_get(content->meta, "parameters")))
		return ssb_fail(err, SSB_BAD_INPUT, "the header has no list of 'parameters'");
	for (size_t i = 0; i < ssb_reader_arrays(reader); i++) {
		uint64_t shape[SSB_MAX_RANK];
		if (strcmp(ssb_reader_array(reader, i)->name, "covariance") != 0)
			continue;
		content->covariance = ssb_load_array(reader, "covariance", SSB_F8, 2, shape, err);
		if (!content->covariance)
			return false;
		content->rows = (size_t)shape[0];
		content->columns = (size_t)shape[1];
	}
	return true;
}

static bool load_kind(save_content *content, ssb_reader *reader, ssb_error *err)
{
	switch (content->kind) {
	case SSB_PHASE:
		return load_phase(content, reader, err);
	case SSB_REGION:
		content->counts = load_image(content, reader, SSB_U8, err);
		return content->counts != NULL;
	case SSB_FIT:
		return load_fit(content, reader, err);
	default:
		return ssb_fail(err, SSB_BAD_INPUT, "it is a spectrum, which is no image: a phase (made from it by ssb-recon), a fit or a region is needed");
	}
}

bool content_load(save_content *content, ssb_reader *reader, char digest[17], ssb_error *err)
{
	content->kind = ssb_reader_kind(reader);
	content->meta = json_deep_copy(ssb_reader_meta(reader));
	if (!content->meta)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	return (load_kind(content, reader, err) && ssb_reader_finish(reader, digest, err)) ||
	       ssb_fail_prefix(err, "cannot save '%s': ", ssb_reader_path(reader));
}

/* Of the finite values. The mean is taken in the order of the pixels, the deviation around it in a second pass. */
static json_t *statistics(const save_content *content)
{
	const size_t pixels = content->rows * content->columns, finite = pixels - content->not_finite;
	double sum = 0, squares = 0, least = INFINITY, largest = -INFINITY;
	for (size_t i = 0; i < pixels; i++) {
		const double value = content_value(content, i);
		if (!isfinite(value))
			continue;
		sum += value;
		least = fmin(least, value);
		largest = fmax(largest, value);
	}
	if (!finite)
		return json_pack("{s:s, s:I}", "unit", content_unit(content), "not_finite", (json_int_t)pixels);
	const double mean = sum / (double)finite;
	for (size_t i = 0; i < pixels; i++) {
		const double value = content_value(content, i);
		squares += isfinite(value) ? (value - mean) * (value - mean) : 0;
	}
	return json_pack("{s:s, s:f, s:f, s:f, s:f, s:I}", "unit", content_unit(content), "minimum", least, "maximum", largest, "mean", mean,
	                 "standard_deviation", sqrt(squares / (double)finite), "not_finite", (json_int_t)content->not_finite);
}

static json_t *matrix(const double *values, size_t rows, size_t columns)
{
	json_t *list = json_array();
	for (size_t r = 0; r < rows; r++) {
		json_t *row = json_array();
		for (size_t c = 0; c < columns; c++)
			json_array_append_new(row, isfinite(values[r * columns + c]) ? json_real(values[r * columns + c]) : json_null());
		json_array_append_new(list, row);
	}
	return list;
}

bool content_record(save_content *content, const char digest[17], json_t *history, ssb_error *err)
{
	content->history = history;
	json_t *record = json_pack("{s:s, s:s}", "kind", ssb_kind_name(content->kind), "digest", digest);
	if (content->covariance)
		json_object_set_new(record, "covariance", matrix(content->covariance, content->rows, content->columns));
	if (content->kind != SSB_FIT) {
		json_object_set_new(record, "array", json_string(content_name(content)));
		json_object_set_new(record, "shape", json_pack("[I, I]", (json_int_t)content->rows, (json_int_t)content->columns));
		json_object_set_new(record, "statistics", statistics(content));
	}
	json_object_set(record, "meta", content->meta);
	json_object_set(record, "history", history);
	content->record = record;
	return (history && json_object_get(record, "history")) || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

void content_free(save_content *content)
{
	free(content->phase);
	free(content->counts);
	free(content->covariance);
	json_decref(content->meta);
	json_decref(content->history);
	json_decref(content->record);
	*content = (save_content){0};
}

static void swap(double *a, double *b)
{
	const double kept = *a;
	*a = *b;
	*b = kept;
}

/* Order `values` only as far as needed to have the one of rank `rank` in its place (Hoare's FIND, a middle element as pivot). */
static double select_rank(double *values, size_t count, size_t rank)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1;
	while (low < high) {
		const double pivot = values[low + (high - low) / 2];
		ptrdiff_t i = low, j = high;
		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j)
				swap(&values[i++], &values[j--]);
		}
		if ((ptrdiff_t)rank <= j)
			high = j;
		else if ((ptrdiff_t)rank >= i)
			low = i;
		else
			break;
	}
	return values[rank];
}

static double percentile(double *values, size_t count, double percent)
{
	const double place = percent / 100 * (double)(count - 1);
	const size_t rank = (size_t)place;
	const double below = select_rank(values, count, rank);
	if (rank + 1 == count)
		return below;
	return below + (place - (double)rank) * (select_rank(values, count, rank + 1) - below);
}

bool content_percentiles(const save_content *content, const double percent[2], double value[2], ssb_error *err)
{
	const size_t pixels = content->rows * content->columns;
	double *values = calloc(pixels, sizeof *values);
	size_t count = 0;
	if (!values)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	for (size_t i = 0; i < pixels; i++) {
		values[count] = content_value(content, i);
		count += isfinite(values[count]) != 0;
	}
	value[0] = count ? percentile(values, count, percent[0]) : 0;
	value[1] = count ? percentile(values, count, percent[1]) : 0;
	free(values);
	return true;
}
