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
