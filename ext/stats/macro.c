/*
** Given theta and d, the accuracies theta_t ~ Beta(d theta + k_t, d (1-theta) + n_t-k_t) are
** independent, so the mean M of T of them has the characteristic function
**
**     phi(tau) = prod_t 1F1(a_t; a_t+b_t; i tau/T),
**
** and the posterior of M the mean of these over the points of the posterior of (theta, d).
** By Gil-Pelaez (Biometrika 38 (1951) 481)
**
**     P(M <= m) = 1/2 - (1/pi) int_0^inf Im[phi(tau) e^(-i tau m)] / tau dtau.
**
** phi does not depend on m: it is summed over points once, at the nodes of a quadrature, and
** every m is then a cheap sum.
**
** Where tasks are many or mixed, phi falls off like a normal's, and panels of Gauss and
** Legendre's nodes along the axis are all.  A task that is all right or all wrong has, at
** small d, hardly any spread: phi then falls off like a small power of tau, for the
** distribution of M nearly jumps at a corner c/T, c a whole number.  From where 1F1 has
** parted into the branches of its two ends (wave.h), phi is a sum over corners
**
**     phi(tau) = sum_c e^(i tau c/T) E_c(tau),
**
** where E_c are the products with c tasks at 1 and the others at 0.  E_c is analytic off
** the imaginary axis and changes on the scale of ln tau only; so from there on the integral
** of each leaves the axis on the ray on which e^(-i tau (m - c/T)) falls off.
*/
#include "macro.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>

#include "each.h"
#include "grouped.h"
#include "hierarchy.h"
#include "lanes.h"
#include "marginal.h"
#include "wave.h"

/* How closely a bound is searched for. */
static const double MACRO_CLOSE = 1e-10;

/*
** Nodes
*/

/* Complex numbers, one a node. */
typedef struct waves {
  double re[EV_NODES], im[EV_NODES];
} waves;

/* One panel of nodes on a ray, or on the axis. */
typedef struct ray_panel {
  waves tau, weight;              /* the weight is over tau */
  waves z[2];                     /* s of either end's branches: -iz and iz */
  waves ln[2];                    /* their logarithms */
  waves powers[2][EV_WAVE_TERMS]; /* s^-k */
} ray_panel;

/* Nodes along the axis of tau, with what is known of phi there. */
typedef struct axis_panel {
  double tau[EV_NODES], weight[EV_NODES];
  double sum_re[EV_NODES], sum_im[EV_NODES];   /* of phi over points */
  double half_re[EV_NODES], half_im[EV_NODES]; /* e^(iz/2) */
  int terms;       /* Chebyshev moments that serve here; 0 where they were not asked for */
  double *weights; /* owned: of the moments, all nodes' of one after another's */
  ray_panel *ray;  /* owned: for branches; NULL where they were not asked for */
} axis_panel;

enum {
  RAY_PANELS = 9,
  RAY_LEVELS = 12,
  RAY_WINDOW = 16 /* tasks that may be at the other end than most of their posterior */
};

/* Nodes on the two rays from one place on the axis: below it for m above a corner, and
** above it for m below. */
typedef struct ray_level {
  size_t panel; /* of the axis: the first that is not needed */
  double tau;   /* where they leave the axis */
  ray_panel panels[2][RAY_PANELS];
  waves **sums; /* owned, and NULL until a point leaves here: of E_c, corner by corner those
                ** of both rays, NULL where it is none's */
} ray_level;

/* The mean, the sd and the skewness of M at a point. */
typedef struct narrow_point {
  double weight, mean, sd, skew;
} narrow_point;

typedef struct macro {
  const ev_cluster *tasks; /* sorted, merged and grouped */
  size_t count;
  double total;        /* of tasks */
  double lo, hi;       /* between which M is */
  double step;         /* of tau, a panel */
  axis_panel **panels; /* owned */
  size_t panel_count, panel_room, most_panels;
  ray_level *levels[RAY_LEVELS]; /* owned */
  narrow_point *narrow;          /* owned */
  size_t narrow_count, narrow_room;
  double wide;       /* the weight of the others */
  double kept;       /* that of all which are not left out */
  double negligible; /* points of less weight are left out, and so is what is less of phi */
  ev_status status;
} macro;

/* M at a point is nearly normal, or gamma, from this d on; and a line may take as many radians. */
static const double NARROW_FROM = 100;
static const double NARROW_RADIANS = 1080;

static axis_panel *panel_at(macro *m, size_t i) {
  if (i < m->panel_count) return m->panels[i];
  if (m->panel_count == m->panel_room) {
    size_t room = m->panel_room ? 2 * m->panel_room : 64;
    axis_panel **moved = realloc(m->panels, room * sizeof *moved);
    if (!moved) return NULL;
    m->panels = moved;
    m->panel_room = room;
  }
  axis_panel *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  m->panels[m->panel_count++] = p;
  for (int q = 0; q < EV_NODES; q++) {
    p->tau[q] = m->step * ((double)i + (1 + ev_node(q)) / 2);
    p->weight[q] = m->step / 2 * ev_weight(q);
    p->half_re[q] = cos(p->tau[q] / m->total / 2);
    p->half_im[q] = sin(p->tau[q] / m->total / 2);
  }
  return p;
}

/* Unless they would be too many. */
static bool fill_moment_weights(const macro *m, axis_panel *p) {
  double row[EV_WAVE_MOMENTS];
  p->terms = ev_wave_moments_for(p->tau[EV_NODES - 1] / m->total);
  if (p->terms > EV_WAVE_MOMENTS) return true;
  p->weights = malloc((size_t)p->terms * EV_NODES * sizeof *p->weights);
  if (!p->weights) return false;
  for (int q = 0; q < EV_NODES; q++) {
    ev_wave_moment_weights(p->tau[q] / m->total, p->terms, row);
    for (int k = 0; k < p->terms; k++) p->weights[k * EV_NODES + q] = row[k];
  }
  return true;
}

