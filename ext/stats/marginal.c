/*
** Chebyshev series of a log density, and Gauss-Legendre nodes to integrate it by.
** The points of a series of twice the degree are those of the first and as many
** between them, so that none is wasted when a degree is doubled.
**
** The 16 nodes and weights are those of Abramowitz and Stegun table 25.4; GSL has
** them behind an allocation that could fail.
*/
#include "marginal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

/* Of a panel's series, to begin with: doubled up to EV_DEGREE. */
enum { LEAST_DEGREE = EV_DEGREE / 4 };

/* Stands for the logarithm of 0. */
static const double LEAST_LN = -1e300;

/* Panels kept for either end, should the peak turn out higher than was known. */
enum { SPARE = 4 };

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

/* The series at up to EV_NODES points x, by Clenshaw's recurrence.  Side by side
** they take little more time than one, since each only waits for itself. */
static void series_at(const ev_panel *panel, int count, const double *x, double *out) {
  double b0[EV_NODES] = {0}, b1[EV_NODES] = {0};
  for (int k = panel->degree; k > 0; k--)
    for (int i = 0; i < count; i++) {
      double b2 = b1[i];
      b1[i] = b0[i];
      b0[i] = panel->series[k] + 2 * x[i] * b1[i] - b2;
    }
  for (int i = 0; i < count; i++) out[i] = panel->series[0] + x[i] * b0[i] - b1[i];
}

/* What is known of a panel while it is refined: the logarithm at the points
** cos(pi i / degree), which are those of half the degree and as many more. */
typedef struct samples {
  double from, to;
  int degree;
  double ln[EV_DEGREE + 1];
} samples;

static double evaluate(ev_marginal *m, const ev_search *search, double z) {
  double ln = search->ln_density(z, search->context);
  m->evaluated++;
  if (isnan(ln)) m->broken = true;
  ln = fmax(LEAST_LN, ln);
  m->ln_peak = fmax(m->ln_peak, ln);
  return ln;
}

static void double_degree(ev_marginal *m, const ev_search *search, samples *s) {
  int degree = s->degree ? 2 * s->degree : LEAST_DEGREE, apart = s->degree ? 2 : degree;
  double mid = (s->from + s->to) / 2, half = (s->to - s->from) / 2;
  for (int i = degree / apart; i > 0; i--) s->ln[i * apart] = s->ln[i];
  for (int i = 1; i < degree; i++)
    if (i % apart) s->ln[i] = evaluate(m, search, mid + half * m->cosine[i * EV_DEGREE / degree]);
  s->degree = degree;
}

/* The series through the samples, in the panel that comes next. */
static ev_panel *fit(ev_marginal *m, const samples *s) {
  ev_panel *panel = &m->panels[m->count];
  int n = s->degree, stride = EV_DEGREE / n;
  *panel = (ev_panel){s->from, s->to, s->ln[0], s->ln[0], 0, 0, n, {0}};
  for (int i = 1; i <= n; i++) {
    panel->ln_most = fmax(panel->ln_most, s->ln[i]);
    panel->ln_least = fmin(panel->ln_least, s->ln[i]);
  }
  for (int k = 0; k <= n; k++) {
    double sum = (s->ln[0] + (k % 2 ? -s->ln[n] : s->ln[n])) / 2;
    for (int i = 1; i < n; i++) sum += s->ln[i] * m->cosine[k * i * stride % (2 * EV_DEGREE)];
    panel->series[k] = sum * (k == 0 || k == n ? 1 : 2) / n;
  }
  panel->rest = fabs(panel->series[n]) + fabs(panel->series[n - 1]);
  return panel;
}

/* The density of a panel may vary by e^90 or so.  It is cut so that a part of a
** normal one varies by e^10 at the most, and more finely where the series is of a
** high degree: 16 nodes integrate each part to the last digit. */
static const double PANEL_RANGE = 90, CUT_RANGE = 4;

/* Too low to matter; or converged, in itself or beside the tail, and no steeper
** than can be integrated. */
static bool converged(const ev_marginal *m, const ev_search *search, const ev_panel *panel) {
  double height = panel->ln_most - m->ln_peak;
  if (height < -search->cut - 5) return true;
  return panel->ln_most - panel->ln_least < PANEL_RANGE &&
         (panel->rest <= search->tolerance ||
          panel->rest * exp(height) <= search->tolerance * search->tail);
}

