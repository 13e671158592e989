/*
** The distribution of one mean, tabulated between the scores where it is not analytic.
** Between whole weights the density is piecewise a polynomial, and at a score it has as
** many derivatives as all others weigh, less two: where that is few, the score is kept
** between panels.  Panels are parted until their series have converged.
*/
#include "mean_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "chebyshev.h"

/* The errors of a curve's logarithm by its series: the wanted one, and the one that is accepted if
** neither half of the panel is better, because it is rounding. */
static const double TABLE_TOLERANCE = 1e-12, TABLE_ROUNDING = 1e-6;

/* The farthest that the table's ends are: where a tail falls off so slowly, it goes on as a
** power does, and squares do not yet underflow. */
static const double TABLE_END = 320;

/* Others' weight below which the density is not smooth at a score. */
static const double TABLE_SMOOTH = 16;

/* The width, in the mean's standard deviations, at which a panel is too narrow to matter: the mass
** in it is as small, and the logarithm of the density varies as little.  Where others weigh less
** than 2, the density may have no bound at a score, and panels become narrower. */
static const double TABLE_NARROW = 1e-7, TABLE_NARROWEST = 1e-9;

/* At a score beside which the others weigh at most 1 the density is unbounded, and not computable
** too close to it: the nearest value is taken. */
static void extend_density(double *ln_density) {
  for (int i = EV_TABLE_DEGREE / 2; i < EV_TABLE_DEGREE; i++)
    if (isnan(ln_density[i + 1])) ln_density[i + 1] = ln_density[i];
  for (int i = EV_TABLE_DEGREE / 2; i > 0; i--)
    if (isnan(ln_density[i - 1])) ln_density[i - 1] = ln_density[i];
}

/* The series of a panel, and their errors: the size of their last two terms.  The density is only
** integrated, and its error counts by the width of the panel, as many times as there are terms,
** since that is what a series beside a kink leaves out. */
static ev_status make_panel(ev_mean_table *table, double from, double to, ev_mean_panel *panel) {
  double values[EV_TABLE_CURVES][EV_TABLE_DEGREE + 1];
  *panel = (ev_mean_panel){.from = from, .to = to};
  for (int i = 0; i <= EV_TABLE_DEGREE; i++) {
    ev_dirichlet_value v;
    double x = ev_chebyshev_extremum(i, EV_TABLE_DEGREE);
    ev_point at = ev_at_logit((from + to) / 2 + (to - from) / 2 * x);
    ev_status status = ev_dirichlet_at(&table->d, at, &v);
    if (status != EV_OK) return status;
    /* With a total weight of 1 there is no integral for the density; it is not needed then. */
    values[EV_MEAN_DENSITY][i] = table->d.weight > 1 ? v.ln_density : 0;
    values[EV_MEAN_BELOW][i] = v.ln_below;
    values[EV_MEAN_ABOVE][i] = v.ln_above;
  }
  extend_density(values[EV_MEAN_DENSITY]);
  for (int curve = 0; curve < EV_TABLE_CURVES; curve++) {
    double *c = panel->series[curve];
    ev_chebyshev_from_extrema(EV_TABLE_DEGREE, values[curve], c);
    double rest = fabs(c[EV_TABLE_DEGREE]) + fabs(c[EV_TABLE_DEGREE - 1]);
    if (isnan(rest)) return EV_NOT_CONVERGED;
    if (curve == EV_MEAN_DENSITY) rest *= fmin(1, EV_TABLE_DEGREE * (to - from) / table->d.spread);
    panel->left_out = fmax(panel->left_out, rest);
  }
  return EV_OK;
}

/* What the other scores weigh at the ends of a panel, if those are scores at which the density is
** not smooth. */
typedef struct panel_ends {
  double low, high;
} panel_ends;

/* Where a panel is parted: at the middle, but nearer to an end at which the density is not smooth.
** The series of a panel from x to 5x, measured from there, converges to 4e-14.  No part is shorter
** than half the width at which a panel is too narrow to matter. */
static const double TABLE_NEARER = 0.2;

static double part_at(const ev_mean_table *table, const ev_mean_panel *panel, panel_ends ends) {
  double width = panel->to - panel->from, nearer = fmax(TABLE_NEARER * width, table->narrow / 2);
  if (ends.low < TABLE_SMOOTH && !(ends.high < TABLE_SMOOTH)) return panel->from + nearer;
  if (ends.high < TABLE_SMOOTH && !(ends.low < TABLE_SMOOTH)) return panel->to - nearer;
  return (panel->from + panel->to) / 2;
}

/* Adds a panel, or its parts if they are better, in rising order. */
static ev_status add_panel_or_parts(ev_mean_table *table, const ev_mean_panel *panel,
                                    panel_ends ends) {
  double rest = panel->left_out, at = part_at(table, panel, ends);
  bool enough = rest <= TABLE_TOLERANCE || panel->to - panel->from <= table->narrow;
  panel_ends of_low = {ends.low, HUGE_VAL}, of_high = {HUGE_VAL, ends.high};
  ev_mean_panel low, high;
  if (!enough) {
    ev_status status = make_panel(table, panel->from, at, &low);
    if (status == EV_OK) status = make_panel(table, at, panel->to, &high);
    if (status != EV_OK) return status;
    enough = rest < TABLE_ROUNDING && fmin(low.left_out, high.left_out) > rest / 4;
  }
  if (!enough) {
    ev_status status = add_panel_or_parts(table, &low, of_low);
    return status == EV_OK ? add_panel_or_parts(table, &high, of_high) : status;
  }
  if (table->count == EV_TABLE_PANELS) return EV_NOT_CONVERGED;
  table->panels[table->count++] = *panel;
  return EV_OK;
}

