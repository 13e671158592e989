/*
** The extension's entry point, and the table of every function it registers.
*/
#include "../evalci.h"

#include <string.h>

#include <gsl/gsl_errno.h>

#include "../stats/anytime.h"
#include "../stats/fisher.h"
#include "../stats/macro.h"
#include "../stats/mcnemar.h"
#include "../stats/metrics.h"
#include "../stats/paired.h"
#include "../stats/pass.h"
#include "../stats/proportion.h"
#include "../stats/quantile.h"
#include "../stats/ratio.h"
#include "../stats/sign_flip.h"
#include "../stats/unpaired.h"
#include "boards.h"
#include "function.h"
#include "table.h"

#ifdef SQLITE_CORE
#define EXTENSION_INIT(api) (void)(api)
#else
SQLITE_EXTENSION_INIT1
#define EXTENSION_INIT(api) SQLITE_EXTENSION_INIT2(api)
#endif

static const char *const *no_arguments(const evalci_function *f) {
  static const char *const names[] = {NULL};
  (void)f;
  return names;
}

static void evalci_version(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_text(context, EVALCI_VERSION, -1, SQLITE_STATIC);
}

static const evalci_kind version_kind = {.arguments = no_arguments, .scalar = evalci_version};

/*                            columns, counts, separate questions, cells, none counts, memo */
static const evalci_layout one_proportion = {{"y"}, {"k", "n"}, true, {0}, false, NULL};
static const evalci_layout unpaired = {{"a", "b"}, {"k_a", "n_a", "k_b", "n_b"}, true, {0}, false,
                                       NULL};
static const evalci_layout paired = {
    {"a", "b"}, {"both", "only_a", "only_b", "neither"},
    false,      {EVALCI_BOTH, EVALCI_ONLY_FIRST, EVALCI_ONLY_SECOND, EVALCI_NEITHER},
    false,      NULL};
static const evalci_layout discordant = {
    {"a", "b"}, {"only_a", "only_b"}, false, {EVALCI_ONLY_FIRST, EVALCI_ONLY_SECOND}, true, NULL};
static const evalci_layout graded_or_not = {{"y"}, {"right", "wrong", "not_graded"},
                                            false, {EVALCI_RIGHT, EVALCI_WRONG, EVALCI_NOT_GRADED},
                                            false, NULL};
/* Rows are (truth, predicted): only the first is a false negative. */
enum { TP = EVALCI_BOTH, FN = EVALCI_ONLY_FIRST, FP = EVALCI_ONLY_SECOND };
static const evalci_layout confusion = {
    {"truth", "predicted"}, {"tp", "fp", "fn"}, false, {TP, FP, FN}, false, NULL};
static const evalci_layout predicted_positive = {
    {"truth", "predicted"}, {"tp", "fp"}, false, {TP, FP}, false, NULL};
static const evalci_layout truly_positive = {
    {"truth", "predicted"}, {"tp", "fn"}, false, {TP, FN}, false, NULL};

/* A row of a family, as the head that it begins with. */
#define ROW(family, ...)                                                                           \
  (const evalci_function *)&(const family) {                                                       \
    __VA_ARGS__                                                                                    \
  }

/* A method over columns of results, and its twin over counts. */
#define INTERVAL(name, options, layout, model)                                                     \
  ROW(evalci_interval_method, {{name, &evalci_interval_of_rows, options}, &layout}, model),        \
      ROW(evalci_interval_method,                                                                  \
          {{name "_counts", &evalci_interval_of_counts, options}, &layout}, model)
#define PROBABILITY(name, options, layout, model)                                                  \
  ROW(evalci_probability_method, {{name, &evalci_probability_of_rows, options}, &layout}, model),  \
      ROW(evalci_probability_method,                                                               \
          {{name "_counts", &evalci_probability_of_counts, options}, &layout}, model)

