/* ssb-fit --map: what it reads from the command line, and its values against the objectives evaluated on their own. */
#include "tests/unit/test.h"

#include "tests/unit/vectors.h"
#include "tools/ssb-fit/map.h"

static const double RAD = M_PI / 180;

/* ---- the command line ---- */

static void check_refused(const char *text, const char *words)
{
	map_grid grid;
	ssb_error err;
	const bool ok = map_parse(&grid, text, &err);
	CHECK(!ok && err.status == SSB_USAGE && strstr(err.text, words), "'%s' is refused: %s", text, ok ? "not" : err.text);
}

static void test_parse(void)
{
	map_grid grid;
	ssb_error err;
	const bool ok = map_parse(&grid, "c12A=-50A:0.005um:41,rotation=0rad:10deg:5", &err);
	CHECK(ok && grid.axes == 2 && grid.axis[0].parameter == C12a && grid.axis[1].parameter == ROTATION, "two parameters, letters of either case");
	CHECK(ok && grid.axis[0].range[0] == -5 && grid.axis[0].range[1] == 5 && grid.axis[0].count == 41 && !strcmp(map_unit(&grid.axis[0]), "nm"),
	      "lengths in nm, whatever they are typed in");
	CHECK(ok && map_value(&grid.axis[0], 1) == -4.75 && map_value(&grid.axis[0], 40) == 5 && map_value(&grid.axis[1], 4) == 10 &&
	              !strcmp(map_unit(&grid.axis[1]), "deg"), "evenly spaced values, both ends among them");
	for (int i = 0; i < FIT_PARAMETERS; i++) {
		char text[64];
		snprintf(text, sizeof text, "%s=%s:3", fit_parameter_name(i), i == SAMPLING ? "0.9:1.1" : i < TILT_R || i == THICKNESS ? "1nm:2nm" : "1mrad:2mrad");
		CHECK(map_parse(&grid, text, &err) && grid.axes == 1 && grid.axis[0].parameter == i, "%s", text);
	}
	check_refused("C12=1nm:2nm:3", "map its Cartesian parts C12a and C12b");
	check_refused("C99=1nm:2nm:3", "no parameter is called 'C99'");
	check_refused("C10=-30:30:3", "'-30' needs a unit");
	check_refused("C10=1mrad:2mrad:3", "no known unit");
	check_refused("rotation=1nm:2nm:3", "no known unit");
	check_refused("sampling=0:1:3", "not above 0");
	check_refused("C10=1nm:2nm:1", "'1' is no number of values");
	check_refused("C10=1nm:2nm:0x5", "'0x5' is no number of values");
	check_refused("C10=1nm:2nm:-5", "'-5' is no number of values");
	check_refused("C10=1nm:2nm:", "'' is no number of values");
	check_refused("C10=1nm:2nm:100001", "is no number of values");
	check_refused("C10=1nm:2nm:99999999999999999999", "is no number of values");
	check_refused("C10=2nm:1nm:3", "an empty range");
	check_refused("C10=1nm:1nm:3", "an empty range");
	check_refused("C10=1nm:2nm", "not NAME=LO:HI:N");
	check_refused("", "not NAME=LO:HI:N");
	check_refused("C10=1nm:2nm:3,", "not NAME=LO:HI:N");
	check_refused("C10=1nm:2nm:3,C12a=1nm:2nm:3,", "one or two parameters");
	check_refused("C10=1nm:2nm:3,C12a=1nm:2nm:3,C12b=1nm:2nm:3", "one or two parameters");
	check_refused("C10=1nm:2nm:3,C10=1nm:2nm:3", "both axes are C10");
}

/* ---- the values ---- */

/* L over every bin; the objective that it is the last value of is the caller's to free. */
static objective likelihood_at(const evidence *e, const optics_parameters *p, double *L)
{
	objective f;
	ssb_error err;
	size_t *bin = malloc(e->bins * sizeof *bin);
	for (size_t i = 0; i < e->bins; i++)
		bin[i] = i;
	if (!objective_make(&f, &backend_cpu, e, bin, e->bins, NULL) || !objective_value(&f, p, L, &err))
		exit(1);
	free(bin);
	return f;
}

static double variance_at(const evidence *e, const optics_parameters *p)
{
	double variance, *image = malloc(e->scan[0] * e->scan[1] * sizeof *image);
	ssb_error err;
	if (!backend_cpu.mean_phase(e, p, 1, image, &variance, &err))
		exit(1);
	free(image);
	return variance;
}