/*
** Branches at the nodes of a panel
*/

/* Where points may leave the axis first, as a z: then the terms of a series leave 1e-12. */
static const double RAY_FROM = 28;

EV_INLINE void multiply_waves(waves *x, const waves *y) {
  for (int q = 0; q < EV_NODES; q++) {
    double re = x->re[q] * y->re[q] - x->im[q] * y->im[q];
    x->im[q] = x->re[q] * y->im[q] + x->im[q] * y->re[q];
    x->re[q] = re;
  }
}

EV_INLINE void add_wave_product(waves *sum, const waves *x, const waves *y) {
  for (int q = 0; q < EV_NODES; q++) {
    sum->re[q] += x->re[q] * y->re[q] - x->im[q] * y->im[q];
    sum->im[q] += x->re[q] * y->im[q] + x->im[q] * y->re[q];
  }
}

/* By log and atan2, whose digits are the same wherever the library brings its own. */
static double complex ln_of(double complex s) {
  double re = creal(s), im = cimag(s);
  return log(re * re + im * im) / 2 + atan2(im, re) * _Complex_I;
}

/* x / y, neither near 0 nor huge, written out: that of the language is a call of the
** compiler's library, which on ARM is compiled with fused multiply-adds.  A product
** of two may be such a call as well, so there is none here. */
static double complex quotient(double complex x, double complex y) {
  double re = creal(y), im = cimag(y), square = re * re + im * im;
  return (creal(x) * re + cimag(x) * im) / square +
         (cimag(x) * re - creal(x) * im) / square * _Complex_I;
}

/* A node y along the ray, its weight with it. */
static void set_ray_node(const macro *m, ray_panel *p, int q, double complex tau,
                         double complex weight) {
  p->tau.re[q] = creal(tau);
  p->tau.im[q] = cimag(tau);
  double complex share = quotient(weight, tau);
  p->weight.re[q] = creal(share);
  p->weight.im[q] = cimag(share);
  for (int end = 0; end < 2; end++) {
    /* i tau and -i tau */
    double complex turned =
        end ? -cimag(tau) + creal(tau) * _Complex_I : cimag(tau) - creal(tau) * _Complex_I;
    double complex s = turned / m->total, ln = ln_of(s), power = 1;
    p->z[end].re[q] = creal(s);
    p->z[end].im[q] = cimag(s);
    p->ln[end].re[q] = creal(ln);
    p->ln[end].im[q] = cimag(ln);
    for (int k = 0; k < EV_WAVE_TERMS; k++, power = quotient(power, s)) {
      p->powers[end][k].re[q] = creal(power);
      p->powers[end][k].im[q] = cimag(power);
    }
  }
}

EV_INLINE void exponentiate(waves *w) {
  for (int q = 0; q < EV_NODES; q++) {
    double size = exp(w->re[q]), angle = w->im[q];
    w->re[q] = size * cos(angle);
    w->im[q] = size * sin(angle);
  }
}

/* A branch's series at the nodes of a panel, in `terms` powers of 1/s. */
EV_WIDE static void sum_powers(const ev_wave_branch *b, const waves *powers, int terms, waves *w) {
  *w = powers[0];
  for (int k = 1; k < terms; k++)
    for (int q = 0; q < EV_NODES; q++) {
      w->re[q] += b->terms[k] * powers[k].re[q];
      w->im[q] += b->terms[k] * powers[k].im[q];
    }
}

/* Likewise in powers of 1/(s + shift), and ln of the branch but for that. */
EV_WIDE static void waves_of_shifted_branch(const ev_wave_branch *b, const waves *s, waves *ln,
                                            waves *series) {
  double least = HUGE_VAL;
  for (int i = 0; i < EV_NODES; i += EV_LANES) {
    ev_lanes x, y, size, angle;
    memcpy(&x, s->re + i, sizeof x);
    memcpy(&y, s->im + i, sizeof y);
    x += b->shift;
    size = x * x + y * y;
    for (int j = 0; j < EV_LANES; j++) least = fmin(least, size[j]);
    ev_angle(&x, &y, &angle);
    x /= size;
    y /= -size;
    ev_log(&size, 1);
    size = b->ln_scale - b->shape / 2 * size;
    angle *= -b->shape;
    memcpy(ln->re + i, &size, sizeof size);
    memcpy(ln->im + i, &angle, sizeof angle);
    memcpy(series->re + i, &x, sizeof x);
    memcpy(series->im + i, &y, sizeof y);
  }
  waves inverse = *series, sum = {{0}, {0}};
  for (int k = ev_wave_terms_at(b, sqrt(least)) - 1; k >= 0; k--)
    for (int q = 0; q < EV_NODES; q++) {
      double re = sum.re[q] * inverse.re[q] - sum.im[q] * inverse.im[q];
      sum.im[q] = sum.re[q] * inverse.im[q] + sum.im[q] * inverse.re[q];
      sum.re[q] = re + b->terms[k];
    }
  *series = sum;
}

/* ln of a branch but for its series, and the series. */
static void waves_of_branch(const ev_wave_branch *b, const ray_panel *p, int end, waves *ln,
                            waves *series) {
  if (b->shift == 0) {
    for (int q = 0; q < EV_NODES; q++) {
      ln->re[q] = b->ln_scale - b->shape * p->ln[end].re[q];
      ln->im[q] = -b->shape * p->ln[end].im[q];
    }
    double nearest = hypot(p->z[end].re[0], p->z[end].im[0]);
    sum_powers(b, p->powers[end], ev_wave_terms_at(b, nearest), series);
    return;
  }
  waves_of_shifted_branch(b, &p->z[end], ln, series);
}

