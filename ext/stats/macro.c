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
  ev_host host;
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

EV_WIDE static void exponentiate(waves *w) {
  for (int i = 0; i < EV_NODES; i += EV_LANES) {
    ev_lanes size, angle, x, y;
    memcpy(&size, w->re + i, sizeof size);
    memcpy(&angle, w->im + i, sizeof angle);
    ev_exp(&size, 1);
    ev_turn(&angle, &x, &y);
    x *= size;
    y *= size;
    memcpy(w->re + i, &x, sizeof x);
    memcpy(w->im + i, &y, sizeof y);
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

/* ln of the square of the size of four waves from i on, and their angles. */
EV_INLINE void ln_of_lanes(const waves *w, int i, ev_lanes *size, ev_lanes *angle) {
  ev_lanes x, y;
  memcpy(&x, w->re + i, sizeof x);
  memcpy(&y, w->im + i, sizeof y);
  *size = x * x + y * y;
  ev_angle(&x, &y, angle);
  ev_log(size, 1);
}

/* Adds ln of a power of a branch, its series being so near 1 that it has one logarithm, or the
** power whole. */
EV_WIDE static void add_ln_power(waves *sum, const waves *ln, const waves *series, double times) {
  for (int i = 0; i < EV_NODES; i += EV_LANES) {
    ev_lanes size, angle;
    ln_of_lanes(series, i, &size, &angle);
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

/* A cumulants' series. */
EV_WIDE static void ln_of_cumulants(const double *u, const double *tau, double total, waves *w) {
  double z[EV_NODES];
  int terms = EV_WAVE_CUMULANTS;
  while (terms > 0 && u[terms - 1] == 0) terms--;
  *w = (waves){{0}, {0}};
  for (int q = 0; q < EV_NODES; q++) z[q] = tau[q] / total;
  for (int j = terms - 1; j >= 0; j--) {
    double c = u[j] / (j + 1);
    for (int q = 0; q < EV_NODES; q++) {
      double last = w->re[q] + c;
      w->re[q] = -z[q] * w->im[q];
      w->im[q] = z[q] * last;
    }
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

/* Extends the cumulants' series that are too short for z. */
static void extend_cumulants(const macro *m, point_wave *p, double z) {
  for (size_t t = 0; t < m->count; t++) {
    task_wave *task = &p->tasks[t];
    if (task->within < z && task->u[EV_WAVE_CUMULANTS - 1] == 0)
      task->within = ev_wave_cumulants(task->a, task->b, 4 * z, task->u);
  }
}

static void sum_cumulants(const macro *m, point_wave *p, double z) {
  memset(p->u, 0, sizeof p->u);
  p->within = HUGE_VAL;
  for (size_t t = 0; t < m->count; t++) {
    const task_wave *task = &p->tasks[t];
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
  if (p->within < z) {
    extend_cumulants(m, p, z);
    sum_cumulants(m, p, z);
  }
  ln_of_cumulants(p->u, panel->tau, m->total, &product);
  exponentiate(&product);
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

/* The end with more of a task's posterior. */
static int main_end(const task_branches *b) {
  return b->low.absent || (!b->high.absent && b->high.shape < b->low.shape);
}

static void multiply_task(corner_waves *w, const ray_panel *p, const task_branches *b, int at,
                          double times) {
  waves ln[2], series[2], flip;
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
    multiply_task(&w, &l->panels[ray][panel], &branches[t], main_end(&branches[t]),
                  m->tasks[t].times);
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

/* Adds a line's sum on a panel; false once nothing is left of it.  Beyond that a sum over a
** line would rise again, to what its points are by themselves. */
static bool add_sum(const macro *m, axis_panel *panel, const waves *sum) {
  int end = first_negligible(sum, m->negligible);
  for (int q = 0; q < end && m->status == EV_OK; q++) {
    double part = window_at(m, panel->tau[q]);
    panel->sum_re[q] += part * sum->re[q];
    panel->sum_im[q] += part * sum->im[q];
  }
  return end == EV_NODES;
}

/* Adds the points' phi on a panel; false once nothing is left of their sum. */
static bool add_points(macro *m, size_t i, point_wave *points, size_t count) {
  axis_panel *panel = panel_at(m, i);
  waves sum = {{0}, {0}};
  if (!panel) m->status = EV_NO_MEMORY;
  for (size_t j = 0; j < count && m->status == EV_OK; j++)
    if (!points[j].gone) m->status = add_point(m, panel, &points[j], &sum);
  return m->status == EV_OK && add_sum(m, panel, &sum);
}

/* The rays that leave the axis at a panel, or NULL. */
static ray_level *level_of_panel(macro *m, size_t panel) {
  for (int i = 0; i < RAY_LEVELS && panel <= m->most_panels / 2; i++) {
    ray_level *l = level_at(m, i);
    if (!l) m->status = EV_NO_MEMORY;
    if (!l || l->panel > panel) return NULL;
    if (l->panel == panel) return l;
  }
  return NULL;
}

/* Follows a line's points along the axis from a panel on until nothing is left of them, or they
** leave it. */
static void march_points(macro *m, size_t from, point_wave *points, size_t count) {
  for (size_t i = from; i < m->most_panels && m->status == EV_OK; i++) {
    ray_level *l = level_of_panel(m, i);
    if (l && leave_axis(m, l, points, count)) return;
    if (m->status == EV_OK && !add_points(m, i, points, count)) return;
  }
}

static void free_points(const macro *m, point_wave *points, size_t count) {
  for (size_t i = 0; i < count && points[0].tasks; i++)
    for (size_t t = 0; t < m->count; t++) {
      free(points[i].tasks[t].moments);
      free(points[i].tasks[t].branches);
    }
  if (count > 0) free(points[0].tasks);
  free(points);
}

/* Starts points; NULL when there is no memory. */
static point_wave *start_points(const macro *m, const ev_hierarchy_point *from, size_t count) {
  point_wave *points = malloc(count * sizeof *points);
  /* More than an address reaches, in WebAssembly's 32 bits, is no memory. */
  bool fits = m->count <= SIZE_MAX / sizeof(task_wave) / (count + 1);
  task_wave *tasks = fits ? malloc(count * m->count * sizeof *tasks) : NULL;
  if (!points || !tasks) {
    free(points);
    free(tasks);
    return NULL;
  }
  for (size_t i = 0; i < count; i++) start_point(m, &from[i], tasks + i * m->count, &points[i]);
  return points;
}

/*
** Bundles: points that are interpolated between fewer
*/

/* ln phi of all tasks is an analytic function of theta and d.  For a task that is all right it is
** ln 1F1(b; c; -iz) + iz, b = d (1-theta), c = d + n, whose zeros are no nearer than about 1 to the
** b's that there are, and whose poles are at c <= 0; so polynomials through Chebyshev's nodes,
** between the ends of theta and of d, do for all points of some lines. */
enum { BUNDLE_SIDE = 16, BUNDLE_MOST = 64 };

/* Where the nodes are: from low to high, of theta with its complement, and of d. */
typedef struct bundle_box {
  ev_hierarchy_point low, high;
  size_t along, across; /* nodes by theta and by d */
} bundle_box;

typedef struct bundle {
  point_wave *nodes; /* owned, those of one d after another's */
  size_t node_count, count;
  double *weights;               /* owned: of the points; 0 where nothing is left of one */
  double (*shares)[BUNDLE_MOST]; /* owned: what a point takes from the nodes */
} bundle;

/* The width of a box by theta. */
static double width_of(const bundle_box *box) {
  return box->high.theta < 0.5 ? box->high.theta - box->low.theta
                               : box->low.other - box->high.other;
}

/* How many nodes leave out `left` of an interval, from whose middle a singularity is u times as
** far as its ends are. */
static size_t nodes_wanted(double u, double left) {
  return (size_t)ceil(1.5 - log(left) / log(u + sqrt(u * u - 1)));
}

/* The box about points, with as many nodes as leave 1e-10 of phi, or 1e-13 where tails are small:
** ln phi changes by some ten times what the sum of the tasks' b changes. */
static bundle_box box_of(const macro *m, const ev_hierarchy_point *points, size_t count) {
  bundle_box box = {points[0], points[0], 1, 1};
  double weight = 0;
  for (size_t i = 0; i < count; i++) {
    const ev_hierarchy_point *p = &points[i];
    weight += p->weight;
    box.low.theta = fmin(box.low.theta, p->theta);
    box.low.other = fmax(box.low.other, p->other);
    box.low.d = fmin(box.low.d, p->d);
    box.high.theta = fmax(box.high.theta, p->theta);
    box.high.other = fmin(box.high.other, p->other);
    box.high.d = fmax(box.high.d, p->d);
  }
  double least = box.low.d, most = box.high.d, change = most * width_of(&box);
  double left = 10 * m->negligible / (m->total * weight);
  box.along = nodes_wanted(1 + 2 / change, fmin(0.1, left / change));
  if (most > least)
    box.across = nodes_wanted((2 + most + least) / (most - least), fmin(0.1, left / most));
  return box;
}

/* The share of the way from one end to the other at which a node is. */
static double node_share(size_t i, size_t count) {
  return gsl_pow_2(sin(M_PI * (double)(2 * i + 1) / (double)(4 * count)));
}

static void place_nodes(const bundle_box *box, ev_hierarchy_point *nodes) {
  for (size_t i = 0; i < box->across; i++)
    for (size_t j = 0; j < box->along; j++) {
      double along = node_share(j, box->along), across = node_share(i, box->across);
      ev_hierarchy_point *node = &nodes[i * box->along + j];
      node->theta = box->low.theta * (1 - along) + box->high.theta * along;
      node->other = box->low.other * (1 - along) + box->high.other * along;
      node->d = box->low.d * (1 - across) + box->high.d * across;
      node->weight = 0;
    }
}

/* Lagrange's polynomials of the nodes at a share of the way. */
static void set_shares(double at, size_t count, double *shares) {
  for (size_t j = 0; j < count; j++) {
    shares[j] = 1;
    for (size_t l = 0; l < count; l++)
      if (l != j)
        shares[j] *= (at - node_share(l, count)) / (node_share(j, count) - node_share(l, count));
  }
}

static void share_point(const ev_hierarchy_point *p, const bundle_box *box, double *shares) {
  double along[BUNDLE_SIDE], across[BUNDLE_SIDE], width = width_of(box);
  double by_theta = box->high.theta < 0.5 ? p->theta - box->low.theta : box->low.other - p->other;
  set_shares(by_theta / width, box->along, along);
  set_shares((p->d - box->low.d) / (box->high.d - box->low.d), box->across, across);
  for (size_t i = 0; i < box->across; i++)
    for (size_t j = 0; j < box->along; j++) shares[i * box->along + j] = across[i] * along[j];
}

static void free_bundle(const macro *m, bundle *b) {
  if (b->nodes) free_points(m, b->nodes, b->node_count);
  free(b->weights);
  free(b->shares);
}

/* False where there is no memory. */
static bool make_bundle(const macro *m, const ev_hierarchy_point *points, size_t count,
                        const bundle_box *box, bundle *b) {
  ev_hierarchy_point nodes[BUNDLE_MOST];
  *b = (bundle){.node_count = box->along * box->across, .count = count};
  place_nodes(box, nodes);
  b->nodes = start_points(m, nodes, b->node_count);
  b->weights = malloc(count * sizeof *b->weights);
  b->shares = malloc(count * sizeof *b->shares);
  if (!b->nodes || !b->weights || !b->shares) return false;
  for (size_t i = 0; i < count; i++) {
    b->weights[i] = points[i].weight;
    share_point(&points[i], box, b->shares[i]);
  }
  return true;
}

/* Has the same tasks' cumulants summed at all nodes. */
static void sum_bundle_cumulants(const macro *m, bundle *b, double z) {
  bool enough = true;
  for (size_t j = 0; j < b->node_count; j++) enough = enough && b->nodes[j].within >= z;
  if (enough) return;
  for (size_t j = 0; j < b->node_count; j++) extend_cumulants(m, &b->nodes[j], z);
  for (size_t t = 0; t < m->count; t++) {
    double within = HUGE_VAL;
    for (size_t j = 0; j < b->node_count; j++) within = fmin(within, b->nodes[j].tasks[t].within);
    for (size_t j = 0; j < b->node_count; j++) b->nodes[j].tasks[t].within = within;
  }
  for (size_t j = 0; j < b->node_count; j++) sum_cumulants(m, &b->nodes[j], z);
}

/* Adds ln of a phi to a power.  Its angle is the one that is nearest to *last, that of the node
** before, and becomes it; without one it is within half a turn of 0. */
EV_WIDE static void add_ln_wave(waves *sum, const waves *phi, double times, bool first,
                                double *last) {
  const double turn = 2 * M_PI;
  for (int i = 0; i < EV_NODES; i += EV_LANES) {
    ev_lanes size, angle;
    ln_of_lanes(phi, i, &size, &angle);
    for (int j = 0; j < EV_LANES; j++) {
      double at = angle[j];
      if (last && !first) at += turn * floor((last[i + j] - at) / turn + 0.5);
      if (last) last[i + j] = at;
      sum->re[i + j] += times * size[j] / 2;
      sum->im[i + j] += times * at;
    }
  }
}

/* A product of the phi of tasks at a node whose densities fall from one end to the other: seen
** from there, the angle of each is between 0 and about its small shape's quarter turns, and never
** half a turn (Polya).  While the shapes sum to at most 1, so is that of the product. */
typedef struct falling_product {
  waves product;
  double shapes;
} falling_product;

static void flush_product(falling_product *f, waves *ln) {
  if (f->shapes == 0) return;
  add_ln_wave(ln, &f->product, 1, true, NULL);
  f->shapes = 0;
}

/* Adds ln of such a task's phi, sooner or later. */
static void add_falling_task(const axis_panel *p, waves phi, bool right, double shape, double times,
                             double total, falling_product *f, waves *ln) {
  for (int q = 0; q < EV_NODES && right; q++) {
    double x = p->half_re[q], y = -p->half_im[q], re = x * x - y * y, im = 2 * x * y;
    double turned = phi.re[q] * re - phi.im[q] * im;
    phi.im[q] = phi.re[q] * im + phi.im[q] * re;
    phi.re[q] = turned;
    ln->im[q] += times * p->tau[q] / total;
  }
  if (times * shape > 0.5) {
    add_ln_wave(ln, &phi, times, true, NULL);
    return;
  }
  if (f->shapes + times * shape > 1) flush_product(f, ln);
  if (f->shapes == 0)
    for (int q = 0; q < EV_NODES; q++) f->product.re[q] = 1, f->product.im[q] = 0;
  multiply_power(&f->product, phi, times);
  f->shapes += times * shape;
}

/* Whether the logarithm of a task's phi may be interpolated: away from zeros. */
static bool has_logarithm(const waves *phi) {
  for (int q = 0; q < EV_NODES; q++)
    if (phi->re[q] * phi->re[q] + phi->im[q] * phi->im[q] < 0.01) return false;
  return true;
}

/* Adds ln of a task's phi at all nodes; false where it is not to be interpolated. */
static bool add_task_to_nodes(macro *m, axis_panel *panel, const bundle *b, size_t t,
                              falling_product *falling, waves *ln) {
  const ev_cluster *task = &m->tasks[t];
  bool right = task->k == task->n, whole = task->times == floor(task->times), falls = true;
  double last[EV_NODES] = {0};
  for (size_t j = 0; j < b->node_count; j++) {
    const task_wave *at = &b->nodes[j].tasks[t];
    falls = falls && (right ? at->b <= 1 : task->k == 0 && at->a <= 1);
  }
  for (size_t j = 0; j < b->node_count; j++) {
    task_wave *at = &b->nodes[j].tasks[t];
    waves phi;
    m->status =
        whole ? waves_of_task(m, panel, at, &phi) : add_group(m, panel, at, task->times, &ln[j]);
    if (m->status != EV_OK || (whole && !falls && !has_logarithm(&phi))) return false;
    if (whole && falls)
      add_falling_task(panel, phi, right, right ? at->b : at->a, task->times, m->total, &falling[j],
                       &ln[j]);
    else if (whole)
      add_ln_wave(&ln[j], &phi, task->times, j == 0, last);
  }
  return true;
}

/* ln phi at the nodes, on a panel; false where it is not to be interpolated. */
static bool ln_of_nodes(macro *m, axis_panel *panel, bundle *b, waves *ln) {
  double z = panel->tau[EV_NODES - 1] / m->total;
  falling_product falling[BUNDLE_MOST];
  sum_bundle_cumulants(m, b, z);
  for (size_t j = 0; j < b->node_count; j++) {
    falling[j].shapes = 0;
    ln_of_cumulants(b->nodes[j].u, panel->tau, m->total, &ln[j]);
  }
  for (size_t t = 0; t < m->count; t++)
    if (b->nodes[0].tasks[t].within < z && !add_task_to_nodes(m, panel, b, t, falling, ln))
      return false;
  for (size_t j = 0; j < b->node_count; j++) flush_product(&falling[j], &ln[j]);
  return true;
}

/* A point's wave between those of the nodes. */
EV_WIDE static void interpolate(const bundle *b, size_t point, const waves *ln, waves *w) {
  *w = (waves){{0}, {0}};
  for (size_t j = 0; j < b->node_count; j++) {
    double share = b->shares[point][j];
    for (int q = 0; q < EV_NODES; q++) {
      w->re[q] += share * ln[j].re[q];
      w->im[q] += share * ln[j].im[q];
    }
  }
}

/* Adds a bundle's phi to the sum on a panel. */
static void add_bundle(const macro *m, bundle *b, const waves *ln, waves *sum) {
  for (size_t i = 0; i < b->count; i++) {
    waves phi;
    if (b->weights[i] == 0) continue;
    interpolate(b, i, ln, &phi);
    exponentiate(&phi);
    scale_waves(&phi, b->weights[i]);
    for (int q = 0; q < EV_NODES; q++) {
      sum->re[q] += phi.re[q];
      sum->im[q] += phi.im[q];
    }
    if (largest(&phi) < m->negligible) b->weights[i] = 0;
  }
}

/* The nodes' branches, all nodes' of one task after another's; false where they do not serve
** from tau on, or where an end has too little to have a logarithm at one of them. */
static bool make_bundle_branches(const macro *m, const bundle *b, double tau, task_branches *br) {
  for (size_t j = 0; j < b->node_count; j++)
    if (!make_branches(m, &b->nodes[j], tau, br + j * m->count)) return false;
  for (size_t t = 0; t < m->count; t++) {
    int end = main_end(&br[t]);
    for (size_t j = 0; j < b->node_count; j++) {
      const task_branches *one = &br[j * m->count + t];
      if (end ? one->high.absent : one->low.absent) return false;
    }
  }
  return true;
}

/* The corners of all nodes on a panel of a ray. */
static void corners_of_nodes(const macro *m, const bundle *b, const ray_panel *p,
                             const task_branches *branches, corner_waves *w, waves *ln) {
  memset(w, 0, b->node_count * sizeof *w);
  for (size_t j = 0; j < b->node_count; j++) {
    w[j].first = w[j].last = RAY_WINDOW;
    for (int q = 0; q < EV_NODES; q++) w[j].at[RAY_WINDOW].re[q] = 1;
    for (size_t t = 0; t < m->count; t++)
      multiply_task(&w[j], p, &branches[j * m->count + t], main_end(&branches[t]),
                    m->tasks[t].times);
    ln[j] = w[j].ln;
  }
}

/* Adds a bundle's E_c on a panel, c a corner: the sum over points of their own E at the middle
** corner, by what they take from each node, times the node's share of c.  False where nothing is
** left of them. */
static bool add_bundle_corners(macro *m, ray_level *l, int ray, int panel, const bundle *b,
                               const corner_waves *w, const waves *ln) {
  waves taken[BUNDLE_MOST] = {{{0}, {0}}};
  int first = RAY_WINDOW, last = RAY_WINDOW;
  double most = 0;
  for (size_t i = 0; i < b->count; i++) {
    waves e;
    if (b->weights[i] == 0) continue;
    interpolate(b, i, ln, &e);
    exponentiate(&e);
    scale_waves(&e, b->weights[i]);
    most = fmax(most, largest(&e));
    for (size_t j = 0; j < b->node_count; j++)
      for (int q = 0; q < EV_NODES; q++) {
        taken[j].re[q] += b->shares[i][j] * e.re[q];
        taken[j].im[q] += b->shares[i][j] * e.im[q];
      }
  }
  for (size_t j = 0; j < b->node_count; j++) {
    first = w[j].first < first ? w[j].first : first;
    last = w[j].last > last ? w[j].last : last;
  }
  for (int i = first; i <= last; i++) {
    long corner = lround(w[0].base) + i - RAY_WINDOW;
    if (corner < 0 || corner > (long)m->total) continue;
    waves *sum = corner_sums(m, l, (size_t)corner);
    if (!sum) {
      m->status = EV_NO_MEMORY;
      return false;
    }
    for (size_t j = 0; j < b->node_count; j++)
      add_wave_product(sum + ray * RAY_PANELS + panel, &taken[j], &w[j].at[i]);
  }
  return most > m->negligible;
}

static void add_rays_of_bundle(macro *m, ray_level *l, const bundle *b,
                               const task_branches *branches) {
  bool at_one = true, at_zero = true; /* every task is; no m lies beyond */
  waves ln[BUNDLE_MOST];
  corner_waves *w = malloc(b->node_count * sizeof *w);
  if (!w) m->status = EV_NO_MEMORY;
  for (size_t i = 0; i < m->count * b->node_count; i++) {
    at_one = at_one && branches[i].low.absent;
    at_zero = at_zero && branches[i].high.absent;
  }
  for (int ray = at_one ? 1 : 0; w && ray < (at_zero ? 1 : 2); ray++)
    for (int panel = 0; panel < RAY_PANELS; panel++) {
      corners_of_nodes(m, b, &l->panels[ray][panel], branches, w, ln);
      if (!add_bundle_corners(m, l, ray, panel, b, w, ln)) break;
    }
  free(w);
}

/* Takes a bundle off the axis, unless one of its nodes has not parted into branches. */
static bool bundle_leaves(macro *m, ray_level *l, const bundle *b) {
  task_branches *branches = malloc(m->count * b->node_count * sizeof *branches);
  if (!branches) m->status = EV_NO_MEMORY;
  bool leaves = branches && make_bundle_branches(m, b, l->tau, branches);
  if (leaves) add_rays_of_bundle(m, l, b, branches);
  free(branches);
  return leaves;
}

/* Whether nodes are worth it. */
static bool box_serves(const bundle_box *box, size_t count) {
  return box->along <= BUNDLE_SIDE && box->across <= BUNDLE_SIDE &&
         box->along * box->across <= BUNDLE_MOST && 2 * box->along * box->across <= count;
}

/* Follows points by the nodes of a box; tells the panel up to which those served, most_panels where
** they did to the end. */
static size_t march_bundle(macro *m, const bundle_box *box, const ev_hierarchy_point *points,
                           size_t count) {
  bundle b;
  waves ln[BUNDLE_MOST];
  size_t i = 0;
  if (!make_bundle(m, points, count, box, &b)) m->status = EV_NO_MEMORY;
  for (; i < m->most_panels && m->status == EV_OK; i++) {
    waves sum = {{0}, {0}};
    ray_level *l = level_of_panel(m, i);
    axis_panel *panel = panel_at(m, i);
    if (!panel) m->status = EV_NO_MEMORY;
    bool left = m->status == EV_OK && l && bundle_leaves(m, l, &b);
    if (left || m->status != EV_OK) i = m->most_panels;
    if (left || m->status != EV_OK || !ln_of_nodes(m, panel, &b, ln)) break;
    add_bundle(m, &b, ln, &sum);
    if (!add_sum(m, panel, &sum)) i = m->most_panels;
  }
  free_bundle(m, &b);
  return i < m->most_panels ? i : m->most_panels;
}

/* Follows points one by one from a panel on. */
static void march_alone(macro *m, size_t from, const ev_hierarchy_point *points, size_t count) {
  point_wave *alone = start_points(m, points, count);
  if (!alone) {
    m->status = EV_NO_MEMORY;
    return;
  }
  march_points(m, from, alone, count);
  free_points(m, alone, count);
}

/* Follows points by nodes as far as those serve; tells the panel up to which. */
static size_t march_together(macro *m, const ev_hierarchy_point *points, size_t count) {
  bundle_box box = box_of(m, points, count);
  return box_serves(&box, count) ? march_bundle(m, &box, points, count) : 0;
}

/* Follows the points of some lines: by nodes for all of them, or for each, and then one by one. */
static void march_lines(macro *m, const ev_hierarchy_point *points, size_t count) {
  size_t from = march_together(m, points, count);
  for (size_t first = 0, next; first < count && from < m->most_panels; first = next) {
    for (next = first; next < count && points[next].d == points[first].d;) next++;
    if (m->host.interrupted && m->host.interrupted(m->host.context)) m->status = EV_INTERRUPTED;
    size_t alone = from;
    if (m->status == EV_OK && from == 0) alone = march_together(m, points + first, next - first);
    if (m->status == EV_OK && alone < m->most_panels)
      march_alone(m, alone, points + first, next - first);
  }
}

/* The points of a panel of lines that are neither negligible nor narrow; narrow ones are added. */
static void add_panel_of_lines(macro *m, const ev_hierarchy *h, const ev_hierarchy_line *lines) {
  size_t room = 0, count = 0;
  for (int i = 0; i < EV_NODES; i++) room += lines[i].count;
  ev_hierarchy_point *kept = malloc((room + 1) * sizeof *kept);
  if (!kept) m->status = EV_NO_MEMORY;
  for (int i = 0; i < EV_NODES && kept; i++) {
    bool narrow = line_is_narrow(m, h, &lines[i]);
    if (narrow) add_narrow_line(m, h, &lines[i]);
    for (size_t j = 0; j < lines[i].count && !narrow; j++) {
      const ev_hierarchy_point *p = &h->points[lines[i].first + j];
      if (p->weight < m->negligible) continue;
      m->wide += p->weight;
      m->kept += p->weight;
      kept[count++] = *p;
    }
  }
  if (count > 0 && m->status == EV_OK) march_lines(m, kept, count);
  free(kept);
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
                               ev_interval *ci) {
  bool small = ev_tail(options) < EV_SMALL_TAIL;
  m->negligible = small ? 1e-14 : 1e-11;
  find_range(m, h, small ? 18 : 25);
  for (size_t i = 0; i < h->panel_count && m->status == EV_OK; i++)
    add_panel_of_lines(m, h, &h->lines[h->panels[i].first]);
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
    macro m = {.tasks = groups, .count = fewer, .total = total, .host = host};
    status = mean_of_tasks(&m, &h, options, ci);
  }
  if (status == EV_NOT_CONVERGED && fewer < count) {
    macro m = {.tasks = tasks, .count = count, .total = total, .host = host};
    status = mean_of_tasks(&m, &h, options, ci);
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
