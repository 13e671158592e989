/*
** Agreement of raters in SQL: kappa_ci(a, b [, level [, weights]]) and ac1_ci over one row per
** thing that two raters rated, kappa_table_ci(a, b, n [, ...]) over one row per pair of ratings;
** alpha_ci(rating, unit [, level [, metric]]) over one row per rating; and the points.
**
** Rows are kept by the pair of ratings, or of unit and rating.  A rating is any value; text that is
** a number counts as that number.  Ratings that are all 0 or 1 have these two categories even if
** one of them never occurs.  Other ratings that are all of one category give NULL, since no
** disagreement is expected by chance.
*/
#include <math.h>
#include <stdlib.h>

#include "function.h"

/* Distances other than 'nominal' need finite numbers. */
static bool read_rating(evalci_call *call, sqlite3_value *value, ev_distance distance,
                        evalci_key *key) {
  double number = NAN;
  if (distance == EV_NOMINAL)
    evalci_read_number(value, &number); /* turns text that is a number into one */
  else if (!evalci_read_number(value, &number) || !(fabs(number) <= 0x1p500))
    return evalci_fail(call,
                       "a rating must be a %s to be ordered, got %s; 'nominal' takes any value",
                       isfinite(number) ? "number from -3e150 to 3e150" : "finite number",
                       evalci_show(value).text);
  return evalci_read_key(value, key);
}

/* False when memory is short, or after a message. */
static bool count_ratings(evalci_call *call, evalci_group *g, const evalci_key *first,
                          const evalci_key *second, sqlite3_int64 count, int times) {
  evalci_entry *e = evalci_pair_entry(&g->keys, first, second);
  if (!e) return false;
  if (times > 0 && e->counts[0] > ((sqlite3_int64)1 << 53) - count)
    return evalci_fail(call, "n must add up to at most 2^53, got %lld and more; scale them down",
                       e->counts[0]);
  evalci_add_to_entry(&g->keys, e, &count, times);
  return true;
}

static bool add_ratings(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                        sqlite3_int64 count, int times) {
  evalci_key a, b;
  return read_rating(call, argv[0], g->options.distance, &a) &&
         read_rating(call, argv[1], g->options.distance, &b) &&
         count_ratings(call, g, &a, &b, count, times);
}

static bool add_row(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return evalci_any_null(2, argv) || add_ratings(call, g, argv, 1, times);
}

static bool add_cell(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double n;
  if (evalci_any_null(3, argv)) return true;
  if (!evalci_read_count(call, "n", argv[2], &n)) return false;
  return n == 0 || add_ratings(call, g, argv, (sqlite3_int64)n, times);
}

static bool add_rating(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  evalci_key rating, unit;
  if (evalci_any_null(1, argv)) return true;
  if (!read_rating(call, argv[0], g->options.distance, &rating)) return false;
  return evalci_read_name(call, "unit", argv[1], &unit) &&
         count_ratings(call, g, &unit, &rating, 1, times);
}

const evalci_rows evalci_paired_ratings = {{"a", "b"}, 1, add_row};
const evalci_rows evalci_counted_ratings = {{"a", "b", "n"}, 1, add_cell};
const evalci_rows evalci_unit_ratings = {{"rating", "unit"}, 1, add_rating};

/*
** Categories
*/

/* Counts a key in a table; NULL when memory is short. */
static evalci_entry *count_key(evalci_keys *keys, evalci_key key) {
  evalci_entry *e = evalci_entry_of(keys, &key);
  if (e) evalci_add_to_entry(keys, e, (sqlite3_int64[]){1, 0}, 1);
  return e;
}

static bool is_binary(const evalci_entry *e) {
  return e->type == SQLITE_INTEGER && (e->key.integer == 0 || e->key.integer == 1);
}

/* Numbers the categories in order, as counts[1], and gives their values; false when memory is
** short, or after a message. */
static bool number_categories(evalci_call *call, evalci_keys *categories, double *values) {
  const evalci_entry *sorted[EVALCI_MOST_CATEGORIES];
  unsigned count = evalci_count_entries(categories);
  const evalci_entry *only = count == 1 ? evalci_next_entry(categories, NULL) : NULL;
  if (count > EVALCI_MOST_CATEGORIES)
    return evalci_fail(call, "ratings must have at most %d categories, got %d; round them first",
                       EVALCI_MOST_CATEGORIES, (int)count);
  if (only && is_binary(only)) {
    evalci_key other = {.type = SQLITE_INTEGER, .integer = !only->key.integer};
    if (!count_key(categories, other)) return false;
  }
  size_t sorted_count = evalci_sort_entries(categories, sorted);
  for (size_t i = 0; i < sorted_count; i++) {
    evalci_entry *e = (evalci_entry *)sorted[i];
    e->counts[1] = (sqlite3_int64)i;
    values[i] = e->type == SQLITE_INTEGER ? (double)e->key.integer
                : e->type == SQLITE_FLOAT ? e->key.real
                                          : 0;
  }
  return true;
}

