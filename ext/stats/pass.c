/*
** Given theta and d, all of k attempts at a new question are right with the chance
**
**     g = E[theta_t^k] = prod_{j<k} (d theta + j) / (d + j),
**
** which rises with theta.  So P(g <= x) is the mean over d of P(theta <= theta_x(d) | d),
** and the last is an integral along a part of a line of the posterior's points.  It
** comes from the points themselves, by integrating the sinc functions through them:
**
**     int_-inf^a f(s) ds  ~  h sum f(s_i) [1/2 + Si(pi (a - s_i) / h) / pi].
**
** At least one right is the complement of all wrong: the same question of the clusters
** with right and wrong exchanged.  Everything is written in z = ln(-ln g), which has
** both ends of (0,1) to full precision.
**
** References: Chen et al. 2021, arXiv:2107.03374 (pass@k); Yao et al. 2024,
** arXiv:2406.12045 (pass^k); Stenger, "Numerical Methods Based on Sinc and Analytic
** Functions", 1993, section 3.6 (the indefinite integral).
*/
#include "pass.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_expint.h>
#include <gsl/gsl_sf_log.h>

#include "beta.h"
#include "hierarchy.h"
#include "marginal.h"

/*
** ln of prod_{j<k} (a + j) / (a + b + j)
*/
enum { PASS_FACTORS = 32 }; /* taken one by one; Stirling's series for the others */

/* ln(part / (part + rest)), from the side that keeps its digits. */
static double ln_share(double part, double rest) {
  double whole = part + rest;
  return rest < part ? log1p(-rest / whole) : log(part / whole);
}

/* Stirling's series at a + b less that at a, for a >= 32; the next term is below 2e-17. */
static double stirling_change(double a, double b) {
  double u = 1 / (a + b), w = 1 / a, uw = u * w;
  double q3 = u * u + uw + w * w;
  double q5 = gsl_pow_4(u) + uw * q3 + gsl_pow_4(w);
  double q7 = gsl_pow_6(u) + uw * q5 + gsl_pow_6(w);
  return -b * uw * (1.0 / 12 - q3 / 360 + q5 / 1260 - q7 / 1680);
}

/* ln Gamma(a+b) - ln Gamma(a) - b ln(a+b), for a >= 32: with t = b/(a+b) it is
** (a+b) [-(1-t) ln(1-t) - t] and little more, where the linear terms cancel. */
static double ln_gamma_excess(double a, double b) {
  double z = a + b, t = b / z, ln = ln_share(a, b);
  double bent = t < 0.5 ? -t * t - a / z * gsl_sf_log_1plusx_mx(-t) : -a / z * ln - t;
  return z * bent + ln / 2 + stirling_change(a, b);
}

static double ln_falling_ratio(double a, double b, double k) {
  double sum = 0, h = PASS_FACTORS;
  for (double j = 0; j < fmin(k, h); j++) sum += ln_share(a + j, b);
  if (k > h)
    sum += ln_gamma_excess(a + h, b) - ln_gamma_excess(a + k, b) - b * log1p((k - h) / (a + b + h));
  return sum;
}

/* sum over j < k of a / (a + j). */
static double falling_ratio_slope(double a, double k) {
  double sum = 0, h = PASS_FACTORS, from = a + h, to = a + k;
  for (double j = 0; j < fmin(k, h); j++) sum += a / (a + j);
  if (k > h) sum += a * (log(to / from) + (1 / from - 1 / to) / 2);
  return sum;
}

/*
** One question: of n attempts k are drawn, without replacement, to avoid c of them.  k
** and c may be exchanged.
*/

/* The chance as a quotient of whole numbers, as long as a double holds both exactly. */
static bool exact_quotient(double c, double n, double k, double *above, double *below) {
  *above = *below = 1;
  for (double j = 0; j < fmin(c, k); j++) {
    *above *= fmax(0, n - fmax(c, k) - j);
    *below *= n - j;
    if (*below > 0x1p53) return false;
  }
  return true;
}

static double ln_chance_to_avoid(double c, double n, double k) {
  double few = fmin(c, k), many = fmax(c, k);
  return many > n - few ? -HUGE_VAL : ln_falling_ratio(n - many - few + 1, many, few);
}