static double value_at(const fit_problem *problem, const optics_parameters *p)
{
	double L;
	if (problem->objective == OBJECTIVE_VARIANCE)
		return variance_at(problem->e, p);
	objective f = likelihood_at(problem->e, p, &L);
	objective_free(&f);
	return L;
}

static void check_explained(const fit_problem *problem, const map_grid *grid, const map_result *r, const char *name)
{
	optimum o = {.p = map_optics(grid, r->best, &problem->held)};
	objective f = likelihood_at(problem->e, &o.p, &o.L);
	const certificate c = certify(&f, &o, 0);
	CHECK(fabs(map_explained(r, r->best) - c.explained) < 1e-12, "%s: explained %.6f, as the fit's certificate says", name, c.explained);
	objective_free(&f);
}

static void check_values(const fit_problem *problem, const char *text, void set(optics_parameters *p, double a, double b), const char *name)
{
	map_grid grid;
	map_result r;
	ssb_error err;
	size_t best = 0, agree = 0;
	const bool variance = problem->objective == OBJECTIVE_VARIANCE;
	if (!map_parse(&grid, text, &err) || !map_run(problem, &grid, &r, &err))
		exit(fprintf(stderr, "%s\n", err.text));
	const size_t columns = grid.axis[1].count, points = grid.axis[0].count * columns;
	for (size_t i = 0; i < points; i++) {
		optics_parameters p = problem->held;
		const size_t row = i / columns, column = i % columns;
		set(&p, (double)row / (double)(grid.axis[0].count - 1), (double)column / (double)(columns - 1));
		const double value = value_at(problem, &p);
		agree += fabs(r.objective[i] - value) <= 1e-10 * value;
		if (variance ? r.objective[i] < r.objective[best] : r.objective[i] > r.objective[best])
			best = i;
	}
	CHECK(agree == points && map_points(&grid) == points, "%s: %zu of %zu values are those of the objective on its own", name, agree, points);
	CHECK(r.best == best, "%s: the best of them is point %zu", name, r.best);
	if (!variance)
		check_explained(problem, &grid, &r, name);
	map_free(&r);
}

/* Each from 0 to 1 along its axis. */
static void set_defocus_and_astigmatism(optics_parameters *p, double a, double b)
{
	p->C_A[C10] = -200 + 400 * a;
	p->C_A[C12b] = -30 + 60 * b;
}

static void set_rotation_and_thickness(optics_parameters *p, double a, double b)
{
	p->rotation_rad = (10 + 20 * a) * RAD;
	p->thickness_A = 100 * b;
}

static void set_tilt_and_sampling(optics_parameters *p, double a, double b)
{
	p->tilt_rad[1] = (-5 + 10 * a) * 1e-3;
	p->log_sampling = log(0.95 + 0.1 * b);
}

static void test_values(const char *folder)
{
	char cases[600], acquisition[600];
	snprintf(cases, sizeof cases, "%s/cases/tilt-thickness", folder);
	snprintf(acquisition, sizeof acquisition, "%s/even", folder);
	fit_problem problem = {.b = &backend_cpu, .e = evidence_vector(acquisition), .memory = 1 << 20,
	                       .held = parameters_vector(json_vector(cases, "case.json"), false)};
	check_values(&problem, "C10=-20nm:20nm:9,C12b=-3nm:3nm:4", set_defocus_and_astigmatism, "defocus and astigmatism");
	check_values(&problem, "rotation=10deg:30deg:3,thickness=0nm:10nm:3", set_rotation_and_thickness, "rotation and thickness");
	check_values(&problem, "tilt_c=-5mrad:5mrad:3,sampling=0.95:1.05:3", set_tilt_and_sampling, "tilt and sampling");
	problem.objective = OBJECTIVE_VARIANCE;
	check_values(&problem, "C10=-20nm:20nm:5,C12b=-3nm:3nm:2", set_defocus_and_astigmatism, "variance");
	map_grid grid;
	map_result r;
	ssb_error err;
	CHECK(map_parse(&grid, "C10=1nm:2nm:1000,C12a=1nm:2nm:1000", &err) && !map_run(&problem, &grid, &r, &err) && err.status == SSB_USAGE &&
	              strstr(err.text, "more than --memory"), "larger than the memory: %s", err.text);
	map_free(&r);
}

int main(void)
{
	test_parse();
	test_values("tests/golden/transfer");
	return test_end();
}
