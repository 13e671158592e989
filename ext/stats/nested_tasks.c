/*
** Integrating tasks and questions out of the nested model: the contraction.
**
**   1. Questions, in closed form.  A task with accuracy p has the likelihood
**
**        prod_i (d2 p)_k (d2 (1-p))_(n-k) / (d2)_n
**
**      by rising factorials, whose sums rising.c keeps: the number of questions costs nothing.
**   2. Tasks, on a lattice of v = logit p that is infinite at both ends.  Kernel and likelihood
**      are analytic in |Im v| < pi, so the trapezoid rule converges as exp(-2 pi^2 (sd/step)^2).
**      Where all answers of a task are alike the integrand tends to exp(d1 theta v), which need
**      not die out; but on a lattice that is a geometric series, whose sum is known.
**   3. A kernel narrower than the lattice is summed by its own Gauss rule, with the logarithm of
**      the likelihood interpolated from the table.
**
** Each table holds all nodes of ln d2 side by side: a kernel is computed once for all of them,
** and once for all tasks of the same step.
**
** This is the sum that Bowyer, Heap and Aitchison (UAI 2024, arXiv:2310.17374) contract over
** samples, with quadrature nodes in the place of samples.
*/
#include "nested_tasks.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "atoms.h"
#include "gauss.h"

/*
** Tasks as given
*/
static int items_by_counts(const void *a, const void *b) {
  const ev_item *x = a, *y = b;
  if (x->task != y->task) return x->task < y->task ? -1 : 1;
  return ev_compare_counts(x->k, x->n, y->k, y->n);
}

/* The questions of one task, sorted, and merged where equal. */
typedef struct run {
  const ev_cluster *list;
  size_t count, task;
} run;

static int runs_by_counts(const void *a, const void *b) {
  const run *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? -1 : 1;
  for (size_t i = 0; i < x->count; i++) {
    const ev_cluster *p = &x->list[i], *q = &y->list[i];
    int order = ev_compare_counts(p->k, p->n, q->k, q->n);
    if (order != 0) return order;
    if (p->times != q->times) return p->times < q->times ? -1 : 1;
  }
  return 0;
}

/* From sorted items; returns how many runs there are. */
static size_t make_runs(const ev_item *items, size_t count, ev_cluster *room, run *runs) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    const ev_item *at = &items[i];
    if (i == 0 || at->task != at[-1].task) runs[found++] = (run){room, 0, at->task};
    if (i > 0 && items_by_counts(at - 1, at) == 0) {
      room[-1].times += at->times;
    } else {
      *room++ = (ev_cluster){at->k, at->n, at->times};
      runs[found - 1].count++;
    }
  }
  return found;
}

/* Fills the list from runs, of which equal ones are next to each other. */
static void make_tasks(ev_nested_tasks *t, const run *runs, size_t count, ev_tally *room) {
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || runs_by_counts(&runs[i - 1], &runs[i]) != 0)
      ev_risings_make(&t->list[t->count++].of, runs[i].list, runs[i].count, room);
    ev_nested_task *task = &t->list[t->count - 1];
    task->times++;
    t->kind[runs[i].task] = t->count - 1;
    t->right += task->of.right.answers;
    t->wrong += task->of.wrong.answers;
    t->repeated = t->repeated || task->of.all.answers > task->of.all.clusters;
  }
}

/* The number of different tasks.  One takes 27 kB, too much for each of a million tasks. */
static size_t count_kinds(const run *runs, size_t count) {
  size_t kinds = 1;
  for (size_t i = 1; i < count; i++) kinds += runs_by_counts(&runs[i - 1], &runs[i]) != 0;
  return kinds;
}