/* Adds ln of a power of a branch, its series being so near 1 that it has one logarithm, or the
** power whole. */
EV_WIDE static void add_ln_power(waves *sum, const waves *ln, const waves *series, double times) {
  for (int i = 0; i < EV_NODES; i += EV_LANES) {
    ev_lanes x, y, size, angle;
    memcpy(&x, series->re + i, sizeof x);
    memcpy(&y, series->im + i, sizeof y);
    size = x * x + y * y;
    ev_angle(&x, &y, &angle);
    ev_log(&size, 1);
    for (int j = 0; j < EV_LANES; j++) {
      sum->re[i + j] += times * (ln->re[i + j] + size[j] / 2);
      sum->im[i + j] += times * (ln->im[i + j] + angle[j]);
    }
  }
}

/*
** One point of the posterior
*/
typedef struct task_branches {
  ev_wave_branch low, high;
} task_branches;

/* A task, or tasks that are alike, at a point. */
typedef struct task_wave {
  double a, b, within;
  double *moments;         /* owned */
  int known, room;         /* of moments */
  task_branches *branches; /* owned, and NULL until they serve */
  double tried;            /* the z that they were last tried from */
  double u[EV_WAVE_CUMULANTS];
} task_wave;

typedef struct point_wave {
  double weight;
  task_wave *tasks;
  double u[EV_WAVE_CUMULANTS]; /* of the tasks whose series converges up to `within` */
  double within;
  bool gone;
} point_wave;

/* The exponential of a cumulants' series. */
EV_WIDE static void waves_of_cumulants(const double *u, const double *tau, double total, waves *w) {
  double re[EV_NODES] = {0}, im[EV_NODES] = {0}, z[EV_NODES];
  int terms = EV_WAVE_CUMULANTS;
  while (terms > 0 && u[terms - 1] == 0) terms--;
  for (int q = 0; q < EV_NODES; q++) {
    z[q] = tau[q] / total;
    w->re[q] = 1;
    w->im[q] = 0;
  }
  if (terms == 0) return;
  for (int j = terms - 1; j >= 0; j--) {
    double c = u[j] / (j + 1);
    for (int q = 0; q < EV_NODES; q++) {
      double last = re[q] + c;
      re[q] = -z[q] * im[q];
      im[q] = z[q] * last;
    }
  }
  for (int q = 0; q < EV_NODES; q++) {
    double size = exp(re[q]);
    w->re[q] = size * cos(im[q]);
    w->im[q] = size * sin(im[q]);
  }
}

/* Makes sure that a task's moments are known up to a term. */
static bool extend_moments(task_wave *t, int terms) {
  if (terms > t->room) {
    int room = 2 * terms;
    double *moved = realloc(t->moments, (size_t)room * sizeof *moved);
    if (!moved) return false;
    t->moments = moved;
    t->room = room;
  }
  ev_wave_moments(t->a, t->b, t->known, terms, t->moments);
  t->known = terms > t->known ? terms : t->known;
  return true;
}

EV_WIDE static void waves_of_moments(const axis_panel *p, const double *moments, waves *w) {
  double re[EV_NODES] = {0}, im[EV_NODES] = {0};
  for (int k = 0; k < p->terms; k++) {
    double *sum = k % 2 ? im : re;
    for (int q = 0; q < EV_NODES; q++) sum[q] += moments[k] * p->weights[k * EV_NODES + q];
  }
  for (int q = 0; q < EV_NODES; q++) {
    w->re[q] = re[q] * p->half_re[q] - im[q] * p->half_im[q];
    w->im[q] = re[q] * p->half_im[q] + im[q] * p->half_re[q];
  }
}

/*
** Branches along the axis
*/

/* A panel's nodes as those of a ray. */
static bool fill_axis_ray(const macro *m, axis_panel *p) {
  p->ray = malloc(sizeof *p->ray);
  if (!p->ray) return false;
  for (int q = 0; q < EV_NODES; q++) set_ray_node(m, p->ray, q, p->tau[q], p->weight[q]);
  return true;
}

/* Sets a task's branches where they serve from z on; they are tried again at twice the z. */
static bool try_branches(task_wave *t, double z, double least) {
  task_branches b;
  if (t->branches || z < least || z < 2 * t->tried) return true;
  t->tried = z;
  if (!ev_wave_branches_make(t->a, t->b, z, &b.low, &b.high)) return true;
  t->branches = malloc(sizeof b);
  if (t->branches) *t->branches = b;
  return t->branches != NULL;
}

static void waves_of_branches(const axis_panel *p, const task_branches *b, waves *w) {
  waves ln, series;
  *w = (waves){{0}, {0}};
  for (int end = 0; end < 2; end++) {
    const ev_wave_branch *branch = end ? &b->high : &b->low;
    if (branch->absent) continue;
    waves_of_branch(branch, p->ray, end, &ln, &series);
    for (int q = 0; q < EV_NODES && end; q++) ln.im[q] += p->ray->z[end].im[q];
    exponentiate(&ln);
    add_wave_product(w, &ln, &series);
  }
}

static ev_status waves_of_task(const macro *m, axis_panel *p, task_wave *t, waves *w) {
  if (!try_branches(t, p->tau[0] / m->total, 4 * RAY_FROM)) return EV_NO_MEMORY;
  if (t->branches) {
    if (!p->ray && !fill_axis_ray(m, p)) return EV_NO_MEMORY;
    waves_of_branches(p, t->branches, w);
    return EV_OK;
  }
  if (p->terms == 0 && !fill_moment_weights(m, p)) return EV_NO_MEMORY;
  if (!p->weights) return EV_NOT_CONVERGED;
  if (!extend_moments(t, p->terms)) return EV_NO_MEMORY;
  waves_of_moments(p, t->moments, w);
  return EV_OK;
}

