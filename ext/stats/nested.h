/*
** Three levels: tasks, their questions, attempts at each question.
**
**     theta ~ U(0,1)                                              accuracy on tasks like these
**     1/(1+d1), 1/(1+d2) ~ U(0,1), or d1, d2 ~ Gamma(1,1)
**     theta_t  | theta   ~ Beta(d1 theta, d1 (1-theta))           a task, on new questions
**     theta_ti | theta_t ~ Beta(d2 theta_t, d2 (1-theta_t))       a question, on new attempts
**     k_ti ~ Binomial(n_ti, theta_ti)
**
** The variance of one answer, theta (1-theta), is the sum of three parts:
**
**     tasks      1/(1+d1)
**     questions  d1/(1+d1) * 1/(1+d2)
**     reruns     d1/(1+d1) * d2/(1+d2)
*/
#ifndef EV_NESTED_H
#define EV_NESTED_H

#include "each.h"

/* Questions of a task, each with k right of n >= 1 attempts.  Tasks are numbered from 0, and
** each has a question. */
typedef struct ev_item {
  double k, n, times; /* how many questions are like this, at least 1 */
  size_t task;
} ev_item;

typedef struct ev_items {
  const ev_item *list;
  size_t count, tasks;
} ev_items;

/* Posterior mean and interval of each part's share of the variance.  Where no question was
** attempted twice, which is !repeated, `questions` and `reruns` are not set: only their sum
** `within` is known. */
typedef struct ev_noise {
  bool repeated;
  ev_each tasks, questions, reruns, within;
} ev_noise;

/* The order of items and of tasks changes no digit, nor does how equal items are merged.  Where no
** question was attempted twice, the first two are ev_clustered and ev_clustered_each of the
** tasks. */
ev_status ev_nested(const ev_items *items, const ev_options *options, ev_host host,
                    ev_interval *ci);
ev_status ev_nested_each(const ev_items *items, const ev_options *options, ev_host host,
                         ev_each *each);
ev_status ev_nested_noise(const ev_items *items, const ev_options *options, ev_host host,
                          ev_noise *noise);

#endif
