/*
** bt_ratings(model_a, model_b, winner [, level [, options]]) and bt_pairs(...) over one row per
** vote, and bt_ratings_counts(model_a, model_b, wins_a, wins_b, ties [, level [, options]]) and
** bt_pairs_counts(...) over one row per pair: JSON, one object per model or per pair, best first.
**
** A model is any SQL value but NULL, as a cluster key is (contract 11).  The options are a flat
** object of JSON: "position", "scale", "base" and "anchor".
*/
#include "votes.h"

#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>

#include "function.h"
#include "object.h"
#include "roles.h"

/*
** Options
*/
enum { KEY_POSITION, KEY_SCALE, KEY_BASE, KEY_ANCHOR, KEY_LEVEL, KEY_COLUMNS, VOTING_KEYS = 8 };

static const char *const voting_keys[VOTING_KEYS] = {"position", "scale",   "base",    "anchor",
                                                     "level",    "model_a", "model_b", "winner"};

typedef struct reading_voting {
  evalci_voting *out;
  bool table;
  unsigned seen;
} reading_voting;

static bool fail_voting(evalci_call *call, int key, const char *must, evalci_part value) {
  return evalci_fail(call, "%s in options must be %s, got %s", voting_keys[key], must,
                     evalci_show_part(value).text);
}

static bool read_voting_number(evalci_call *call, int key, const char *must, double least,
                               double most, evalci_part value, double *out) {
  return (evalci_parse_number(value.at, out) == value.end && *out > least && *out < most) ||
         fail_voting(call, key, must, value);
}

static bool read_voting_text(evalci_call *call, int key, const char *must, evalci_part value,
                             char **out) {
  size_t size = 0;
  if (*value.at != '"') return fail_voting(call, key, must, value);
  *out = evalci_part_text(value, &size);
  if (!*out) return false;
  return (size > 0 && strlen(*out) == size) || fail_voting(call, key, must, value);
}

/* Reads the name of a model, which is text or a number. */
static bool read_anchor(evalci_call *call, evalci_part value, evalci_voting *out) {
  static const char must[] = "the name of a model";
  evalci_key *key = &out->anchor_key;
  double number;
  if (evalci_parse_number(value.at, &number) == value.end) {
    bool whole = number == floor(number) && fabs(number) <= 0x1p53;
    *key = (evalci_key){.type = whole ? SQLITE_INTEGER : SQLITE_FLOAT,
                        .integer = whole ? (sqlite3_int64)number : 0,
                        .real = number};
    return true;
  }
  if (!read_voting_text(call, KEY_ANCHOR, must, value, &out->anchor)) return false;
  *key = (evalci_key){
      .type = SQLITE_TEXT, .bytes = out->anchor, .size = (unsigned)strlen(out->anchor)};
  return true;
}

static bool read_voting_value(evalci_call *call, int key, evalci_part value, evalci_voting *out) {
  if (evalci_part_is(value, "null")) return true;
  switch (key) {
  case KEY_POSITION:
    out->position = evalci_part_is(value, "true");
    return out->position || evalci_part_is(value, "false") ||
           fail_voting(call, key, "true or false", value);
  case KEY_SCALE:
    return read_voting_number(call, key, "a positive number up to 3e150", 0, 0x1p500, value,
                              &out->scale);
  case KEY_BASE:
    return read_voting_number(call, key, "a number from -3e150 to 3e150", -0x1p500, 0x1p500, value,
                              &out->base);
  case KEY_ANCHOR:
    return read_anchor(call, value, out);
  case KEY_LEVEL:
    return read_voting_number(call, key, "strictly between 0 and 1", 0, 1, value, &out->level);
  default:
    return read_voting_text(call, key, "the name of a column", value,
                            &out->columns[key - KEY_COLUMNS]);
  }
}

