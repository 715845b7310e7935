/* Where the atoms of a specimen are. */
#ifndef SSB_SIM_ATOMS_H
#define SSB_SIM_ATOMS_H

#include "formats/status.h"
#include "tools/ssb-sim/acquisition.h"

enum { ATOM_CHARGES = 3 };
extern const int atom_charges[ATOM_CHARGES]; /* C, Si, Ti */

typedef struct atom { double position_A[2]; int charge; } atom;
typedef struct atom_list { atom *atom; size_t count; } atom_list;

/* Atoms of one period of `extent` (A), by the kind of specimen:
 * lattice: graphene, strained to whole cells in the period; 1 % of the atoms are missing, 1 % are Si, each is off its site by 0.05 A;
 * atoms: C, Si and Ti, 0.15 per A^2 at random; amorphous: carbon, 1 per A^2 at random (a film of 1 nm). Release with atoms_free. */
bool atoms_make(enum specimen_kind kind, const double extent[2], uint64_t seed, atom_list *list, ssb_error *err);
void atoms_free(atom_list *list);

#endif
