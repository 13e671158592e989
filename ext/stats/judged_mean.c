/*
** The true mean behind the scores of a judge, by prediction-powered inference (Angelopoulos,
** Bates, Fannjiang, Jordan and Zrnic, Science 2023; the coefficient c: Angelopoulos, Duchi and
** Zrnic, "PPI++", 2023) with Dirichlet weights for normal approximations.
**
**   1. Scores are shares of the range: f the judge's, y the person's.  There are n answers
**      with both, and N with f alone.
**   2. theta = c F - R: F is the mean of f over the N, R the mean of c f - y over the n, which
**      corrects it.  The weights of each mean are Dirichlet, independent of the other's.  Half
**      an imagined row lies at either end of what is possible, 0 and 1 for F, -1 and c for R.
**   3. c = cov(f, y) / (var(f) (1 + n/N)), at least 0 and at most 1, makes the variance least.
**      A judge that says nothing has c = 0, which leaves the labels alone; so have N = 0, and
**      n = 1, which gives no covariance.  Where the labelled f are all alike, or n = 0, c = 1.
**   4. The bounds are quantiles of theta, cut to [0, 1]: those of the difference of two
**      tabulated means (mean_diff.c), here c F and R as shares of [-1, c].
**
** Of the scores and their mirror images, 1 - f and 1 - y, the first in order are taken, so that
** mirrored scores have mirrored bounds to the last digit.
*/
#include <stdlib.h>

#include "imagined.h"
#include "judged.h"
#include "mean_diff.h"

/* The answers, as shares of the range, in order: the labelled ones first. */
typedef struct judged_rows {
  ev_judged_score *rows; /* owned */
  size_t count, labelled;
  double n, unlabelled;
} judged_rows;

/* Rows without a label come last.  Where isnan() is true it is any number but 0. */
static int compare_rows(const void *left, const void *right) {
  const ev_judged_score *a = left, *b = right;
  int order = !isnan(b->truth) - !isnan(a->truth);
  if (order == 0) order = ev_compare_numbers(a->judge, b->judge);
  return order ? order : ev_compare_numbers(a->truth, b->truth);
}

static double share(double score, const ev_score_range *range, bool mirrored) {
  double scaled = ldexp(score, -range->exponent);
  return (mirrored ? range->hi - scaled : scaled - range->lo) / (range->hi - range->lo);
}

static ev_status make_rows(const ev_judged_score *scores, size_t count, const ev_score_range *range,
                           bool mirrored, judged_rows *all) {
  *all = (judged_rows){.rows = malloc(count * sizeof *all->rows), .count = count};
  if (!all->rows) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    all->rows[i] = (ev_judged_score){share(scores[i].judge, range, mirrored),
                                     share(scores[i].truth, range, mirrored), scores[i].times};
    bool labelled = !isnan(scores[i].truth);
    all->labelled += labelled;
    *(labelled ? &all->n : &all->unlabelled) += scores[i].times;
  }
  qsort(all->rows, count, sizeof *all->rows, compare_rows);
  return EV_OK;
}

/* Step 3. */
static double best_coefficient(const judged_rows *all) {
  double f = 0, y = 0, covariance = 0, variance = 0;
  if (all->unlabelled == 0 || all->n == 1) return 0;
  if (all->n == 0 || all->rows[0].judge == all->rows[all->labelled - 1].judge) return 1;
  for (size_t i = 0; i < all->labelled; i++) {
    f += all->rows[i].times / all->n * all->rows[i].judge;
    y += all->rows[i].times / all->n * all->rows[i].truth;
  }
  for (size_t i = 0; i < all->labelled; i++) {
    double apart = all->rows[i].judge - f;
    covariance += all->rows[i].times * apart * (all->rows[i].truth - y);
    variance += all->rows[i].times * apart * apart;
  }
  double c = covariance / (variance * (1 + all->n / all->unlabelled));
  return fmax(0, fmin(c, 1));
}

/* The mean of c f over the unlabelled, or of c f - y over the labelled, with imagined ends. */
static ev_status list_atoms(const judged_rows *all, double c, bool labelled, ev_atoms *atoms) {
  const ev_judged_score *row = all->rows + (labelled ? 0 : all->labelled);
  size_t count = labelled ? all->labelled : all->count - all->labelled;
  ev_score_range range = {-1, c, 0};
  ev_score *scores = malloc((count + 2) * sizeof *scores);
  *atoms = (ev_atoms){0};
  if (!scores) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++)
    scores[i] = (ev_score){c * row[i].judge - (labelled ? row[i].truth : 0), row[i].times};
  scores[count] = (ev_score){labelled ? -1 : 0, 0.5};
  scores[count + 1] = (ev_score){c, 0.5};
  ev_status status = ev_atoms_of_scores(scores, count + 2, &range, atoms);
  free(scores);
  return status;
}