static bool read_voting_member(evalci_call *call, evalci_part name, evalci_part value, void *out) {
  reading_voting *r = out;
  int key = evalci_key_of(name, voting_keys, r->table ? VOTING_KEYS : KEY_LEVEL);
  if (key < 0)
    return evalci_fail(call, "options has no key %s; it may have position, scale, base, anchor%s",
                       evalci_show_part(name).text,
                       r->table ? ", level, model_a, model_b, winner" : "");
  if (r->seen & 1u << key)
    return evalci_fail(call, "options has the key %s twice", evalci_show_part(name).text);
  r->seen |= 1u << key;
  return read_voting_value(call, key, value, r->out);
}

/* The scale of chess: 400 points are odds of 10 to 1. */
bool evalci_read_voting(evalci_call *call, sqlite3_value *value, bool table, evalci_voting *out) {
  reading_voting r = {out, table, 0};
  *out = (evalci_voting){
      .scale = 400, .base = 1000, .level = 0.95, .anchor_key = {.type = SQLITE_NULL}};
  if (!value || sqlite3_value_type(value) == SQLITE_NULL) return true;
  return evalci_read_object(call, value, "{\"anchor\":\"gpt-4\"}", read_voting_member, &r);
}

void evalci_free_voting(evalci_voting *voting) {
  sqlite3_free(voting->anchor);
  for (int i = 0; i < EVALCI_VOTE_COLUMNS; i++) sqlite3_free(voting->columns[i]);
  *voting = (evalci_voting){0};
}

/*
** Rows
*/
static const char *const vote_columns[] = {"model_a", "model_b"};

/* A limit far above real numbers of votes, below which sums are exact. */
static const sqlite3_int64 MOST_OF_PAIR = 1000000000000;

static bool add_to_pair(evalci_call *call, evalci_keys *pairs, sqlite3_value **models,
                        const sqlite3_int64 *counts, int times) {
  evalci_key keys[2];
  for (int i = 0; i < 2; i++) {
    if (!evalci_read_key(models[i], &keys[i])) return false;
    if (keys[i].type == SQLITE_NULL)
      return evalci_fail(call,
                         "%s must not be NULL where there is a vote; leave the row out with WHERE "
                         "%s IS NOT NULL",
                         vote_columns[i], vote_columns[i]);
  }
  if (evalci_same_key(&keys[0], &keys[1]))
    return evalci_fail(call,
                       "model_a and model_b must be two models, got %s for both; leave the row out "
                       "with WHERE model_a <> model_b",
                       evalci_show(models[0]).text);
  evalci_entry *e = evalci_pair_entry(pairs, &keys[0], &keys[1]);
  if (!e) return false;
  for (int i = 0; i < EVALCI_VOTE_COUNTS && times > 0; i++)
    if (e->counts[i] + counts[i] > MOST_OF_PAIR)
      return evalci_fail(call,
                         "votes must add up to at most 10^12, got %lld and more of one pair; scale "
                         "them down",
                         counts[i]);
  evalci_add_to_entry(pairs, e, counts, times);
  return true;
}

static bool is_text_of(sqlite3_value *value, sqlite3_value *other) {
  return sqlite3_value_type(value) == SQLITE_TEXT && sqlite3_value_type(other) == SQLITE_TEXT &&
         sqlite3_value_bytes(value) == sqlite3_value_bytes(other) &&
         memcmp(sqlite3_value_text(value), sqlite3_value_text(other),
                (size_t)sqlite3_value_bytes(value)) == 0;
}

/* What a word or a number says. */
static evalci_winner winner_by_word(sqlite3_value *value) {
  evalci_winner winner = EVALCI_NO_WINNER;
  double number;
  if (sqlite3_value_type(value) == SQLITE_TEXT && sqlite3_value_text(value))
    winner = evalci_winner_named((const char *)sqlite3_value_text(value),
                                 (size_t)sqlite3_value_bytes(value));
  if (winner == EVALCI_NO_WINNER && evalci_read_number(value, &number)) {
    if (number == 1) winner = EVALCI_A_WINS;
    if (number == 0) winner = EVALCI_B_WINS;
    if (number == 0.5) winner = EVALCI_TIE;
  }
  return winner;
}

