#include "tools/transfer/plane.h"

#include <fftw3.h>
#include <stdlib.h>

/* Stored bin of each native half-plane position; SIZE_MAX where none is stored. */
static size_t *bin_map(const evidence *e)
{
	const size_t columns = e->scan[1] / 2 + 1, size = e->scan[0] * columns;
	size_t *map = calloc(size, sizeof *map);
	for (size_t i = 0; map && i < size; i++)
		map[i] = SIZE_MAX;
	for (size_t i = 0; map && i < e->bins; i++)
		map[(size_t)e->q_index[i][0] * columns + (size_t)e->q_index[i][1]] = i;
	return map;
}

/* Where G(q) of the extended grid's (row, column) is: a stored bin or the mirror of one. False where it is not stored, or q = 0. */
static bool native_bin(const evidence *e, const size_t *map, size_t row, size_t column, frequency *f)
{
	size_t r = row % e->scan[0], c = column % e->scan[1];
	if (r == 0 && c == 0)
		return false;
	f->conjugate = c > e->scan[1] / 2;
	if (f->conjugate) {
		r = (e->scan[0] - r) % e->scan[0];
		c = e->scan[1] - c;
	}
	f->bin = map[r * (e->scan[1] / 2 + 1) + c];
	return f->bin != SIZE_MAX;
}

static void add_point(plane *p, const evidence *e, const size_t *map, size_t row, size_t column)
{
	frequency f = {0};
	if (!native_bin(e, map, row, column, &f))
		return;
	const size_t index[2] = {row, column}, shape[2] = {p->rows, p->columns};
	bool nyquist[2];
	for (int axis = 0; axis < 2; axis++) {
		const double step = e->step_A[axis] * (double)e->scan[axis] / (double)shape[axis];
		f.q[axis] = dft_frequency((long)index[axis], (long)shape[axis], step);
		nyquist[axis] = 2 * index[axis] == shape[axis];
	}
	plane_point *point = &p->point[p->points++];
	*point = (plane_point){.at = row * (p->columns / 2 + 1) + column, .first = p->frequencies, .count = 1};
	p->frequency[p->frequencies++] = f;
	if (!nyquist[0] && !nyquist[1])
		return;
	for (int axis = 0; axis < 2; axis++)
		f.q[axis] = nyquist[axis] ? -f.q[axis] : f.q[axis];
	point->count = 2;
	p->frequency[p->frequencies++] = f;
}

bool plane_make(plane *p, const evidence *e, size_t factor, ssb_error *err)
{
	*p = (plane){.rows = factor * e->scan[0], .columns = factor * e->scan[1]};
	const size_t half = p->columns / 2 + 1;
	size_t *map = bin_map(e);
	p->point = malloc(p->rows * half * sizeof *p->point);
	p->frequency = malloc((p->rows * half + half + p->rows) * sizeof *p->frequency);
	if (!map || !p->point || !p->frequency) {
		free(map);
		plane_free(p);
		return ssb_fail(err, SSB_RUNTIME, "out of memory");
	}
	for (size_t row = 0; row < p->rows; row++)
		for (size_t column = 0; column < half; column++)
			add_point(p, e, map, row, column);
	free(map);
	return true;
}

void plane_free(plane *p)
{
	free(p->point);
	free(p->frequency);
	*p = (plane){0};
}

bool plane_transform(const plane *p, double complex *half, double *image)
{
	fftw_plan plan = fftw_plan_dft_c2r_2d((int)p->rows, (int)p->columns, half, image, FFTW_ESTIMATE);
	if (!plan)
		return false;
	fftw_execute(plan);
	fftw_destroy_plan(plan);
	return true;
}
