/*
** Agreement of more than two categories or raters: 1 - seen/expected under Dirichlet weights.
**
** The coefficient is at most t where
**
**     Q = (1-t) expected - seen <= 0,
**
** and `expected` is quadratic in the weights.  No exact form has few dimensions.
**
** 1. Replace `expected` by its tangent at a point p*, plus the mean of the term left out: Q is
**    then linear, sum G_i excess_i with G_i ~ Gamma(a_i), and its distribution is dirichlet.c's.
** 2. p* is where it matters: the most likely weights with Q = 0, which are proportional to
**    a_i / (1 - s excess_i) with s the saddle point of Q.
** 3. s and not t is what the search for a bound moves: given s, iterate p* from the mean of the
**    prior and the counts, with the t at which Q = 0 there; at the end s is the saddle point at
**    that t.  Given t, the iteration swings where few weights can make a coefficient so small.
** 4. The rule of a mean's imagined scores (imagined.c) holds here too: the lower bound has an
**    imagined disagreement and an imagined agreement beside the data, the upper bound the
**    agreement alone.  With a disagreement in both, all misses were above the upper bound where
**    raters nearly always agree: at 15 units of 5 or 10 ordered grades 85 to 92% were covered,
**    now 96 to 98%, at 3 to 7% more width.  If no unit shows a disagreement the bound is 1.
** 5. With few ratings beside the categories, or at extreme levels, the iteration may not settle:
**    then the tangent is the one at the mean of the prior and the counts.
**
** The mass beyond a bound that should be 2.5% is 2.3 to 2.7% with 20 questions or more and every
** category in use, by 400,000 draws; the tangent at the posterior mean instead gives 2.2 to 3.1%.
*/
#include <math.h>
#include <stdlib.h>

#include "agreement.h"
#include "dirichlet.h"

typedef struct tilted_search {
  ev_tilted *t;
  double *excess;
  ev_atom *atoms;
  double spread;        /* of Q at the middle */
  double ratio, around; /* 1 - t at the middle, and about the sd of its logarithm */
  bool once;            /* the tangent is the one at the middle */
  ev_host host;
  ev_status status;
} tilted_search;

static double ratio_at_shares(ev_tilted *t) {
  double seen = 0, expected = 0;
  t->expect(t, t->context);
  for (size_t i = 0; i < t->count; i++) {
    seen += t->share[i] * t->seen[i];
    expected += t->share[i] * t->expected[i];
  }
  return seen / expected;
}

static void start_shares(ev_tilted *t) {
  for (size_t i = 0; i < t->count; i++) t->share[i] = t->weight[i] / t->total;
}

double ev_tilted_ratio(ev_tilted *t) {
  start_shares(t);
  return ratio_at_shares(t);
}

/* With the t at which Q = 0 at the shares, sets the excesses and *extreme; returns 1 - t. */
static double set_excesses(tilted_search *q, bool above, double *extreme) {
  const ev_tilted *t = q->t;
  double e = ratio_at_shares(q->t);
  *extreme = 0;
  for (size_t i = 0; i < t->count; i++) {
    q->excess[i] = e * t->expected[i] - t->seen[i];
    if (t->weight[i] == 0) continue;
    if (above ? q->excess[i] > *extreme : q->excess[i] < *extreme) *extreme = q->excess[i];
  }
  return e;
}

/* Moves the shares to the tilted mean, with the s at which 1 - s excess is `left` at the extreme;
** returns the largest relative change of a share. */
static double move_shares(const tilted_search *q, double extreme, double left, double part) {
  ev_tilted *t = q->t;
  double sum = 0, moved = 0;
  for (size_t i = 0; i < t->count; i++)
    if (t->weight[i] > 0) sum += t->weight[i] / (left + (1 - left) * (1 - q->excess[i] / extreme));
  for (size_t i = 0; i < t->count; i++) {
    if (t->weight[i] == 0) continue;
    double share = t->weight[i] / (left + (1 - left) * (1 - q->excess[i] / extreme)) / sum;
    moved = fmax(moved, fabs(share - t->share[i]) / share);
    t->share[i] += part * (share - t->share[i]);
  }
  return moved;
}