/* Adds ln of a power, which is not whole, of the phi of tasks that have only one end. */
static ev_status add_group(const macro *m, axis_panel *p, task_wave *t, double times, waves *sum) {
  waves ln, series;
  if (!t->branches && t->tried == 0 && !try_branches(t, p->tau[0] / m->total, 0))
    return EV_NO_MEMORY;
  if (!t->branches || t->branches->low.absent == t->branches->high.absent) return EV_NOT_CONVERGED;
  if (!p->ray && !fill_axis_ray(m, p)) return EV_NO_MEMORY;
  int end = t->branches->low.absent;
  waves_of_branch(end ? &t->branches->high : &t->branches->low, p->ray, end, &ln, &series);
  for (int q = 0; q < EV_NODES && end; q++) ln.im[q] += p->ray->z[end].im[q];
  add_ln_power(sum, &ln, &series, times);
  return EV_OK;
}

/* x times y to a whole power. */
EV_WIDE static void multiply_power(waves *x, waves y, double times) {
  for (; times >= 1; times = floor(times / 2)) {
    if (fmod(times, 2) == 1) multiply_waves(x, &y);
    waves square = y;
    if (times >= 2) multiply_waves(&y, &square);
  }
}

static void sum_cumulants(const macro *m, point_wave *p, double z) {
  memset(p->u, 0, sizeof p->u);
  p->within = HUGE_VAL;
  for (size_t t = 0; t < m->count; t++) {
    task_wave *task = &p->tasks[t];
    if (task->within < z && task->u[EV_WAVE_CUMULANTS - 1] == 0)
      task->within = ev_wave_cumulants(task->a, task->b, 4 * z, task->u);
    if (task->within < z) continue;
    p->within = fmin(p->within, task->within);
    for (int j = 0; j < EV_WAVE_CUMULANTS; j++) p->u[j] += m->tasks[t].times * task->u[j];
  }
}

/* Multiplies by the phi of the tasks whose cumulants' series does not converge up to z. */
static ev_status multiply_tasks(const macro *m, axis_panel *panel, const point_wave *p, double z,
                                waves *product) {
  waves one, ln = {{0}, {0}};
  bool groups = false;
  for (size_t t = 0; t < m->count; t++) {
    double times = m->tasks[t].times;
    bool whole = times == floor(times);
    if (p->tasks[t].within >= z) continue;
    ev_status status = whole ? waves_of_task(m, panel, &p->tasks[t], &one)
                             : add_group(m, panel, &p->tasks[t], times, &ln);
    if (status != EV_OK) return status;
    if (whole) multiply_power(product, one, times);
    groups = groups || !whole;
  }
  if (groups) {
    exponentiate(&ln);
    multiply_waves(product, &ln);
  }
  return EV_OK;
}

/* Adds a point's phi on a panel; it has gone where nothing is left of it. */
static ev_status add_point(const macro *m, axis_panel *panel, point_wave *p, waves *sum) {
  waves product;
  double z = panel->tau[EV_NODES - 1] / m->total, most = 0;
  if (p->within < z) sum_cumulants(m, p, z);
  waves_of_cumulants(p->u, panel->tau, m->total, &product);
  ev_status status = multiply_tasks(m, panel, p, z, &product);
  if (status != EV_OK) return status;
  for (int q = 0; q < EV_NODES; q++) {
    most = fmax(most, fmax(fabs(product.re[q]), fabs(product.im[q])));
    sum->re[q] += p->weight * product.re[q];
    sum->im[q] += p->weight * product.im[q];
  }
  p->gone = most * p->weight < m->negligible;
  return EV_OK;
}

/*
** Rays
*/
/* As many shapes may grow by a factor of 64. */
static const double RAY_SHAPES = 12;

/* Corners are closer than this to m only where M nearly jumps there. */
static const double RAY_NEAREST = 1e-8;

/* The first panel is short beside the way to the origin, and resolves the fall-off by the
** corner that is farthest; the others lengthen by e^2.4. */
static void set_rays(const macro *m, ray_level *l) {
  double first = fmin(l->tau, 24), width = log(60 / RAY_NEAREST / first) / (RAY_PANELS - 1);
  const double complex turn = M_SQRT1_2 - M_SQRT1_2 * _Complex_I;
  for (int panel = 0; panel < RAY_PANELS; panel++)
    for (int q = 0; q < EV_NODES; q++) {
      double x = (1 + ev_node(q)) / 2, y = first * x, dy = first * ev_weight(q) / 2;
      if (panel > 0) {
        y = first * exp(width * (panel - 1 + x));
        dy = y * width * ev_weight(q) / 2;
      }
      set_ray_node(m, &l->panels[0][panel], q, l->tau + y * turn, dy * turn);
      set_ray_node(m, &l->panels[1][panel], q, l->tau + y * conj(turn), dy * conj(turn));
    }
}

static ray_level *level_at(macro *m, int i) {
  if (m->levels[i]) return m->levels[i];
  ray_level *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  m->levels[i] = l;
  l->panel = (size_t)ceil(ldexp(RAY_FROM, i) * m->total / m->step);
  if (i > 0 && l->panel <= m->levels[i - 1]->panel) l->panel = m->levels[i - 1]->panel + 1;
  l->tau = (double)l->panel * m->step;
  set_rays(m, l);
  return l;
}

/* The product over tasks at the nodes of a panel, by how many more of them are at 1 than
** those of which that is the end with more of the posterior. */
typedef struct corner_waves {
  waves at[2 * RAY_WINDOW + 1];
  int first, last; /* of at[] */
  double base;     /* corner of the middle */
  waves ln;        /* of a factor of all */
} corner_waves;

EV_INLINE void scale_waves(waves *x, double factor) {
  for (int q = 0; q < EV_NODES; q++) {
    x->re[q] *= factor;
    x->im[q] *= factor;
  }
}