/* A method over results and their clusters, and its twin over one row a cluster. */
#define CLUSTERED(name, options, model)                                                            \
  ROW(evalci_cluster_method,                                                                       \
      {{name, &evalci_interval_of_clusters, options}, &evalci_clustered_results}, model),          \
      ROW(evalci_cluster_method,                                                                   \
          {{name "_counts", &evalci_interval_of_clusters, options}, &evalci_given_clusters},       \
          model)
#define CLUSTERED_P(name, options, model)                                                          \
  ROW(evalci_cluster_probability,                                                                  \
      {{name, &evalci_probability_of_clusters, options}, &evalci_clustered_results}, model),       \
      ROW(evalci_cluster_probability,                                                              \
          {{name "_counts", &evalci_probability_of_clusters, options}, &evalci_given_clusters},    \
          model)

/* Methods over scores, over two columns of them, and over units of them. */
#define SCORES(name, options, source, model, least)                                                \
  ROW(evalci_score_interval, {{name, &evalci_interval_of_scores, options}, &source}, model, least)
#define SCORES_P(name, options, source, model)                                                     \
  ROW(evalci_score_probability, {{name, &evalci_probability_of_scores, options}, &source}, model)
#define UNITS(name, options, source, model)                                                        \
  ROW(evalci_unit_interval, {{name, &evalci_interval_of_units, options}, &source}, model)
#define UNITS_P(name, options, source, model)                                                      \
  ROW(evalci_unit_probability, {{name, &evalci_probability_of_units, options}, &source}, model)

/* Of questions that were attempted several times. */
#define ATTEMPTED(name, source, model)                                                             \
  ROW(evalci_cluster_method, {{name, &evalci_interval_of_attempts, K_LEVEL}, &source}, model)

#define PICTURE(name, picture)                                                                     \
  ROW(evalci_picture_function, {name, &evalci_picture_of_rows, EVALCI_DRAWING}, &picture)
#define PLAN(name, options, plan) ROW(evalci_plan_function, {name, &evalci_planned, options}, &plan)
/* A function that is nothing but its kind. */
#define PLAIN(name, options, kind) ROW(evalci_function, name, &kind, options)

enum {
  LEVEL = EVALCI_LEVEL,
  POWER_LEVEL = EVALCI_POWER | EVALCI_LEVEL,
  LEVEL_BETA = EVALCI_LEVEL | EVALCI_BETA,
  LEVEL_RANGE = EVALCI_LEVEL | EVALCI_RANGE,
  MARGIN_RANGE = EVALCI_MARGIN | EVALCI_RANGE,
  LEVEL_HIERARCHY = EVALCI_LEVEL | EVALCI_HIERARCHY,
  K_LEVEL = EVALCI_ATTEMPTS | EVALCI_LEVEL,
  Q_LEVEL = EVALCI_QUANTILE | EVALCI_LEVEL,
  LOSS_RANGE = EVALCI_LOSS | EVALCI_RANGE,
  LEVEL_ICC = LEVEL_HIERARCHY | EVALCI_ICC,
  T_BETA = EVALCI_THRESHOLD | EVALCI_BETA,
  T_RANGE = EVALCI_THRESHOLD | EVALCI_RANGE,
  T_ICC = EVALCI_THRESHOLD | EVALCI_HIERARCHY | EVALCI_ICC,
};

