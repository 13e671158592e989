/*
** Means over units that are larger than a row: clusters with a total and a size, or
** rows with a weight.  clustered_mean_ci, clustered_diff_ci, weighted_mean_ci and
** their like.
**
** Rows of scores are added up by cluster, exactly: a score is a whole number of units
** of 2^-62 of the largest that the range allows, kept in two parts of 31 bits, so that
** neither the order of rows nor a frame's coming and going changes a digit.  Clusters
** given by their totals, and weighted scores, are kept as pairs of numbers with how
** often each pair came.
*/
#include <math.h>
#include <string.h>

#include "function.h"

/*
** Scores added up by cluster: an entry is the sum's high and low part, and how many
*/
static const double LOW_PART = 0x1p31;

/* A score times 2^shift is a whole number of units, of which the largest score or difference
** of the range has at most 2^62. */
static int shift_for(const ev_options *options) {
  double most = fmax(fmax(fabs(options->lo), fabs(options->hi)), options->hi - options->lo);
  int exponent;
  frexp(most, &exponent);
  return 62 - exponent;
}

static bool add_to_cluster(evalci_call *call, evalci_group *g, sqlite3_value *cluster, double score,
                           int times) {
  evalci_key key;
  if (!evalci_read_name(call, "cluster", cluster, &key)) return false;
  evalci_entry *e = evalci_entry_of(&g->keys, &key);
  if (!e) return false;
  double scaled = ldexp(score, shift_for(&g->options)), high = floor(scaled / LOW_PART);
  sqlite3_int64 low = (sqlite3_int64)rint(scaled - high * LOW_PART);
  evalci_add_to_entry(&g->keys, e, (sqlite3_int64[]){(sqlite3_int64)high, low, 1}, times);
  return true;
}

static bool add_clustered_score(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                int times) {
  double score;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return true;
  return evalci_read_score(call, argv[0], &g->options, &score) &&
         add_to_cluster(call, g, argv[1], score, times);
}

static bool add_clustered_difference(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                     int times) {
  double difference;
  bool both;
  if (!evalci_read_score_difference(call, argv, &g->options, &both, &difference)) return false;
  return !both || add_to_cluster(call, g, argv[2], difference, times);
}

/* The low part's carry goes to the high part first, since equal sums may have come in different
** parts. */
static ev_score_cluster unit_of_cluster(const evalci_group *g, const evalci_entry *e) {
  sqlite3_int64 carry = e->counts[1] >> 31, low = e->counts[1] - (carry << 31);
  double total = (double)(e->counts[0] + carry) * LOW_PART + (double)low;
  return (ev_score_cluster){ldexp(total, -shift_for(&g->options)), (double)e->counts[2], 1};
}

/*
** Pairs of numbers: an entry is how often a pair came
*/
bool evalci_add_numbers(evalci_call *call, evalci_group *g, const double pair[2], double n,
                        int times) {
  double numbers[] = {pair[0] + 0.0, pair[1] + 0.0}; /* -0.0 is 0.0 */
  evalci_key key = {.type = SQLITE_BLOB, .bytes = numbers, .size = sizeof numbers};
  if (n == 0) return true;
  evalci_entry *e = evalci_entry_of(&g->keys, &key);
  if (!e) return false;
  if (times > 0 && (double)e->counts[0] + n > 0x1p53)
    return evalci_fail(call, "n must add up to at most 2^53, got %lld and more; scale them down",
                       e->counts[0]);
  evalci_add_to_entry(&g->keys, e, (sqlite3_int64[]){(sqlite3_int64)n}, times);
  return true;
}

/* Checks a total of n numbers from lo to hi.  A sum of doubles may exceed the ends by rounding,
** which is allowed. */
static bool read_total(evalci_call *call, sqlite3_value **argv, double lo, double hi,
                       double *pair) {
  if (!evalci_read_count(call, "n", argv[1], &pair[1])) return false;
  double slack = 1e-9 * pair[1] * (hi - lo);
  if (evalci_read_number(argv[0], &pair[0]) && pair[0] >= pair[1] * lo - slack &&
      pair[0] <= pair[1] * hi + slack) {
    pair[0] = fmin(pair[1] * hi, fmax(pair[1] * lo, pair[0])) + 0.0;
    return true;
  }
  return evalci_fail(call,
                     "total must be a sum of n numbers from %.15g to %.15g, got total = %s and "
                     "n = %s; pass the sum, not the mean",
                     lo, hi, evalci_show(argv[0]).text, evalci_show(argv[1]).text);
}

/* NULLs are skipped, and so are clusters without questions. */
static bool add_total_within(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times,
                             double lo, double hi) {
  double pair[2];
  if (evalci_any_null(2, argv)) return true;
  if (!read_total(call, argv, lo, hi, pair)) return false;
  return pair[1] == 0 || evalci_add_numbers(call, g, pair, 1, times);
}

