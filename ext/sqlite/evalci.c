/*
** The extension's entry point, and the table of every function it registers.
*/
#include "../evalci.h"

#include <gsl/gsl_errno.h>

#include "../stats/metrics.h"
#include "../stats/paired.h"
#include "../stats/proportion.h"
#include "../stats/unpaired.h"
#include "surface.h"

#ifdef SQLITE_CORE
#define EXTENSION_INIT(api) (void)(api)
#else
SQLITE_EXTENSION_INIT1
#define EXTENSION_INIT(api) SQLITE_EXTENSION_INIT2(api)
#endif

/* Window functions came with 3.25. */
enum { OLDEST_HOST = 3025000 };

static void version(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_text(context, EVALCI_VERSION, -1, SQLITE_STATIC);
}

/*                               columns, size, pairs, names, cells */
const evalci_shape evalci_k_n = {1, 2, true, {"k", "n"}, {0}};
static const evalci_shape unpaired = {2, 4, true, {"k_a", "n_a", "k_b", "n_b"}, {0}};
static const evalci_shape paired = {
    2, 4, false, {"both", "only_a", "only_b", "neither"}, {0, 1, 2, 3}};
/* Rows are (truth, predicted): only the first is a false negative. */
static const evalci_shape confusion = {2, 3, false, {"tp", "fp", "fn"}, {0, 2, 1}};
static const evalci_shape found = {2, 2, false, {"tp", "fp"}, {0, 2}};
static const evalci_shape wanted = {2, 2, false, {"tp", "fn"}, {0, 1}};

/* A method over one or two columns of results, and its twin over counts. */
#define METHOD(name, columns, size, options, ...)                                                  \
  {name, &evalci_over_rows, columns, options, __VA_ARGS__}, {                                      \
    name "_counts", &evalci_over_counts, size, options, __VA_ARGS__                                \
  }

/* A method over results and their clusters, and its twin over one row a cluster. */
#define CLUSTERED(name, by)                                                                        \
  {name, &evalci_over_clusters, 2, 1, .clustered = by}, {                                          \
    name "_counts", &evalci_over_clusters, 2, 1, .clustered = by, .shape = &evalci_k_n             \
  }

#define SCALAR(function)                                                                           \
  &(const evalci_kind) {                                                                           \
    .scalar = function                                                                             \
  }

/* Options are the level, and after it a prior, which takes both its shapes: of
** three options, two are never given. */
static const evalci_function functions[] = {
    METHOD("bayes_ci", 1, 2, 3, .shape = &evalci_k_n, .model = ev_bayes),
    METHOD("hdi_ci", 1, 2, 3, .shape = &evalci_k_n, .model = ev_hdi),
    METHOD("wilson_ci", 1, 2, 1, .shape = &evalci_k_n, .model = ev_wilson),
    METHOD("cp_ci", 1, 2, 1, .shape = &evalci_k_n, .model = ev_cp),
    METHOD("clt_ci", 1, 2, 1, .shape = &evalci_k_n, .model = ev_clt),

    CLUSTERED("clustered_ci", ev_clustered),
    CLUSTERED("clustered_clt_ci", ev_clustered_clt),

    METHOD("prob_better", 2, 4, 0, .shape = &unpaired, .probability = ev_prob_better),
    METHOD("diff_ci", 2, 4, 1, .shape = &unpaired, .model = ev_diff),
    METHOD("odds_ratio_ci", 2, 4, 1, .shape = &unpaired, .model = ev_odds_ratio),
    METHOD("fisher_or_ci", 2, 4, 1, .shape = &unpaired, .model = ev_fisher_or),
    METHOD("diff_clt_ci", 2, 4, 1, .shape = &unpaired, .model = ev_diff_clt),

    METHOD("paired_prob_better", 2, 4, 0, .shape = &paired, .probability = ev_paired_prob_better),
    METHOD("paired_diff_ci", 2, 4, 1, .shape = &paired, .model = ev_paired_diff),
    METHOD("paired_diff_clt_ci", 2, 4, 1, .shape = &paired, .model = ev_paired_diff_clt),

    METHOD("f1_ci", 2, 3, 1, .shape = &confusion, .model = ev_f1),
    METHOD("precision_ci", 2, 2, 1, .shape = &found, .model = ev_precision),
    METHOD("recall_ci", 2, 2, 1, .shape = &wanted, .model = ev_recall),

    {"ci_lo", SCALAR(evalci_lo), .arguments = 1},
    {"ci_hi", SCALAR(evalci_hi), .arguments = 1},
    {"ci_width", SCALAR(evalci_width), .arguments = 1},
    {"ci_text", SCALAR(evalci_text), .arguments = 1, .options = 1},
    {"ci_bar", SCALAR(evalci_bar), .arguments = 1, .options = 2},
    {"forest_svg", &evalci_over_marks, 3, 0, .picture = &evalci_forest},
    {"heatmap_svg", &evalci_over_marks, 3, 0, .picture = &evalci_heatmap},
    {"evalci_version", SCALAR(version), .arguments = 0},
};

static int register_function(sqlite3 *db, const evalci_function *f) {
  const evalci_kind *kind = f->kind;
  int rc = SQLITE_OK;
  /* What returns an interval marks it as JSON. */
  int flags = EVALCI_FLAGS | (f->model || f->clustered ? SQLITE_RESULT_SUBTYPE : 0);
  for (int more = 0; more <= f->options && rc == SQLITE_OK; more++) {
    int arity = f->arguments + more;
    if (f->options == 3 && more == 2) continue;
    if (kind->scalar)
      rc = sqlite3_create_function_v2(db, f->name, arity, flags, (void *)f, kind->scalar, NULL,
                                      NULL, NULL);
    else
      rc = sqlite3_create_window_function(db, f->name, arity, flags, (void *)f, kind->step,
                                          kind->final, kind->value, kind->inverse, NULL);
  }
  return rc;
}

int sqlite3_evalci_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  EXTENSION_INIT(api);
  if (sqlite3_libversion_number() < OLDEST_HOST) {
    if (error)
      *error =
          sqlite3_mprintf("evalci needs SQLite 3.25 or newer, this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  /* GSL's own handler calls abort(), which would take the host down.  The copy
  ** linked in here is private, so this reaches nobody else's GSL. */
  gsl_set_error_handler_off();
  int rc = SQLITE_OK;
  for (size_t i = 0; i < sizeof functions / sizeof *functions && rc == SQLITE_OK; i++)
    rc = register_function(db, &functions[i]);
  if (rc == SQLITE_OK) rc = evalci_register_ci_methods(db);
  /* SELECT load_extension() is itself a running statement, under which SQLite
  ** refuses to replace a function: the first load makes them, a second cannot. */
  if (rc == SQLITE_BUSY && error)
    *error = sqlite3_mprintf("evalci is loaded in this connection already");
  return rc;
}
