#include "contrast.h"

#include <assert.h>
#include <math.h>

int ev_order_of_models(const double *c) {
  assert(c[0] >= 0 && c[0] <= c[1] && c[1] >= 1);
  assert(c[2] >= 0 && c[2] <= c[3] && c[3] >= 1);
  if (c[1] != c[3]) return c[1] < c[3] ? -1 : 1;
  return c[0] < c[2] ? -1 : c[0] > c[2];
}

ev_beta ev_uniform_posterior(const double *counts) {
  return ev_beta_make(counts[0] + 1, counts[1] - counts[0] + 1);
}

ev_status ev_antisymmetric(const double *c, const ev_options *options, ev_model *model,
                           ev_interval *ci) {
  int which = ev_order_of_models(c);
  assert(options->level > 0 && options->level < 1);
  if (which < 0) return model(c, options, ci);
  double swapped[] = {c[2], c[3], c[0], c[1]};
  ev_interval mirror;
  ev_status status = model(swapped, options, &mirror);
  if (status == EV_OK) *ci = (ev_interval){-mirror.hi, which == 0 ? mirror.hi : -mirror.lo};
  return status;
}

double ev_beta_variance(const ev_beta *d) {
  return d->mean * d->comean / (d->a + d->b + 1);
}

double ev_ln_share_density(const ev_beta *d, ev_point x) {
  if (x.x <= 0) return log(d->b);
  if (x.y <= 0) return log(d->a);
  return ev_beta_ln_logit_density(d, x) - log(x.x * x.y);
}

double ev_ln_powers(const ev_beta *d, ev_point x, double less) {
  double dx = x.x <= x.y ? x.x - d->mean : d->comean - x.y;
  double u = dx / d->mean, v = -dx / d->comean, ln = 0;
  if (d->a > less) ln += (d->a - less) * (fabs(u) < 0.5 ? log1p(u) : log(x.x / d->mean));
  if (d->b > less) ln += (d->b - less) * (fabs(v) < 0.5 ? log1p(v) : log(x.y / d->comean));
  return ln;
}

/* What every search asks for: e^-30, or 1e-13, of the tail that a quantile leaves
** is negligible.  1e-11 of the density is a tenth of what is promised of a bound; but
** with 10^13 questions and more on one side rounding may leave less than that, and
** panels are then spent on it until there is no room: 1e-9 has to do.  Some 50
** evaluations are the rule, 900 were the most seen but for sizes a billionfold apart,
** where one search in a thousand came to the 4,800; before, when they were counted in
** panels of 16, it was 300 of those. */
ev_status ev_contrast_interval(ev_search *search, const ev_options *options,
                               const double *ln_residual, ev_interval *z) {
  static const double tolerances[] = {1e-11, 1e-9};
  ev_status status = EV_NOT_CONVERGED;
  ev_marginal m;
  search->tail = ev_tail(options);
  search->ln_drop = 30 - log(search->tail);
  search->budget = 4800;
  for (int i = 0; i < 2 && status == EV_NOT_CONVERGED; i++) {
    search->tolerance = tolerances[i];
    status = ev_marginal_find(&m, search);
    if (!ev_marginal_negligible(&m, *ln_residual, 1e-8 * search->tail)) status = EV_NOT_CONVERGED;
  }
  return status == EV_OK ? ev_marginal_interval(&m, search->tail, z) : status;
}
