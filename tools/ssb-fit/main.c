/* ssb-fit: aberrations and rotation from a spectrum, with error bars. */
#include "tools/common/meta.h"
#include "tools/common/profile.h"
#include "tools/ssb-fit/map_file.h"
#include "tools/ssb-fit/pose.h"
#include "tools/ssb-fit/report.h"

typedef struct inputs {
	ssb_reader *spectrum, *start;
	evidence *e;
} inputs;

static bool load(const fit_options *o, const backend *b, inputs *in, fit_problem *problem, ssb_error *err)
{
	if (o->start && !(in->start = ssb_reader_open_kind(o->start, SSB_FIT, o->common.memory, err)))
		return false;
	if (!(in->spectrum = ssb_reader_open_kind(o->spectrum, SSB_SPECTRUM, o->common.memory, err)))
		return false;
	if (!fit_pose(problem, o, ssb_reader_meta(in->spectrum), in->start ? ssb_reader_meta(in->start) : NULL, err))
		return false;
	problem->b = b;
	problem->e = in->e = evidence_load(in->spectrum, err);
	return in->e && backend_attach(b, in->e, err);
}

int main(int argc, char **argv)
{
	fit_options o;
	inputs in = {0};
	fit_problem problem;
	fit_result result = {0};
	ssb_error err;
	fit_parse(&o, argc, argv);
	profile_phase("read");
	const backend *b = backend_open(o.device, &err);
	bool ok = b && load(&o, b, &in, &problem, &err);
	if (ok && o.map.axes) {
		profile_phase("map");
		ok = map_make(&problem, &o, in.spectrum, in.start, &err);
	} else if (ok) {
		result.warnings = meta_warnings(ssb_reader_meta(in.spectrum));
		ok = fit_run(&problem, &result, &err) && evidence_verify(in.e, &err);
		if (ok)
			report_say(&problem, &result);
		profile_phase("report");
		ok = ok && report_store(&problem, &result, &o, in.spectrum, in.start, &err);
	}
	fit_free(&result);
	json_decref(result.warnings);
	backend_detach(b, in.e);
	evidence_free(in.e);
	ssb_reader_close(in.spectrum);
	ssb_reader_close(in.start);
	cli_release(&o.common);
	return cli_end(ok, &err);
}
