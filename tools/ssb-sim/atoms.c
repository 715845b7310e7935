#include "tools/ssb-sim/atoms.h"

#include <stdlib.h>
#include "tools/ssb-sim/random.h"

const int atom_charges[ATOM_CHARGES] = {6, 14, 22};

static size_t whole_cells(double extent, double cell)
{
	const double cells = round(extent / cell);
	return cells < 1 ? 1 : (size_t)cells;
}

/* The honeycomb as a rectangular cell of sqrt(3) a x a with four atoms. Every site takes the same random numbers, so that one more
 * defect does not move the others. */
static void fill_lattice(const size_t cells[2], const double extent[2], random_sequence *random, atom_list *list)
{
	static const double site[4][2] = {{0, 0}, {1.0 / 3, 0}, {0.5, 0.5}, {5.0 / 6, 0.5}};
	for (size_t i = 0; i < 4 * cells[0] * cells[1]; i++) {
		const double defect = random_uniform(random), displacement_A = 0.05;
		double normal[2];
		random_normal_pair(random, normal);
		const size_t cell[2] = {i / 4 / cells[1], i / 4 % cells[1]};
		const double r = ((double)cell[0] + site[i % 4][0]) * extent[0] / (double)cells[0];
		const double c = ((double)cell[1] + site[i % 4][1]) * extent[1] / (double)cells[1];
		if (defect >= 0.01)
			list->atom[list->count++] = (atom){{r + displacement_A * normal[0], c + displacement_A * normal[1]},
			                                   atom_charges[defect < 0.02]};
	}
}

static void fill_random(size_t count, size_t kinds, const double extent[2], random_sequence *random, atom_list *list)
{
	for (; list->count < count; list->count++) {
		atom *x = &list->atom[list->count];
		x->charge = atom_charges[random_below(random, kinds)];
		x->position_A[0] = random_uniform(random) * extent[0];
		x->position_A[1] = random_uniform(random) * extent[1];
	}
}

bool atoms_make(enum specimen_kind kind, const double extent[2], uint64_t seed, atom_list *list, ssb_error *err)
{
	const double a = 2.46, per_A2 = kind == SPECIMEN_ATOMS ? 0.15 : 1;
	const size_t cells[2] = {whole_cells(extent[0], sqrt(3) * a), whole_cells(extent[1], a)};
	const size_t most = kind == SPECIMEN_LATTICE ? 4 * cells[0] * cells[1] : 1 + (size_t)(per_A2 * extent[0] * extent[1]);
	random_sequence random = {seed, RANDOM_SPECIMEN, 0};
	*list = (atom_list){malloc(most * sizeof *list->atom), 0};
	if (!list->atom)
		return ssb_fail(err, SSB_RUNTIME, "out of memory for %zu atoms", most);
	if (kind == SPECIMEN_LATTICE)
		fill_lattice(cells, extent, &random, list);
	else
		fill_random(most, kind == SPECIMEN_ATOMS ? ATOM_CHARGES : 1, extent, &random, list);
	return true;
}

void atoms_free(atom_list *list)
{
	free(list->atom);
	list->atom = NULL;
}
