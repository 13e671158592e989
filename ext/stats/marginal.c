/*
** Panels of Gauss-Legendre nodes and Legendre series of a log density.  The 16
** nodes and weights are those of Abramowitz and Stegun table 25.4; GSL has them
** behind an allocation that could fail.
*/
#include "marginal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static const double nodes[EV_NODES / 2] = {
    0.095012509837637440185, 0.28160355077925891323, 0.45801677765722738634, 0.61787624440264374845,
    0.7554044083550030339,   0.86563120238783174388, 0.94457502307323257608, 0.9894009349916499326,
};
static const double weights[EV_NODES / 2] = {
    0.18945061045506849629,  0.18260341504492358887,  0.16915651939500253819,
    0.14959598881657673208,  0.12462897125553387205,  0.09515851168249278481,
    0.062253523938647892863, 0.027152459411754094852,
};

double ev_node(int i) {
  return i < EV_NODES / 2 ? -nodes[EV_NODES / 2 - 1 - i] : nodes[i - EV_NODES / 2];
}

double ev_weight(int i) {
  return i < EV_NODES / 2 ? weights[EV_NODES / 2 - 1 - i] : weights[i - EV_NODES / 2];
}

/* P_(k+1) = rise[k] x P_k - fall[k] P_(k-1) */
static const double rise[EV_NODES] = {
    1.0,      3.0 / 2,   5.0 / 3,   7.0 / 4,   9.0 / 5,   11.0 / 6,  13.0 / 7,  15.0 / 8,
    17.0 / 9, 19.0 / 10, 21.0 / 11, 23.0 / 12, 25.0 / 13, 27.0 / 14, 29.0 / 15, 31.0 / 16};
static const double fall[EV_NODES] = {
    0.0,     1.0 / 2,  2.0 / 3,   3.0 / 4,   4.0 / 5,   5.0 / 6,   6.0 / 7,   7.0 / 8,
    8.0 / 9, 9.0 / 10, 10.0 / 11, 11.0 / 12, 12.0 / 13, 13.0 / 14, 14.0 / 15, 15.0 / 16};

void ev_legendre(double x, double p[EV_NODES + 1]) {
  p[0] = 1;
  p[1] = x;
  for (int k = 1; k < EV_NODES; k++) p[k + 1] = rise[k] * x * p[k] - fall[k] * p[k - 1];
}

static double series_at(const ev_panel *panel, double x) {
  double b0 = 0, b1 = 0; /* Clenshaw's recurrence */
  for (int k = EV_NODES - 1; k >= 0; k--) {
    double b2 = b1;
    b1 = b0;
    b0 = panel->series[k] + rise[k] * x * b1 - (k + 1 < EV_NODES ? fall[k + 1] * b2 : 0);
  }
  return b0;
}

/* Samples the logarithm on [from, to]. */
static void sample(const ev_search *search, double from, double to, ev_panel *panel) {
  double mid = (from + to) / 2, half = (to - from) / 2, ln_f[EV_NODES];
  *panel = (ev_panel){.from = from, .to = to, .ln_most = -HUGE_VAL, .ln_least = HUGE_VAL};
  for (int i = 0; i < EV_NODES; i++) {
    ln_f[i] = fmax(-1e300, search->ln_density(mid + half * ev_node(i), search->context));
    panel->ln_most = fmax(panel->ln_most, ln_f[i]);
    panel->ln_least = fmin(panel->ln_least, ln_f[i]);
  }
  panel->ln_first = ln_f[0];
  panel->ln_last = ln_f[EV_NODES - 1];
  for (int i = 0; i < EV_NODES; i++) {
    double p[EV_NODES + 1];
    ev_legendre(ev_node(i), p);
    for (int k = 0; k < EV_NODES; k++)
      panel->series[k] += (k + 0.5) * p[k] * ev_weight(i) * ln_f[i];
  }
  panel->rest = fabs(panel->series[EV_NODES - 1]) + fabs(panel->series[EV_NODES - 2]);
  panel->ln_ends = fmax(series_at(panel, -1), series_at(panel, 1));
  /* A series that has not converged says nothing beyond its samples. */
  if (panel->rest > 0.1 * (panel->ln_most - panel->ln_least)) panel->ln_ends = panel->ln_most;
}

