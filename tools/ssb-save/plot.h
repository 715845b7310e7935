/* A picture of a map with axes: its values in colour with a colour bar, or as a line. */
#ifndef SAVE_PLOT_H
#define SAVE_PLOT_H

#include "tools/ssb-save/picture.h"

/* Axis 0 of the map runs right, axis 1 up; the best point is ringed. Values are those of map_shown. picture->limits are the ends of the
 * colour bar, of a line those of its axis; options->zoom is the magnification of everything. */
bool plot_make(save_picture *picture, const save_content *content, const picture_options *options, ssb_error *err);

#endif
