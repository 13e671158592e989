/*
** Sums over all ordered pairs of models, four at a time: steps 2 and 3 of votes_posterior.c.
**
**   1. A cell is one of models i and j, i before j in theta, with D = lambda_i - lambda_j, and
**      gamma added where i is shown first, or taken off where j is: it is won and lost by i.
**   2. A derivative is a whole number of halves of a share, by the likeliest outcome, and a rest
**      that vanishes where that is certain.  The wholes are added up apart: far out they cancel,
**      and only the rests are left.
*/
#include <string.h>

#include "votes_posterior.h"

/* Where a cell is, and its lane there. */
static votes_four *four_of(const ev_votes_posterior *v, const votes_cell *c, size_t *lane) {
  size_t i = c->first, j = c->second, place = 0;
  if (i > j) i = c->second, j = c->first, place = v->position < v->size ? v->lambdas : 0;
  *lane = j % EV_LANES;
  return v->fours + (place + i) * v->blocks + j / EV_LANES;
}

void ev_votes_set_four(ev_votes_posterior *v, const votes_cell *c) {
  size_t k;
  votes_four *f = four_of(v, c, &k);
  bool as_is = c->first < c->second;
  double ahead = v->share * (2 * c->wins + c->ties) + 2;
  double behind = -(v->share * (2 * c->losses + c->ties) + 2);
  f->n[k] = c->n;
  f->behind[k] = as_is ? behind : -ahead;
  f->ahead[k] = as_is ? ahead : -behind;
  f->twice[k] = 2 * v->share * c->ties;
  f->won[k] = as_is ? c->won : c->lost;
  f->lost[k] = as_is ? c->lost : c->won;
  f->tied[k] = c->tied;
}

/*
** The derivatives
*/
/* Of one model with all others; by ln nu too. */
typedef struct row_sums {
  ev_lanes whole, rest, h, cross, tie_whole, tie_rest, tie_h;
} row_sums;

/* Sums over the cells of model i, gamma times `sign` in D, and adds the other models' shares to
** theirs. */
EV_INLINE void sum_row(ev_votes_posterior *v, size_t i, double sign, double up, double down,
                       bool ties, row_sums *sum) {
  const votes_four *fours = v->fours + ((sign < 0 ? v->lambdas : 0) + i) * v->blocks;
  double *row = v->matrix + i * v->row;
  for (size_t k = (i + 1) / EV_LANES; k < v->blocks; k++) {
    const votes_four *f = &fours[k];
    votes_others *o = &v->others[k];
    ev_lanes n = f->n, won = f->won * up * o->down, lost = f->lost * down * o->up;
    ev_lanes if_behind = f->behind, if_ahead = f->ahead;
    ev_lanes tied = f->tied * v->tie_up, scale = 1 / (won + lost + tied);
    won *= scale, lost *= scale, tied *= scale;
    ev_lanes h = n * (won * lost + tied * (won + lost) * 0.25);
    ev_bits ahead = (ev_bits)(won >= lost);
    ev_lanes whole, rest, if_won = lost + tied * 0.5, if_lost = -(won + tied * 0.5);
    ev_choose(&ahead, &if_behind, &if_ahead, &whole);
    ev_choose(&ahead, &if_won, &if_lost, &rest);
    rest *= n;
    if (ties) {
      ev_bits even = (ev_bits)(tied >= won) & (ev_bits)(tied >= lost);
      ev_lanes half = n * ((lost - won) * 0.5), cross = half * tied, decided = won + lost;
      ev_lanes middle = (if_behind + if_ahead) * 0.5, spread = if_behind - if_ahead;
      ev_lanes tie_rest = -tied, none = {0};
      ev_choose(&even, &middle, &whole, &whole);
      ev_choose(&even, &half, &rest, &rest);
      ev_choose(&even, &spread, &none, &spread);
      ev_choose(&even, &decided, &tie_rest, &tie_rest);
      sum->tie_whole += f->twice + spread;
      sum->tie_rest += n * tie_rest;
      sum->tie_h += n * tied * decided;
      sum->cross += cross;
      o->cross -= cross;
    }
    sum->whole += whole, sum->rest += rest, sum->h += h;
    o->whole -= whole, o->rest -= rest, o->h += h, o->place -= sign * h;
    ev_lanes_of *to = (ev_lanes_of *)(row + k * EV_LANES);
    if (sign < 0) h += *to;
    *to = h;
  }
}