/* The mass beyond a table's ends, as a share of the tail that is sought. */
static const double JUDGED_CUT = 1e-13;

static ev_status tabulate_judged(const judged_rows *all, double c, bool labelled, double tail,
                                 ev_host host, ev_mean_table **table) {
  ev_atoms atoms;
  ev_status status = list_atoms(all, c, labelled, &atoms);
  if (status == EV_OK) status = ev_mean_table_make(&atoms, tail * JUDGED_CUT, host, table);
  ev_atoms_free(&atoms);
  return status;
}

/* The bounds of theta by steps 2 and 4, as shares of [0, 1]. */
static ev_status find_judged_bounds(const judged_rows *all, double c, double tail, ev_host host,
                                    ev_point bounds[2]) {
  ev_mean_table *judge = NULL, *error = NULL;
  ev_status status = tabulate_judged(all, c, false, tail, host, &judge);
  if (status == EV_OK) status = tabulate_judged(all, c, true, tail, host, &error);
  for (int upper = 0; upper < 2 && status == EV_OK; upper++) {
    double delta = 0;
    status = ev_table_diff_quantile(judge, error, tail, upper, host, &delta);
    delta = fmax(0, fmin(delta * (1 + c), 1));
    bounds[upper] = (ev_point){delta, 1 - delta};
  }
  ev_mean_table_free(judge);
  ev_mean_table_free(error);
  return status;
}

static ev_point mirror(ev_point p) {
  return (ev_point){p.y, p.x};
}

/* The same with c = 0: R, as a share of [-1, 0], is what the mean of y leaves of 1. */
static ev_status find_bounds_by_labels(const judged_rows *all, double tail, ev_host host,
                                       ev_point bounds[2]) {
  ev_dirichlet d = {0};
  ev_atoms atoms;
  ev_status status = list_atoms(all, 0, true, &atoms);
  if (status == EV_OK) status = ev_dirichlet_make(&d, atoms.list, atoms.count, EV_MERGE_MANY, host);
  if (status == EV_OK) status = ev_dirichlet_upper(&d, tail, &bounds[0]);
  if (status == EV_OK) status = ev_dirichlet_lower(&d, tail, &bounds[1]);
  for (int i = 0; i < 2; i++) bounds[i] = mirror(bounds[i]);
  ev_dirichlet_free(&d);
  ev_atoms_free(&atoms);
  return status;
}

static int compare_problems(const judged_rows *a, const judged_rows *b) {
  int order = 0;
  for (size_t i = 0; i < a->count && order == 0; i++) {
    order = compare_rows(&a->rows[i], &b->rows[i]);
    if (order == 0) order = ev_compare_numbers(a->rows[i].times, b->rows[i].times);
  }
  return order;
}

/* As shares of the range. */
static ev_status find_judged_shares(const judged_rows *all, const judged_rows *mirrored,
                                    double tail, ev_host host, ev_point bounds[2]) {
  int order = compare_problems(all, mirrored);
  const judged_rows *first = order <= 0 ? all : mirrored;
  double c = best_coefficient(first);
  ev_status status = c > 0 ? find_judged_bounds(first, c, tail, host, bounds)
                           : find_bounds_by_labels(first, tail, host, bounds);
  ev_point low = order <= 0 ? bounds[0] : mirror(bounds[1]);
  ev_point high = order <= 0 ? bounds[1] : mirror(bounds[0]);
  bounds[0] = order == 0 ? mirror(high) : low;
  bounds[1] = high;
  return status;
}

ev_status ev_judged_mean(const ev_judged_score *scores, size_t count, const ev_options *options,
                         ev_host host, ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  judged_rows all = {0}, mirrored = {0};
  ev_point bounds[2] = {{0}};
  ev_status status = make_rows(scores, count, &range, false, &all);
  if (status == EV_OK) status = make_rows(scores, count, &range, true, &mirrored);
  if (status == EV_OK) status = find_judged_shares(&all, &mirrored, ev_tail(options), host, bounds);
  if (status == EV_OK) *ci = ev_range_interval(&range, bounds[0], bounds[1]);
  free(all.rows);
  free(mirrored.rows);
  return status;
}
