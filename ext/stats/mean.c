/*
** The mean of graded scores: rows, weighted rows or clusters of rows become the atoms
** of a Dirichlet, with imagined ones at the ends of the range.
**
**                          atoms                   imagined, and their weight
**     ev_mean              score, size 1           both ends, size 1            1
**     ev_mean_lmt          score, size 1           one end: the bound's own     1
**     ev_weighted_mean     score, size weight      both ends, the mean weight   1
**     ev_clustered_mean    total, size questions   both ends, the mean size     1
**     differences          likewise                likewise                     1/2
**
** On scores at the ends alone ev_mean is Beta(1 + k, 1 + n - k), and ev_mean_lmt the
** interval of Clopper and Pearson: they are asked, so that not a bit differs.
**
** References:
**   Rubin, Ann. Statist. 9 (1981) 130-134: the Bayesian bootstrap, which this is with
**     a prior that keeps it from collapsing.
**   Learned-Miller and Thomas, arXiv:1905.06208 (2019), and Gaffke (2005): the bound.
*/
#include "mean.h"

#include <math.h>

#include "atoms.h"
#include "dirichlet.h"
#include "normal.h"
#include "proportion.h"

/* Bounds at two means of the range, in order, and apart. */
static ev_interval range_interval(const ev_score_range *range, ev_point low, ev_point high) {
  double lo = ev_range_value(range, low), hi = ev_range_value(range, high);
  ev_interval ci = {fmin(lo, hi), fmax(lo, hi)};
  if (ci.lo < ci.hi) return ci;
  return (ev_interval){fmax(nextafter(ci.lo, -HUGE_VAL), ldexp(range->lo, range->exponent)),
                       fmin(nextafter(ci.hi, HUGE_VAL), ldexp(range->hi, range->exponent))};
}

/* The mean with the mass of a tail below it, or above it. */
static ev_status atoms_bound(const ev_atoms *atoms, const ev_options *options, bool upper,
                             ev_host host, ev_point *m) {
  ev_dirichlet d;
  ev_status status = ev_dirichlet_make(&d, atoms->list, atoms->count, EV_MERGE_MANY, host);
  if (status != EV_OK) return status;
  double mass = ev_tail(options);
  status = upper ? ev_dirichlet_upper(&d, mass, m) : ev_dirichlet_lower(&d, mass, m);
  ev_dirichlet_free(&d);
  return status;
}

static ev_status atoms_interval(const ev_atoms *atoms, const ev_options *options, ev_host host,
                                ev_point *low, ev_point *high) {
  ev_dirichlet d;
  ev_status status = ev_dirichlet_make(&d, atoms->list, atoms->count, EV_MERGE_MANY, host);
  if (status != EV_OK) return status;
  double mass = ev_tail(options);
  status = ev_dirichlet_lower(&d, mass, low);
  if (status == EV_OK) status = ev_dirichlet_upper(&d, mass, high);
  ev_dirichlet_free(&d);
  return status;
}

/*
** One model
*/

/* Whether every score is an end of the range; then how many are the upper, and of how
** many. */
static bool only_ends(const ev_atoms *atoms, double counts[2]) {
  counts[0] = counts[1] = 0;
  for (size_t i = 0; i < atoms->count; i++) {
    const ev_atom *atom = &atoms->list[i];
    if (atom->above > 0 && atom->below > 0) return false;
    if (atom->above > 0) counts[0] += atom->weight;
    counts[1] += atom->weight;
  }
  return true;
}

/* The interval of a proportion, as one of the range. */
static ev_status proportion_interval(ev_model *model, const double counts[2],
                                     const ev_options *options, const ev_score_range *range,
                                     ev_interval *ci) {
  ev_options uniform = {.level = options->level, .a = 1, .b = 1};
  ev_interval share;
  ev_status status = model(counts, &uniform, &share);
  if (status != EV_OK) return status;
  *ci = (ev_interval){ev_range_value(range, (ev_point){share.lo, 1 - share.lo}),
                      ev_range_value(range, (ev_point){share.hi, 1 - share.hi})};
  return EV_OK;
}