/* Samples a panel between two points where the logarithm is known, and doubles
** the degree of its series as long as that promises to be enough: what a series
** leaves out is about squared by it.  Gives what the last one leaves out. */
static double refine(ev_marginal *m, const ev_search *search, samples *s) {
  double promising = 0.1;
  for (;;) {
    double_degree(m, search, s);
    const ev_panel *panel = fit(m, s);
    if (converged(m, search, panel) || panel->rest > promising || s->degree == EV_DEGREE)
      return panel->rest;
    promising = sqrt(search->tolerance);
  }
}

/* Adds a refined panel, or its halves, or theirs, forty times at the most, and as
** long as there is room for both and for those `pending`, which come after.
** Halving helps at least one half as long as what the series leaves out is the
** density's; when it helps neither and that is small, it is the density's own
** rounding. */
static void add(ev_marginal *m, const ev_search *search, const samples *s, int depth, int pending) {
  const ev_panel *panel = fit(m, s);
  bool room = depth < 40 && m->count + pending + 2 <= EV_PANELS && m->evaluated < search->budget;
  if (!converged(m, search, panel) && room) {
    bool small = panel->ln_most - panel->ln_least < PANEL_RANGE && panel->rest < 1e-3;
    double mid = (s->from + s->to) / 2, ln_mid = s->ln[s->degree / 2], rest = panel->rest;
    samples low = {s->from, mid, 0, {ln_mid, s->ln[s->degree]}};
    samples high = {mid, s->to, 0, {s->ln[0], ln_mid}};
    double low_rest = refine(m, search, &low), high_rest = refine(m, search, &high);
    if (!small || fmin(low_rest, high_rest) <= 0.25 * rest) {
      add(m, search, &low, depth + 1, pending + 1);
      add(m, search, &high, depth + 1, pending);
      return;
    }
    fit(m, s);
  }
  m->count++;
}

/* Where the logarithm is, on the way from the middle to an end. */
typedef struct place {
  double z, ln;
} place;

/* From a place to the next, which is `way` off unless the domain ends before. */
static place next(ev_marginal *m, const ev_search *search, place from, double way) {
  double z = fmax(search->least, fmin(search->most, from.z + way));
  return (place){z, evaluate(m, search, z)};
}

static bool ended(const ev_marginal *m, const ev_search *search, place p) {
  return p.ln < m->ln_peak - search->cut || p.z == search->least || p.z == search->most;
}

/* The place where the density, seen from the middle, first is negligible, or
** nearly so: were it normal, the first step would give all the others. */
static place find_end(ev_marginal *m, const ev_search *search, place middle, double way) {
  place end = next(m, search, middle, way);
  for (int i = 0; i < 60; i++) {
    double drop = (m->ln_peak - end.ln) / search->cut;
    if ((ended(m, search, end) && drop < 2) || m->evaluated > search->budget) break;
    way *= fmax(0.1, fmin(2, sqrt(1.2 / fmax(drop, 0.01))));
    end = next(m, search, middle, way);
  }
  return end;
}

static int by_position(const void *a, const void *b) {
  const ev_panel *p = a, *q = b;
  return (p->from > q->from) - (p->from < q->from);
}

static int cuts(const ev_panel *panel) {
  return panel->degree / 6 + (int)(fmin(PANEL_RANGE, panel->ln_most - panel->ln_least) / CUT_RANGE);
}

/* The density at points x, which become its values.  A series that has not
** converged, of a panel that is too low to matter, must not rise beyond its
** samples. */
static void densities(const ev_marginal *m, const ev_panel *panel, int count, double *x) {
  series_at(panel, count, x, x);
  for (int i = 0; i < count; i++) {
    double ln = panel->rest < 1e-3 ? x[i] : fmin(x[i], panel->ln_most);
    x[i] = exp(ln - m->ln_peak);
  }
}

/* The mass of a panel between two of its points, from -1 to 1. */
static double mass_between(const ev_marginal *m, const ev_panel *panel, double from, double to) {
  double at[EV_NODES], sum = 0, mid = (from + to) / 2, half = (to - from) / 2;
  for (int i = 0; i < EV_NODES; i++) at[i] = mid + half * ev_node(i);
  densities(m, panel, EV_NODES, at);
  for (int i = 0; i < EV_NODES; i++) sum += ev_weight(i) * at[i];
  return sum * half * (panel->to - panel->from) / 2;
}