ev_status ev_nested_tasks_make(const ev_items *items, ev_nested_tasks *t) {
  *t = (ev_nested_tasks){0};
  ev_item *sorted = malloc(items->count * sizeof *sorted);
  ev_cluster *merged = malloc(items->count * sizeof *merged);
  ev_tally *room = malloc(items->count * sizeof *room);
  run *runs = malloc(items->tasks * sizeof *runs);
  t->kind = malloc(items->tasks * sizeof *t->kind);
  t->grids = calloc(EV_NESTED_GRIDS, sizeof *t->grids);
  bool ok = sorted && merged && room && runs && t->kind && t->grids;
  if (ok) {
    memcpy(sorted, items->list, items->count * sizeof *sorted);
    qsort(sorted, items->count, sizeof *sorted, items_by_counts);
    size_t count = make_runs(sorted, items->count, merged, runs);
    qsort(runs, count, sizeof *runs, runs_by_counts);
    t->list = calloc(count_kinds(runs, count), sizeof *t->list);
    ok = t->list;
    if (ok) make_tasks(t, runs, count, room);
  }
  free(sorted);
  free(merged);
  free(room);
  free(runs);
  return ok ? EV_OK : EV_NO_MEMORY;
}

static void free_task_tables(ev_nested_tasks *t) {
  for (size_t i = 0; i < t->count; i++) {
    free(t->list[i].table);
    t->list[i].table = NULL;
  }
  for (int i = 0; t->grids && i < EV_NESTED_GRIDS; i++) {
    free(t->grids[i].ln_x);
    t->grids[i] = (ev_nested_grid){0};
  }
  free(t->d2);
  t->d2 = NULL;
}

void ev_nested_tasks_free(ev_nested_tasks *t) {
  free_task_tables(t);
  free(t->list);
  free(t->kind);
  free(t->grids);
  *t = (ev_nested_tasks){0};
}

/*
** Likelihood of a task
*/

/* ln p and ln(1-p) at v = logit p. */
static ev_point ln_point(double v) {
  double ln = log1p(exp(-fabs(v)));
  return v > 0 ? (ev_point){-ln, -v - ln} : (ev_point){v - ln, -ln};
}

double ev_nested_ln_task(ev_nested_task *task, double v, double d2) {
  ev_point p = ev_at_logit(v), ln = ln_point(v);
  return task->of.right.clusters * ln.x + task->of.wrong.clusters * ln.y +
         (task->of.mixed > 0 ? task->of.mixed * log(d2) : 0) +
         ev_rising_at(&task->of.right, d2 * p.x) + ev_rising_at(&task->of.wrong, d2 * p.y) -
         ev_rising_at(&task->of.all, d2);
}

/* At every node of d2, without what depends on d2 alone. */
EV_WIDE static void fill_row(const double *d2, size_t nodes, ev_nested_task *task, double v,
                             double *row) {
  ev_point p = ev_at_logit(v), ln = ln_point(v);
  double start = task->of.right.clusters * ln.x + task->of.wrong.clusters * ln.y;
  for (size_t i = 0; i < nodes; i += EV_LANES) {
    ev_lanes at = *(const ev_lanes_of *)(d2 + i), x = at * p.x, y = at * p.y, sum = at * 0 + start;
    ev_rising_add(&task->of.right, &x, &task->of.wrong, &y, &sum);
    *(ev_lanes_of *)(row + i) = sum;
  }
}

/* n attempts at a question are worth n (1+d2) / (n+d2) answers of new questions. */
double ev_nested_worth(const ev_nested_task *task, double d2) {
  double each = task->of.all.answers / task->of.all.clusters;
  return task->of.all.answers * (1 + d2) / (each + d2);
}

/*
** Lattices of v
*/

/* The largest |v| of a node: a likelihood that tends to a constant is within e^-28 of it
** there. */
static double v_most(const ev_nested_task *task) {
  return 28 + log(task->of.all.answers);
}

/* A node is left out where the likelihood is e^-45 of its largest. */
static const double TABLE_LN_DROP = 45;