/* How far a table has come: a logit, and what the others weigh there, if it is at a score. */
typedef struct table_place {
  double logit, others;
} table_place;

/* Adds panels from a place, which moves on, to another, while there is room. */
static ev_status add_panels_to(ev_mean_table *table, table_place to, double end,
                               table_place *from) {
  if (!(to.logit > from->logit && to.logit <= end)) return EV_OK;
  ev_mean_panel panel;
  panel_ends ends = {from->others, to.others};
  ev_status status = make_panel(table, from->logit, to.logit, &panel);
  *from = to;
  return status == EV_OK ? add_panel_or_parts(table, &panel, ends) : status;
}

/* An end of the table, by its logit. */
static ev_status table_end(ev_dirichlet *d, double cut, bool upper, double *logit) {
  ev_dirichlet_value v;
  ev_point m;
  *logit = upper ? TABLE_END : -TABLE_END;
  ev_status status = ev_dirichlet_at(d, ev_at_logit(*logit), &v);
  if (status != EV_OK || (upper ? v.ln_above : v.ln_below) > log(cut)) return status;
  status = upper ? ev_dirichlet_upper(d, cut, &m) : ev_dirichlet_lower(d, cut, &m);
  *logit = log(m.x) - log(m.y);
  return status;
}

static double logit_of_atom(const ev_atom *atom) {
  return log(atom->above) - log(atom->below);
}

/* Panels between the ends and the scores where the density is not smooth, which come
** in rising order. */
static ev_status fill_table(ev_mean_table *table, const ev_atoms *atoms, double cut) {
  table_place from = {0, HUGE_VAL};
  double end = TABLE_END;
  ev_status status = table_end(&table->d, cut, false, &from.logit);
  if (status == EV_OK) status = table_end(&table->d, cut, true, &end);
  double heaviest = 0;
  for (size_t i = 0; i < atoms->count; i++) heaviest = fmax(heaviest, atoms->list[i].weight);
  table->narrow =
      table->d.spread * (table->d.weight - heaviest < 2 ? TABLE_NARROWEST : TABLE_NARROW);
  for (size_t i = 0; i < atoms->count && status == EV_OK; i++) {
    double others = table->d.weight - atoms->list[i].weight;
    table_place score = {logit_of_atom(&atoms->list[i]), others};
    if (others < TABLE_SMOOTH) status = add_panels_to(table, score, end, &from);
  }
  return status == EV_OK ? add_panels_to(table, (table_place){end, HUGE_VAL}, end, &from) : status;
}

/* The distance of one atom above another, from the side that keeps its digits. */
static double atoms_apart(const ev_atom *low, const ev_atom *high) {
  return high->above < high->below ? high->above - low->above : low->below - high->below;
}

/* The atoms between the lowest and the highest of them. */
static ev_status stretch_atoms(const ev_atoms *atoms, ev_atoms *stretched) {
  ev_status status = ev_atoms_with(atoms, NULL, 0, stretched);
  for (size_t i = 0; i < atoms->count && status == EV_OK; i++)
    stretched->list[i] = (ev_atom){atoms_apart(&atoms->list[0], &atoms->list[i]),
                                   atoms_apart(&atoms->list[i], &atoms->list[atoms->count - 1]),
                                   atoms->list[i].weight};
  return status;
}

/* Below this, EV_MERGE_MORE is not accurate enough. */
static const double TABLE_DEEP = 1e-40;

ev_status ev_mean_table_make(const ev_atoms *atoms, double cut, ev_host host, ev_mean_table **out) {
  ev_mean_table *table = calloc(1, sizeof *table);
  *out = table;
  if (!table) return EV_NO_MEMORY;
  const ev_atom *first = &atoms->list[0], *last = &atoms->list[atoms->count - 1];
  double size = first->above + first->below;
  table->least = (ev_point){first->above / size, first->below / size};
  table->most = (ev_point){last->above / size, last->below / size};
  table->width = atoms_apart(first, last) / size;
  ev_atoms own;
  ev_status status = stretch_atoms(atoms, &own);
  ev_merging merging = cut < TABLE_DEEP ? EV_MERGE_MANY : EV_MERGE_MORE;
  if (status == EV_OK) status = ev_dirichlet_make(&table->d, own.list, own.count, merging, host);
  if (status == EV_OK) status = fill_table(table, &own, cut);
  ev_atoms_free(&own);
  return status;
}

void ev_mean_table_free(ev_mean_table *table) {
  if (table) ev_dirichlet_free(&table->d);
  free(table);
}

static const ev_mean_panel *panel_with(const ev_mean_table *table, double logit) {
  int low = 0, high = table->count - 1;
  while (low < high) {
    int mid = (low + high) / 2;
    if (logit <= table->panels[mid].to)
      high = mid;
    else
      low = mid + 1;
  }
  return &table->panels[low];
}

/* The slope of a series at an end, -1 or 1. */
static double end_slope(const double *series, double end) {
  double slope = 0;
  for (int k = 1; k <= EV_TABLE_DEGREE; k++)
    slope += series[k] * k * k * (end < 0 && k % 2 == 0 ? -1 : 1);
  return slope;
}

double ev_mean_curve_at(const ev_mean_table *table, ev_mean_curve curve, double logit) {
  const ev_mean_panel *panel = panel_with(table, logit);
  double x = (2 * logit - panel->from - panel->to) / (panel->to - panel->from);
  double inside = fmax(-1, fmin(1, x));
  double ln = ev_chebyshev_at(panel->series[curve], EV_TABLE_DEGREE, inside);
  return x == inside ? ln : ln + end_slope(panel->series[curve], inside) * (x - inside);
}