/* Panels from one place to another, which the corner may part; so many are to
** come after. */
static void cover(ev_marginal *m, const ev_search *search, place low, place high, int pending) {
  place corner = {search->corner, 0};
  if (low.z < corner.z && corner.z < high.z) {
    corner.ln = evaluate(m, search, corner.z);
    cover(m, search, low, corner, pending + 1);
    low = corner;
  }
  samples s = {low.z, high.z, 0, {high.ln, low.ln}};
  refine(m, search, &s);
  add(m, search, &s, 0, pending);
}

/* Whether to go on beyond a place: it is no end, and there is room for two panels
** more. */
static bool farther(const ev_marginal *m, const ev_search *search, place p, int pending) {
  return !ended(m, search, p) && m->count + pending + 2 <= EV_PANELS &&
         m->evaluated < search->budget;
}

void ev_marginal_find(ev_marginal *m, const ev_search *search) {
  m->count = m->evaluated = 0;
  m->broken = false;
  m->ln_peak = -HUGE_VAL;
  for (int i = 0; i < 2 * EV_DEGREE; i++) m->cosine[i] = cos(M_PI * i / EV_DEGREE);
  place middle = {search->start, evaluate(m, search, search->start)};
  place low = find_end(m, search, middle, -search->width);
  place high = find_end(m, search, middle, search->width);
  cover(m, search, low, high, 2 * SPARE);
  /* The peak may have been higher than was known when the ends were chosen. */
  while (farther(m, search, low, SPARE)) {
    place before = low;
    low = next(m, search, low, -search->width);
    cover(m, search, low, before, SPARE);
  }
  while (farther(m, search, high, 0)) {
    place before = high;
    high = next(m, search, high, search->width);
    cover(m, search, before, high, 0);
  }
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
  if (m->ln_peak <= LEAST_LN || !(m->mass > 0 && isfinite(m->mass))) m->broken = true;
}

double ev_marginal_ln_total(const ev_marginal *m) {
  return m->broken ? NAN : m->ln_peak + log(m->mass);
}

double ev_marginal_above(const ev_marginal *m, double z) {
  double mass = 0;
  if (m->broken) return NAN;
  for (int i = m->count - 1; i >= 0 && m->panels[i].from >= z; i--) mass += m->panels[i].mass;
  return mass / m->mass;
}

/* The point of a panel with `wanted` of its mass below, or above: the cut it
** falls in, then Newton's method within, or halving where that leads out. */
static double point_within(const ev_marginal *m, const ev_panel *panel, double wanted, bool above) {
  int n = cuts(panel);
  double side = above ? 1 : -1, begin = side, end = side, left = wanted, mass = 0;
  for (int j = 0; j < n; j++) {
    begin = end;
    end = side * (1 - 2.0 * (j + 1) / n);
    mass = fabs(mass_between(m, panel, begin, end));
    if (left <= mass) break;
    if (j < n - 1) left -= mass;
  }
  double near = begin, far = end, x = begin + (end - begin) * fmin(1, left / mass);
  for (int i = 0; i < 100; i++) {
    double over = fabs(mass_between(m, panel, begin, x)) - left;
    double density = x;
    densities(m, panel, 1, &density);
    double step = over / (density * (panel->to - panel->from) / 2) * side;
    if (over > 0)
      far = x;
    else
      near = x;
    if (fabs(step) < 1e-15 || fabs(far - near) < 1e-15) break;
    bool inside = (x + step - near) * (far - x - step) > 0;
    x = inside ? x + step : (near + far) / 2;
  }
  return panel->from + (x + 1) / 2 * (panel->to - panel->from);
}

double ev_marginal_lower(const ev_marginal *m, double tail) {
  double left = tail * m->mass;
  int i = 0;
  if (m->broken) return NAN;
  for (; i < m->count - 1 && left > m->panels[i].mass; i++) left -= m->panels[i].mass;
  return point_within(m, &m->panels[i], left, false);
}

double ev_marginal_upper(const ev_marginal *m, double tail) {
  double left = tail * m->mass;
  int i = m->count - 1;
  if (m->broken) return NAN;
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
