/* Letters as strokes, so that they are smooth at every size. Pixels; y runs down. */
#ifndef SAVE_LETTERS_H
#define SAVE_LETTERS_H

#include <stdbool.h>

typedef struct segment { double x0, y0, x1, y1; } segment;

/* Takes one segment of what is drawn. */
typedef void letters_put(void *to, segment s);

/* Whether every character of `text` (UTF-8) has a shape; others are drawn as an empty box. */
bool letters_known(const char *text);

/* Width of a line of text, in heights of a digit. */
double letters_width(const char *text);

/* Put the segments of `text` from (x, y), the upper left corner of its digits, `height` pixels high; upwards: turned by a quarter, reading
 * from below, (x, y) the lower left corner of what is then a column. */
void letters_draw(const char *text, double x, double y, double height, bool upwards, letters_put *put, void *to);

/* Distance of a point from a segment. */
double segment_distance(const segment *s, double x, double y);

#endif