/* Four times the largest curvature of ln likelihood in v where it is within about 8 of its largest:
** at most the task's worth, and less where most answers are alike.  If b of the answers are of the
** rarer kind, those up to b + 4 sqrt(b) + 8 would be within 8, as a Poisson number is.  A wrong
** answer at a question with another is worth less than one. */
static double curvature_of(const ev_nested_task *task, double d2) {
  double worth = ev_nested_worth(task, d2), more = d2 / (1 + d2);
  double right =
      task->of.right.clusters + more * (task->of.right.answers - task->of.right.clusters);
  double wrong =
      task->of.wrong.clusters + more * (task->of.wrong.answers - task->of.wrong.clusters);
  double b = fmin(right, wrong), most = b + 4 * sqrt(b) + 8;
  return most < worth / 2 ? 4 * most * (1 - most / worth) : worth;
}

/* The first step is 0.28, for a bend of up to 2; each next is shorter by sqrt(2). */
static double grid_step(int grid) {
  return 0.28 * pow(2, -grid / 2.0);
}

/* Kernels up to a bend D = 4 bend + 20 are summed on the lattice: there the integrand has an sd of
** at least 2 / sqrt(bend + D), and 0.8 of that leaves 4e-14. */
static int grid_for(double bend) {
  int grid = 0;
  while (grid < EV_NESTED_GRIDS - 1 && grid_step(grid) > 1.6 / sqrt(5 * bend + 20)) grid++;
  return grid;
}

/* The bend that a step was chosen for. */
static double bend_for(double step) {
  return (2.56 / (step * step) - 20) / 5;
}

/* Nodes added at either end to interpolate from. */
enum { TABLE_GUARD = EV_NESTED_TAPS / 2 };

/* The last node needed in one direction from `from`, at one d2, searched in strides. */
static int find_table_end(ev_nested_task *task, int from, int stride, double d2, double *most) {
  double step = grid_step(task->grid), end = v_most(task);
  int at = from;
  while (fabs(at * step) < end) {
    double ln = ev_nested_ln_task(task, at * step, d2);
    if (!(ln > *most - TABLE_LN_DROP)) break;
    *most = fmax(*most, ln);
    at += stride;
  }
  return at;
}

static void find_task_window(const ev_nested_tasks *t, ev_nested_task *task) {
  double guess = log((task->of.right.answers + 0.5) / (task->of.wrong.answers + 0.5));
  int from = (int)(guess / grid_step(task->grid)), low = from, high = from;
  for (size_t i = 0; i < t->nodes; i += t->nodes - 1) {
    double most = -HUGE_VAL;
    int end = find_table_end(task, from, 4, t->d2[i], &most);
    high = end > high ? end : high;
    end = find_table_end(task, from, -4, t->d2[i], &most);
    low = end < low ? end : low;
    if (t->nodes == 1) break;
  }
  task->first = low - TABLE_GUARD;
  task->count = high - low + 2 * TABLE_GUARD + 1;
}

/* Moves what depends on d2 alone, and the largest of each column, to ln_most. */
EV_WIDE static void scale_table(const double *d2, size_t nodes, ev_nested_task *task) {
  for (size_t i = 0; i < nodes; i++) {
    double most = -HUGE_VAL;
    for (int j = 0; j < task->count; j++) {
      double ln = task->ln[(size_t)j * nodes + i];
      most = ln > most ? ln : most;
    }
    task->ln_most[i] = most;
  }
  for (int j = 0; j < task->count; j++)
    for (size_t i = 0; i < nodes; i += EV_LANES) {
      ev_lanes_of *ln = (ev_lanes_of *)(task->ln + (size_t)j * nodes + i);
      *ln -= *(const ev_lanes_of *)(task->ln_most + i);
      ev_lanes like = *ln;
      ev_exp(&like, 1);
      *(ev_lanes_of *)(task->like + (size_t)j * nodes + i) = like;
    }
  for (size_t i = 0; i < nodes; i++)
    task->ln_most[i] +=
        (task->of.mixed > 0 ? task->of.mixed * log(d2[i]) : 0) - ev_rising_at(&task->of.all, d2[i]);
}

