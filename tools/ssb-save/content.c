#include "tools/ssb-save/content.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/meta.h"

static const char *const phase_arrays[] = {"phase", "thin", "halves"};
enum { PHASE_ARRAYS = sizeof phase_arrays / sizeof *phase_arrays };

const char *content_name(const save_content *content)
{
	return content->array;
}

const char *content_unit(const save_content *content)
{
	return content->kind == SSB_PHASE ? "rad" : content->kind == SSB_REGION ? "counts" : content->map.variance ? "rad2" : "1";
}

size_t content_pixels(const save_content *content)
{
	return content->pages * content->rows * content->columns;
}

double content_page_value(const save_content *content, size_t page)
{
	return json_number_value(json_array_get(json_object_get(content->stack, "values"), page));
}

double content_value(const save_content *content, size_t index)
{
	return content->phase ? (double)content->phase[index] : content->counts ? (double)content->counts[index] : content->objective[index];
}

/* On a pipe a region's counts lie before its sum pattern, and need not be kept. */
static bool load_sum_pattern(save_content *content, ssb_reader *reader, ssb_error *err)
{
	uint64_t shape[SSB_MAX_RANK];
	size_t index;
	content->array = "sum_pattern";
	if (!ssb_reader_find(reader, content->array, SSB_U8, 2, &index, err) || !ssb_reader_skip_to(reader, index, err) ||
	    !(content->counts = ssb_load_array(reader, content->array, SSB_U8, 2, shape, err)))
		return false;
	content->rows = (size_t)shape[0];
	content->columns = (size_t)shape[1];
	return (shape[0] && shape[1]) || ssb_fail(err, SSB_BAD_INPUT, "its %s is empty", content->array);
}

static bool has_array(const ssb_reader *reader, const char *name)
{
	size_t index;
	ssb_error unused;
	return ssb_reader_find(reader, name, 0, 0, &index, &unused);
}

/* Images [rows, columns] or [*pages, rows, columns]; NULL: empty, or not of the rows and columns of those before. */
static float *load_images(save_content *content, ssb_reader *reader, const char *name, size_t *pages, ssb_error *err)
{
	uint64_t shape[SSB_MAX_RANK];
	size_t index;
	if (!ssb_reader_find(reader, name, 0, 0, &index, err))
		return NULL;
	const unsigned rank = ssb_reader_array(reader, index)->rank == 3 ? 3 : 2;
	float *images = ssb_load_array(reader, name, SSB_F4, rank, shape, err);
	if (!images)
		return NULL;
	const size_t rows = (size_t)shape[rank - 2], columns = (size_t)shape[rank - 1];
	*pages = rank == 3 ? (size_t)shape[0] : 1;
	if (!content->rows) {
		content->rows = rows;
		content->columns = columns;
	}
	if (*pages && rows && columns && rows == content->rows && columns == content->columns)
		return images;
	free(images);
	ssb_fail(err, SSB_BAD_INPUT, *pages && rows && columns ? "its %s has another shape than its phase" : "its %s is empty", name);
	return NULL;
}

/* A value for each image of the phase, where there is a stack. */
static bool find_stack(save_content *content, size_t pages, ssb_error *err)
{
	const json_t *stack = json_object_get(content->meta, "stack"), *values = json_object_get(stack, "values");
	bool ok = pages == 1 || json_array_size(values) == pages;
	for (size_t i = 0; ok && i < json_array_size(values); i++)
		ok = json_is_number(json_array_get(values, i));
	if (!ok || (stack && (!json_is_string(json_object_get(stack, "parameter")) || !json_is_string(json_object_get(stack, "unit")))))
		return ssb_fail(err, SSB_BAD_INPUT, "the header's 'stack' does not fit its phase of %zu images", pages);
	content->stack = pages > 1 ? stack : NULL;
	return true;
}

/* Leave one page, as ssb-recon makes it at its value. */
static bool keep_page(save_content *content, size_t page, ssb_error *err)
{
	if (page > content->pages)
		return ssb_fail(err, SSB_USAGE, "--page %zu: its %s has %zu image%s", page, content->array, content->pages, content->pages > 1 ? "s" : "");
	const size_t size = content->rows * content->columns;
	memmove(content->phase, content->phase + (page - 1) * size, size * sizeof *content->phase);
	if (content->stack) {
		char key[64];
		json_t *polarity = json_array_get(json_object_get(content->stack, "polarity"), page - 1);
		snprintf(key, sizeof key, "%.30s_%.30s", json_string_value(json_object_get(content->stack, "parameter")),
		         json_string_value(json_object_get(content->stack, "unit")));
		json_object_set_new(json_object_get(content->meta, "optics"), key, json_real(content_page_value(content, page - 1)));
		if (polarity && !strcmp(content->array, phase_arrays[0]))
			json_object_set(content->meta, "polarity", polarity);
		json_object_del(content->meta, "stack");
	}
	content->stack = NULL;
	content->pages = 1;
	return true;
}