static void move_to(ev_votes_posterior *v, const double *phi) {
  double place = v->position < v->size ? exp(phi[v->position] / 2) : 1;
  for (size_t i = 0; i < v->models; i++) {
    double up = i < v->lambdas ? exp(phi[i] / 2) : 1, down = 1 / up;
    v->second[i] = (votes_side){up, down};
    v->first[i] = (votes_side){up * place, down / place};
    votes_others *o = &v->others[i / EV_LANES];
    o->up[i % EV_LANES] = up, o->down[i % EV_LANES] = down;
  }
  v->place_up = place;
  v->tie_up = v->tie < v->size ? exp(phi[v->tie]) : 1;
}

void ev_votes_chances(const ev_votes_posterior *v, const votes_cell *c, double *won, double *lost,
                      double *tied) {
  const votes_side *a = &v->first[c->first], *b = &v->second[c->second];
  *won = c->won * a->up * b->down, *lost = c->lost * a->down * b->up, *tied = c->tied * v->tie_up;
  double scale = 1 / (*won + *lost + *tied);
  *won *= scale, *lost *= scale, *tied *= scale;
}

/* Adds a row to its own model's sums, and to the rows of ln nu and gamma. */
EV_INLINE void add_row_sums(ev_votes_posterior *v, size_t i, double sign, row_sums *s, bool ties) {
  votes_others *o = &v->others[i / EV_LANES];
  size_t k = i % EV_LANES, tie = v->tie, place = v->position;
  double h = ev_sum(&s->h), whole = ev_sum(&s->whole), rest = ev_sum(&s->rest);
  o->whole[k] += whole, o->rest[k] += rest, o->h[k] += h, o->place[k] += sign * h;
  if (ties) {
    double cross = ev_sum(&s->cross);
    o->cross[k] += cross;
    v->whole[tie] += ev_sum(&s->tie_whole), v->g[tie] += ev_sum(&s->tie_rest);
    v->diagonal[tie] += ev_sum(&s->tie_h);
    if (place < v->size) v->matrix[tie * v->row + place + 1] += sign * cross;
  }
  if (place < v->size) {
    v->whole[place] += sign * whole, v->g[place] += sign * rest;
    v->diagonal[place] += h;
  }
}

EV_INLINE void sum_rows(ev_votes_posterior *v, bool ties) {
  for (size_t i = 0; i < v->lambdas; i++) {
    double up = v->second[i].up, down = v->second[i].down, place = v->place_up;
    row_sums first = {.whole = {0}}, second = first;
    sum_row(v, i, 1, up * place, down / place, ties, &first);
    add_row_sums(v, i, 1, &first, ties);
    if (v->position == v->size) continue;
    sum_row(v, i, -1, up / place, down * place, ties, &second);
    add_row_sums(v, i, -1, &second, ties);
  }
}

EV_WIDE static void sum_all(ev_votes_posterior *v) {
  if (v->tie < v->size)
    sum_rows(v, true);
  else
    sum_rows(v, false);
}

void ev_votes_fill(ev_votes_posterior *v, const double *phi) {
  size_t p = v->size;
  memset(v->whole, 0, p * sizeof *v->whole);
  memset(v->g, 0, p * sizeof *v->g);
  memset(v->diagonal, 0, p * sizeof *v->diagonal);
  memset(v->matrix + v->lambdas * v->row, 0, (p - v->lambdas) * v->row * sizeof *v->matrix);
  move_to(v, phi);
  for (size_t k = 0; k < v->blocks; k++) {
    votes_others *o = &v->others[k];
    o->whole = o->rest = o->h = o->cross = o->place = (ev_lanes){0};
  }
  sum_all(v);
  for (size_t i = 0; i < v->lambdas; i++) {
    const votes_others *o = &v->others[i / EV_LANES];
    size_t k = i % EV_LANES;
    v->whole[i] = o->whole[k], v->g[i] = o->rest[k], v->diagonal[i] = o->h[k];
    if (v->tie < p) v->matrix[i * v->row + v->tie + 1] = o->cross[k];
    if (v->position < p) v->matrix[i * v->row + v->position + 1] = o->place[k];
  }
  for (size_t i = v->lambdas; i < p; i++) v->matrix[i * v->row + i + 1] = v->diagonal[i];
  for (size_t i = 0; i < p; i++) {
    double whole = v->whole[i] / (2 * v->share);
    v->g[i] += whole, v->scale[i] = v->diagonal[i] + fabs(whole);
  }
}