/* A product of few factors keeps more digits than its logarithm. */
static double chance_to_avoid(double c, double n, double k) {
  double few = fmin(c, k), many = fmax(c, k), product = 1;
  if (few > 2 * PASS_FACTORS) return exp(ln_chance_to_avoid(c, n, k));
  for (double j = 0; j < few; j++) product *= fmax(0, n - many - j) / (n - j);
  return product;
}

double ev_pass_at_k_estimate(double c, double n, double k) {
  double above, below;
  if (exact_quotient(c, n, k, &above, &below)) return (below - above) / below;
  return 0 - expm1(ln_chance_to_avoid(c, n, k)); /* not -0 */
}

double ev_pass_hat_k_estimate(double c, double n, double k) {
  double above, below;
  if (exact_quotient(n - c, n, k, &above, &below)) return above / below;
  return chance_to_avoid(n - c, n, k);
}

/*
** A new question
*/

/* What is known of a line of the posterior. */
typedef struct pass_line {
  double mass;
  double last_s;          /* of its last point */
  double first_z, last_z; /* z falls from the first to the last */
  double s;               /* where z was what was asked for last */
} pass_line;

typedef struct pass {
  ev_hierarchy h;
  pass_line *lines; /* as many as h has, or had when they were last looked at */
  size_t line_count;
  double attempts;
  double tail;     /* asked for */
  bool lower;      /* of g, or upper */
  double mean, sd; /* of z, about */
  ev_status status;
} pass;

/* z at a point of a line, and its slope there. */
static double z_at(const pass *p, double d, double s, double *slope) {
  ev_point theta = ev_at_logit(s);
  double ln = ln_falling_ratio(d * theta.x, d * theta.y, p->attempts);
  *slope = theta.y * falling_ratio_slope(d * theta.x, p->attempts) / ln;
  return log(-ln);
}