static ev_status fill_task_table(const ev_nested_tasks *t, ev_nested_task *task) {
  size_t size = (size_t)task->count * t->nodes;
  task->table = malloc((2 * size + t->nodes) * sizeof *task->table);
  if (!task->table) return EV_NO_MEMORY;
  task->ln = task->table;
  task->like = task->ln + size;
  task->ln_most = task->like + size;
  double step = grid_step(task->grid);
  for (int j = 0; j < task->count; j++)
    fill_row(t->d2, t->nodes, task, (task->first + j) * step, task->ln + (size_t)j * t->nodes);
  scale_table(t->d2, t->nodes, task);
  return EV_OK;
}

/* Widens a grid to hold a task's nodes. */
static void widen_grid(ev_nested_grid *grid, const ev_nested_task *task) {
  bool any = grid->count > 0;
  int low = any && grid->first < task->first ? grid->first : task->first;
  int end = task->first + task->count, old_end = grid->first + grid->count;
  grid->count = (any && old_end > end ? old_end : end) - low;
  grid->first = low;
}

static ev_status fill_grid(ev_nested_grid *grid, int which) {
  size_t size = (size_t)(grid->count + EV_LANES);
  grid->step = grid_step(which);
  grid->ln_x = calloc(4 * size, sizeof *grid->ln_x);
  if (!grid->ln_x) return EV_NO_MEMORY;
  grid->ln_y = grid->ln_x + size;
  grid->x = grid->ln_y + size;
  grid->kernel = grid->x + size;
  for (int j = 0; j < grid->count; j++) {
    ev_point ln = ln_point((grid->first + j) * grid->step);
    grid->x[j] = exp(ln.x);
    grid->ln_x[j] = ln.x;
    grid->ln_y[j] = ln.y;
  }
  return EV_OK;
}

/* Doubles of all tables: 2 GB.  Of one task's: where its questions were attempted 10^6 times each
** and do not differ, its lattice is as wide as the smallest d2 needs and as fine as the largest.
** One question took 8 s with 10^4 attempts and 70 s with 10^6. */
static const double TABLES_MOST = 0x1p28, TABLE_MOST = 5e6;

ev_status ev_nested_tables(ev_nested_tasks *t, double from, double step, size_t nodes,
                           double most) {
  double size = 0;
  free_task_tables(t);
  t->nodes = nodes;
  t->d2 = malloc((4 + EV_NESTED_GAUSS) * nodes * sizeof *t->d2);
  if (!t->d2) return EV_NO_MEMORY;
  t->sums =
      (ev_nested_sums){t->d2 + nodes, t->d2 + 2 * nodes, t->d2 + 3 * nodes, t->d2 + 4 * nodes};
  for (size_t i = 0; i < nodes; i++) t->d2[i] = exp(from + step * (double)i);
  for (size_t i = 0; i < t->count; i++) {
    ev_nested_task *task = &t->list[i];
    task->grid = grid_for(curvature_of(task, most));
    find_task_window(t, task);
    widen_grid(&t->grids[task->grid], task);
    double own = 2.0 * task->count * (double)nodes;
    if (own > TABLE_MOST) return EV_TOO_LARGE;
    size += own;
  }
  if (size > TABLES_MOST) return EV_TOO_LARGE;
  ev_status status = EV_OK;
  for (size_t i = 0; i < t->count && status == EV_OK; i++) status = fill_task_table(t, &t->list[i]);
  for (int i = 0; i < EV_NESTED_GRIDS && status == EV_OK; i++)
    if (t->grids[i].count > 0) status = fill_grid(&t->grids[i], i);
  return status;
}

