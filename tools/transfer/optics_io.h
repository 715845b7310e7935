/* Optics as people and headers state them: polar coefficients in nm and degrees (formats/SPEC.md, `optics`;
 * options such as --c12 2nm,20deg). */
#ifndef TRANSFER_OPTICS_IO_H
#define TRANSFER_OPTICS_IO_H

#include <jansson.h>
#include "formats/status.h"
#include "tools/transfer/optics.h"

enum { OPTICS_ORDERS = 14 };
/* The orders of physics.md section 3: name ("C12"), the option that sets it ("c12"), n, m, and what people call it. */
typedef struct optics_order {
	char name[4], option[4];
	int n, m;
	const char *title;
} optics_order;
extern const optics_order optics_orders[OPTICS_ORDERS];

/* Index into optics_orders of a name, letters of either case; -1: none. */
int optics_find_order(const char *name);

/* Index of the order's first Cartesian coefficient (enum aberration). */
int optics_first(int order);

/* Set order `order` to modulus C_nm at azimuth phi_deg (ignored for m = 0). */
void optics_set(optics_parameters *p, int order, double C_nm, double phi_deg);

/* Modulus >= 0 (signed for m = 0) in nm and azimuth in (-180/m, 180/m] degrees. */
void optics_get(const optics_parameters *p, int order, double *C_nm, double *phi_deg);

/* Parse "-10nm" (m = 0) or "2nm,20deg" ("0" needs neither unit nor azimuth), all of it; SSB_USAGE otherwise. */
bool optics_parse_order(const char *text, int order, double *C_nm, double *phi_deg, ssb_error *err);

/* The `optics` object, values rounded to 1e-6 of their unit. New reference. */
json_t *optics_to_json(const optics_parameters *p);

/* The inverse; unknown keys are an error (SSB_BAD_INPUT): a coefficient must not be lost. */
bool optics_from_json(optics_parameters *p, const json_t *optics, ssb_error *err);

#endif
