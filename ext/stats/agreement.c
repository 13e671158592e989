/*
** Two raters and two categories: the posterior of Cohen's kappa, of Gwet's AC1 and of
** Krippendorff's alpha (for two raters, Scott's pi), without approximation.
**
** 1. The four cells have the prior Dirichlet(1/2, 1/2, 1/2, 1/2): one imagined agreement and one
**    imagined disagreement.  With a whole one in each cell a 95% interval covers 74% at kappa .9
**    and 20 questions, with halves 92%.
** 2. Then d, the share of disagreements, s, the share of 1 among agreements, and u, the share of
**    only_a among disagreements, are independent Betas.  With x = 2s - 1 and y = 2u - 1
**
**        1 - coefficient = 2d / V,   V = 1 - x^2 (1-d)^2 + y^2 d^2   kappa
**                                    V = 1 - x^2 (1-d)^2             alpha
**                                    V = 1 + x^2 (1-d)^2             AC1
**
** 3. Given s and u the coefficient falls in d: it is at most t where d is at least D, the root of
**    a quadratic, which has probability P(d >= D), an incomplete Beta.
** 4. The rest is an integral over s, for kappa also over u, by GSL's Gauss-Kronrod rule of 61
**    points, halving an interval until it is good to its share of the tolerance: where one of the
**    two decides alone, the integrand is a narrow step.
** 5. The variable is an angle, 1 - s = sin^2: the density is that of Beta(k + 1/2, m + 1/2) and
**    becomes sin^2m cos^2k, which is analytic at the ends, with tails like a normal's.
** 6. For t < 0 no d is large enough where 1 - y^2 < -2t / (1-t), and D falls to d where it is that
**    divided by d.  The integral over u begins where D enters d's range, at an angle c, and from
**    there it grows like a square root: the variable is v, the angle c cosh(v).  Where D has left
**    d's range, c is where D is d's mean: there the integrand has the same root, smoothed.
** 7. Bounds: the secant method in a bracket on the logit of the tail, first with 21 points and
**    no halving.
** 8. Alpha's upper bound has the imagined agreement alone, as agreement_tilted.c's bounds have.
**
** References:
**   Cohen, Educ. Psychol. Meas. 20 (1960) 37-46; Scott, Public Opin. Q. 19 (1955) 321-325;
**   Gwet, Br. J. Math. Stat. Psychol. 61 (2008) 29-48; Krippendorff, Content Analysis (2004).
*/
#include "agreement.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>

#include "beta.h"
#include "root.h"

typedef enum coefficient { KAPPA, ALPHA, AC1 } coefficient;

/* A Beta by the angle whose squared sine is 1 - X, where its density is not negligible. */
typedef struct angle {
  ev_beta beta;
  double from, to;
} angle;

typedef struct agreement {
  coefficient which;
  ev_beta d;
  double d_from, d_to; /* where its density is not negligible */
  angle s, u;
  double mass, rounding; /* of the tail that is sought; of an angle, relative to its spread */
  bool upper, fine;      /* the tail is P(coefficient > t); with 61 points */
  double tolerance;
  double middle, spread; /* of ln((1+t)/(1-t)) */
  double t, e, p;        /* t, 1 - t and 1 + t */
  double omy, yy;        /* 1 - y^2 and y^2 at this u; 1 and 0 without u */
  double above;          /* p - e y^2: not positive where no d is large enough */
  double pole;   /* about where D has a branch point, on the imaginary axis of the angle of s */
  double cut;    /* step 6: c; 0 if t is not negative, where v is the angle itself */
  bool mirrored; /* the angle of u is measured from pi/2 */
  ev_host host;
  bool interrupted;
} agreement;

/* Step 3: D and its complement.  omx is 1 - x^2. */
static ev_point least_disagreement(const agreement *g, double omx) {
  if (g->which == AC1) {
    double square = g->e * (1 - omx), root = sqrt(1 + square * g->p);
    return (ev_point){g->e * (2 - omx) / (1 + square + root), g->p / (1 + root)};
  }
  if (g->above <= 0) return (ev_point){1, 0};
  double b = g->t + g->e * omx, root = sqrt(g->t * g->t + g->e * omx * g->above);
  double d = b >= 0 ? g->e * omx / (b + root) : (root - b) / (g->e * (g->omy - omx));
  return (ev_point){d, g->above / (g->t + g->e * g->omy + root)};
}

/* The angle of s, up to pi/4, where D is d. */
static double angle_where(const agreement *g, double d) {
  double omx = d * (2 * g->t / g->e + g->omy * d) / ((1 - d) * (1 - d));
  return asin(sqrt(fmax(0, fmin(omx, 1)))) / 2;
}

