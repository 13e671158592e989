/*
** McNemar's test, mid-p.
**
** Of the N = only_a + only_b pairs that tell the models apart, X ~ Bin(N, 1/2) favour
** either when there is no difference.  With m the smaller count, the mid-p is
** 2 P(X < m) + P(X = m): the exact test's p less the chance of what was seen, half of
** it on either side (Lancaster 1961; Fagerland, Lydersen and Laake, BMC Med. Res.
** Methodol. 13 (2013) 91, who find that it holds its level and wastes little).
*/
#include "mcnemar.h"

#include <assert.h>
#include <math.h>

#include "beta.h"

/* P(X < m) is the upper tail of Beta(m, N-m+1) at 1/2, and P(X = m) is 2/m of the density of the
** logit there. */
double ev_mid_p(double fewer, double more) {
  assert(fewer >= 0 && fewer <= more);
  if (fewer == more) return 1;
  if (fewer == 0) return ldexp(1, -(int)fmin(more, 2000)); /* from 1,075 on it is 0 */
  ev_beta d = ev_beta_make(fewer, more + 1);
  ev_point half = {0.5, 0.5};
  double below = exp(ev_beta_ln_cdf(&d, half).y);
  return fmin(1, 2 * below + 2 / fewer * exp(ev_beta_ln_logit_density(&d, half)));
}

ev_status ev_mcnemar_p(const double *counts, const ev_options *options, ev_host host, double *p) {
  (void)host;
  (void)options;
  *p = ev_mid_p(fmin(counts[0], counts[1]), fmax(counts[0], counts[1]));
  return isnan(*p) ? EV_NOT_CONVERGED : EV_OK;
}
