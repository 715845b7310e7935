#include "tools/ssb-save/letters.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MOST_STROKES = 5, ARC_PARTS = 24 };

/* A straight stroke from (a,b) to (c,d), or an arc of the ellipse around (a,b) with half axes c and d, from `from` to `to` degrees
 * (0 is right, 90 down). In units of the height of a digit; y runs down, the baseline is at 1. */
typedef struct stroke { char kind; float a, b, c, d, from, to; } stroke;

typedef struct letter { const char *character; float width; stroke strokes[MOST_STROKES]; } letter;

#define LINE(x0, y0, x1, y1) {'L', x0, y0, x1, y1, 0, 0}
#define ARC(x, y, rx, ry, from, to) {'A', x, y, rx, ry, from, to}

static const letter glyphs[] = {
	{"0", 0.60f, {ARC(.30f, .50f, .28f, .50f, 0, 360)}},
	{"1", 0.46f, {LINE(.06f, .20f, .34f, .00f), LINE(.34f, .00f, .34f, 1.f)}},
	{"2", 0.58f, {ARC(.29f, .28f, .27f, .28f, 185, 395), LINE(.51f, .44f, .02f, 1.f), LINE(.02f, 1.f, .57f, 1.f)}},
	{"3", 0.58f, {ARC(.27f, .255f, .24f, .255f, 195, 450), ARC(.27f, .755f, .28f, .245f, -90, 165)}},
	{"4", 0.60f, {LINE(.43f, .00f, .02f, .70f), LINE(.02f, .70f, .59f, .70f), LINE(.43f, .00f, .43f, 1.f)}},
	{"5", 0.58f, {LINE(.52f, .00f, .11f, .00f), LINE(.11f, .00f, .07f, .46f), ARC(.28f, .67f, .29f, .33f, 219, 508)}},
	{"6", 0.60f, {ARC(.30f, .68f, .27f, .32f, 0, 360), ARC(.62f, .68f, .59f, .70f, 180, 257)}},
	{"7", 0.58f, {LINE(.03f, .00f, .55f, .00f), LINE(.55f, .00f, .20f, 1.f)}},
	{"8", 0.58f, {ARC(.29f, .25f, .235f, .25f, 0, 360), ARC(.29f, .75f, .28f, .25f, 0, 360)}},
	{"9", 0.60f, {ARC(.30f, .32f, .27f, .32f, 0, 360), ARC(-.02f, .32f, .59f, .70f, 0, 77)}},
	{"a", 0.52f, {ARC(.25f, .67f, .25f, .33f, 0, 360), LINE(.50f, .34f, .50f, 1.f)}},
	{"b", 0.52f, {LINE(.00f, -.05f, .00f, 1.f), ARC(.25f, .67f, .25f, .33f, 0, 360)}},
	{"c", 0.46f, {ARC(.26f, .67f, .26f, .33f, 48, 312)}},
	{"d", 0.52f, {ARC(.25f, .67f, .25f, .33f, 0, 360), LINE(.50f, -.05f, .50f, 1.f)}},
	{"e", 0.52f, {LINE(.01f, .66f, .51f, .66f), ARC(.26f, .67f, .26f, .33f, 48, 358)}},
	{"f", 0.34f, {LINE(.12f, .19f, .12f, 1.f), ARC(.32f, .19f, .20f, .24f, 180, 280), LINE(.00f, .36f, .30f, .36f)}},
	{"g", 0.52f, {ARC(.25f, .67f, .25f, .33f, 0, 360), LINE(.50f, .34f, .50f, 1.08f), ARC(.25f, 1.08f, .25f, .24f, 0, 150)}},
	{"h", 0.48f, {LINE(.00f, -.05f, .00f, 1.f), ARC(.23f, .58f, .23f, .24f, 180, 360), LINE(.46f, .58f, .46f, 1.f)}},
	{"i", 0.10f, {LINE(.05f, .34f, .05f, 1.f), ARC(.05f, .09f, .025f, .025f, 0, 360)}},
	{"k", 0.46f, {LINE(.00f, -.05f, .00f, 1.f), LINE(.42f, .34f, .00f, .76f), LINE(.15f, .61f, .45f, 1.f)}},
	{"l", 0.08f, {LINE(.04f, -.05f, .04f, 1.f)}},
	{"m", 0.80f, {LINE(.00f, .34f, .00f, 1.f), ARC(.20f, .56f, .20f, .22f, 180, 360), LINE(.40f, .56f, .40f, 1.f),
	              ARC(.60f, .56f, .20f, .22f, 180, 360), LINE(.80f, .56f, .80f, 1.f)}},
	{"n", 0.48f, {LINE(.00f, .34f, .00f, 1.f), ARC(.23f, .58f, .23f, .24f, 180, 360), LINE(.46f, .58f, .46f, 1.f)}},
	{"o", 0.54f, {ARC(.27f, .67f, .27f, .33f, 0, 360)}},
	{"p", 0.52f, {LINE(.00f, .34f, .00f, 1.32f), ARC(.25f, .67f, .25f, .33f, 0, 360)}},
	{"r", 0.32f, {LINE(.00f, .34f, .00f, 1.f), ARC(.23f, .60f, .23f, .26f, 180, 295)}},
	{"s", 0.42f, {ARC(.21f, .505f, .18f, .165f, 90, 325), ARC(.21f, .835f, .19f, .165f, -90, 145)}},
	{"t", 0.36f, {LINE(.14f, .10f, .14f, .80f), ARC(.32f, .80f, .18f, .20f, 80, 180), LINE(.00f, .36f, .32f, .36f)}},
	{"u", 0.48f, {LINE(.00f, .34f, .00f, .74f), ARC(.23f, .74f, .23f, .26f, 0, 180), LINE(.46f, .34f, .46f, 1.f)}},
	{"v", 0.46f, {LINE(.00f, .34f, .23f, 1.f), LINE(.23f, 1.f, .46f, .34f)}},
	{"w", 0.68f, {LINE(.00f, .34f, .17f, 1.f), LINE(.17f, 1.f, .34f, .34f), LINE(.34f, .34f, .51f, 1.f), LINE(.51f, 1.f, .68f, .34f)}},
	{"x", 0.44f, {LINE(.00f, .34f, .44f, 1.f), LINE(.44f, .34f, .00f, 1.f)}},
	{"y", 0.46f, {LINE(.00f, .34f, .23f, 1.f), LINE(.46f, .34f, .11f, 1.32f)}},
	{"C", 0.62f, {ARC(.37f, .50f, .37f, .50f, 50, 310)}},
	{"µ", 0.46f, {LINE(.00f, .34f, .00f, 1.32f), ARC(.22f, .74f, .22f, .26f, 0, 180), LINE(.44f, .34f, .44f, 1.f)}},
	{"Å", 0.70f, {LINE(.00f, 1.f, .35f, .08f), LINE(.35f, .08f, .70f, 1.f), LINE(.13f, .68f, .57f, .68f), ARC(.35f, -.08f, .11f, .11f, 0, 360)}},
	{"²", 0.33f, {ARC(.16f, .12f, .14f, .14f, 185, 395), LINE(.275f, .20f, .03f, .46f), LINE(.03f, .46f, .32f, .46f)}},
	{"-", 0.46f, {LINE(.02f, .58f, .44f, .58f)}},
	{"+", 0.58f, {LINE(.04f, .58f, .54f, .58f), LINE(.29f, .33f, .29f, .83f)}},
	{".", 0.08f, {ARC(.04f, .96f, .025f, .025f, 0, 360)}},
	{",", 0.10f, {LINE(.07f, .95f, .01f, 1.16f)}},
	{"(", 0.24f, {ARC(.44f, .50f, .40f, .75f, 120, 240)}},
	{")", 0.24f, {ARC(-.20f, .50f, .40f, .75f, -60, 60)}},
	{"_", 0.46f, {LINE(.00f, 1.10f, .46f, 1.10f)}},
	{" ", 0.12f, {{0}}},
};

