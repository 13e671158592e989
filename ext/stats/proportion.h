/*
** Intervals for one proportion: k right answers out of n independent
** questions.  Used by the SQL surface and by the tests; knows nothing of SQL.
*/
#ifndef EV_PROPORTION_H
#define EV_PROPORTION_H

typedef struct ev_interval {
  double lo, hi;
} ev_interval;

/* What a caller may choose.  A model reads what concerns it. */
typedef struct ev_options {
  double level; /* strictly between 0 and 1 */
  double a, b;  /* the Beta prior, both positive */
} ev_options;

/* The counts of a model, in the order its SQL name takes them: here k, n with
** 0 <= k <= n and n >= 1, whole numbers held in doubles. */
typedef ev_interval ev_model(const double *counts, const ev_options *options);

ev_model ev_bayes;         /* equal-tailed, Beta(a+k, b+n-k) */
ev_model ev_hdi;           /* highest density of the same posterior */
ev_model ev_jeffreys;      /* ev_bayes with a = b = 1/2 */
ev_model ev_wilson;        /* score interval */
ev_model ev_cp;            /* Clopper-Pearson */
ev_model ev_agresti_coull; /* may leave [0,1] */
ev_model ev_clt;           /* may collapse or leave [0,1] */

#endif