ev_status ev_mean(const ev_score *scores, size_t count, const ev_options *options, ev_host host,
                  ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(scores, count, &range, &atoms);
  double counts[2];
  ev_point low, high;
  if (status == EV_OK && only_ends(&atoms, counts)) {
    status = proportion_interval(ev_bayes, counts, options, &range, ci);
  } else if (status == EV_OK) {
    ev_imagine(&atoms, range.hi - range.lo, 1, EV_AT_BOTH);
    status = atoms_interval(&atoms, options, host, &low, &high);
    if (status == EV_OK) *ci = range_interval(&range, low, high);
  }
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_mean_lmt(const ev_score *scores, size_t count, const ev_options *options, ev_host host,
                      ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(scores, count, &range, &atoms);
  double counts[2];
  ev_point low, high;
  if (status == EV_OK && only_ends(&atoms, counts)) {
    status = proportion_interval(ev_cp, counts, options, &range, ci);
  } else if (status == EV_OK) {
    ev_imagine(&atoms, range.hi - range.lo, 1, EV_AT_HI);
    status = atoms_bound(&atoms, options, true, host, &high);
    atoms.count--;
    ev_imagine(&atoms, range.hi - range.lo, 1, EV_AT_LO);
    if (status == EV_OK) status = atoms_bound(&atoms, options, false, host, &low);
    if (status == EV_OK) *ci = range_interval(&range, low, high);
  }
  ev_atoms_free(&atoms);
  return status;
}

/* Of atoms that differ in size. */
static ev_status sized_interval(ev_atoms *atoms, const ev_score_range *range,
                                const ev_options *options, ev_host host, ev_interval *ci) {
  ev_point low, high;
  ev_imagine(atoms, ev_mean_size(atoms), 1, EV_AT_BOTH);
  ev_status status = atoms_interval(atoms, options, host, &low, &high);
  if (status == EV_OK) *ci = range_interval(range, low, high);
  return status;
}

ev_status ev_weighted_mean(const ev_weighted_score *scores, size_t count, const ev_options *options,
                           ev_host host, ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_weighted(scores, count, &range, &atoms);
  if (status == EV_OK) status = sized_interval(&atoms, &range, options, host, ci);
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_clustered_mean(const ev_score_cluster *clusters, size_t count,
                            const ev_options *options, ev_host host, ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_clusters(clusters, count, &range, &atoms);
  if (status == EV_OK) status = sized_interval(&atoms, &range, options, host, ci);
  ev_atoms_free(&atoms);
  return status;
}

/*
** For comparison
*/

/* A sum kept with what its roundings lost. */
typedef struct exact_sum {
  double sum, lost;
} exact_sum;

/* Neumaier's, of a product. */
static void add_product(exact_sum *s, double a, double b) {
  double product = a * b, next = s->sum + product;
  s->lost += fabs(s->sum) >= fabs(product) ? (s->sum - next) + product : (product - next) + s->sum;
  s->lost += fma(a, b, -product);
  s->sum = next;
}

static double summed(const exact_sum *s) {
  return s->sum + s->lost;
}

/* Of atoms' distances above the range's lower end. */
typedef struct sample_moments {
  double n, mean, variance;
} sample_moments;

static sample_moments moments_of(const ev_atoms *atoms) {
  exact_sum total = {0, 0}, deviation = {0, 0}, square = {0, 0};
  sample_moments m = {0, 0, 0};
  for (size_t i = 0; i < atoms->count; i++) {
    add_product(&total, atoms->list[i].weight, atoms->list[i].above);
    m.n += atoms->list[i].weight;
  }
  m.mean = summed(&total) / m.n;
  for (size_t i = 0; i < atoms->count; i++) {
    double off = atoms->list[i].above - m.mean;
    add_product(&deviation, atoms->list[i].weight, off);
    add_product(&square, atoms->list[i].weight * off, off);
  }
  double rest = summed(&deviation);
  m.mean += rest / m.n;
  m.variance = (summed(&square) - rest * rest / m.n) / (m.n - 1);
  return m;
}

/* The range is that of the scores, and serves to scale, to sort and to merge them. */
ev_status ev_mean_clt(const ev_score *scores, size_t count, const ev_options *options, ev_host host,
                      ev_interval *ci) {
  (void)host;
  double least = scores[0].score, most = scores[0].score;
  for (size_t i = 1; i < count; i++) {
    least = fmin(least, scores[i].score);
    most = fmax(most, scores[i].score);
  }
  *ci = (ev_interval){least, most};
  if (least == most) return EV_OK;
  ev_score_range range = ev_range_of(least, most);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(scores, count, &range, &atoms);
  if (status == EV_OK) {
    sample_moments m = moments_of(&atoms);
    double half = ev_deviate(options) * sqrt(m.variance / m.n);
    *ci = ev_plus_minus(ldexp(range.lo + m.mean, range.exponent), ldexp(half, range.exponent));
  }
  ev_atoms_free(&atoms);
  return status;
}

/*
** Two models, the same questions
*/

/* The range of a difference. */
static ev_score_range diff_range(const ev_options *options) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  double width = range.hi - range.lo;
  return (ev_score_range){-width, width, range.exponent};
}

/* Differences as they are, or with their signs changed, whichever is the first of the
** two in an order that knows nothing of signs: so that both give the same digits. */
static ev_status orient_diffs(ev_atoms *atoms, int tie, bool *mirrored, bool *symmetric) {
  ev_atoms mirror;
  ev_status status = ev_atoms_mirror(atoms, &mirror);
  if (status != EV_OK) return status;
  int order = ev_atoms_compare(atoms, &mirror);
  *symmetric = order == 0 && tie == 0;
  *mirrored = order != 0 ? order > 0 : tie > 0;
  if (*mirrored) {
    ev_atoms plain = *atoms;
    *atoms = mirror, mirror = plain;
  }
  ev_atoms_free(&mirror);
  return EV_OK;
}

/* Rows have one size exactly; of clusters it is the mean, in the order that was chosen. */
static void imagine_diffs(ev_atoms *atoms, const ev_score_range *range, bool rows) {
  ev_imagine(atoms, rows ? range->hi - range->lo : ev_mean_size(atoms), 0.5, EV_AT_BOTH);
}

static ev_status diff_interval(ev_atoms *atoms, bool rows, const ev_options *options, ev_host host,
                               ev_interval *ci) {
  bool mirrored, symmetric;
  ev_status status = orient_diffs(atoms, 0, &mirrored, &symmetric);
  if (status != EV_OK) return status;
  ev_score_range range = diff_range(options);
  ev_point low, high;
  imagine_diffs(atoms, &range, rows);
  status = atoms_interval(atoms, options, host, &low, &high);
  if (status != EV_OK) return status;
  if (symmetric) low = (ev_point){high.y, high.x};
  *ci = range_interval(&range, low, high);
  if (mirrored) *ci = (ev_interval){-ci->hi, -ci->lo};
  return EV_OK;
}

/* P(above), exactly 1 minus what the mirrored question gives where that costs nothing. */
static double upper_share(const ev_dirichlet_value *value, bool mirrored) {
  bool upper = value->ln_above < value->ln_below;
  double smaller = ev_with_exact_complement(exp(upper ? value->ln_above : value->ln_below));
  return upper != mirrored ? smaller : 1 - smaller;
}

static ev_status diff_probability(ev_atoms *atoms, bool rows, const ev_options *options,
                                  ev_host host, double *p) {
  ev_score_range range = diff_range(options);
  double margin = ldexp(options->margin, -range.exponent), width = 2 * range.hi;
  ev_point m = {(margin - range.lo) / width, (range.hi - margin) / width};
  if (m.x <= 0 || m.y <= 0) {
    *p = m.x <= 0 ? 1 : 0;
    return EV_OK;
  }
  bool mirrored, symmetric;
  ev_status status = orient_diffs(atoms, (m.x > m.y) - (m.x < m.y), &mirrored, &symmetric);
  if (status != EV_OK) return status;
  if (symmetric) {
    *p = 0.5;
    return EV_OK;
  }
  if (mirrored) m = (ev_point){m.y, m.x};
  imagine_diffs(atoms, &range, rows);
  ev_dirichlet d;
  ev_dirichlet_value value;
  status = ev_dirichlet_make(&d, atoms->list, atoms->count, EV_MERGE_MANY, host);
  if (status != EV_OK) return status;
  status = ev_dirichlet_at(&d, m, &value);
  ev_dirichlet_free(&d);
  if (status == EV_OK) *p = upper_share(&value, mirrored);
  return status;
}

ev_status ev_paired_mean_diff(const ev_score *diffs, size_t count, const ev_options *options,
                              ev_host host, ev_interval *ci) {
  ev_score_range range = diff_range(options);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(diffs, count, &range, &atoms);
  if (status == EV_OK) status = diff_interval(&atoms, true, options, host, ci);
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_clustered_mean_diff(const ev_score_cluster *diffs, size_t count,
                                 const ev_options *options, ev_host host, ev_interval *ci) {
  ev_score_range range = diff_range(options);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_clusters(diffs, count, &range, &atoms);
  if (status == EV_OK) status = diff_interval(&atoms, false, options, host, ci);
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_paired_mean_prob_better(const ev_score *diffs, size_t count, const ev_options *options,
                                     ev_host host, double *p) {
  ev_score_range range = diff_range(options);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(diffs, count, &range, &atoms);
  if (status == EV_OK) status = diff_probability(&atoms, true, options, host, p);
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_clustered_mean_prob_better(const ev_score_cluster *diffs, size_t count,
                                        const ev_options *options, ev_host host, double *p) {
  ev_score_range range = diff_range(options);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_clusters(diffs, count, &range, &atoms);
  if (status == EV_OK) status = diff_probability(&atoms, false, options, host, p);
  ev_atoms_free(&atoms);
  return status;
}
