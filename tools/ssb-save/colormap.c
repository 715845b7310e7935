/* Colour maps as a few colours, straight lines between them: lightness rises evenly in all but coolwarm, whose middle is the lightest. */
#include "tools/ssb-save/picture.h"

enum { MOST_COLORS = 10 };

static const struct { size_t count; unsigned char color[MOST_COLORS][3]; } colormaps[] = {
	{2, {{0, 0, 0}, {255, 255, 255}}},
	{10, {{68, 1, 84}, {72, 40, 120}, {62, 74, 137}, {49, 104, 142}, {38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {109, 205, 89},
	      {180, 222, 44}, {253, 231, 37}}},
	{9, {{0, 0, 4}, {28, 16, 68}, {79, 18, 123}, {129, 37, 129}, {181, 54, 122}, {229, 80, 100}, {251, 135, 97}, {254, 194, 135},
	     {252, 253, 191}}},
	{7, {{38, 70, 160}, {88, 132, 205}, {160, 194, 230}, {242, 240, 236}, {236, 176, 150}, {208, 98, 82}, {150, 20, 40}}},
};

unsigned colormap_channels(int colormap)
{
	return colormap == 0 ? 1 : 3;
}

void colormap_color(int colormap, double t, double color[3])
{
	const size_t last = colormaps[colormap].count - 1;
	const double place = t * (double)last;
	const size_t below = (size_t)place < last ? (size_t)place : last - 1;
	const double part = place - (double)below;
	for (int c = 0; c < 3; c++)
		color[c] = ((1 - part) * colormaps[colormap].color[below][c] + part * colormaps[colormap].color[below + 1][c]) / 255;
}