/*
** ln post
*/
/* e^x - 1 of each lane, of 700 for higher ones: ev_exp() without its 1, which is scaled apart. */
EV_INLINE void exp_less(ev_lanes *at) {
  const ev_lanes one = {1, 1, 1, 1};
  *at = -*at, ev_at_least(at, -700);
  *at = -*at, ev_at_least(at, -60);
  ev_lanes shifted = *at * 0x1.71547652b82fep+0 + 0x1.8p52, n = shifted - 0x1.8p52;
  ev_lanes r = (*at - n * EV_LN2_HIGH) - n * EV_LN2_LOW;
  ev_lanes r2 = r * r, r4 = r2 * r2;
  ev_lanes low = (0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  ev_lanes middle = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  ev_lanes high = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600);
  ev_lanes scale = (ev_lanes)((ev_bits)one + ((ev_bits)shifted << 52));
  *at = scale * (r + r2 * (low + r4 * (middle + r4 * high))) + (scale - 1);
}

/* Sums over the cells of model i.  Of exponents less that of the likeliest outcome at the maximum,
** one is of a decided vote, and one of the tie, or the other's if that is likeliest. */
EV_INLINE void sum_changes(const ev_votes_posterior *v, size_t row, size_t i, double mine,
                           bool ties, ev_lanes *linear, ev_lanes *logarithms) {
  const votes_four *fours = v->fours + row * v->blocks;
  for (size_t k = (i + 1) / EV_LANES; k < v->blocks; k++) {
    const votes_four *f = &fours[k];
    ev_lanes half = (mine - v->others[k].phi) * 0.5, minus = -half, share = f->won, other = f->lost;
    ev_lanes votes = f->ahead - f->twice * 0.5, fewer = -f->behind - f->twice * 0.5;
    ev_bits ahead = (ev_bits)(share >= other);
    ev_lanes toward, weight, count;
    ev_choose(&ahead, &minus, &half, &toward);
    ev_choose(&ahead, &other, &share, &weight);
    ev_choose(&ahead, &fewer, &votes, &count);
    ev_lanes exponent = 2 * toward, change = {0}, q = {0};
    if (ties) {
      ev_lanes tied = f->tied, tie = toward + v->tie_phi, tie_count = f->twice;
      ev_bits even = (ev_bits)(tied > share) & (ev_bits)(tied > other);
      half -= v->tie_phi, minus -= v->tie_phi;
      ev_choose(&even, &half, &exponent, &exponent);
      ev_choose(&even, &share, &weight, &weight);
      ev_choose(&even, &votes, &count, &count);
      ev_choose(&even, &minus, &tie, &tie);
      ev_choose(&even, &other, &tied, &tied);
      ev_choose(&even, &fewer, &tie_count, &tie_count);
      change = tie * tie_count;
      exp_less(&tie);
      q = tied * tie;
    }
    *linear += change + exponent * count;
    exp_less(&exponent);
    q += weight * exponent;
    ev_log1p(&q, 1);
    *logarithms += f->n * q;
  }
}

EV_INLINE double sum_all_changes(const ev_votes_posterior *v, const double *phi, bool ties) {
  double gamma = v->position < v->size ? phi[v->position] : 0;
  ev_lanes linear = {0}, logarithms = {0};
  for (size_t i = 0; i < v->lambdas; i++) {
    sum_changes(v, i, i, phi[i] + gamma, ties, &linear, &logarithms);
    if (v->position == v->size) continue;
    sum_changes(v, v->lambdas + i, i, phi[i] - gamma, ties, &linear, &logarithms);
  }
  linear = linear * (0.5 / v->share) - logarithms;
  return ev_sum(&linear);
}

EV_WIDE static double ln_post(const ev_votes_posterior *v, const double *phi) {
  return v->tie < v->size ? sum_all_changes(v, phi, true) : sum_all_changes(v, phi, false);
}

double ev_votes_ln_post(ev_votes_posterior *v, const double *phi) {
  for (size_t i = 0; i < v->lambdas; i++) v->others[i / EV_LANES].phi[i % EV_LANES] = phi[i];
  v->tie_phi = v->tie < v->size ? phi[v->tie] : 0;
  return ln_post(v, phi);
}