static bool add_total(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return add_total_within(call, g, argv, times, g->options.lo, g->options.hi);
}

static bool add_total_difference(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                 int times) {
  double most = g->options.hi - g->options.lo;
  return add_total_within(call, g, argv, times, -most, most);
}

static bool add_weighted(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double pair[2];
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return true;
  if (!evalci_read_score(call, argv[0], &g->options, &pair[0])) return false;
  if (!evalci_read_number(argv[1], &pair[1]) || !(pair[1] >= 0x1p-500 && pair[1] <= 0x1p500))
    return evalci_fail(call,
                       "a weight must be a positive number, up to 3e150, got %s; "
                       "leave rows out with WHERE",
                       evalci_show(argv[1]).text);
  return evalci_add_numbers(call, g, pair, 1, times);
}

/* A row without a total, or without a count, is skipped; n is NULL where a row is one. */
static bool add_amounts(evalci_call *call, evalci_group *g, sqlite3_value **argv, sqlite3_value *n,
                        int times) {
  double pair[2], rows = 1;
  if (evalci_any_null(2, argv)) return true;
  return evalci_read_amount(call, "total", argv[0], &pair[0]) &&
         evalci_read_amount(call, "count", argv[1], &pair[1]) &&
         (!n || evalci_read_count(call, "n", n, &rows)) &&
         evalci_add_numbers(call, g, pair, rows, times);
}

static bool add_total_and_count(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                int times) {
  return add_amounts(call, g, argv, NULL, times);
}

static bool add_counted_amounts(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                int times) {
  return evalci_any_null(3, argv) || add_amounts(call, g, argv, argv[2], times);
}

static ev_score_cluster unit_of_pair(const evalci_entry *e) {
  double pair[2];
  memcpy(pair, e->key.bytes, sizeof pair);
  return (ev_score_cluster){pair[0], pair[1], (double)e->counts[0]};
}

const evalci_rows evalci_clustered_scores = {{"score", "cluster"}, 3, add_clustered_score};
const evalci_rows evalci_clustered_differences = {
    {"a", "b", "cluster"}, 3, add_clustered_difference};
const evalci_rows evalci_given_totals = {{"total", "n"}, 1, add_total};
const evalci_rows evalci_given_differences = {{"total", "n"}, 1, add_total_difference};
const evalci_rows evalci_totals_and_counts = {{"total", "count"}, 1, add_total_and_count};
const evalci_rows evalci_counted_amounts = {{"total", "count", "n"}, 1, add_counted_amounts};
const evalci_rows evalci_weighted_scores = {{"score", "weight"}, 1, add_weighted};

/*
** Answers
*/

/* The units of the group or frame, with three counts per entry where they are clusters; NULL
** where there are none, or after reporting that memory is short. */
static ev_score_cluster *list_units(sqlite3_context *context, const evalci_group *g,
                                    size_t *count) {
  *count = 0;
  if (evalci_count_entries(&g->keys) == 0) return NULL;
  ev_score_cluster *list = sqlite3_malloc64(evalci_count_entries(&g->keys) * sizeof *list);
  if (!list) {
    sqlite3_result_error_nomem(context);
    return NULL;
  }
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e));)
    list[(*count)++] = g->keys.width == 3 ? unit_of_cluster(g, e) : unit_of_pair(e);
  return list;
}

static void answer_units(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  ev_host host = evalci_host_of(context);
  ev_interval out = {NAN, NAN};
  size_t count;
  ev_score_cluster *list = list_units(context, g, &count);
  if (!list) return;
  ev_status status = f->p.units ? f->p.units(list, count, &g->options, host, &out.lo)
                                : f->ci.units(list, count, &g->options, host, &out);
  sqlite3_free(list);
  evalci_result(context, status, out);
}

/* Here a pair is a score and its weight. */
static void answer_weighted(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  size_t count;
  ev_interval ci = {NAN, NAN};
  ev_score_cluster *list = list_units(context, g, &count);
  if (!list) return;
  ev_weighted_score *weighted = sqlite3_malloc64(count * sizeof *weighted);
  ev_status status = EV_NO_MEMORY;
  for (size_t i = 0; weighted && i < count; i++)
    weighted[i] = (ev_weighted_score){list[i].total, list[i].size, list[i].times};
  sqlite3_free(list);
  if (weighted) status = f->ci.weighted(weighted, count, &g->options, evalci_host_of(context), &ci);
  sqlite3_free(weighted);
  evalci_result(context, status, ci);
}

const evalci_kind evalci_of_units = {.answer = answer_units};
const evalci_kind evalci_of_weighted = {.answer = answer_weighted};
