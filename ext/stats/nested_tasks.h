/*
** The likelihood of the nested model (nested.h) given theta and d1, at every node of a lattice
** of ln d2: tasks and questions are integrated out.  Used by ext/stats/nested*.c.
*/
#ifndef EV_NESTED_TASKS_H
#define EV_NESTED_TASKS_H

#include "hierarchy.h"
#include "nested.h"

/* Tasks with the same questions, and their likelihood on a lattice of v = logit theta_t. */
typedef struct ev_nested_task {
  ev_risings of;     /* its questions */
  double times;      /* how many tasks are alike */
  int grid;          /* which step its lattice has */
  int first, count;  /* its nodes: v = (first + i) step */
  double *table;     /* owned: the next three */
  double *ln, *like; /* [count][nodes of d2]: ln likelihood less ln_most, and its exp */
  double *ln_most;   /* [nodes of d2] */
} ev_nested_task;

/* EV_NESTED_TAPS are those of the polynomial that ln likelihood is interpolated by. */
enum { EV_NESTED_GRIDS = 64, EV_NESTED_GAUSS = 12, EV_NESTED_TAPS = 12, EV_NESTED_PAD = 8 };

/* A node of a Gauss rule of a kernel. */
typedef struct ev_nested_gauss {
  double p, share;             /* theta_t, and its weight */
  double place, from;          /* in steps of the lattice: where it is, and the first of */
  double taps[EV_NESTED_TAPS]; /* the nodes about it, with their weights */
} ev_nested_gauss;

/* A kernel Beta(a, b) as it is summed on the lattices of one step. */
typedef struct ev_nested_rule {
  double a, b, ln_scale; /* of x^a y^b */
  int points;            /* of a Gauss rule, where the kernel is too narrow for the step; or 0 */
  ev_nested_gauss gauss[EV_NESTED_GAUSS];
} ev_nested_rule;

/* A step of v, and the kernel Beta(d1 theta, d1 (1-theta)) on it. */
typedef struct ev_nested_grid {
  double step;
  int first, count;        /* the nodes of all its tasks */
  double *ln_x, *ln_y, *x; /* owned: ln p, ln(1-p) and p at the nodes; in the same block: */
  double *kernel;          /* its density times the step */
  ev_nested_rule rule;
} ev_nested_grid;

/* At each node a task's likelihood averaged over a kernel, and the same times theta_t; ln of both
** is less by `most`. */
typedef struct ev_nested_sums {
  double *z, *z_right, *most;
  double *room; /* for the nodes of a Gauss rule */
} ev_nested_sums;

typedef struct ev_nested_tasks {
  ev_nested_task *list; /* owned, in an order that is not the input's */
  size_t count;
  size_t *kind;        /* owned: of each task of the input, its place in the list */
  double right, wrong; /* attempts of all */
  bool repeated;       /* some question was attempted twice */
  size_t nodes;        /* of ln d2, a multiple of EV_NESTED_PAD */
  double *d2;          /* owned; in the same block: */
  ev_nested_sums sums;
  ev_nested_grid *grids; /* owned: EV_NESTED_GRIDS, too large for the stack */
} ev_nested_tasks;

/* To be freed whatever the status. */
ev_status ev_nested_tasks_make(const ev_items *items, ev_nested_tasks *t);
void ev_nested_tasks_free(ev_nested_tasks *t);

/* Makes the tables for ln d2 = from + i step, i < nodes.  Lattices of v are fine enough for d2 up
** to `most`. */
ev_status ev_nested_tables(ev_nested_tasks *t, double from, double step, size_t nodes, double most);

/* ln likelihood of a task at v, at one d2; and at every node, less ln_most. */
double ev_nested_ln_task(ev_nested_task *task, double v, double d2);
void ev_nested_ln_nodes(const ev_nested_tasks *t, ev_nested_task *task, double v, double *ln);

/* How many answers of new questions a task's attempts are worth at d2. */
double ev_nested_worth(const ev_nested_task *task, double d2);

/* Beta(d1 theta, d1 (1-theta)).  Far out on a line of tiny d1 a product underflows; the shape is
** then the least normal number, and the point is negligible. */
ev_beta ev_nested_kernel(ev_point theta, double d1);

/* ln likelihood of all tasks at theta and d1, at each node; NaN where a Gauss rule failed. */
void ev_nested_ln(ev_nested_tasks *t, ev_point theta, double d1, double *ln);

/* Of one task, exp(ln likelihood - ln_most) at each node, and the same times theta_t, averaged: in
** t->sums, with both times exp(most). */
void ev_nested_one(ev_nested_tasks *t, const ev_nested_task *task, const ev_nested_rule *rule);

/* The rule for it, which is the same for all tasks of a grid. */
void ev_nested_make_rule(const ev_nested_tasks *t, int grid, const ev_beta *beta,
                         ev_nested_rule *rule);

#endif