static double largest(const waves *x) {
  double most = 0;
  for (int q = 0; q < EV_NODES; q++) most = fmax(most, fmax(fabs(x->re[q]), fabs(x->im[q])));
  return most;
}

/* Lets any of `times` tasks be at their other end, which multiplies by `flip` and moves the
** corner by `side`. */
EV_WIDE static void flip_tasks(corner_waves *w, const waves *flip, double times, int side) {
  waves factor = *flip;
  corner_waves before = *w;
  for (int j = 1; j <= RAY_WINDOW && j <= times; j++) {
    if (j > 1) multiply_waves(&factor, flip);
    scale_waves(&factor, (times - j + 1) / j);
    if (largest(&factor) < 1e-17) break;
    for (int i = before.first; i <= before.last; i++) {
      int to = i + side * j;
      if (to < 0 || to > 2 * RAY_WINDOW) continue;
      add_wave_product(&w->at[to], &before.at[i], &factor);
      w->first = to < w->first ? to : w->first;
      w->last = to > w->last ? to : w->last;
    }
  }
}

/* flip = exp(ln of one - ln of the other) times the quotient of their series. */
static void make_flip(const waves *ln, const waves *series, int at, waves *flip) {
  for (int q = 0; q < EV_NODES; q++) {
    flip->re[q] = ln[!at].re[q] - ln[at].re[q];
    flip->im[q] = ln[!at].im[q] - ln[at].im[q];
  }
  exponentiate(flip);
  multiply_waves(flip, &series[!at]);
  for (int q = 0; q < EV_NODES; q++) {
    double x = series[at].re[q], y = series[at].im[q], size = x * x + y * y;
    double re = flip->re[q], im = flip->im[q];
    flip->re[q] = (re * x + im * y) / size;
    flip->im[q] = (im * x - re * y) / size;
  }
}

static void multiply_task(corner_waves *w, const ray_panel *p, const task_branches *b,
                          double times) {
  waves ln[2], series[2], flip;
  int at = b->low.absent || (!b->high.absent && b->high.shape < b->low.shape);
  bool both = !b->low.absent && !b->high.absent;
  if (both || !at) waves_of_branch(&b->low, p, 0, &ln[0], &series[0]);
  if (both || at) waves_of_branch(&b->high, p, 1, &ln[1], &series[1]);
  add_ln_power(&w->ln, &ln[at], &series[at], times);
  if (at) w->base += times;
  if (!both) return;
  make_flip(ln, series, at, &flip);
  flip_tasks(w, &flip, times, at ? -1 : 1);
}

/* The sums of a corner; NULL when there is no memory. */
static waves *corner_sums(const macro *m, ray_level *l, size_t corner) {
  if (!l->sums) l->sums = calloc((size_t)m->total + 1, sizeof *l->sums);
  if (!l->sums) return NULL;
  if (!l->sums[corner]) l->sums[corner] = calloc((size_t)2 * RAY_PANELS, sizeof **l->sums);
  return l->sums[corner];
}

/* Adds a point's E_c on a panel; false where nothing is left of them. */
static bool add_corners(macro *m, ray_level *l, int ray, int panel, const task_branches *branches,
                        double weight) {
  corner_waves w;
  memset(&w, 0, sizeof w);
  w.first = w.last = RAY_WINDOW;
  double most = 0;
  for (int q = 0; q < EV_NODES; q++) {
    w.at[RAY_WINDOW].re[q] = 1;
    w.ln.re[q] = log(weight);
  }
  for (size_t t = 0; t < m->count; t++) {
    if (branches[t].low.absent && branches[t].high.absent) return false;
    multiply_task(&w, &l->panels[ray][panel], &branches[t], m->tasks[t].times);
  }
  exponentiate(&w.ln);
  for (int i = w.first; i <= w.last; i++) {
    long corner = lround(w.base) + i - RAY_WINDOW;
    if (corner < 0 || corner > (long)m->total) continue;
    multiply_waves(&w.at[i], &w.ln);
    waves *sum = corner_sums(m, l, (size_t)corner);
    if (!sum) {
      m->status = EV_NO_MEMORY;
      return false;
    }
    sum += ray * RAY_PANELS + panel;
    for (int q = 0; q < EV_NODES; q++) {
      sum->re[q] += w.at[i].re[q];
      sum->im[q] += w.at[i].im[q];
    }
    most = fmax(most, largest(&w.at[i]));
  }
  return most > m->negligible;
}

static void add_rays_of_point(macro *m, ray_level *l, const task_branches *branches,
                              double weight) {
  bool at_one = true, at_zero = true; /* every task is; no m lies beyond */
  for (size_t t = 0; t < m->count; t++) {
    at_one = at_one && branches[t].low.absent;
    at_zero = at_zero && branches[t].high.absent;
  }
  for (int ray = at_one ? 1 : 0; ray < (at_zero ? 1 : 2); ray++)
    for (int panel = 0; panel < RAY_PANELS; panel++)
      if (!add_corners(m, l, ray, panel, branches, weight)) break;
}

/* The branches of a point's tasks; false where they do not serve from tau on.  Those in
** 1/(s + shift) grow along a ray that begins before the shift, as the shapes' power of
** sqrt(2). */
static bool make_branches(const macro *m, const point_wave *p, double tau, task_branches *b) {
  double shapes = 0;
  for (size_t t = 0; t < m->count; t++) {
    const task_wave *task = &p->tasks[t];
    ev_wave_branch *low = &b[t].low, *high = &b[t].high;
    if (!ev_wave_branches_make(task->a, task->b, tau / m->total, low, high)) return false;
    if (!low->absent && low->shift > tau / m->total) shapes += m->tasks[t].times * low->shape;
    if (!high->absent && high->shift > tau / m->total) shapes += m->tasks[t].times * high->shape;
    if (shapes > RAY_SHAPES) return false;
  }
  return true;
}