/* Which of the two is named. */
static evalci_winner winner_by_name(sqlite3_value **vote) {
  sqlite3_value *value = vote[EVALCI_VOTE_WINNER];
  if (is_text_of(value, vote[EVALCI_VOTE_A])) return EVALCI_A_WINS;
  return is_text_of(value, vote[EVALCI_VOTE_B]) ? EVALCI_B_WINS : EVALCI_NO_WINNER;
}

/* A word, a number, or the name of one of the two; a text that is both must say the same. */
static bool read_winner(evalci_call *call, sqlite3_value **vote, evalci_winner *winner) {
  sqlite3_value *value = vote[EVALCI_VOTE_WINNER];
  evalci_winner named = winner_by_name(vote);
  *winner = winner_by_word(value);
  if (named != EVALCI_NO_WINNER && *winner != EVALCI_NO_WINNER && named != *winner)
    return evalci_fail(call,
                       "winner must have one meaning, got %s, which is also the name of %s; write "
                       "'model_a', 'model_b' or 'tie'",
                       evalci_show(value).text, vote_columns[named == EVALCI_B_WINS]);
  if (*winner == EVALCI_NO_WINNER) *winner = named;
  return *winner != EVALCI_NO_WINNER ||
         evalci_fail(call,
                     "winner must be 'model_a', 'model_b', 'tie' or 'both_bad', or 1, 0 or 0.5, "
                     "got %s; leave the row out, or make it NULL",
                     evalci_show(value).text);
}

bool evalci_add_vote(evalci_call *call, evalci_keys *pairs, sqlite3_value **vote, int times) {
  sqlite3_int64 counts[EVALCI_VOTE_COUNTS] = {0};
  evalci_winner winner;
  if (sqlite3_value_type(vote[EVALCI_VOTE_WINNER]) == SQLITE_NULL) return true;
  if (!read_winner(call, vote, &winner)) return false;
  counts[winner == EVALCI_A_WINS   ? EVALCI_VOTE_WINS
         : winner == EVALCI_B_WINS ? EVALCI_VOTE_LOSSES
                                   : EVALCI_VOTE_TIES] = 1;
  return add_to_pair(call, pairs, vote, counts, times);
}

static bool add_vote(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return evalci_add_vote(call, &g->keys, argv, times);
}

static bool add_vote_counts(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  static const char *const names[] = {"wins_a", "wins_b", "ties"};
  sqlite3_int64 counts[EVALCI_VOTE_COUNTS];
  if (evalci_any_null(EVALCI_VOTE_COUNTS, argv + 2)) return true;
  for (int i = 0; i < EVALCI_VOTE_COUNTS; i++) {
    double count;
    if (!evalci_read_count(call, names[i], argv[2 + i], &count)) return false;
    counts[i] = (sqlite3_int64)count;
  }
  return counts[0] + counts[1] + counts[2] == 0 || add_to_pair(call, &g->keys, argv, counts, times);
}

const evalci_rows evalci_votes = {{"model_a", "model_b", "winner"}, EVALCI_VOTE_COUNTS, add_vote};
const evalci_rows evalci_vote_counts = {
    {"model_a", "model_b", "wins_a", "wins_b", "ties"}, EVALCI_VOTE_COUNTS, add_vote_counts};

/*
** Votes of every two models
*/

/* Counts of a name: the rows that have it, and its place in the order of names.  Models are
** numbered by these places, so that the order of rows does not matter. */
enum { NAME_SEEN, NAME_PLACE, NAME_COUNTS };

typedef struct vote_table {
  evalci_keys names;
  evalci_entry **models;
  double *numbers; /* wins, losses, ties */
  ev_votes votes;
} vote_table;

static void free_vote_table(vote_table *b) {
  evalci_free_keys(&b->names);
  sqlite3_free(b->models);
  sqlite3_free(b->numbers);
}

static int by_key(const void *a, const void *b) {
  const evalci_entry *const *x = a, *const *y = b;
  return evalci_compare_keys(*x, *y);
}

