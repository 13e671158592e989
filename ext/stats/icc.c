/*
** The intraclass correlation of questions asked several times, without a model of how hard
** questions are: Krippendorff's alpha of a question's attempts, right or wrong, which is 1 less the
** variance within questions over the variance of all answers, both without bias.
**
** 1. A question with one attempt says nothing, and is left out.
** 2. The interval is that of agreement_units.c.  A share of a variance is not negative: bounds
**    below 0, where attempts at a question differ more than chance, are 0.
** 3. If no question has two attempts, every share is possible: the interval is that of a uniform.
**
** In the hierarchy of clustered.c, with rho uniform, the posterior covered 42 to 52% where
** difficulty comes in two lumps and 200 questions were asked 10 times, because no Beta has two
** lumps inside; this covers 91% and more there.
**
** Reference: Fleiss and Cohen, Educ. Psychol. Meas. 33 (1973) 613-619.
*/
#include "icc.h"

#include <math.h>
#include <stdlib.h>

#include "agreement.h"

/* The attempts at a question as ratings 0 and 1; gives the number of entries. */
static size_t rate_question(const ev_cluster *question, size_t unit, ev_unit_rating *list) {
  double counts[] = {question->n - question->k, question->k};
  size_t count = 0;
  for (size_t category = 0; category < 2; category++)
    if (counts[category] > 0) list[count++] = (ev_unit_rating){unit, category, counts[category]};
  return count;
}

ev_status ev_icc(const ev_cluster *clusters, size_t count, const ev_options *options, ev_host host,
                 ev_interval *ci) {
  ev_options nominal = {.level = options->level, .distance = EV_NOMINAL};
  ev_ratings r = {.categories = 2};
  size_t unit = 0;
  ev_unit_rating *list = calloc(count, 2 * sizeof *list);
  double *times = calloc(count, sizeof *times);
  ev_status status = list && times ? EV_OK : EV_NO_MEMORY;
  for (size_t i = 0; status == EV_OK && i < count; i++) {
    if (clusters[i].n < 2) continue;
    times[unit] = clusters[i].times;
    r.count += rate_question(&clusters[i], unit++, list + r.count);
  }
  r.list = list;
  r.times = times;
  if (status == EV_OK && r.count == 0)
    *ci = (ev_interval){ev_tail(options), 1 - ev_tail(options)};
  else if (status == EV_OK)
    status = ev_alpha(r, &nominal, host, ci);
  if (status == EV_OK) *ci = (ev_interval){fmax(ci->lo, 0), fmax(ci->hi, 0)};
  free(list);
  free(times);
  return status;
}