/* Takes the points of a line off the axis, unless one of them has not parted into branches. */
static bool leave_axis(macro *m, ray_level *l, point_wave *points, size_t count) {
  task_branches *b = malloc(m->count * sizeof *b);
  bool all = b != NULL;
  if (!b) m->status = EV_NO_MEMORY;
  for (size_t i = 0; i < count && all; i++)
    all = points[i].gone || make_branches(m, &points[i], l->tau, b);
  for (size_t i = 0; i < count && all; i++) {
    if (points[i].gone) continue;
    make_branches(m, &points[i], l->tau, b);
    add_rays_of_point(m, l, b, points[i].weight);
  }
  free(b);
  return all;
}

/*
** Narrow points: d is so large that M hardly differs from its mean
*/

static narrow_point moments_at(const macro *m, const ev_hierarchy_point *p) {
  double mean = 0, variance = 0, third = 0;
  for (size_t t = 0; t < m->count; t++) {
    double n = m->tasks[t].n, k = m->tasks[t].k, c = p->d + n, times = m->tasks[t].times;
    double x = (p->d * p->theta + k) / c, y = (p->d * p->other + (n - k)) / c;
    mean += times * x;
    variance += times * x * y / (c + 1);
    third += times * 2 * x * y * (y - x) / ((c + 1) * (c + 2));
  }
  return (narrow_point){p->weight, mean / m->total, sqrt(variance) / m->total,
                        third / pow(variance, 1.5)};
}

/* P(M <= x) at a point.  Where M is skewed, because a sum of shapes is small, it is nearly a
** gamma variable; elsewhere nearly normal, with the next terms of Edgeworth's series. */
static double narrow_below(const narrow_point *p, double x) {
  double t = (x - p->mean) / p->sd, g = p->skew;
  if (t < -9 && g >= 0) return 0;
  if (t > 9 && g <= 0) return 1;
  if (fabs(g) > 0.2) {
    double shape = 4 / (g * g), at = shape + fabs(2 / g) * (g > 0 ? t : -t);
    if (at <= 0) return g > 0 ? 0 : 1;
    return g > 0 ? gsl_sf_gamma_inc_P(shape, at) : gsl_sf_gamma_inc_Q(shape, at);
  }
  if (fabs(t) > 12) return t > 0;
  double he2 = t * t - 1, he3 = t * (t * t - 3), he5 = t * (t * t * (t * t - 10) + 15);
  double density = exp(-t * t / 2) / sqrt(2 * M_PI);
  return erfc(-t * M_SQRT1_2) / 2 - density * (g / 6 * he2 + g * g / 16 * he3 + g * g / 72 * he5);
}

/* A line on which M at a point is so much narrower than M that phi would have to be followed
** too far: it is summed as it is. */
static bool line_is_narrow(const macro *m, const ev_hierarchy *h, const ev_hierarchy_line *line) {
  double sd = 0, weight = 0;
  for (size_t i = line->first; i < line->first + line->count; i++) {
    sd += h->points[i].weight * moments_at(m, &h->points[i]).sd;
    weight += h->points[i].weight;
  }
  return line->d > NARROW_FROM && line->sd > EV_NARROW_LINE &&
         8 * weight / sd * (m->hi - m->lo) > NARROW_RADIANS;
}

static bool add_narrow(macro *m, const ev_hierarchy_point *p) {
  if (m->narrow_count == m->narrow_room) {
    size_t room = m->narrow_room ? 2 * m->narrow_room : 256;
    narrow_point *moved = realloc(m->narrow, room * sizeof *moved);
    if (!moved) return false;
    m->narrow = moved;
    m->narrow_room = room;
  }
  m->narrow[m->narrow_count++] = moments_at(m, p);
  m->kept += p->weight;
  return true;
}

static void add_narrow_line(macro *m, const ev_hierarchy *h, const ev_hierarchy_line *line) {
  for (size_t i = line->first; i < line->first + line->count; i++)
    if (h->points[i].weight >= m->negligible && !add_narrow(m, &h->points[i]))
      m->status = EV_NO_MEMORY;
}

/*
** One line of the posterior
*/

/* The most panels there are for points that neither fall off nor part into branches: beside
** a task that is mixed and very large, and no other of the kind.  The last half of them fade
** out, which changes P(M <= m) only within some 30/tau of a corner. */
enum { MOST_PANELS = 276 };

static double window_at(const macro *m, double tau) {
  double share = tau / (m->step * (double)m->most_panels);
  return share < 0.5 ? 1 : erfc(21.6 * (share - 0.75)) / 2;
}

static void start_point(const macro *m, const ev_hierarchy_point *h, task_wave *tasks,
                        point_wave *p) {
  double goal = 9 / (moments_at(m, h).sd * m->total); /* where a normal's phi is e^-40 */
  *p = (point_wave){.weight = h->weight, .tasks = tasks};
  for (size_t t = 0; t < m->count; t++) {
    tasks[t] = (task_wave){0};
    tasks[t].a = h->d * h->theta + m->tasks[t].k;
    tasks[t].b = h->d * h->other + (m->tasks[t].n - m->tasks[t].k);
    tasks[t].within = ev_wave_cumulants(tasks[t].a, tasks[t].b, goal, tasks[t].u);
  }
}

/* The first node of three from which on there is nothing left of a sum, or EV_NODES. */
static int first_negligible(const waves *sum, double negligible) {
  int run = 0;
  for (int q = 0; q < EV_NODES; q++) {
    bool small = fabs(sum->re[q]) + fabs(sum->im[q]) < negligible;
    run = small ? run + 1 : 0;
    if (run == 3) return q - 2;
  }
  return EV_NODES;
}