static const double QUICK_SETTLED = 1e-5, SETTLED = 1e-12;
enum { TILTS = 3000 };

/* Step 3: s is 1/(1/x + extreme), which is never as large as 1/extreme; gives 1 - t. */
static ev_status tilt(tilted_search *q, double x, ev_effort effort, double *e) {
  double extreme, part = 1, last = HUGE_VAL;
  start_shares(q->t);
  for (int i = 0; i < TILTS; i++) {
    *e = set_excesses(q, x > 0, &extreme);
    if (extreme == 0 || isnan(*e)) return EV_OK; /* all weight is where raters agree */
    double moved = move_shares(q, extreme, 1 / (1 + x * extreme), part);
    if (moved <= (effort == EV_QUICK ? QUICK_SETTLED : SETTLED)) return EV_OK;
    if (moved > 0.99 * last) part = fmax(0.8 * part, 0.02);
    last = moved;
  }
  return last <= QUICK_SETTLED || effort != EV_PLACE ? EV_OK : EV_NOT_CONVERGED;
}

/* Q as the mean of scores above and below 0. */
static ev_status tail_of_excess(tilted_search *q, bool upper, double *tail) {
  static const ev_point zero = {0.5, 0.5};
  ev_dirichlet d;
  ev_dirichlet_value value;
  size_t count = 0;
  for (size_t i = 0; i < q->t->count; i++)
    if (q->excess[i] != 0 && q->t->weight[i] > 0)
      q->atoms[count++] = (ev_atom){fmax(q->excess[i], 0), fmax(-q->excess[i], 0), q->t->weight[i]};
  ev_status status = ev_dirichlet_make(&d, q->atoms, count, EV_MERGE_NONE, q->host);
  if (status != EV_OK) return status;
  status = ev_dirichlet_at(&d, zero, &value);
  *tail = exp(upper ? value.ln_above : value.ln_below);
  ev_dirichlet_free(&d);
  return status;
}

static double tilted_tail(double v, bool upper, ev_effort effort, void *context, double *t) {
  tilted_search *q = context;
  double e = NAN, tail = 0;
  if (q->once) {
    e = q->ratio * exp(-sinh(v) * q->around);
    for (size_t i = 0; i < q->t->count; i++) q->excess[i] = e * q->t->expected[i] - q->t->seen[i];
  }
  q->status = ev_interrupted(q->host) ? EV_INTERRUPTED
              : q->once               ? EV_OK
                                      : tilt(q, sinh(v) / q->spread, effort, &e);
  *t = fmax(-1, 1 - e);
  if (isnan(e) && q->status == EV_OK) return (v > 0) != upper;
  if (q->status == EV_OK && effort != EV_PLACE) q->status = tail_of_excess(q, upper, &tail);
  return q->status == EV_OK ? tail : NAN;
}

ev_status ev_tilted_bound(ev_tilted *t, double mass, bool upper, ev_host host, double *bound) {
  tilted_search q = {.t = t,
                     .excess = malloc(t->count * sizeof *q.excess),
                     .atoms = malloc(t->count * sizeof *q.atoms),
                     .host = host};
  ev_status status = EV_NO_MEMORY;
  if (q.excess && q.atoms) {
    double extreme, square = 0, seen = 0;
    start_shares(t);
    q.ratio = set_excesses(&q, true, &extreme);
    for (size_t i = 0; i < t->count; i++) {
      square += t->weight[i] * q.excess[i] * q.excess[i];
      seen += t->weight[i] * t->seen[i];
    }
    q.spread = sqrt(square);
    q.around = q.spread / seen;
    *bound = 1;
    status = seen > 0 ? ev_agreement_bound(tilted_tail, &q, mass, upper, bound) : EV_OK;
    if (status == EV_NOT_CONVERGED && q.status == EV_NOT_CONVERGED) {
      q.once = true;
      start_shares(t);
      set_excesses(&q, true, &extreme);
      status = ev_agreement_bound(tilted_tail, &q, mass, upper, bound);
    }
    if (q.status != EV_OK) status = q.status;
  }
  free(q.excess);
  free(q.atoms);
  return status;
}