static double sine_squared(double at) {
  double sine = sin(at);
  return sine * sine;
}

static double density_at(const angle *a, double at) {
  ev_point x = {sine_squared(M_PI_2 - at), sine_squared(at)};
  return 2 * exp(ev_beta_ln_logit_density(&a->beta, x)) / sqrt(x.x * x.y);
}

static double at_angle_of_s(double v, void *context) {
  const agreement *g = context;
  double at = g->pole * sinh(v);
  ev_point tail = ev_beta_cdf(&g->d, least_disagreement(g, sine_squared(2 * at)));
  return g->pole * cosh(v) * density_at(&g->s, at) * (g->upper ? tail.x : tail.y);
}

enum { AGREEMENT_HALVINGS = 40 };

/* Nearer the real axis than this, relative to the range, the branch point is at the end. */
static const double LEAST_POLE = 1e-6;

typedef double integrand(double at, void *context);

/* Step 4. */
static double integrate(agreement *g, integrand *f, double from, double to, double allowed,
                        int halvings) {
  gsl_function function = {f, g};
  double value = NAN, error = NAN, resabs = NAN, resasc = NAN;
  if (!(from < to)) return 0;
  (g->fine ? gsl_integration_qk61 : gsl_integration_qk21)(&function, from, to, &value, &error,
                                                          &resabs, &resasc);
  if (error <= fmax(allowed, g->tolerance * value) || isnan(value)) return value;
  if (halvings == 0) return NAN;
  double middle = (from + to) / 2;
  return integrate(g, f, from, middle, allowed, halvings - 1) +
         integrate(g, f, middle, to, allowed, halvings - 1);
}

/* In parts, since D is within d's range only in a window, and in its mirror image. */
static double over_s(agreement *g, double weight) {
  double allowed = g->tolerance * g->mass / weight, sum = 0;
  double low = g->which == AC1 ? 0 : angle_where(g, g->d_from);
  double high = g->which == AC1 ? M_PI_4 : angle_where(g, g->d_to);
  double inner = high < M_PI_4 ? high : M_PI_2 - low;
  double ends[] = {0, low, inner, fmax(inner, M_PI_2 - high), M_PI_2 - low, M_PI_2};
  g->above = g->yy < 0.5 ? g->p - g->e * g->yy : 2 * g->t + g->e * g->omy;
  double near = fabs(g->t) / (2 * sqrt(g->e * fmax(g->above, 0)));
  g->pole = g->which == AC1 ? 1 : fmax(LEAST_POLE * g->s.to, fmin(near, 1));
  for (int i = 0; i < 5; i++) {
    if (g->upper ? i == 0 || i == 4 : i == 2) continue; /* the tail is 0 */
    double from = fmax(ends[i], g->s.from), to = fmin(ends[i + 1], g->s.to);
    sum += integrate(g, at_angle_of_s, asinh(from / g->pole), asinh(to / g->pole), allowed,
                     AGREEMENT_HALVINGS);
  }
  return sum;
}

static double at_angle_of_u(double v, void *context) {
  agreement *g = context;
  double at = g->cut > 0 ? g->cut * cosh(v) : v, by = g->cut > 0 ? g->cut * sinh(v) : 1;
  double weight = by * density_at(&g->u, g->mirrored ? M_PI_2 - at : at);
  if (!g->interrupted) g->interrupted = ev_interrupted(g->host);
  if (g->interrupted) return NAN;
  g->omy = sine_squared(2 * at);
  g->yy = sine_squared(M_PI_2 - 2 * at);
  return weight * over_s(g, fmax(1, weight));
}

/* The angle of u, up to pi/4, below which D is larger than d. */
static double cut_where(const agreement *g, double d) {
  return atan2(sqrt(fmax(0, -2 * g->t)), sqrt(fmax(0, g->e * d + 2 * g->t))) / 2;
}

static double over_u_between(agreement *g, double from, double to) {
  double allowed = g->tolerance * g->mass;
  double start = fmax(from, g->mirrored ? M_PI_2 - g->u.to : g->u.from);
  double end = fmin(to, g->mirrored ? M_PI_2 - g->u.from : g->u.to);
  if (!(start < end)) return 0;
  if (g->cut > 0) start = acosh(fmax(1, start / g->cut)), end = acosh(fmax(1, end / g->cut));
  return integrate(g, at_angle_of_u, start, end, allowed, AGREEMENT_HALVINGS);
}