/* Adds the points' phi on a panel; false once nothing is left of their sum.  Beyond that a
** sum over a line would rise again, to what its points are by themselves. */
static bool add_points(macro *m, size_t i, point_wave *points, size_t count) {
  axis_panel *panel = panel_at(m, i);
  waves sum = {{0}, {0}};
  if (!panel) m->status = EV_NO_MEMORY;
  for (size_t j = 0; j < count && m->status == EV_OK; j++)
    if (!points[j].gone) m->status = add_point(m, panel, &points[j], &sum);
  int end = first_negligible(&sum, m->negligible);
  for (int q = 0; q < end && m->status == EV_OK; q++) {
    double part = window_at(m, panel->tau[q]);
    panel->sum_re[q] += part * sum.re[q];
    panel->sum_im[q] += part * sum.im[q];
  }
  return end == EV_NODES;
}

/* Follows a line's points along the axis until nothing is left of them, or they leave it. */
static void march_line(macro *m, point_wave *points, size_t count) {
  int level = 0;
  for (size_t i = 0; i < m->most_panels && m->status == EV_OK; i++) {
    ray_level *l = level < RAY_LEVELS ? level_at(m, level) : NULL;
    if (!l && level < RAY_LEVELS) m->status = EV_NO_MEMORY;
    if (l && i == l->panel && i <= m->most_panels / 2) {
      if (leave_axis(m, l, points, count)) return;
      level++;
    }
    if (m->status == EV_OK && !add_points(m, i, points, count)) return;
  }
}

static void add_line(macro *m, const ev_hierarchy *h, const ev_hierarchy_line *line) {
  point_wave *points = malloc(line->count * sizeof *points);
  /* More than an address reaches, in WebAssembly's 32 bits, is no memory. */
  bool fits = m->count <= SIZE_MAX / sizeof(task_wave) / (line->count + 1);
  task_wave *tasks = fits ? malloc(line->count * m->count * sizeof *tasks) : NULL;
  size_t count = 0;
  if (!points || !tasks) m->status = EV_NO_MEMORY;
  for (size_t i = 0; i < line->count && m->status == EV_OK; i++) {
    const ev_hierarchy_point *p = &h->points[line->first + i];
    if (p->weight < m->negligible) continue;
    start_point(m, p, tasks + count * m->count, &points[count]);
    m->wide += p->weight;
    m->kept += p->weight;
    count++;
  }
  if (count > 0) march_line(m, points, count);
  for (size_t i = 0; i < count * m->count; i++) {
    free(tasks[i].moments);
    free(tasks[i].branches);
  }
  free(points);
  free(tasks);
}

/*
** The distribution of M
*/
static double sum_of_corner(const macro *m, const ray_level *l, size_t corner, double x) {
  double away = x - (double)corner / m->total, sum = 0;
  int ray = away < 0;
  if (fabs(away) < RAY_NEAREST) away = ray ? -RAY_NEAREST : RAY_NEAREST;
  for (int panel = 0; panel < RAY_PANELS; panel++) {
    const ray_panel *p = &l->panels[ray][panel];
    const waves *phi = l->sums[corner] + ray * RAY_PANELS + panel;
    if (p->tau.im[0] * away < -40) break;
    waves turn = {{0}, {0}};
    for (int q = 0; q < EV_NODES; q++) {
      turn.re[q] = p->tau.im[q] * away;
      turn.im[q] = -p->tau.re[q] * away;
    }
    exponentiate(&turn);
    multiply_waves(&turn, &p->weight);
    multiply_waves(&turn, phi);
    for (int q = 0; q < EV_NODES; q++) sum += turn.im[q];
  }
  return sum;
}

static double mean_below(const macro *m, double x) {
  double sum = 0, narrow = 0;
  for (size_t i = 0; i < m->panel_count; i++) {
    const axis_panel *p = m->panels[i];
    for (int q = 0; q < EV_NODES; q++) {
      double angle = p->tau[q] * x;
      sum += p->weight[q] / p->tau[q] * (p->sum_im[q] * cos(angle) - p->sum_re[q] * sin(angle));
    }
  }
  for (int i = 0; i < RAY_LEVELS && m->levels[i]; i++)
    for (size_t c = 0; m->levels[i]->sums && c <= (size_t)m->total; c++)
      if (m->levels[i]->sums[c]) sum += sum_of_corner(m, m->levels[i], c, x);
  for (size_t i = 0; i < m->narrow_count; i++)
    narrow += m->narrow[i].weight * narrow_below(&m->narrow[i], x);
  return (m->wide / 2 - sum / M_PI + narrow) / m->kept;
}

/* The mass below x, or above, less the tail. */
static double tail_excess(const macro *m, double x, double tail, bool lower) {
  double below = mean_below(m, x);
  return lower ? below - tail : below - 1 + tail;
}

/* The m with `tail` below it, or above: false position, where the value at an end that
** stays is halved, and halving now and then. */
static double find_bound(const macro *m, double tail, bool lower) {
  double low = m->lo, high = m->hi, at_low = lower ? -tail : tail - 1, at_high = at_low + 1;
  int stayed = 0; /* how often the same end, the lower above 0 */
  for (int i = 0; i < 200 && high - low > MACRO_CLOSE; i++) {
    double x = (low + high) / 2;
    if (i % 4 != 3) x = low - at_low * (high - low) / (at_high - at_low);
    x = fmax(low + MACRO_CLOSE / 4, fmin(high - MACRO_CLOSE / 4, x));
    double f = tail_excess(m, x, tail, lower);
    if (f < 0) {
      low = x, at_low = f;
      stayed = stayed > 0 ? 0 : stayed - 1;
      if (stayed < -1) at_high /= 2;
    } else {
      high = x, at_high = f;
      stayed = stayed < 0 ? 0 : stayed + 1;
      if (stayed > 1) at_low /= 2;
    }
  }
  return (low + high) / 2;
}

