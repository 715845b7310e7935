#include "tools/ssb-prep/report.h"

#include <math.h>
#include "tools/common/message.h"

static void report_disk(const spectrum *s)
{
	const disk *d = &s->disk;
	const double *sampling = s->sampling_mrad;
	message_note("bright field: centre %.2f,%.2f (%s), radius %.2f pixels (%s), %zu pixels", d->origin_px[0], d->origin_px[1],
	             s->settings->centre_given ? "given" : "measured", d->radius_px, s->settings->radius_given ? "given" : "measured", s->bf.count);
	if (!s->settings->sampling_mrad[0])
		message_note("detector sampling %.5g mrad per pixel, from the semiangle and the disk", s->rule_mrad);
	if (d->measured)
		message_detail("the measured disk has axes ratio %.4f and fills %.1f %% of its circle, which is what is used",
		               disk_axes_ratio(d, sampling), 100 * d->solidity);
	if (s->rule_mrad)
		message_detail("the disk falls to half at %.3f pixels: %.5g mrad per pixel; %.5g,%.5g are used", d->edge_radius_px, s->rule_mrad,
		               sampling[0], sampling[1]);
}

static void report_orientation(const spectrum *s)
{
	const deflection *d = &s->deflection;
	const neighbour_estimate *n = &s->neighbours;
	if (d->found)
		message_detail("rotation by the centre of mass, up to a half turn: %.2f degrees (residual %.3f), transposed %.2f (%.3f)",
		               d->rotation_deg[0], d->residual[0], d->rotation_deg[1], d->residual[1]);
	if (n->found)
		message_detail("start by neighbours: C10 %.2f nm, C12 %.2f nm at %.1f degrees, rotation %.2f degrees, %stransposed%s", n->C_A[0] / 10,
		               hypot(n->C_A[1], n->C_A[2]) / 10, atan2(n->C_A[2], n->C_A[1]) * 90 / M_PI, n->rotation_rad * 180 / M_PI,
		               n->transposed ? "" : "not ", n->transposition_decided ? "" : " (undecided)");
}

void report_spectrum(const spectrum *s)
{
	const passes *p = &s->passes;
	if (!s->settings->kilovolt)
		message_note("high tension %g kV, as the region states", s->kilovolt);
	report_disk(s);
	message_detail("%.5g counts per fully lit pixel and position; power above shot noise %.4g, %.1f times its noise", s->I0_counts,
	               s->excess, s->excess / s->excess_noise);
	report_orientation(s);
	message_detail("G: %zu frequencies below %.3f 1/A of %zu pixels, %zu MB, in %zu pass%s", s->bins, s->q_limit, p->pixels,
	               s->bins * p->pixels * sizeof *p->G >> 20, (p->bins + p->bins_at_once - 1) / p->bins_at_once,
	               p->bins > p->bins_at_once ? "es" : "");
}
