/*
** How many questions settle on which side of a threshold an accuracy is: the sample size
** of the one-sided test of one proportion by the normal approximation (Fleiss, Statistical
** Methods for Rates and Proportions, 2.5),
**
**   n = v ((z_level sqrt(t (1-t)) + z_power sqrt(p (1-p))) / (p - t))^2.
*/
#include <gsl/gsl_cdf.h>

#include "planning.h"

double ev_plan_threshold(double p, double t, double v, double sure, double power) {
  double deviate = gsl_cdf_ugaussian_Pinv(sure), reserve = gsl_cdf_ugaussian_Pinv(power);
  double root = (deviate * sqrt(t * (1 - t)) + reserve * sqrt(p * (1 - p))) / (p - t);
  double n = ceil(v * root * root);
  return n < EV_MOST_QUESTIONS ? fmax(1, n) : HUGE_VAL;
}
