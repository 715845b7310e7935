/* The bright-field disk on the mean pattern of the full detector (design: physics.md section 1). */
#ifndef SSB_PREP_DISK_H
#define SSB_PREP_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/status.h"

/* Sums of counts over the scan: the mean pattern M is sum / frames; only usable pixels (1) count. */
typedef struct pattern {
	size_t shape[2];
	const uint64_t *sum;
	const uint8_t *usable;
	size_t frames;
} pattern;

typedef struct disk {
	double centre_px[2], radius_px;  /* as measured, or as given: the circle whose pixels are used */
	double origin_px[2];             /* where k is 0: the given centre, or the measured one refined, see disk_find */
	bool measured;                   /* false: both were given */
	bool cut;                        /* the circle reaches more than half a pixel beyond the detector */
	double edge_radius_px;           /* R_edge of the sampling rule; 0 when cut */
	double covariance_px2[3];        /* of D's pixels: rows, rows and columns, columns */
	double solidity;                 /* fraction of the usable pixels within D's own circle that are in D: near 1 for a disk */
	size_t bright, elsewhere;        /* pixels left out, see disk_find */
	double plain_centre_px[2], plain_radius_px; /* of D by the definition alone, without leaving any out */
	size_t flagged;                  /* pixels within the radius that are not usable */
} disk;

/* Find the disk: D = {M > mean + std}, centre its unweighted centroid, radius sqrt(|D|/pi). Two kinds of pixels would pull it away in
 * silence and are left out: from mean and std the `bright` ones, more than four times the 25th brightest (a hot cluster); from D those
 * `elsewhere`, farther from its largest connected part than 1.25 radii and a pixel. Without them this is the plain definition.
 * Which pixels are used follows from them. Where k is 0 does not, unlike in physics.md: D's centroid jumps by 0.04 pixels rms as pixels of the
 * edge cross the threshold, whatever the dose, which through the orders above shifts C12, C21 and C23 by several of their standard errors.
 * `origin_px` is the centroid of the pixels, each weighted by min(1, M / median of M over D) within 1.5 pixels of the disk's edge, by 1 inside and
 * 0 outside; a masked or missing pixel of the edge weighs what a sharp edge would have there. It jitters by 0.005 pixels and less. Where
 * the inside of the disk varies by more than 3 % (a strong specimen) it is D's centroid after all.
 * centre_px, radius_px: NULL to measure, else held; with both, D is the pixels within the radius.
 * SSB_BAD_INPUT, asking for centre and radius, when D is empty, is no disk, or is cut by the edge of the detector. */
bool disk_find(disk *d, const pattern *p, const double *centre_px, const double *radius_px, ssb_error *err);

/* The usable pixels within the radius, row-major, (row, column) of the full detector; `*pixels` of them. Caller frees. */
int32_t (*disk_pixels(const disk *d, const pattern *p, size_t *pixels, ssb_error *err))[2];

/* Long over short axis of D, row and column scaled by `sampling`: 1 for a round disk. */
double disk_axes_ratio(const disk *d, const double sampling[2]);

#endif
