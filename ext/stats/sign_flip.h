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

#endif