void ev_nested_ln_nodes(const ev_nested_tasks *t, ev_nested_task *task, double v, double *ln) {
  fill_row(t->d2, t->nodes, task, v, ln);
  for (size_t i = 0; i < t->nodes; i++)
    ln[i] += (task->of.mixed > 0 ? task->of.mixed * log(t->d2[i]) : 0) -
             ev_rising_at(&task->of.all, t->d2[i]) - task->ln_most[i];
}

/*
** Kernels
*/

/* Weights of the values at 0, 1, .. EV_NESTED_TAPS-1 in the polynomial's at x. */
static void lagrange(double x, double *weight) {
  for (int i = 0; i < EV_NESTED_TAPS; i++) {
    weight[i] = 1;
    for (int k = 0; k < EV_NESTED_TAPS; k++)
      if (k != i) weight[i] *= (x - k) / (i - k);
  }
}

/* Beta(a, b), which is too narrow for the lattice: its Gauss rule has so many points that
** (q/(2+q))^points is below 1e-10, where q is the ratio of its variance to the likelihood's. */
static void set_gauss(ev_nested_rule *rule, double step, double a, double b) {
  double d = a + b;
  double points = 1 + ceil(23 / log1p(8 * a * (b / d) / fmax(bend_for(step), 1)));
  double off[EV_NESTED_GAUSS], x[EV_NESTED_GAUSS], share[EV_NESTED_GAUSS];
  rule->points = (int)fmin(EV_NESTED_GAUSS, points);
  for (int k = 0; k < rule->points; k++) {
    /* Jacobi's polynomials on [0,1]; the first differ in that 0/0 is cancelled. */
    double two = 2 * k + d;
    x[k] = k == 0 ? (b - a) / d : (b - a) * (d - 2) / (two * (two - 2));
    x[k] = (1 - x[k]) / 2;
    off[k] = k == 0
                 ? sqrt(a * b / (1 + d)) / d
                 : sqrt((k + 1) * (k + a) * (k + b) * (k + d - 1) / ((two + 1) * (two - 1))) / two;
  }
  if (ev_gauss_rule(x, off, (size_t)rule->points, share) != EV_OK) share[0] = NAN;
  for (int k = 0; k < rule->points; k++) {
    double p = fmax(1e-300, fmin(1 - 0x1p-53, x[k])), place = log(p / (1 - p)) / step;
    ev_nested_gauss *at = &rule->gauss[k];
    *at = (ev_nested_gauss){
        .p = p, .share = share[k], .place = place, .from = floor(place) - (TABLE_GUARD - 1)};
    lagrange(place - at->from, at->taps);
  }
}

void ev_nested_make_rule(const ev_nested_tasks *t, int grid, const ev_beta *beta,
                         ev_nested_rule *rule) {
  double a = beta->a, b = beta->b, step = t->grids[grid].step;
  rule->points = 0;
  rule->a = a;
  rule->b = b;
  if (4 * a * beta->comean > 4 * bend_for(step) + 20) {
    set_gauss(rule, step, a, b);
    return;
  }
  rule->ln_scale = beta->ln_peak - a * log(beta->mean) - b * log(beta->comean) + log(step);
}

/* Computes the kernel at `count` nodes from `first` on. */
EV_WIDE static void fill_kernel(ev_nested_grid *grid, int first, int count) {
  int from = first - grid->first;
  for (int j = from; j < from + count; j += EV_LANES) {
    ev_lanes ln = grid->rule.a * *(const ev_lanes_of *)(grid->ln_x + j) +
                  grid->rule.b * *(const ev_lanes_of *)(grid->ln_y + j) + grid->rule.ln_scale;
    ev_exp_from(&ln, 1, -700); /* a task may be far from all others */
    *(ev_lanes_of *)(grid->kernel + j) = ln;
  }
}