/* The s of a line at which z is what is given, which lies between the line's ends:
** Newton's method, or halving where that leads out. */
static bool find_s(const pass *p, size_t line, double z) {
  pass_line *l = &p->lines[line];
  double low = p->h.lines[line].first_s, high = l->last_s, s = l->s;
  for (int i = 0; i < 200; i++) {
    double slope, over = z_at(p, p->h.lines[line].d, s, &slope) - z;
    if (over > 0)
      low = s;
    else
      high = s;
    double newton = s - over / slope, small = 1e-12 * (1 + fabs(s));
    if (fabs(newton - s) <= small || high - low <= small) {
      l->s = s;
      return true;
    }
    s = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return false;
}

/* Si(pi u) / pi - 1/2 for u >= 12, by its asymptotic series to 3e-14; c and s are the
** cosine and the sine of pi u. */
static double sine_integral_beyond(double u, double c, double s) {
  static const double even[] = {1, 2, 24, 720, 40320, 3628800, 479001600, 87178291200};
  static const double odd[] = {1, 6, 120, 5040, 362880, 39916800, 6227020800, 1307674368000};
  double w = 1 / (M_PI * M_PI * u * u), f = 0, g = 0;
  for (int i = 7; i >= 0; i--) {
    f = even[i] - w * f;
    g = odd[i] - w * g;
  }
  return -(f * c + g * s / (M_PI * u)) / (M_PI * M_PI * u);
}

/* The weight of a line's points below s, or above, with the sinc function through each
** integrated to there. */
static double mass_within_line(const pass *p, const ev_hierarchy_line *line, double s) {
  const ev_hierarchy_point *points = p->h.points + line->first;
  double t = (s - line->first_s) / line->step_s, side = p->lower ? 1 : -1, sum = 0;
  double cosine = cos(M_PI * t), sine = sin(M_PI * t);
  for (size_t i = 0; i < line->count; i++) {
    double u = t - (double)i, sign = i % 2 ? -1 : 1, part;
    if (fabs(u) < 12)
      part = gsl_sf_Si(M_PI * u) / M_PI;
    else if (u > 0)
      part = 0.5 + sine_integral_beyond(u, sign * cosine, sign * sine);
    else
      part = -0.5 - sine_integral_beyond(-u, sign * cosine, -sign * sine);
    sum += points[i].weight * (0.5 + side * part);
  }
  return sum;
}

/* How many sd's beyond a line's mode its s of this z is; the s is left in the line. */
static double find_deviate(pass *p, size_t line, double z) {
  const ev_hierarchy_line *l = &p->h.lines[line];
  if (z <= p->lines[line].last_z) return HUGE_VAL;
  if (z >= p->lines[line].first_z) return -HUGE_VAL;
  if (!find_s(p, line, z)) p->status = EV_NOT_CONVERGED;
  return (p->lines[line].s - l->mode) / l->sd;
}

static double mass_beyond(const pass *p, size_t line, double z) {
  const pass_line *l = &p->lines[line];
  if (p->h.lines[line].count == 0) return 0;
  if (z <= l->last_z) return p->lower ? l->mass : 0;
  if (z >= l->first_z) return p->lower ? 0 : l->mass;
  return mass_within_line(p, &p->h.lines[line], l->s);
}

/* Each new line's mass and ends. */
static void look_at_lines(pass *p) {
  size_t count = p->h.line_count;
  pass_line *lines = realloc(p->lines, count * sizeof *lines);
  if (!lines) {
    p->status = EV_NO_MEMORY;
    return;
  }
  p->lines = lines;
  for (; p->line_count < count; p->line_count++) {
    const ev_hierarchy_line *line = &p->h.lines[p->line_count];
    pass_line *l = &p->lines[p->line_count];
    double unused;
    *l = (pass_line){.s = line->mode};
    if (line->count == 0) continue;
    l->last_s = line->first_s + (double)(line->count - 1) * line->step_s;
    l->first_z = z_at(p, line->d, line->first_s, &unused);
    l->last_z = z_at(p, line->d, l->last_s, &unused);
    for (size_t i = 0; i < line->count; i++) l->mass += p->h.points[line->first + i].weight;
  }
}

/* By how many sd's the deviates of a panel's lines differ, where its mass matters. */
static double deviates_of_panel(pass *p, size_t first, double z) {
  double least = HUGE_VAL, most = -HUGE_VAL, mass = 0;
  for (size_t i = first; i < first + EV_NODES; i++) mass += p->lines[i].mass;
  if (mass < 1e-15) return 0;
  double enough = fmin(8, gsl_cdf_ugaussian_Qinv(0.5e-15 / mass));
  for (size_t i = first; i < first + EV_NODES; i++) {
    if (p->h.lines[i].count == 0) continue;
    double deviate = fmax(-enough, fmin(enough, find_deviate(p, i, z)));
    least = fmin(least, deviate);
    most = fmax(most, deviate);
  }
  return most - least;
}

/* P(g <= x), or P(g > x), for the x of z, on one panel.  Sixteen lines do where their
** deviates are no more than 5 apart; otherwise the panel is split. */
static double mass_of_panel(pass *p, size_t panel, double z, int depth) {
  size_t first = p->h.panels[panel].first, added = p->h.panel_count;
  double sum = 0;
  if (deviates_of_panel(p, first, z) > 5 && depth < 30 && p->status == EV_OK) {
    p->status = ev_hierarchy_split(&p->h, panel);
    if (p->status == EV_OK) look_at_lines(p);
    if (p->status != EV_OK) return NAN;
    return mass_of_panel(p, panel, z, depth + 1) + mass_of_panel(p, added, z, depth + 1);
  }
  for (size_t i = first; i < first + EV_NODES; i++) sum += mass_beyond(p, i, z);
  return sum;
}

static double tail_mass(pass *p, double z) {
  double sum = 0;
  for (size_t i = 0, count = p->h.panel_count; i < count; i++) sum += mass_of_panel(p, i, z, 0);
  return sum;
}

/* ln of the tail's mass over what is asked for, or -5 where it is less: where there is
** next to nothing, a logarithm leads nowhere. */
static double ln_tail_excess(pass *p, double z) {
  return log(fmax(tail_mass(p, z) / p->tail, exp(-5)));
}

/* The z that leaves the tail beyond it.  Newton's first step is a normal's, whose
** hazard is known, and half as much more, to bracket; then false position, where the
** value at an end that stays is halved. */
static double find_tail(pass *p, bool lower) {
  p->lower = lower;
  double away = lower ? p->sd : -p->sd; /* a small g is a large z */
  double q = gsl_cdf_ugaussian_Qinv(p->tail), hazard = gsl_ran_ugaussian_pdf(q) / p->tail;
  double x = p->mean + away * q, fx = ln_tail_excess(p, x), y = x, fy = fx;
  double step = away * (1.5 * fx / hazard + (fx > 0 ? 1e-6 : -1e-6));
  for (int i = 0; i < 100 && fy * fx > 0 && p->status == EV_OK; i++, step *= 1.6) {
    x = y;
    fx = fy;
    y += step;
    fy = ln_tail_excess(p, y);
  }
  double last = y;
  int stayed = 0; /* how often the same end, y above 0 and x below */
  for (int i = 0; i < 100 && fx * fy <= 0 && p->status == EV_OK; i++) {
    double mid = fx == fy ? x : x - fx * (x - y) / (fx - fy);
    if (fabs(mid - last) < 1e-9 * p->sd) return mid;
    double f = ln_tail_excess(p, mid);
    last = mid;
    if ((f > 0) == (fx > 0)) {
      x = mid;
      fx = f;
      stayed = stayed > 0 ? stayed + 1 : 1;
      if (stayed > 1) fy /= 2;
    } else {
      y = mid;
      fy = f;
      stayed = stayed < 0 ? stayed - 1 : -1;
      if (stayed < -1) fx /= 2;
    }
  }
  if (p->status == EV_OK) p->status = EV_NOT_CONVERGED;
  return NAN;
}

/* About the mean and the sd of z, from two points of each line. */
static void estimate_scale(pass *p) {
  double sum = 0, square = 0, unused;
  for (size_t i = 0; i < p->line_count; i++) {
    const ev_hierarchy_line *l = &p->h.lines[i];
    double low = z_at(p, l->d, l->mode + l->sd, &unused);
    double high = z_at(p, l->d, l->mode - l->sd, &unused);
    sum += p->lines[i].mass * (low + high) / 2;
    square += p->lines[i].mass * (low * low + high * high) / 2;
  }
  p->mean = sum;
  p->sd = sqrt(fmax(square - sum * sum, 1e-12 * (1 + sum * sum)));
}

/* z at the bounds of g, the lower first, which is the larger z. */
static ev_status pass_bounds(const ev_cluster *clusters, size_t count, const ev_options *options,
                             ev_host host, double *z) {
  pass p = {.attempts = options->attempts, .tail = ev_tail(options)};
  p.status = ev_hierarchy_mesh(clusters, count, options, host, EV_MESH_CDF, &p.h);
  if (p.status == EV_OK) look_at_lines(&p);
  if (p.status == EV_OK) {
    estimate_scale(&p);
    z[0] = find_tail(&p, true);
  }
  if (p.status == EV_OK) z[1] = find_tail(&p, false);
  free(p.lines);
  ev_hierarchy_free(&p.h);
  return p.status;
}

ev_status ev_pass_hat_k(const ev_cluster *clusters, size_t count, const ev_options *options,
                        ev_host host, ev_interval *ci) {
  double z[2];
  if (options->attempts == 1) return ev_clustered(clusters, count, options, host, ci);
  ev_status status = pass_bounds(clusters, count, options, host, z);
  if (status != EV_OK) return status;
  *ci = (ev_interval){exp(-exp(z[0])), exp(-exp(z[1]))};
  return ev_interval_status(*ci);
}

ev_status ev_pass_at_k(const ev_cluster *clusters, size_t count, const ev_options *options,
                       ev_host host, ev_interval *ci) {
  double z[2];
  if (options->attempts == 1) return ev_clustered(clusters, count, options, host, ci);
  ev_cluster *mirrored = malloc(count * sizeof *mirrored);
  if (!mirrored) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++)
    mirrored[i] = (ev_cluster){clusters[i].n - clusters[i].k, clusters[i].n, clusters[i].times};
  ev_status status = pass_bounds(mirrored, count, options, host, z);
  free(mirrored);
  if (status != EV_OK) return status;
  *ci = (ev_interval){-expm1(-exp(z[1])), -expm1(-exp(z[0]))};
  return ev_interval_status(*ci);
}