static const letter box = {"", 0.56f, {LINE(.05f, .05f, .51f, .05f), LINE(.51f, .05f, .51f, 1.f), LINE(.51f, 1.f, .05f, 1.f), LINE(.05f, 1.f, .05f, .05f)}};
static const double letter_gap = 0.23;

/* Takes one character off the text. */
static const letter *next_glyph(const char **text)
{
	for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++) {
		const size_t length = strlen(glyphs[i].character);
		if (!strncmp(*text, glyphs[i].character, length)) {
			*text += length;
			return &glyphs[i];
		}
	}
	++*text;
	while (((unsigned char)**text & 0xc0) == 0x80) /* the rest of a character of several bytes */
		++*text;
	return &box;
}

bool letters_known(const char *text)
{
	while (*text)
		if (next_glyph(&text) == &box)
			return false;
	return true;
}

double letters_width(const char *text)
{
	double width = *text ? -letter_gap : 0;
	while (*text)
		width += next_glyph(&text)->width + letter_gap;
	return width;
}

/* Where a letter's points go: from its own units, right and down, to pixels. */
typedef struct place { double x, y, height; bool upwards; letters_put *put; void *to; } place;

static void put_segment(const place *p, double x0, double y0, double x1, double y1)
{
	const double h = p->height;
	p->put(p->to, p->upwards ? (segment){p->x + h * y0, p->y - h * x0, p->x + h * y1, p->y - h * x1}
	                         : (segment){p->x + h * x0, p->y + h * y0, p->x + h * x1, p->y + h * y1});
}

static void put_stroke(const place *p, const stroke *s)
{
	if (s->kind == 'L')
		put_segment(p, s->a, s->b, s->c, s->d);
	for (int i = 0; s->kind == 'A' && i < ARC_PARTS; i++) {
		const double step = (s->to - s->from) / ARC_PARTS;
		const double t0 = (s->from + i * step) * M_PI / 180, t1 = (s->from + (i + 1) * step) * M_PI / 180;
		put_segment(p, s->a + s->c * cos(t0), s->b + s->d * sin(t0), s->a + s->c * cos(t1), s->b + s->d * sin(t1));
	}
}

void letters_draw(const char *text, double x, double y, double height, bool upwards, letters_put *put, void *to)
{
	place p = {x, y, height, upwards, put, to};
	while (*text) {
		const letter *glyph = next_glyph(&text);
		for (int i = 0; i < MOST_STROKES; i++)
			put_stroke(&p, &glyph->strokes[i]);
		const double step = height * (glyph->width + letter_gap);
		p.x += upwards ? 0 : step;
		p.y -= upwards ? step : 0;
	}
}

double segment_distance(const segment *s, double x, double y)
{
	const double dx = s->x1 - s->x0, dy = s->y1 - s->y0, square = dx * dx + dy * dy;
	double t = square > 0 ? ((x - s->x0) * dx + (y - s->y0) * dy) / square : 0;
	t = fmin(fmax(t, 0), 1);
	return hypot(x - s->x0 - t * dx, y - s->y0 - t * dy);
}
