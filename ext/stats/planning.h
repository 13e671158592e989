/*
** How many questions an eval needs, and what a given number of questions can find, before the
** eval.  Rates are in [0,1]; a number of questions is whole, from 1 to 2^53.
*/
#ifndef EV_PLANNING_H
#define EV_PLANNING_H

#include "model.h"

/* A result of HUGE_VAL: no number of questions up to this does. */
#define EV_MOST_QUESTIONS 0x1p53

/* The least n at which bayes_ci is expected to be no wider than `width`, 0 < width < 1. */
ev_status ev_plan_n(double p, double width, const ev_options *options, double *n);

/* How wide it is expected to be. */
ev_status ev_expected_width(double n, double p, const ev_options *options, double *width);

/* What a question costs, and what each attempt at one. */
typedef struct ev_run_costs {
  double question, attempt;
} ev_run_costs;

/* The cheapest questions, attempts at each and cost, in `plan`, for an interval no wider than
** `width`, when the share icc of an answer's variance is the question's; up to 200 attempts, and
** of plans that cost the same the one with the fewest. */
ev_status ev_plan_runs(double p, double width, double icc, ev_run_costs costs,
                       const ev_options *options, double plan[3]);

/* The chance that the mid-p McNemar test rejects at 1 - level. */
ev_status ev_power_paired(double n, double only_a, double only_b, const ev_options *options,
                          double *power);

/* An n from which on the power is never below `power`: the least such n if it can be found in
** less than a second; only_a and only_b differ. */
ev_status ev_plan_paired(double only_a, double only_b, double power, const ev_options *options,
                         ev_host host, double *n);

/* The least difference of the two rates, which add up to `discordant`, that n questions
** find with that power; HUGE_VAL if none is large enough. */
ev_status ev_detectable(double n, double discordant, double power, const ev_options *options,
                        double *difference);

/* The chance that diff_ci leaves 0 out. */
ev_status ev_power_diff(double n_a, double n_b, double p_a, double p_b, const ev_options *options,
                        double *power);

/* Likewise, of each model; p_a and p_b differ. */
ev_status ev_plan_diff(double p_a, double p_b, double power, const ev_options *options,
                       ev_host host, double *n);

/* About how many questions decide, with probability `sure` and that power, whether an accuracy
** of p is above or below t, 0 < t < 1; v is the variance of a question's mean over p (1-p). */
double ev_plan_threshold(double p, double t, double v, double sure, double power);

/* The least n from which on a model of accuracy p passes, with that power, a gate that requires
** P(accuracy > t) >= sure, 0 < t < p.  HUGE_VAL if no n is small enough.  If p - t is below 0.0001,
** n may be too large, by less than 2/(p - t). */
ev_status ev_plan_gate(double p, double t, double sure, double power, ev_host host, double *n);

#endif
