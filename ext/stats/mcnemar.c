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

#include <gsl/gsl_integration.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>

#include "beta.h"

/* ln P(X = m) for X ~ Bin(m + other, 1/2), by Loader's deviance from the peak.  It uses the
** difference of the counts, which is exact even if their shares of 2^53 differ by less than a
** digit. */
static double ln_half_binomial(double m, double other) {
  double n = m + other;
  double u = (other - m) / n;
  double deviance = n / 2 * (log1p(-u * u) + u * (log1p(u) - log1p(-u)));
  double stirling = gsl_sf_gammastar(n) / gsl_sf_gammastar(m) / gsl_sf_gammastar(other);
  return log(stirling) + 0.5 * (log(n / other) - log(2 * M_PI * m)) - deviance;
}

/* P(X < m) is the upper tail of Beta(m, N-m+1) at 1/2, and P(X = m) is 2/m of the density
** of the logit there: their ratio is m times the integral, over v from 0 to 1/2, of the
** density at 1/2 + v to that at 1/2. */
typedef struct outward {
  double fewer, apart;
} outward;

/* (m-1) ln(1+2v) + (N-m) ln(1-2v), in the form that does not cancel. */
static double density_outward(double v, void *context) {
  const outward *o = context;
  return exp((o->fewer - 1) * log1p(-4 * v * v) + (o->apart + 1) * log1p(-2 * v));
}

/* With this many pairs the density is nearly normal from 1/2 on, and 41 Gauss-Kronrod nodes give 15
** digits.  With 4 * 10^15 pairs beta.c, which does not know that 1/2 is exact, would be off by
** 4e-10.  With fewer than a quarter of them one way, p is below 1e-300. */
static const double MANY_PAIRS = 6000;

static double ratio_below(double fewer, double more) {
  if (fewer + more < MANY_PAIRS || fewer < MANY_PAIRS / 4) {
    ev_beta d = ev_beta_make(fewer, more + 1);
    ev_point half = {0.5, 0.5};
    return fewer / 2 * exp(ev_beta_ln_cdf(&d, half).y - ev_beta_ln_logit_density(&d, half));
  }
  outward o = {fewer, more - fewer};
  gsl_function f = {density_outward, &o};
  double sd = 0.5 / sqrt(fewer + more), z = (more - fewer) / sqrt(fewer + more);
  /* e^-45 of where it begins */
  double range = fmin(0.5, sd * 90 / (sqrt(z * z + 90) + z));
  double area, err, resabs, resasc;
  gsl_integration_qk41(&f, 0, range, &area, &err, &resabs, &resasc);
  return 2 * fewer * area;
}

double ev_mid_p(double fewer, double more) {
  assert(fewer >= 0 && fewer <= more);
  if (fewer == more) return 1;
  if (fewer == 0) return ldexp(1, -(int)fmin(more, 2000)); /* from 1,075 on it is 0 */
  double at = exp(ln_half_binomial(fewer, more));
  if (at == 0) return 0;
  return fmin(1, at * (1 + 2 * ratio_below(fewer, more)));
}

ev_status ev_mcnemar_p(const double *counts, const ev_options *options, ev_host host, double *p) {
  (void)host;
  (void)options;
  *p = ev_mid_p(fmin(counts[0], counts[1]), fmax(counts[0], counts[1]));
  return isnan(*p) ? EV_NOT_CONVERGED : EV_OK;
}