/* Between which bounds all but e^-30 of M is at every point, by Bernstein's inequality for
** sums of Betas (Skorski, Modern Stochastics 10 (2023) 211), whose scale is at most
** 2/(c+2).  A panel of the axis takes so many radians of them. */
static void find_range(macro *m, const ev_hierarchy *h, double radians) {
  const double drop = 30;
  m->lo = 1;
  m->hi = 0;
  for (size_t i = 0; i < h->count; i++) {
    const ev_hierarchy_point *p = &h->points[i];
    double mean = 0, variance = 0, least = HUGE_VAL;
    if (p->weight < m->negligible) continue;
    for (size_t t = 0; t < m->count; t++) {
      double c = p->d + m->tasks[t].n, k = m->tasks[t].k;
      double x = (p->d * p->theta + k) / c, y = (p->d * p->other + (m->tasks[t].n - k)) / c;
      mean += m->tasks[t].times * x;
      variance += m->tasks[t].times * x * y / (c + 1);
      least = fmin(least, c);
    }
    double scale = 2 / (least + 2) * drop / 3;
    double reach = (scale + sqrt(scale * scale + 2 * variance * drop)) / m->total;
    m->lo = fmin(m->lo, mean / m->total - reach);
    m->hi = fmax(m->hi, mean / m->total + reach);
  }
  m->lo = fmax(0, m->lo);
  m->hi = fmin(1, m->hi);
  m->step = radians / (m->hi - m->lo);
  m->most_panels = (size_t)fmax(MOST_PANELS, 4 * ceil(RAY_FROM * m->total / m->step));
}

static void free_macro(macro *m) {
  for (size_t i = 0; i < m->panel_count; i++) {
    free(m->panels[i]->weights);
    free(m->panels[i]->ray);
    free(m->panels[i]);
  }
  for (int i = 0; i < RAY_LEVELS && m->levels[i]; i++) {
    for (size_t c = 0; m->levels[i]->sums && c <= (size_t)m->total; c++)
      free(m->levels[i]->sums[c]);
    free(m->levels[i]->sums);
    free(m->levels[i]);
  }
  free(m->panels);
  free(m->narrow);
}

static int by_size(const void *a, const void *b) {
  const ev_cluster *p = a, *q = b;
  if (p->n != q->n) return p->n < q->n ? -1 : 1;
  return (p->k > q->k) - (p->k < q->k);
}

/* Sorts tasks and merges those that are alike; gives how many are left. */
static size_t merge_tasks(ev_cluster *tasks, size_t count) {
  size_t merged = 0;
  qsort(tasks, count, sizeof *tasks, by_size);
  for (size_t i = 0; i < count; i++) {
    if (merged > 0 && by_size(&tasks[merged - 1], &tasks[i]) == 0)
      tasks[merged - 1].times += tasks[i].times;
    else
      tasks[merged++] = tasks[i];
  }
  return merged;
}

static ev_status mean_of_tasks(macro *m, const ev_hierarchy *h, const ev_options *options,
                               ev_host host, ev_interval *ci) {
  bool small = ev_tail(options) < EV_SMALL_TAIL;
  m->negligible = small ? 1e-14 : 1e-11;
  find_range(m, h, small ? 18 : 25);
  for (size_t i = 0; i < h->line_count && m->status == EV_OK; i++) {
    if (host.interrupted && host.interrupted(host.context)) m->status = EV_INTERRUPTED;
    if (line_is_narrow(m, h, &h->lines[i]))
      add_narrow_line(m, h, &h->lines[i]);
    else
      add_line(m, h, &h->lines[i]);
  }
  if (m->status == EV_OK)
    *ci = (ev_interval){find_bound(m, ev_tail(options), true),
                        find_bound(m, ev_tail(options), false)};
  free_macro(m);
  return m->status == EV_OK ? ev_interval_status(*ci) : m->status;
}

/* With tasks grouped, and as they are where that does not do. */
static ev_status mean_of_merged(ev_cluster *tasks, size_t count, double total,
                                const ev_options *options, ev_host host, ev_interval *ci) {
  ev_hierarchy h;
  ev_cluster *groups = malloc(count * sizeof *groups);
  ev_status status = ev_hierarchy_mesh(tasks, count, options, host, EV_MESH_MEANS, &h);
  size_t fewer = count;
  if (!groups) status = EV_NO_MEMORY;
  if (status == EV_OK) {
    memcpy(groups, tasks, count * sizeof *groups);
    status = ev_group_tasks(groups, &fewer);
  }
  if (status == EV_OK) {
    macro m = {.tasks = groups, .count = fewer, .total = total};
    status = mean_of_tasks(&m, &h, options, host, ci);
  }
  if (status == EV_NOT_CONVERGED && fewer < count) {
    macro m = {.tasks = tasks, .count = count, .total = total};
    status = mean_of_tasks(&m, &h, options, host, ci);
  }
  ev_hierarchy_free(&h);
  free(groups);
  return status;
}

ev_status ev_macro(const ev_cluster *clusters, size_t count, const ev_options *options,
                   ev_host host, ev_interval *ci) {
  ev_cluster *tasks = malloc(count * sizeof *tasks);
  if (!tasks) return EV_NO_MEMORY;
  memcpy(tasks, clusters, count * sizeof *tasks);
  size_t merged = merge_tasks(tasks, count);
  double total = 0;
  for (size_t t = 0; t < merged; t++) total += tasks[t].times;
  ev_status status;
  if (total == 1) {
    ev_each each;
    status = ev_clustered_each(clusters, 1, options, host, &each);
    if (status == EV_OK) *ci = (ev_interval){each.lo, each.hi};
  } else {
    status = mean_of_merged(tasks, merged, total, options, host, ci);
  }
  free(tasks);
  return status;
}