/* The image, a companion, or dropped where one array or page is chosen. Takes over `images`. */
static void place(save_content *content, const char *name, float *images, size_t pages, const char *wanted, const content_choice *choice)
{
	if (!strcmp(name, wanted)) {
		content->array = name;
		content->phase = images;
		content->pages = pages;
	} else if (choice->array || choice->page)
		free(images);
	else
		content->companion[content->companions++] = (save_companion){name, pages, images};
}

/* Every array is read, in the order of the file. */
static bool load_phase(save_content *content, ssb_reader *reader, const content_choice *choice, ssb_error *err)
{
	const char *wanted = choice->array ? choice->array : phase_arrays[0];
	size_t expected = 0; /* pages: the phase's, its thin's, two halves */
	if (!has_array(reader, wanted) && choice->array)
		return ssb_fail(err, SSB_USAGE, "--array %s: it has none (ssb-recon --%s makes it)", wanted, wanted);
	if (!meta_positive_pair(content->meta, "sampling_A", content->sampling_A, err))
		return false;
	for (int i = 0; i < PHASE_ARRAYS; i++) {
		size_t pages;
		if (i > 0 && !has_array(reader, phase_arrays[i]))
			continue;
		float *images = load_images(content, reader, phase_arrays[i], &pages, err);
		if (!images)
			return false;
		expected = i == 0 ? pages : i == 1 ? expected : 2;
		place(content, phase_arrays[i], images, pages, wanted, choice);
		if (pages != expected || (i == 0 && !find_stack(content, pages, err)))
			return pages == expected ? false : ssb_fail(err, SSB_BAD_INPUT, "its %s has %zu images, not %zu", phase_arrays[i], pages, expected);
	}
	if (!strcmp(wanted, "halves"))
		content->stack = NULL;
	if (choice->page && !keep_page(content, choice->page, err))
		return false;
	for (size_t i = 0; i < content_pixels(content); i++)
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

static bool load_map(save_content *content, ssb_reader *reader, ssb_error *err)
{
	const map_axis *axis = content->map.axis;
	content->array = "objective";
	if (!map_load(&content->map, content->meta, reader, &content->objective, err))
		return false;
	const bool line = content->map.axes == 1;
	content->rows = line ? 1 : axis[0].count;
	content->columns = axis[line ? 0 : 1].count;
	for (size_t i = 0; i < content_pixels(content); i++)
		content->not_finite += !isfinite(content->objective[i]);
	return true;
}

static bool load_kind(save_content *content, ssb_reader *reader, const content_choice *choice, ssb_error *err)
{
	if (content->kind != SSB_PHASE && (choice->array || choice->page))
		return ssb_fail(err, SSB_USAGE, "--array and --page choose from a phase, and it is a %s", ssb_kind_name(content->kind));
	switch (content->kind) {
	case SSB_PHASE:
		return load_phase(content, reader, choice, err);
	case SSB_REGION:
		return load_sum_pattern(content, reader, err);
	case SSB_FIT:
		return load_fit(content, reader, err);
	case SSB_MAP:
		return load_map(content, reader, err);
	default:
		return ssb_fail(err, SSB_BAD_INPUT, "it is a spectrum, which is no image: a phase (made from it by ssb-recon), a fit or a region is needed");
	}
}

bool content_load(save_content *content, ssb_reader *reader, const content_choice *choice, char digest[17], ssb_error *err)
{
	content->kind = ssb_reader_kind(reader);
	content->pages = 1;
	content->meta = json_deep_copy(ssb_reader_meta(reader));
	if (!content->meta)
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	return (load_kind(content, reader, choice, err) && ssb_reader_finish(reader, digest, err)) ||
	       ssb_fail_prefix(err, "cannot save '%s': ", ssb_reader_path(reader));
}

/* Of the finite values. The mean is taken in the order of the pixels, the deviation around it in a second pass. */
static json_t *statistics(const save_content *content)
{
	const size_t pixels = content_pixels(content), finite = pixels - content->not_finite;
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
		json_t *shape = json_pack("[I, I]", (json_int_t)content->rows, (json_int_t)content->columns);
		if (content->pages > 1)
			json_array_insert_new(shape, 0, json_integer((json_int_t)content->pages));
		if (content->map.axes == 1)
			json_array_remove(shape, 0);
		json_object_set_new(record, "shape", shape);
		json_object_set_new(record, "statistics", statistics(content));
	}
	json_object_set(record, "meta", content->meta);
	json_object_set(record, "history", history);
	content->record = record;
	return (history && json_object_get(record, "history")) || ssb_fail(err, SSB_RUNTIME, "out of memory");
}

void content_free(save_content *content)
{
	for (size_t i = 0; i < content->companions; i++)
		free(content->companion[i].values);
	free(content->phase);
	free(content->counts);
	free(content->covariance);
	free(content->objective);
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
	const size_t pixels = content_pixels(content);
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