static const evalci_function *const functions[] = {
    INTERVAL("bayes_ci", LEVEL_BETA, one_proportion, ev_bayes),
    INTERVAL("jeffreys_ci", LEVEL, one_proportion, ev_jeffreys),
    INTERVAL("hdi_ci", LEVEL_BETA, one_proportion, ev_hdi),
    INTERVAL("wilson_ci", LEVEL, one_proportion, ev_wilson),
    INTERVAL("cp_ci", LEVEL, one_proportion, ev_cp),
    INTERVAL("agresti_coull_ci", LEVEL, one_proportion, ev_agresti_coull),
    INTERVAL("clt_ci", LEVEL, one_proportion, ev_clt),
    PROBABILITY("prob_above", T_BETA, one_proportion, ev_prob_above),
    INTERVAL("bounded_ci", LEVEL, graded_or_not, ev_bounded),

    CLUSTERED("clustered_ci", LEVEL_HIERARCHY, ev_clustered),
    CLUSTERED("clustered_clt_ci", LEVEL, ev_clustered_clt),
    ROW(evalci_cluster_function, {"clustered_each", &evalci_each_of_clusters, LEVEL_ICC},
        &evalci_clustered_results),
    ROW(evalci_cluster_function, {"clustered_each_counts", &evalci_each_of_clusters, LEVEL_ICC},
        &evalci_labelled_clusters),
    CLUSTERED_P("clustered_prob_above", T_ICC, ev_clustered_prob_above),
    ATTEMPTED("pass_at_k_ci", evalci_attempted_items, ev_pass_at_k),
    ATTEMPTED("pass_at_k_ci_counts", evalci_given_items, ev_pass_at_k),
    ATTEMPTED("pass_hat_k_ci", evalci_attempted_items, ev_pass_hat_k),
    ATTEMPTED("pass_hat_k_ci_counts", evalci_given_items, ev_pass_hat_k),
    PLAIN("macro_ci", LEVEL_RANGE, evalci_interval_of_tasks),
    ROW(evalci_cluster_method,
        {{"macro_ci_counts", &evalci_interval_of_clusters, LEVEL}, &evalci_given_clusters},
        ev_macro_counts),
    PLAIN("pass_at_k", 0, evalci_pass_at_k),
    PLAIN("pass_hat_k", 0, evalci_pass_hat_k),

    PROBABILITY("prob_better", EVALCI_MARGIN, unpaired, ev_prob_better),
    INTERVAL("diff_ci", LEVEL, unpaired, ev_diff),
    INTERVAL("odds_ratio_ci", LEVEL, unpaired, ev_odds_ratio),
    INTERVAL("fisher_or_ci", LEVEL, unpaired, ev_fisher_or),
    INTERVAL("diff_clt_ci", LEVEL, unpaired, ev_diff_clt),

    PROBABILITY("paired_prob_better", EVALCI_MARGIN, paired, ev_paired_prob_better),
    INTERVAL("paired_diff_ci", LEVEL, paired, ev_paired_diff),
    INTERVAL("paired_diff_clt_ci", LEVEL, paired, ev_paired_diff_clt),
    PROBABILITY("mcnemar_p", 0, discordant, ev_mcnemar_p),

    ROW(evalci_ranks_function, {"ranks", &evalci_ranks_of_labels, LEVEL}, &evalci_labelled_results),
    ROW(evalci_ranks_function, {"ranks_counts", &evalci_ranks_of_labels, LEVEL},
        &evalci_labelled_counts),

    PLAN("plan_n", LEVEL, evalci_plan_n),
    PLAN("power_paired", LEVEL, evalci_power_paired),
    PLAN("plan_paired_n", POWER_LEVEL, evalci_plan_paired),
    PLAN("power_diff", LEVEL, evalci_power_diff),
    PLAN("plan_diff_n", POWER_LEVEL, evalci_plan_diff),
    PLAN("detectable_diff", POWER_LEVEL, evalci_detectable),

    INTERVAL("anytime_ci", LEVEL_BETA, one_proportion, ev_anytime),
    INTERVAL("anytime_paired_diff_ci", LEVEL, paired, ev_anytime_paired_diff),

    PLAIN("judged_ci", LEVEL, evalci_judged_rows),
    PLAIN("judged_ci_counts", LEVEL, evalci_judged_counts),

    INTERVAL("f1_ci", LEVEL, confusion, ev_f1),
    INTERVAL("precision_ci", LEVEL, predicted_positive, ev_precision),
    INTERVAL("recall_ci", LEVEL, truly_positive, ev_recall),

    SCORES("mean_ci", LEVEL_RANGE, evalci_ranged_scores, ev_mean, 1),
    SCORES("mean_ci_counts", LEVEL_RANGE, evalci_ranged_counts, ev_mean, 1),
    SCORES_P("mean_prob_above", T_RANGE, evalci_ranged_scores, ev_mean_prob_above),
    SCORES_P("mean_prob_above_counts", T_RANGE, evalci_ranged_counts, ev_mean_prob_above),
    SCORES("mean_lmt_ci", LEVEL_RANGE, evalci_ranged_scores, ev_mean_lmt, 1),
    SCORES("mean_lmt_ci_counts", LEVEL_RANGE, evalci_ranged_counts, ev_mean_lmt, 1),
    SCORES("mean_t_ci", LEVEL, evalci_any_scores, ev_mean_t, 2),
    SCORES("mean_t_ci_counts", LEVEL, evalci_any_counts, ev_mean_t, 2),
    SCORES("mean_clt_ci", LEVEL, evalci_any_scores, ev_mean_clt, 2),
    SCORES("mean_clt_ci_counts", LEVEL, evalci_any_counts, ev_mean_clt, 2),
    ROW(evalci_weighted_interval,
        {{"weighted_mean_ci", &evalci_interval_of_weighted, LEVEL_RANGE}, &evalci_weighted_scores},
        ev_weighted_mean),
    UNITS("clustered_mean_ci", LEVEL_RANGE, evalci_clustered_scores, ev_clustered_mean),
    UNITS("clustered_mean_ci_counts", LEVEL_RANGE, evalci_given_totals, ev_clustered_mean),

    SCORES("quantile_ci", Q_LEVEL, evalci_values, ev_quantile, 1),
    SCORES("quantile_ci_counts", Q_LEVEL, evalci_value_counts, ev_quantile, 1),
    UNITS("ratio_ci", LEVEL, evalci_totals_and_counts, ev_ratio),

    ROW(evalci_two_scores_interval,
        {{"mean_diff_ci", &evalci_interval_of_two_scores, LEVEL_RANGE}, &evalci_unpaired_scores},
        ev_mean_diff),
    ROW(evalci_two_scores_probability,
        {{"mean_prob_better", &evalci_probability_of_two_scores, MARGIN_RANGE},
         &evalci_unpaired_scores},
        ev_mean_prob_better),
    SCORES("paired_mean_diff_ci", LEVEL_RANGE, evalci_paired_scores, ev_paired_mean_diff, 1),
    SCORES("paired_mean_diff_ci_counts", LEVEL_RANGE, evalci_paired_counts, ev_paired_mean_diff, 1),
    SCORES_P("paired_mean_prob_better", MARGIN_RANGE, evalci_paired_scores,
             ev_paired_mean_prob_better),
    SCORES_P("paired_mean_prob_better_counts", MARGIN_RANGE, evalci_paired_counts,
             ev_paired_mean_prob_better),
    SCORES_P("no_worse_prob", LOSS_RANGE, evalci_paired_scores, ev_no_worse_prob),
    SCORES_P("no_worse_prob_counts", LOSS_RANGE, evalci_paired_counts, ev_no_worse_prob),
    SCORES_P("paired_p", 0, evalci_paired_any_scores, ev_paired_p),
    SCORES_P("paired_p_counts", 0, evalci_paired_any_counts, ev_paired_p),
    UNITS("clustered_diff_ci", LEVEL_RANGE, evalci_clustered_differences, ev_clustered_mean_diff),
    UNITS("clustered_diff_ci_counts", LEVEL_RANGE, evalci_given_differences,
          ev_clustered_mean_diff),
    UNITS_P("clustered_prob_better", MARGIN_RANGE, evalci_clustered_differences,
            ev_clustered_mean_prob_better),
    UNITS_P("clustered_prob_better_counts", MARGIN_RANGE, evalci_given_differences,
            ev_clustered_mean_prob_better),

    PLAIN("ci_lo", 0, evalci_lo),
    PLAIN("ci_hi", 0, evalci_hi),
    PLAIN("ci_width", 0, evalci_width),
    PLAIN("ci_text", EVALCI_DIGITS | EVALCI_UNIT, evalci_text),
    PLAIN("ci_bar", EVALCI_POINT | EVALCI_WIDTH, evalci_bar),
    PICTURE("forest_svg", evalci_forest),
    PICTURE("heatmap_svg", evalci_heatmap),
    PLAIN("evalci_version", 0, version_kind),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

const evalci_function *evalci_function_named(const char *name) {
  for (int i = 0; i < FUNCTIONS; i++)
    if (strcmp(functions[i]->name, name) == 0) return functions[i];
  return NULL;
}

/* Of so many arguments, run so; -1 is any number.  A name is a scalar or an aggregate
** at every one of them (contract 1), and every aggregate a window function (6). */
static int register_arity(sqlite3 *db, const evalci_function *f, int arity, const evalci_kind *kind,
                          evalci_shared *shared) {
  int flags = EVALCI_FLAGS | (kind->json ? SQLITE_RESULT_SUBTYPE : 0);
  void *row = shared ? evalci_shared_row(shared, f) : (void *)f;
  void (*destroy)(void *) = shared ? evalci_free_row : NULL;
  if (!row) return SQLITE_NOMEM;
  if (kind->scalar)
    return sqlite3_create_function_v2(db, f->name, arity, flags, row, kind->scalar, NULL, NULL,
                                      destroy);
  if (kind->gathering)
    return sqlite3_create_window_function(db, f->name, arity, flags, row, evalci_gathered_step,
                                          evalci_gathered_final, evalci_gathered_value,
                                          evalci_gathered_inverse, destroy);
  return sqlite3_create_window_function(db, f->name, arity, flags, row, kind->step, kind->final,
                                        kind->value, kind->inverse, destroy);
}

/* Whether a row is over the four counts of pairs, whose functions share a posterior. */
static bool is_paired(const evalci_function *f) {
  bool counts = f->kind == &evalci_interval_of_rows || f->kind == &evalci_interval_of_counts ||
                f->kind == &evalci_probability_of_rows || f->kind == &evalci_probability_of_counts;
  return counts && ((const evalci_method *)f)->layout == &paired;
}

/* With no option, with the first, with the first two and so on; and an error for
** every other number of arguments. */
static int register_function(sqlite3 *db, const evalci_function *f, evalci_shared *shared) {
  int rc = SQLITE_OK;
  for (int i = 0, arity; rc == SQLITE_OK && (arity = evalci_arity_of(f, i)) >= 0; i++)
    rc = register_arity(db, f, arity, f->kind, is_paired(f) ? shared : NULL);
  return rc == SQLITE_OK ? register_arity(db, f, -1, evalci_wrong_arity_for(f->kind), NULL) : rc;
}

int sqlite3_evalci_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  EXTENSION_INIT(api);
  /* Contract 24. */
  if (sqlite3_libversion_number() < EVALCI_OLDEST_HOST) {
    if (error)
      *error =
          sqlite3_mprintf("evalci needs SQLite 3.25 or newer, this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  /* GSL's own handler calls abort(), which would take the host down.  The copy
  ** linked in here is private, so this reaches nobody else's GSL (contract 13). */
  gsl_set_error_handler_off();
  evalci_shared *shared = evalci_share(&paired);
  int rc = shared ? SQLITE_OK : SQLITE_NOMEM;
  for (int i = 0; i < FUNCTIONS && rc == SQLITE_OK; i++)
    rc = register_function(db, functions[i], shared);
  evalci_unshare(shared);
  if (rc == SQLITE_OK) rc = evalci_register_boards(db);
  if (rc == SQLITE_OK) rc = evalci_register_table(db, &evalci_ci_methods);
  /* SELECT load_extension() is itself a running statement, under which SQLite
  ** refuses to replace a function: the first load makes them, a second cannot. */
  if (rc == SQLITE_BUSY && error)
    *error = sqlite3_mprintf("evalci is loaded in this connection already");
  return rc;
}