static size_t category_of(evalci_keys *categories, evalci_key key) {
  return (size_t)evalci_entry_of(categories, &key)->counts[1];
}

/* Delivers an interval, or a point; NULL where there is no point. */
static void result_coefficient(sqlite3_context *context, ev_status status, ev_interval out) {
  const evalci_function *f = sqlite3_user_data(context);
  if (f->p.any && status == EV_OK && isnan(out.lo)) return;
  evalci_result(context, status, out);
}

/*
** Two raters
*/
static bool answer_table(sqlite3_context *context, evalci_call *call, const evalci_group *g,
                         evalci_keys *categories) {
  const evalci_function *f = sqlite3_user_data(context);
  double values[EVALCI_MOST_CATEGORIES];
  ev_interval out = {NAN, NAN};
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e));)
    if (!count_key(categories, evalci_pair_first(e)) ||
        !count_key(categories, evalci_pair_second(e)))
      return false;
  if (!number_categories(call, categories, values)) return false;
  size_t k = evalci_count_entries(categories);
  if (k < 2) return true;
  double *counts = sqlite3_malloc64(k * k * sizeof *counts);
  if (!counts) return false;
  for (size_t i = 0; i < k * k; i++) counts[i] = 0;
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e));) {
    size_t a = category_of(categories, evalci_pair_first(e));
    counts[a * k + category_of(categories, evalci_pair_second(e))] = (double)e->counts[0];
  }
  ev_table_model *model = f->p.table ? f->p.table : f->ci.table;
  ev_status status = model((ev_table){counts, k}, &g->options, evalci_host_of(context), &out);
  sqlite3_free(counts);
  result_coefficient(context, status, out);
  return true;
}

/*
** Units
*/
static int by_unit(const void *a, const void *b) {
  const ev_unit_rating *x = a, *y = b;
  if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
  return (x->category > y->category) - (x->category < y->category);
}

/* Lists the ratings of units with two or more of them; the entry of a unit counts its ratings. */
static bool list_ratings(const evalci_group *g, evalci_keys *units, evalci_keys *categories,
                         evalci_call *call, double *values, ev_ratings *r) {
  ev_unit_rating *list = (ev_unit_rating *)r->list;
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e));) {
    evalci_key unit = evalci_pair_first(e);
    evalci_entry *u = evalci_entry_of(units, &unit);
    if (!u) return false;
    evalci_add_to_entry(units, u, (sqlite3_int64[]){e->counts[0], 0}, 1);
    if (u->counts[1] == 0) u->counts[1] = units->count;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e));) {
      evalci_key unit = evalci_pair_first(e);
      const evalci_entry *u = evalci_entry_of(units, &unit);
      if (u->counts[0] < 2) continue;
      if (pass == 0 && !count_key(categories, evalci_pair_second(e))) return false;
      if (pass == 1)
        list[r->count++] =
            (ev_unit_rating){(size_t)u->counts[1], category_of(categories, evalci_pair_second(e)),
                             (double)e->counts[0]};
    }
    if (pass == 0 && !number_categories(call, categories, values)) return false;
  }
  qsort(list, r->count, sizeof *list, by_unit);
  r->categories = evalci_count_entries(categories);
  return true;
}

static bool answer_rated_units(sqlite3_context *context, evalci_call *call, const evalci_group *g,
                               evalci_keys *categories) {
  const evalci_function *f = sqlite3_user_data(context);
  double values[EVALCI_MOST_CATEGORIES];
  ev_interval out = {NAN, NAN};
  evalci_keys units = {.width = 2};
  ev_unit_rating *list = sqlite3_malloc64(evalci_count_entries(&g->keys) * sizeof *list);
  ev_ratings r = {.list = list, .values = values};
  bool ok = list && list_ratings(g, &units, categories, call, values, &r);
  if (ok && r.categories >= 2) {
    ev_ratings_model *model = f->p.ratings ? f->p.ratings : f->ci.ratings;
    result_coefficient(context, model(r, &g->options, evalci_host_of(context), &out), out);
  }
  evalci_free_keys(&units);
  sqlite3_free(list);
  return ok;
}

static void answer_agreement(sqlite3_context *context, const evalci_group *g,
                             bool (*of)(sqlite3_context *, evalci_call *, const evalci_group *,
                                        evalci_keys *)) {
  evalci_call call = evalci_call_of(context);
  evalci_keys categories = {.width = 2};
  if (evalci_count_entries(&g->keys) > 0 && !of(context, &call, g, &categories))
    evalci_report(context, &call);
  evalci_free_keys(&categories);
}

static void answer_rated_pairs(sqlite3_context *context, const evalci_group *g) {
  answer_agreement(context, g, answer_table);
}

static void answer_rater_pairs(sqlite3_context *context, const evalci_group *g) {
  answer_agreement(context, g, answer_rated_units);
}

const evalci_kind evalci_of_paired_ratings = {.answer = answer_rated_pairs};
const evalci_kind evalci_of_unit_ratings = {.answer = answer_rater_pairs};