/* Adds both models of every pair to the names; false without memory. */
static bool list_names(const evalci_keys *pairs, evalci_keys *names) {
  names->width = NAME_COUNTS;
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(pairs, e));) {
    evalci_key keys[] = {evalci_pair_first(e), evalci_pair_second(e)};
    for (int i = 0; i < 2; i++) {
      evalci_entry *name = evalci_entry_of(names, &keys[i]);
      if (!name) return false;
      if (!name->counts[NAME_SEEN]) evalci_add_to_entry(names, name, (sqlite3_int64[]){1, 0}, 1);
    }
  }
  return true;
}

/* The place of a model; the number of models if it is not among them.  False without memory. */
static bool find_place(vote_table *b, const evalci_key *key, size_t *place) {
  evalci_entry *name = evalci_entry_of(&b->names, key);
  if (name) *place = name->counts[NAME_SEEN] ? (size_t)name->counts[NAME_PLACE] : b->votes.models;
  return name;
}

static bool order_names(vote_table *b) {
  size_t count = evalci_count_entries(&b->names), i = 0;
  b->models = sqlite3_malloc64(count * sizeof *b->models);
  if (!b->models) return false;
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(&b->names, e));)
    b->models[i++] = (evalci_entry *)e;
  qsort(b->models, count, sizeof *b->models, by_key);
  for (i = 0; i < count; i++)
    evalci_add_to_entry(&b->names, b->models[i], (sqlite3_int64[]){0, (sqlite3_int64)i}, 1);
  b->votes.models = count;
  return true;
}

/* Fills in the counts; false without memory. */
static bool count_votes(const evalci_keys *pairs, vote_table *b, double *total) {
  size_t m = b->votes.models, size = 3 * m * m * sizeof *b->numbers;
  double *wins = b->numbers = sqlite3_malloc64(size);
  if (!wins) return false;
  double *losses = wins + m * m, *ties = losses + m * m;
  memset(wins, 0, size);
  b->votes.wins = wins;
  b->votes.losses = losses;
  b->votes.ties = ties;
  *total = 0;
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(pairs, e));) {
    evalci_key keys[] = {evalci_pair_first(e), evalci_pair_second(e)};
    size_t first, second;
    if (!find_place(b, &keys[0], &first) || !find_place(b, &keys[1], &second)) return false;
    wins[first * m + second] += (double)e->counts[EVALCI_VOTE_WINS];
    losses[first * m + second] += (double)e->counts[EVALCI_VOTE_LOSSES];
    ties[first * m + second] += (double)e->counts[EVALCI_VOTE_TIES];
    for (int i = 0; i < EVALCI_VOTE_COUNTS; i++) *total += (double)e->counts[i];
  }
  return true;
}

static bool find_anchor(evalci_call *call, const evalci_voting *voting, vote_table *b) {
  const evalci_key *key = &voting->anchor_key;
  b->votes.anchor = b->votes.models;
  if (key->type == SQLITE_NULL) return true;
  if (!find_place(b, key, &b->votes.anchor)) return false;
  if (b->votes.anchor < b->votes.models) return true;
  if (key->type == SQLITE_TEXT)
    return evalci_fail(call, "anchor in options must be one of the models, got '%s'",
                       voting->anchor);
  return evalci_fail(call, "anchor in options must be one of the models, got %.15g", key->real);
}

/* False after leaving a message, or without memory. */
static bool make_vote_table(evalci_call *call, const evalci_keys *pairs,
                            const evalci_voting *voting, int most, vote_table *b) {
  double total;
  *b = (vote_table){.models = NULL};
  if (!list_names(pairs, &b->names)) return false;
  if (evalci_count_entries(&b->names) > (size_t)most)
    return evalci_fail(call,
                       "votes must be between at most %d models, got %d; leave out those with the "
                       "fewest votes%s",
                       most, (int)evalci_count_entries(&b->names),
                       most < EV_MOST_RATED ? ", or use bt_ratings" : "");
  if (!order_names(b) || !count_votes(pairs, b, &total)) return false;
  b->votes.position = voting->position;
  if (total > EV_MOST_VOTES)
    return evalci_fail(call, "votes must add up to at most 10^12, got %.15g; scale them down",
                       total);
  if (b->votes.models > EV_MANY_RATED && total < EV_VOTES_OF_MANY * (double)b->votes.models)
    return evalci_fail(call,
                       "more than %d models need %d votes for each, got %d models and %.15g votes; "
                       "leave out those with the fewest votes",
                       EV_MANY_RATED, EV_VOTES_OF_MANY, (int)b->votes.models, total);
  return find_anchor(call, voting, b);
}

