/* From an image to the samples of a picture: contrast, colour, magnification and scale bar. */
#ifndef SAVE_PICTURE_H
#define SAVE_PICTURE_H

#include <stddef.h>
#include <stdint.h>
#include "tools/ssb-save/content.h"

enum {
	PICTURE_WIDTH = 512,         /* the automatic magnification is the smallest that makes a picture at least this wide … */
	PICTURE_HEIGHT_LIMIT = 4096, /* … unless it would be higher than this */
	PICTURE_SIDE_LIMIT = 1000000, /* what libpng takes */
	PICTURE_GAP = 4              /* pixels between the images of a contact sheet */
};

typedef struct picture_options {
	double contrast[2]; /* percentiles shown as the colour map's two ends, 0 <= low < high <= 100 */
	int colormap;       /* index into COLORMAP_NAMES */
	int bits;           /* 8 or 16 */
	size_t zoom;        /* pixels of the picture per pixel of the image, along the finer axis; 0: automatic */
	bool scale_bar;
	size_t memory;      /* bytes the picture may take */
} picture_options;

/* A stack is a contact sheet: its images row by row, the last row perhaps not full, with white between. */
typedef struct save_picture {
	size_t width, height;
	size_t tile[2], across;  /* (height, width) of each image on the picture, and how many stand side by side */
	unsigned channels;       /* 1 gray, 3 red green blue */
	uint16_t *samples;       /* [height][width][channels], 0 … 2^bits - 1; owned */
	unsigned maximum;        /* 2^bits - 1 */
	double limits[2];        /* values shown as the two ends of the colour map */
	size_t clipped[2];       /* pixels of the image below and above them */
	double pixel_A[2];       /* size of a pixel of the picture (row, column), 0 when unknown */
	double bar_A;            /* length of the scale bar, 0 without one */
	size_t bar_pixels;
	char bar_label[16];
} save_picture;

/* Every pixel of the picture has the value of the image's pixel that its centre lies in (nearest neighbour). Pixels that are not
 * square in the specimen are made square along the finer axis. Pixels that hold no number get the colour of the lowest value. */
bool picture_make(save_picture *picture, const save_content *content, const picture_options *options, ssb_error *err);
void picture_free(save_picture *picture);

/* ---- the parts ---- */

#define COLORMAP_NAMES "gray|viridis|magma|coolwarm"
enum { COLORMAP_VIRIDIS = 1 };

unsigned colormap_channels(int colormap);                      /* 1 for gray, else 3 */
void colormap_color(int colormap, double t, double color[3]);  /* t and color in 0 … 1 */

/* Longest of 1, 2, 5 times a power of ten that is at most `limit_A`, and how it is written ("2 nm", "5 Å", "50 pm"). */
double scalebar_length(double limit_A, char label[16]);

/* Draw a bar of `length` pixels with its label into the lower left corner, on the image there. False: there is no room, or a character has
 * no glyph. */
bool scalebar_draw(save_picture *picture, size_t length, const char *label);

/* Write `label` into the upper left corner of an image of a contact sheet, where there is room. */
void picture_label(save_picture *picture, size_t page, const char *label);

#endif