/* The density of a panel may vary by e^90 or so, and by e^8 between two of its
** cuts, which 16 nodes integrate to the last digit. */
static const double PANEL_RANGE = 90, CUT_RANGE = 8;

/* Too low to matter, even at an end that all nodes are far from; or converged,
** in itself or beside the tail, and no steeper than can be integrated. */
static bool converged(const ev_marginal *m, const ev_search *search, const ev_panel *panel) {
  double height = panel->ln_most - fmax(m->ln_peak, panel->ln_most);
  if (fmax(panel->ln_most, panel->ln_ends) < m->ln_peak - search->cut - 5) return true;
  return panel->ln_most - panel->ln_least < PANEL_RANGE &&
         (panel->rest <= search->tolerance ||
          panel->rest * exp(height) <= search->tolerance * search->tail);
}

/* Adds a panel, halved until it has converged, forty times at the most.
** Halving helps at least one half as long as what is left out is the density's;
** when it helps neither and that is small, it is the density's own rounding, and
** halving stops. */
static void add(ev_marginal *m, const ev_search *search, const ev_panel *panel, int depth) {
  if (converged(m, search, panel) || depth == 40 || m->count >= EV_PANELS - 2 ||
      m->sampled >= search->budget) {
    if (m->count < EV_PANELS) m->panels[m->count++] = *panel;
    m->ln_peak = fmax(m->ln_peak, panel->ln_most);
    return;
  }
  ev_panel half[2];
  double mid = (panel->from + panel->to) / 2;
  m->sampled += 2;
  sample(search, panel->from, mid, &half[0]);
  sample(search, mid, panel->to, &half[1]);
  bool rounding = panel->rest < 1e-3 && fmin(half[0].rest, half[1].rest) > 0.25 * panel->rest;
  if (rounding) half[0].rest = half[1].rest = 0;
  m->ln_peak = fmax(m->ln_peak, fmax(half[0].ln_most, half[1].ln_most));
  add(m, search, &half[0], depth + 1);
  add(m, search, &half[1], depth + 1);
}

/* The end of the step of `width` from z, at a corner or an end if one is near:
** a sliver left behind them would be a panel too many. */
static double step_end(const ev_search *search, double z, double width) {
  const double stops[] = {search->corner, search->least, search->most};
  double end = z + width;
  for (int i = 0; i < 3; i++) {
    double way = (stops[i] - z) / width;
    if (way > 0 && way < fmin(1.25, (end - z) / width * 1.25)) end = stops[i];
  }
  return end;
}

/* Marches panels from z until the density is negligible and falling. */
static void march(ev_marginal *m, const ev_search *search, double z, double width) {
  double end = width > 0 ? search->most : search->least;
  for (double last = HUGE_VAL;
       z != end && m->count < EV_PANELS && m->sampled < 2 * search->budget;) {
    double to = step_end(search, z, width);
    int before = m->count;
    ev_panel panel;
    m->sampled++;
    sample(search, fmin(z, to), fmax(z, to), &panel);
    m->ln_peak = fmax(m->ln_peak, panel.ln_most);
    add(m, search, &panel, 0);
    double here = width > 0 ? m->panels[m->count - 1].ln_last : m->panels[before].ln_first;
    if (here < m->ln_peak - search->cut && here <= last) break;
    last = here;
    z = to;
  }
}

static int by_position(const void *a, const void *b) {
  const ev_panel *p = a, *q = b;
  return (p->from > q->from) - (p->from < q->from);
}

static int cuts(const ev_panel *panel) {
  return 1 + (int)(fmin(PANEL_RANGE, panel->ln_most - panel->ln_least) / CUT_RANGE);
}

/* The logarithm at a point.  A series that has not converged, of a panel that is
** too low to matter, must not rise beyond its samples. */
static double ln_at(const ev_panel *panel, double x) {
  double ln = series_at(panel, x);
  return panel->rest < 1e-3 ? ln : fmin(ln, panel->ln_most);
}

