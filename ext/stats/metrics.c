/*
** F1, precision and recall under a Dirichlet(a,a,a,a) prior on the four cells
** (true and false positives and negatives).
**
** A ratio of sums of Dirichlet cells is a beta: precision = TP/(TP+FP) is
** Beta(tp+a, fp+a), recall likewise.  And F1 = 2 TP / (2 TP + FP + FN) =
** 2B/(1+B) with B = TP/(TP+FP+FN) ~ Beta(tp+a, fp+fn+2a): rising in B, so its
** quantiles are B's.
*/
#include "metrics.h"

#include <assert.h>

#include "proportion.h"

ev_status ev_precision(const double *c, const ev_options *options, ev_host host, ev_interval *ci) {
  double counts[] = {c[0], c[0] + c[1]};
  assert(c[0] >= 0 && c[1] >= 0 && c[0] + c[1] >= 1);
  ev_options prior = {.level = options->level, .a = options->a, .b = options->a};
  return ev_bayes(counts, &prior, host, ci);
}

ev_status ev_recall(const double *c, const ev_options *options, ev_host host, ev_interval *ci) {
  return ev_precision(c, options, host, ci);
}

ev_status ev_f1(const double *c, const ev_options *options, ev_host host, ev_interval *ci) {
  double counts[] = {c[0], c[0] + c[1] + c[2]};
  assert(c[0] >= 0 && c[1] >= 0 && c[2] >= 0 && counts[1] >= 1);
  ev_options prior = {.level = options->level, .a = options->a, .b = 2 * options->a};
  ev_interval b;
  ev_status status = ev_bayes(counts, &prior, host, &b);
  if (status == EV_OK) *ci = (ev_interval){2 * b.lo / (1 + b.lo), 2 * b.hi / (1 + b.hi)};
  return status;
}