/*
** Ratings
*/
static double on_scale(const evalci_voting *voting, double x) {
  return voting->base + voting->scale / M_LN10 * x;
}

static ev_contrast contrast_on_scale(const evalci_voting *voting, ev_contrast c) {
  return (ev_contrast){on_scale(voting, c.at),
                       {on_scale(voting, c.ci.lo), on_scale(voting, c.ci.hi)}};
}

static double chance(double x) {
  return 1 / (1 + exp(-x));
}

static ev_contrast as_chances(ev_contrast c) {
  return (ev_contrast){chance(c.at), {chance(c.ci.lo), chance(c.ci.hi)}};
}

/* The best first; 0 where abilities differ by rounding only, and names decide. */
static int compare_abilities(double x, double y) {
  x = nearbyint(x * 1e9);
  y = nearbyint(y * 1e9);
  return (x < y) - (x > y);
}

static int best_rating_first(const void *a, const void *b) {
  const evalci_rated *x = a, *y = b;
  int order = compare_abilities(x->r.average.at, y->r.average.at);
  return order ? order : evalci_compare_keys(x->model, y->model);
}

static void add_record(const ev_votes *v, size_t i, evalci_rated *out) {
  for (size_t j = 0; j < v->models; j++) {
    size_t ij = i * v->models + j, ji = j * v->models + i;
    out->wins += v->wins[ij] + v->losses[ji];
    out->losses += v->losses[ij] + v->wins[ji];
    out->ties += v->ties[ij] + v->ties[ji];
  }
}

/* Sorted by their values at the maximum, before these are put on the scale. */
static void finish_ratings(vote_table *b, const evalci_voting *voting, const ev_rating *ratings,
                           ev_contrast first_place, evalci_ratings *out) {
  out->count = b->votes.models;
  for (size_t i = 0; i < out->count; i++) {
    out->rated[i] = (evalci_rated){.model = b->models[i], .r = ratings[i]};
    add_record(&b->votes, i, &out->rated[i]);
  }
  qsort(out->rated, out->count, sizeof *out->rated, best_rating_first);
  for (size_t i = 0; i < out->count; i++) {
    ev_rating *r = &out->rated[i].r;
    r->rating = contrast_on_scale(voting, r->rating);
    r->average = as_chances(r->average);
  }
  out->first_place = voting->position ? as_chances(first_place) : (ev_contrast){NAN, {NAN, NAN}};
  out->models = b->names; /* whose entries are named */
  b->names = (evalci_keys){0};
}

ev_status evalci_rate_votes(evalci_call *call, const evalci_keys *pairs,
                            const evalci_voting *voting, const ev_options *options, ev_host host,
                            evalci_ratings *out) {
  vote_table b;
  ev_contrast first_place;
  ev_status status = EV_NO_MEMORY;
  *out = (evalci_ratings){.rated = NULL};
  if (evalci_count_entries(pairs) == 0) return EV_OK;
  if (make_vote_table(call, pairs, voting, EV_MOST_RATED, &b)) {
    ev_rating *ratings = sqlite3_malloc64(b.votes.models * sizeof *ratings);
    out->rated = sqlite3_malloc64(b.votes.models * sizeof *out->rated);
    if (ratings && out->rated) status = ev_rate(&b.votes, options, host, ratings, &first_place);
    if (status == EV_OK) finish_ratings(&b, voting, ratings, first_place, out);
    sqlite3_free(ratings);
  }
  free_vote_table(&b);
  return call->message ? EV_OK : status;
}

void evalci_free_ratings(evalci_ratings *ratings) {
  evalci_free_keys(&ratings->models);
  sqlite3_free(ratings->rated);
}