/* Step 6. */
static double over_u(agreement *g) {
  double enters = cut_where(g, g->d_to), leaves = cut_where(g, g->d_from), sum = 0;
  g->cut = 0;
  g->mirrored = false;
  if (enters == 0) return over_u_between(g, 0, M_PI_2);
  ev_point first = {sine_squared(M_PI_2 - enters), sine_squared(enters)}, last = {first.y, first.x};
  if (g->upper) sum = ev_beta_cdf(&g->u.beta, first).y + ev_beta_cdf(&g->u.beta, last).x;
  for (int side = 0; side < 2; side++) {
    g->mirrored = side == 1;
    g->cut = enters;
    sum += over_u_between(g, enters, leaves);
    g->cut = cut_where(g, g->d.mean);
    sum += over_u_between(g, leaves, M_PI_4);
  }
  return sum;
}

/* The error allowed, relative to a part or to the mass.  GSL's estimate of it is far too large:
** with a tenth of these, bounds move by less than 2e-13. */
static const double QUICK_TOLERANCE = 1e-2, FINE_TOLERANCE = 1e-9;

static double exact_tail(double v, bool upper, ev_effort effort, void *context, double *t) {
  agreement *g = context;
  double logit = g->middle + g->spread * sinh(v);
  ev_point half = ev_at_logit(logit);
  *t = tanh(logit / 2);
  if (effort == EV_PLACE) return 0;
  g->upper = upper;
  g->fine = effort == EV_FINE;
  g->tolerance = g->fine ? fmax(FINE_TOLERANCE, g->rounding) : QUICK_TOLERANCE;
  g->t = *t;
  g->p = 2 * half.x;
  g->e = 2 * half.y;
  g->omy = 1;
  g->yy = 0;
  if (g->which != KAPPA) return over_s(g, 1);
  return over_u(g);
}

/*
** Step 7
*/

/* ln((1+c)/(1-c)) = ln((V-d)/d) of a coefficient c, of cells that are all positive: by V - 2d,
** which does not cancel where c is near 0, or by V - d, which does not where c is near -1. */
static double logit_of_cells(coefficient which, const double *cell) {
  double agree = cell[0] + cell[3], differ = cell[1] + cell[2], sum = agree + differ;
  double x = cell[0] - cell[3], y = which == KAPPA ? cell[1] - cell[2] : 0;
  double less_d = 4 * cell[0] * cell[3] + agree * differ + y * y;
  double less_2d =
      4 * cell[0] * cell[3] - (which == KAPPA ? 4 * cell[1] * cell[2] : differ * differ);
  if (which == AC1) less_d = agree * sum + x * x, less_2d = (agree - differ) * sum + x * x;
  double ratio = less_2d / (differ * sum);
  return ratio < -0.5 ? log(less_d / (differ * sum)) : log1p(ratio);
}

/* About where the posterior lies: at the mean of the cells, and the spread by first order. */
static void locate(coefficient which, const double *cells, double *middle, double *spread) {
  static const double by = 1e-4;
  double square = 0;
  *middle = logit_of_cells(which, cells);
  for (int i = 0; i < 4; i++) {
    double moved[] = {cells[0], cells[1], cells[2], cells[3]};
    moved[i] *= 1 + by;
    double slope = (logit_of_cells(which, moved) - *middle) / by;
    square += slope * slope / cells[i];
  }
  *spread = sqrt(square);
}

typedef struct bound_search {
  ev_tail_at *tail;
  void *context;
  double mass, v;
  double slope; /* of the tail's logit, by v */
} bound_search;

/* A secant step leaves about the product of its gap and the one before. */
static const double QUICK_GAP = 1e-4, FINE_GAP = 1e-10, FARTHEST = 1, NARROW = 1e-12;
enum { SECANT_STEPS = 200 };

/* Moves v to where the tail has the given mass; `known` is about the relative error of the slope.
** If the tail jumps past that mass, the wider interval is taken. */
static ev_status move_to_tail(bound_search *at, bool upper, ev_effort effort, double known) {
  ev_bracket in = {-100, 100};
  double enough = effort == EV_FINE ? FINE_GAP : QUICK_GAP, unused;
  double last = NAN, last_gap = known, wished = log(at->mass) - log1p(-at->mass);
  for (int i = 0; i < SECANT_STEPS; i++) {
    double tail = at->tail(at->v, upper, effort, at->context, &unused), here = at->v;
    double gap = log(tail) - log1p(-fmin(tail, 1)) - wished;
    if (isnan(gap)) return EV_NOT_CONVERGED;
    if (upper) gap = -gap;
    double secant = (gap - last_gap) / (here - last);
    if (secant > 0 && isfinite(secant)) at->slope = secant;
    double step = fmax(-FARTHEST, fmin(gap / at->slope, FARTHEST));
    at->v = ev_bracket_next(&in, here, gap > 0, isfinite(gap) ? here - step : NAN);
    if (fabs(gap * last_gap) <= enough) return EV_OK;
    if (in.high - in.low <= NARROW * fabs(here)) {
      at->v = upper ? in.high : in.low;
      return EV_OK;
    }
    last = here, last_gap = gap;
  }
  return EV_NOT_CONVERGED;
}

