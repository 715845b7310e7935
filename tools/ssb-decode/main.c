/* ssb-decode: from an acquisition to a region. */
#include <stdlib.h>
#include "tools/common/profile.h"
#include "tools/ssb-decode/extra_mask.h"
#include "tools/ssb-decode/identity.h"
#include "tools/ssb-decode/options.h"
#include "tools/ssb-decode/region.h"
#include "tools/ssb-decode/scan.h"

/* What to keep, and which of it there is. */
static bool make_plan(const decode_options *o, const acquisition *a, frame_source *source, char *scan_source, region_plan *plan, ssb_error *err)
{
	const size_t detector[2] = {a->rows, a->columns};
	*plan = (region_plan){.scan_source = scan_source, .policy = (enum bad_pixels)o->bad_pixels, .codec = (enum ssb_codec)o->codec,
	                      .memory = o->common.memory};
	uint8_t *added = NULL;
	bool ok = scan_resolve(a, o->scan, o->partial, plan->scan, scan_source, err) &&
	          options_box(&o->scan_roi, plan->scan, "scan", &plan->positions, err) &&
	          options_box(&o->roi, detector, "detector", &plan->pixels, err) &&
	          (!o->mask || extra_mask_load(o->mask, a->rows, a->columns, &added, err)) &&
	          region_flag_pixels(plan, a, added, err) && region_find_valid(plan, a, source, o->partial, err);
	free(added);
	return ok && (o->roi.given || region_find_pixels(plan, a, source, err));
}

/* The data files are known only now; the output is to replace none of them. */
static bool output_is_no_input(const decode_options *o, const acquisition *a, ssb_error *err)
{
	bool distinct = true;
	for (size_t i = 0; distinct && i < a->parts; i++)
		distinct = cli_distinct(a->part[i].file, o->output, err);
	return distinct;
}

static bool decode(const decode_options *o, const acquisition *a, ssb_error *err)
{
	char scan_source[SOURCE_SIZE];
	region_plan plan = {0};
	frame_source *const source = frame_source_open(a, o->common.memory, err);
	bool ok = source && make_plan(o, a, source, scan_source, &plan, err);
	if (ok) {
		json_t *const history = options_history(o, identity_of(a));
		ok = region_write(&plan, a, source, history, o->output, err);
		json_decref(history);
	}
	region_plan_free(&plan);
	frame_source_close(source);
	return ok;
}

int main(int argc, char **argv)
{
	decode_options options;
	ssb_error err;
	options_parse(&options, argc, argv);
	profile_phase("find");
	acquisition *const a = acquisition_open(options.input, options.dataset, options.partial, &err);
	const bool ok = a && output_is_no_input(&options, a, &err) && decode(&options, a, &err);
	acquisition_free(a);
	cli_release(&options.common);
	return cli_end(ok, &err);
}