/*
** The aggregates: gathered rows, and the text of the options, which the rows must share.
*/
typedef struct votes_group {
  evalci_group gathered; /* first: gathered.c sees nothing else */
  evalci_voting voting;
  evalci_kept_text given; /* the options' */
} votes_group;

static void forget_options(votes_group *g) {
  evalci_free_voting(&g->voting);
  sqlite3_free(g->given.text);
  g->given = (evalci_kept_text){NULL, 0};
}

static bool keep_options(evalci_call *call, votes_group *g, sqlite3_value *options) {
  forget_options(g);
  if (!evalci_read_voting(call, options, false, &g->voting)) return false;
  return evalci_keep_text(&g->given, options);
}

static void votes_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = sqlite3_user_data(context);
  votes_group *g = sqlite3_aggregate_context(context, sizeof *g);
  evalci_call call = {f->name, NULL};
  int before = evalci_arguments_of(f) + 1;
  sqlite3_value *options = argc > before ? argv[before] : NULL;
  if (g && (g->gathered.rows == 0 ? keep_options(&call, g, options)
                                  : evalci_same_text(&call, &g->given, options))) {
    evalci_gathered_step(context, argc > before ? before : argc, argv);
    return;
  }
  if (g) g->gathered.failed = true;
  evalci_report(context, &call);
}

static void votes_final(sqlite3_context *context) {
  votes_group *g = sqlite3_aggregate_context(context, 0);
  evalci_gathered_final(context);
  if (g) forget_options(g);
}

/* Delivers the error; true where there is none. */
static bool check_votes(sqlite3_context *context, evalci_call *call, ev_status status) {
  if (call->message)
    evalci_report(context, call);
  else if (evalci_check_status(context, call->name, status))
    return true;
  return false;
}

static void append_contrast(sqlite3_str *out, const char *name, const char *lo, const char *hi,
                            const ev_contrast *c) {
  evalci_append_member(out, name, c->at);
  evalci_append_member(out, lo, c->ci.lo);
  evalci_append_member(out, hi, c->ci.hi);
}

static void result_ratings(sqlite3_context *context, const evalci_ratings *ratings) {
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  for (size_t i = 0; i < ratings->count; i++) {
    const evalci_rated *rated = &ratings->rated[i];
    const ev_rating *r = &rated->r;
    sqlite3_str_appendall(out, i ? ",{\"model\":" : "[{\"model\":");
    evalci_append_key(out, rated->model);
    append_contrast(out, "rating", "lo", "hi", &r->rating);
    sqlite3_str_appendf(out, ",\"votes\":%lld,\"wins\":%lld,\"losses\":%lld,\"ties\":%lld",
                        (sqlite3_int64)(rated->wins + rated->losses + rated->ties),
                        (sqlite3_int64)rated->wins, (sqlite3_int64)rated->losses,
                        (sqlite3_int64)rated->ties);
    append_contrast(out, "p_average", "p_average_lo", "p_average_hi", &r->average);
    evalci_append_member(out, "rank", r->rank);
    sqlite3_str_appendf(out, ",\"rank_lo\":%d,\"rank_hi\":%d", (int)r->rank_lo, (int)r->rank_hi);
    if (!isnan(ratings->first_place.at))
      append_contrast(out, "first_place", "first_place_lo", "first_place_hi",
                      &ratings->first_place);
    sqlite3_str_appendchar(out, 1, '}');
  }
  sqlite3_str_appendchar(out, 1, ']');
  evalci_result_json(context, out);
}

static void answer_ratings(sqlite3_context *context, const evalci_group *gathered) {
  const evalci_function *f = sqlite3_user_data(context);
  const votes_group *g = (const votes_group *)gathered;
  evalci_call call = {f->name, NULL};
  evalci_ratings ratings;
  ev_status status = evalci_rate_votes(&call, &gathered->keys, &g->voting, &gathered->options,
                                       evalci_host_of(context), &ratings);
  if (check_votes(context, &call, status) && ratings.count > 0) result_ratings(context, &ratings);
  evalci_free_ratings(&ratings);
}

/*
** Pairs
*/