/* The mass of a panel between two of its points, from -1 to 1. */
static double mass_between(const ev_marginal *m, const ev_panel *panel, double from, double to) {
  double sum = 0, mid = (from + to) / 2, half = (to - from) / 2;
  for (int i = 0; i < EV_NODES; i++)
    sum += ev_weight(i) * exp(ln_at(panel, mid + half * ev_node(i)) - m->ln_peak);
  return sum * half * (panel->to - panel->from) / 2;
}

void ev_marginal_find(ev_marginal *m, const ev_search *search) {
  m->count = m->sampled = 0;
  m->ln_peak = search->ln_density(search->start, search->context);
  march(m, search, search->start, search->width);
  march(m, search, search->start, -search->width);
  qsort(m->panels, (size_t)m->count, sizeof *m->panels, by_position);
  m->mass = 0;
  for (int i = 0; i < m->count; i++) {
    ev_panel *panel = &m->panels[i];
    int n = cuts(panel);
    if (panel->ln_most < m->ln_peak - 700) continue;
    for (int j = 0; j < n; j++)
      panel->mass += mass_between(m, panel, -1 + 2.0 * j / n, -1 + 2.0 * (j + 1) / n);
    m->mass += panel->mass;
  }
}

double ev_marginal_ln_total(const ev_marginal *m) {
  return m->ln_peak + log(m->mass);
}

double ev_marginal_above(const ev_marginal *m, double z) {
  double mass = 0;
  for (int i = m->count - 1; i >= 0 && m->panels[i].from >= z; i--) mass += m->panels[i].mass;
  return mass / m->mass;
}

/* The point of a panel with `wanted` of its mass below, or above: the cut it
** falls in, then Newton's method within. */
static double point_within(const ev_marginal *m, const ev_panel *panel, double wanted, bool above) {
  int n = cuts(panel);
  double side = above ? 1 : -1, least = side, most = side, left = wanted;
  for (int j = 0; j < n; j++) {
    least = most;
    most = side * (1 - 2.0 * (j + 1) / n);
    double mass = fabs(mass_between(m, panel, least, most));
    if (left <= mass || j == n - 1) {
      most = least + (most - least) * fmin(1, left / mass);
      break;
    }
    left -= mass;
  }
  double x = most;
  for (int i = 0; i < 50; i++) {
    double over = fabs(mass_between(m, panel, least, x)) - left;
    double density = exp(ln_at(panel, x) - m->ln_peak) * (panel->to - panel->from) / 2;
    double step = over / density * side;
    x = fmax(-1, fmin(1, x + step));
    if (fabs(step) < 1e-15) break;
  }
  return panel->from + (x + 1) / 2 * (panel->to - panel->from);
}

double ev_marginal_lower(const ev_marginal *m, double tail) {
  double left = tail * m->mass;
  int i = 0;
  for (; i < m->count - 1 && left > m->panels[i].mass; i++) left -= m->panels[i].mass;
  return point_within(m, &m->panels[i], left, false);
}

double ev_marginal_upper(const ev_marginal *m, double tail) {
  double left = tail * m->mass;
  int i = m->count - 1;
  for (; i > 0 && left > m->panels[i].mass; i--) left -= m->panels[i].mass;
  return point_within(m, &m->panels[i], left, true);
}

double ev_ln_sum(ev_ln_term *ln_term, void *context, int least, int most, int *peak, double cut) {
  int start = *peak;
  double best = -HUGE_VAL, sum = 0;
  for (int way = 1, j = start; way >= -1; way -= 2, j = start - 1)
    for (; j >= least && j <= most; j += way) {
      double here = ln_term(j, context);
      if (here > best) {
        sum = sum * exp(best - here) + 1;
        best = here;
        *peak = j;
      } else {
        sum += exp(here - best);
        if (here < best - cut) break;
      }
    }
  return sum > 0 ? best + log(sum) : -HUGE_VAL;
}

typedef struct lattice {
  ev_ln_density *ln_density;
  void *context;
  double origin, step;
} lattice;

static double ln_on_lattice(int j, void *context) {
  const lattice *l = context;
  return l->ln_density(l->origin + j * l->step, l->context);
}

double ev_ln_integral(ev_ln_density *ln_density, void *context, double peak, double step,
                      double cut) {
  lattice l = {ln_density, context, peak, step};
  int at = 0;
  return ev_ln_sum(ln_on_lattice, &l, -2000, 2000, &at, cut) + log(step);
}
