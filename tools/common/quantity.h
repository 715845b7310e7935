/* Numbers with units, parsed strictly: nothing may follow, NaN and infinities are refused, a unit that is needed must be there. */
#ifndef COMMON_QUANTITY_H
#define COMMON_QUANTITY_H

#include <stddef.h>
#include "formats/status.h"

enum quantity { QUANTITY_LENGTH /* A */, QUANTITY_ANGLE /* rad */, QUANTITY_VOLTAGE /* kV */ };

/* Parse all of `text` ("-12nm", "1.2mm", "20deg", "0.264"): value in the dimension's base unit above. `default_unit` is assumed for a
 * bare number; NULL: a bare number is an error that names the units to choose from. Lengths: pm A Å nm um µm mm m; angles: deg rad
 * mrad; voltages: V kV MV. */
bool quantity_parse(const char *text, enum quantity dimension, const char *default_unit, double *value, ssb_error *err);

/* As quantity_parse for a text that ends at `length`. */
bool quantity_parse_n(const char *text, size_t length, enum quantity dimension, const char *default_unit, double *value, ssb_error *err);

/* As quantity_parse_n with the value in `unit`, which is also the default: exact when the text is in that unit already. */
bool quantity_in(const char *text, size_t length, enum quantity dimension, const char *unit, double *value, ssb_error *err);

/* A finite number without unit, all of `text`. */
bool quantity_number(const char *text, double *value, ssb_error *err);

/* A range "lo:hi" of quantities, lo < hi. */
bool quantity_range(const char *text, enum quantity dimension, const char *default_unit, double range[2], ssb_error *err);

#endif