/* A model and its ability less the mean of all. */
typedef struct listed_model {
  size_t place;
  double ability;
} listed_model;

static int ablest_first(const void *a, const void *b) {
  const listed_model *x = a, *y = b;
  int order = compare_abilities(x->ability, y->ability);
  return order ? order : (x->place > y->place) - (x->place < y->place);
}

static const ev_rated_pair *rated_pair_of(const ev_rated_pair *pairs, size_t models, size_t i,
                                          size_t j) {
  size_t a = i < j ? i : j, b = i < j ? j : i;
  return &pairs[a * models - a * (a + 1) / 2 + b - a - 1];
}

static void list_models(const ev_rated_pair *pairs, size_t models, listed_model *list) {
  for (size_t i = 0; i < models; i++) {
    list[i] = (listed_model){i, 0};
    for (size_t j = 0; j < models; j++)
      if (j != i)
        list[i].ability +=
            (i < j ? 1 : -1) * rated_pair_of(pairs, models, i, j)->diff.at / (double)models;
  }
  qsort(list, models, sizeof *list, ablest_first);
}

static void append_pair(sqlite3_str *out, const vote_table *b, const ev_rated_pair *pair,
                        bool turned) {
  ev_contrast diff = pair->diff;
  if (turned) diff = (ev_contrast){-diff.at, {-diff.ci.hi, -diff.ci.lo}};
  diff = as_chances(diff);
  sqlite3_str_appendall(out, sqlite3_str_length(out) > 1 ? ",{\"a\":" : "{\"a\":");
  evalci_append_key(out, b->models[turned ? pair->b : pair->a]);
  sqlite3_str_appendall(out, ",\"b\":");
  evalci_append_key(out, b->models[turned ? pair->a : pair->b]);
  append_contrast(out, "p", "lo", "hi", &diff);
  evalci_append_member(out, "p_better", turned ? pair->below : pair->above);
  sqlite3_str_appendchar(out, 1, '}');
}

static void result_pairs(sqlite3_context *context, const vote_table *b, const ev_rated_pair *pairs,
                         listed_model *list) {
  size_t models = b->votes.models;
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  list_models(pairs, models, list);
  sqlite3_str_appendchar(out, 1, '[');
  for (size_t i = 0; i < models; i++)
    for (size_t j = i + 1; j < models; j++)
      append_pair(out, b, rated_pair_of(pairs, models, list[i].place, list[j].place),
                  list[i].place > list[j].place);
  sqlite3_str_appendchar(out, 1, ']');
  evalci_result_json(context, out);
}

static void answer_pairs(sqlite3_context *context, const evalci_group *gathered) {
  const evalci_function *f = sqlite3_user_data(context);
  const votes_group *g = (const votes_group *)gathered;
  evalci_call call = {f->name, NULL};
  vote_table b;
  ev_status status = EV_NO_MEMORY;
  if (evalci_count_entries(&gathered->keys) == 0) return;
  bool made = make_vote_table(&call, &gathered->keys, &g->voting, EV_MOST_PAIRED, &b);
  size_t models = made ? b.votes.models : 1;
  ev_rated_pair *pairs = sqlite3_malloc64(models * models * sizeof *pairs);
  listed_model *list = sqlite3_malloc64(models * sizeof *list);
  if (made && pairs && list)
    status = ev_rate_pairs(&b.votes, &gathered->options, evalci_host_of(context), pairs);
  if (check_votes(context, &call, status)) result_pairs(context, &b, pairs, list);
  sqlite3_free(pairs);
  sqlite3_free(list);
  free_vote_table(&b);
}

const evalci_kind evalci_rated_models = {.json = true,
                                         .step = votes_step,
                                         .inverse = evalci_gathered_inverse,
                                         .value = evalci_gathered_value,
                                         .final = votes_final,
                                         .answer = answer_ratings};
const evalci_kind evalci_rated_pairs = {.json = true,
                                        .step = votes_step,
                                        .inverse = evalci_gathered_inverse,
                                        .value = evalci_gathered_value,
                                        .final = votes_final,
                                        .answer = answer_pairs};