ev_status ev_agreement_bound(ev_tail_at *tail, void *context, double mass, bool upper, double *t) {
  double z = gsl_cdf_ugaussian_Pinv(mass), v = asinh(upper ? -z : z);
  double slope = gsl_ran_ugaussian_pdf(z) / (mass * (1 - mass)) * cosh(v);
  bound_search at = {tail, context, mass, v, slope};
  ev_status status = move_to_tail(&at, upper, EV_QUICK, 1);
  if (status == EV_OK) status = move_to_tail(&at, upper, EV_FINE, 1e-2);
  if (status == EV_OK && isnan(tail(at.v, upper, EV_PLACE, context, t))) return EV_NOT_CONVERGED;
  return status;
}

static double angle_at_logit(double logit) {
  return atan(exp(-logit / 2));
}

static angle angle_make(double a, double b, double ln_drop) {
  angle found = {.beta = ev_beta_make(a, b)};
  found.from = angle_at_logit(ev_beta_negligible_beyond(&found.beta, 1, ln_drop));
  found.to = angle_at_logit(ev_beta_negligible_beyond(&found.beta, -1, ln_drop));
  return found;
}

/* The coefficients are the same with the raters or the categories exchanged: the smaller count of
** each kind is the one of the squared sine, which keeps its digits.  `counts` are positive where
** only_a and only_b matter one by one; otherwise they are alike. */
static ev_status exact_bound(coefficient which, const double *counts, const ev_options *options,
                             bool upper, ev_host host, double *t) {
  double cells[] = {fmax(counts[0], counts[3]), fmax(counts[1], counts[2]),
                    fmin(counts[1], counts[2]), fmin(counts[0], counts[3])};
  double agree = cells[0] + cells[3], differ = cells[1] + cells[2];
  double mass = ev_tail(options), ln_drop = 24 - log(mass);
  assert(cells[2] > 0 && cells[3] > 0);
  agreement g = {.which = which,
                 .d = ev_beta_make(differ, agree),
                 .s = angle_make(cells[0], cells[3], ln_drop),
                 .u = angle_make(cells[1], cells[2], ln_drop),
                 .mass = mass,
                 .rounding = DBL_EPSILON * sqrt(agree + differ),
                 .host = host};
  g.d_from = ev_at_logit(ev_beta_negligible_beyond(&g.d, -1, ln_drop)).x;
  g.d_to = ev_at_logit(ev_beta_negligible_beyond(&g.d, 1, ln_drop)).x;
  locate(which, cells, &g.middle, &g.spread);
  ev_status status = ev_agreement_bound(exact_tail, &g, mass, upper, t);
  return g.interrupted ? EV_INTERRUPTED : status;
}

static ev_status exact_interval(coefficient which, const double *counts, const ev_options *options,
                                ev_host host, ev_interval *ci) {
  double cells[] = {counts[0] + 0.5, counts[1] + 0.5, counts[2] + 0.5, counts[3] + 0.5};
  ev_status status = exact_bound(which, cells, options, false, host, &ci->lo);
  return status == EV_OK ? exact_bound(which, cells, options, true, host, &ci->hi) : status;
}

ev_status ev_kappa(const double *counts, const ev_options *options, ev_host host, ev_interval *ci) {
  return exact_interval(KAPPA, counts, options, host, ci);
}

ev_status ev_ac1(const double *counts, const ev_options *options, ev_host host, ev_interval *ci) {
  return exact_interval(AC1, counts, options, host, ci);
}

/* Step 8. */
ev_status ev_pair_alpha(const double *counts, const ev_options *options, ev_host host,
                        ev_interval *ci) {
  double differ = (counts[1] + counts[2]) / 2;
  double cells[] = {counts[0] + 0.5, differ + 0.5, differ + 0.5, counts[3] + 0.5};
  ev_status status = exact_bound(ALPHA, cells, options, false, host, &ci->lo);
  cells[1] = cells[2] = differ;
  ci->hi = 1;
  if (status == EV_OK && differ > 0)
    status = exact_bound(ALPHA, cells, options, true, host, &ci->hi);
  return status;
}
