/* A picture to draw on: lines and text in ink, rectangles in colour. Pixels, (0,0) the upper left corner of the picture. */
#ifndef SAVE_CANVAS_H
#define SAVE_CANVAS_H

#include "tools/ssb-save/letters.h"
#include "tools/ssb-save/picture.h"

typedef struct canvas {
	save_picture *picture;
	float *cover;      /* [height][width]: the part of each pixel that is under the ink; owned */
	double half_width; /* of the pen */
} canvas;

/* White, of picture->height and width, whose samples are allocated. */
bool canvas_make(canvas *c, save_picture *picture, ssb_error *err);
void canvas_free(canvas *c); /* leaves the picture */

void canvas_fill(canvas *c, double left, double top, double right, double bottom, const double color[3]); /* whole pixels */

/* Ink lies where it was put until it dries in a colour; what overlaps is one. */
void canvas_line(canvas *c, segment s);
void canvas_ring(canvas *c, double x, double y, double radius);
/* Text whose digits are `height` high, their upper edge at y; `anchor` 0 … 1: the part of the text left of x. Upwards: turned by a quarter,
 * the upper edge at x, `anchor` the part of the text below y. */
void canvas_text(canvas *c, const char *text, double x, double y, double height, double anchor, bool upwards);
void canvas_dry(canvas *c, const double color[3]);

#endif