/* The sum over the lattice of kernel times likelihood, at each node of d2. */
EV_WIDE static void sum_lattice(const double *kernel, const double *like, int count, size_t nodes,
                                double *z) {
  for (size_t i = 0; i < nodes; i += 2 * EV_LANES) {
    ev_lanes even = {0}, odd = {0}, even2 = {0}, odd2 = {0};
    const double *row = like + i;
    int j = 0;
    for (; j + 1 < count; j += 2, row += 2 * nodes) {
      even += kernel[j] * *(const ev_lanes_of *)row;
      even2 += kernel[j] * *(const ev_lanes_of *)(row + EV_LANES);
      odd += kernel[j + 1] * *(const ev_lanes_of *)(row + nodes);
      odd2 += kernel[j + 1] * *(const ev_lanes_of *)(row + nodes + EV_LANES);
    }
    if (j < count) {
      even += kernel[j] * *(const ev_lanes_of *)row;
      even2 += kernel[j] * *(const ev_lanes_of *)(row + EV_LANES);
    }
    *(ev_lanes_of *)(z + i) = even + odd;
    *(ev_lanes_of *)(z + i + EV_LANES) = even2 + odd2;
  }
}

/* Where all answers are alike the likelihood is constant beyond the lattice's end, and the
** kernel falls by e^-(a step) from node to node: a geometric series. */
static void add_ends(const ev_nested_grid *grid, const ev_nested_task *task, size_t nodes,
                     double weight_low, double *z) {
  const double *kernel = grid->kernel + (task->first - grid->first);
  int last = task->count - 1;
  double low =
      task->of.right.clusters > 0 ? 0 : weight_low * kernel[0] / expm1(grid->rule.a * grid->step);
  double high = task->of.wrong.clusters > 0 ? 0 : kernel[last] / expm1(grid->rule.b * grid->step);
  if (low == 0 && high == 0) return;
  for (size_t i = 0; i < nodes; i++)
    z[i] += low * task->like[i] + high * task->like[(size_t)last * nodes + i];
}

/* The ln likelihood at a node of the Gauss rule, interpolated, for it is nearly a parabola; beyond
** the table's ends it is taken for a line. */
EV_WIDE static void ln_between(const ev_nested_gauss *at, const ev_nested_task *task, size_t nodes,
                               double *to) {
  double place = at->place - task->first, last = task->count - 1, own[EV_NESTED_TAPS];
  double wish = at->from - task->first, from = fmax(0, fmin(last - (EV_NESTED_TAPS - 1), wish));
  const double *weight = from == wish ? at->taps : own;
  int taps = EV_NESTED_TAPS;
  if (place < 0 || place > last) {
    from = place < 0 ? 0 : last - 1;
    const double line[] = {1 - (place - from), place - from};
    memcpy(own, line, sizeof line);
    taps = 2;
  } else if (from != wish) {
    lagrange(place - from, own);
  }
  const double *row = task->ln + (size_t)from * nodes;
  for (size_t i = 0; i < nodes; i += EV_LANES) {
    ev_lanes ln = {0};
    for (int k = 0; k < taps; k++)
      ln += weight[k] * *(const ev_lanes_of *)(row + (size_t)k * nodes + i);
    *(ev_lanes_of *)(to + i) = ln;
  }
}

/* The averages over the kernel of the task's likelihood less its largest at the rule's nodes, and
** of that times p. */
EV_WIDE static void sum_gauss(const ev_nested_grid *grid, const ev_nested_task *task, size_t nodes,
                              const ev_nested_sums *to) {
  for (int k = 0; k < grid->rule.points; k++)
    ln_between(&grid->rule.gauss[k], task, nodes, to->room + (size_t)k * nodes);
  for (size_t i = 0; i < nodes; i += EV_LANES) {
    ev_lanes most = *(const ev_lanes_of *)(to->room + i), z = {0}, z_right = {0};
    for (int k = 1; k < grid->rule.points; k++) {
      ev_lanes ln = *(const ev_lanes_of *)(to->room + (size_t)k * nodes + i);
      ev_bits more = (ev_bits)(ln > most);
      ev_choose(&more, &ln, &most, &most);
    }
    for (int k = 0; k < grid->rule.points; k++) {
      ev_lanes like = *(const ev_lanes_of *)(to->room + (size_t)k * nodes + i) - most;
      ev_exp(&like, 1);
      like *= grid->rule.gauss[k].share;
      z += like;
      z_right += like * grid->rule.gauss[k].p;
    }
    *(ev_lanes_of *)(to->z + i) = z;
    *(ev_lanes_of *)(to->z_right + i) = z_right;
    *(ev_lanes_of *)(to->most + i) = most;
  }
}

