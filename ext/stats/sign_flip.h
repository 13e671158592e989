/*
** The sign-flip test: whether two models that answered the same questions differ, by the
** differences of their scores.  Used by the SQL surface and the tests; knows nothing of SQL.
*/
#ifndef EV_SIGN_FLIP_H
#define EV_SIGN_FLIP_H

#include "mean.h"

/* The two-sided mid-p, P(|T| > |t|) + P(|T| = |t|)/2, of the sum T of the differences with fair
** random signs, t being the sum as it is; 1 where t is 0.  Differences are finite numbers up to
** 2^501, in any order, merged or not; `times` adds up to at most 2^53.  No options are read.
** Exchanging the models changes no digit, and of a single size of differences it is
** ev_mid_p() of how many have either sign. */
ev_status ev_paired_p(const ev_score *diffs, size_t count, const ev_options *options, ev_host host,
                      double *p);

/* Bounds of that, within one pass: p is at most 2 exp(-t^2 / 2 sum d^2) (Hoeffding, J. Am. Stat.
** Assoc. 58 (1963) 13-30), and at least 1/20 where t^2 is at most sum d^2 (Oleszkiewicz,
** Probab. Math. Statist. 16 (1996) 127-130: |T| then is at least |t| with a chance of 1/10). */
ev_interval ev_paired_p_bounds(const ev_score *diffs, size_t count);

#endif