/* The task's likelihood averaged over the kernel. */
static void sum_task(ev_nested_grid *grid, const ev_nested_task *task, size_t nodes,
                     const ev_nested_sums *to) {
  if (grid->rule.points > 0) {
    sum_gauss(grid, task, nodes, to);
    return;
  }
  memset(to->most, 0, nodes * sizeof *to->most);
  sum_lattice(grid->kernel + (task->first - grid->first), task->like, task->count, nodes, to->z);
  add_ends(grid, task, nodes, 1, to->z);
}

EV_WIDE static void add_ln(const ev_nested_task *task, size_t nodes, const ev_nested_sums *of,
                           double *ln) {
  for (size_t i = 0; i < nodes; i += EV_LANES) {
    ev_lanes at = *(const ev_lanes_of *)(of->z + i);
    ev_log(&at, 1);
    *(ev_lanes_of *)(ln + i) += task->times * (at + *(const ev_lanes_of *)(of->most + i) +
                                               *(const ev_lanes_of *)(task->ln_most + i));
  }
}

ev_beta ev_nested_kernel(ev_point theta, double d1) {
  return ev_beta_make(fmax(DBL_MIN, d1 * theta.x), fmax(DBL_MIN, d1 * theta.y));
}

void ev_nested_ln(ev_nested_tasks *t, ev_point theta, double d1, double *ln) {
  ev_beta beta = ev_nested_kernel(theta, d1);
  memset(ln, 0, t->nodes * sizeof *ln);
  for (int g = 0; g < EV_NESTED_GRIDS; g++) {
    ev_nested_grid *grid = &t->grids[g];
    if (grid->count == 0) continue;
    ev_nested_make_rule(t, g, &beta, &grid->rule);
    if (grid->rule.points == 0) fill_kernel(grid, grid->first, grid->count);
    for (size_t i = 0; i < t->count; i++) {
      if (t->list[i].grid != g) continue;
      sum_task(grid, &t->list[i], t->nodes, &t->sums);
      add_ln(&t->list[i], t->nodes, &t->sums, ln);
    }
  }
}

/* Turns the kernel at a task's nodes to the kernel times p. */
static void times_p(ev_nested_grid *grid, const ev_nested_task *task) {
  int from = task->first - grid->first;
  for (int j = from; j < from + task->count; j++) grid->kernel[j] *= grid->x[j];
}

void ev_nested_one(ev_nested_tasks *t, const ev_nested_task *task, const ev_nested_rule *rule) {
  ev_nested_grid *grid = &t->grids[task->grid];
  const ev_nested_sums *to = &t->sums;
  grid->rule = *rule;
  if (rule->points == 0) fill_kernel(grid, task->first, task->count);
  sum_task(grid, task, t->nodes, to);
  if (grid->rule.points > 0) {
    for (size_t i = 0; i < t->nodes; i++) {
      double most = exp(to->most[i]);
      to->z[i] *= most;
      to->z_right[i] *= most;
    }
    return;
  }
  times_p(grid, task);
  sum_lattice(grid->kernel + (task->first - grid->first), task->like, task->count, t->nodes,
              to->z_right);
  add_ends(grid, task, t->nodes, 0, to->z_right);
}
