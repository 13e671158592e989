/*
** The optional arguments of every function, in one table.  They are the same on every row.  A
** function's row says which it takes; their order is the table's.
*/
#include <math.h>
#include <string.h>

#include "surface.h"

/* Reads k of pass@k.  Every cluster has at least one attempt, and k attempts are a product of k
** factors. */
static bool read_attempts(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  return evalci_read_whole(call, "k", argv[0], 1, 1e6, &out->attempts);
}

static bool read_level(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  bool number = evalci_read_number(argv[0], &out->level);
  if (number && out->level > 0 && out->level < 1) return true;
  evalci_shown shown = evalci_show(argv[0]);
  if (number && out->level >= 50 && out->level < 100)
    return evalci_fail(call, "level must be strictly between 0 and 1, got %s; did you mean %.12g?",
                       shown.text, out->level / 100);
  return evalci_fail(call, "level must be strictly between 0 and 1, got %s; 0.95 is usual",
                     shown.text);
}

static bool read_sure(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  if (evalci_read_number(argv[0], &out->level) && out->level > 0.5 && out->level < 1) return true;
  return evalci_fail(call, "sure must be between 0.5 and 1, got %s; 0.95 is usual",
                     evalci_show(argv[0]).text);
}

static bool read_power(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  if (evalci_read_number(argv[0], &out->power) && out->power > 0 && out->power < 1) return true;
  return evalci_fail(call, "power must be strictly between 0 and 1, got %s; 0.8 is usual",
                     evalci_show(argv[0]).text);
}

static bool read_quantile(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  bool number = evalci_read_number(argv[0], &out->quantile);
  if (number && out->quantile > 0 && out->quantile < 1) return true;
  if (number && out->quantile > 1 && out->quantile < 100)
    return evalci_fail(call, "q must be strictly between 0 and 1, got %s; did you mean %.12g?",
                       evalci_show(argv[0]).text, out->quantile / 100);
  return evalci_fail(call, "q must be strictly between 0 and 1, got %s; 0.5 is the median",
                     evalci_show(argv[0]).text);
}

/* Reads a margin.  Its limits depend on the range, which is read after it. */
static bool read_margin(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  if (evalci_read_number(argv[0], &out->margin)) return true;
  return evalci_fail(call,
                     "margin must be a number, got %s; -0.02 asks whether A is no more than "
                     "two points worse",
                     evalci_show(argv[0]).text);
}

/* Reads a threshold.  Its limits are the range, which is read after it. */
static bool read_threshold(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  if (evalci_read_number(argv[0], &out->threshold)) return true;
  return evalci_fail(call, "t must be a number, got %s; 0.8 asks for the chance of more than 80%%",
                     evalci_show(argv[0]).text);
}

/* Below 1e-300 a shape parameter could underflow beside the counts; above 2^53 the prior would
** swamp them.  The posterior of a model that is all right or all wrong must not be too flat on the
** scale of a logit to be integrated with another's: then 0.1 is the least. */
static bool read_shape(evalci_call *call, const char *name, bool of_two, const char *usual,
                       sqlite3_value *value, double *shape) {
  if (evalci_read_number(value, shape) && *shape >= (of_two ? 0.1 : 1e-300) && *shape <= 0x1p53)
    return true;
  return evalci_fail(call, "prior %s must be a positive number from %s to 2^53, got %s; %s", name,
                     of_two ? "0.1" : "1e-300", evalci_show(value).text, usual);
}

static bool read_beta(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  static const char usual[] = "a = b = 1 is uniform, a = b = 0.5 is Jeffreys";
  return read_shape(call, "a", false, usual, argv[0], &out->a) &&
         read_shape(call, "b", false, usual, argv[1], &out->b);
}

static bool read_alpha_beta(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  static const char usual[] = "alpha = beta = 1 is uniform, alpha = beta = 0.5 is Jeffreys";
  return read_shape(call, "alpha", true, usual, argv[0], &out->a) &&
         read_shape(call, "beta", true, usual, argv[1], &out->b);
}

static bool read_dirichlet(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  return read_shape(call, "alpha", false, "1 is uniform, 0.5 is Jeffreys", argv[0], &out->a);
}

static bool read_hierarchy(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  if (sqlite3_value_type(argv[0]) == SQLITE_TEXT) {
    const char *name = (const char *)sqlite3_value_text(argv[0]);
    if (!name) return false;
    out->prior = strcmp(name, "icc") == 0 ? EV_PRIOR_ICC : EV_PRIOR_GAMMA;
    if (strcmp(name, "icc") == 0 || strcmp(name, "gamma") == 0) return true;
  }
  return evalci_fail(call,
                     "prior must be 'gamma' or 'icc', got %s; 'icc' lets clusters be alike, "
                     "as tasks are",
                     evalci_show(argv[0]).text);
}

bool evalci_keep_text(evalci_kept_text *kept, sqlite3_value *value) {
  if (!value || sqlite3_value_type(value) == SQLITE_NULL) return true;
  const unsigned char *text = sqlite3_value_text(value);
  kept->size = sqlite3_value_bytes(value);
  kept->text = text ? sqlite3_malloc64((sqlite3_uint64)kept->size + 1) : NULL;
  if (kept->text) memcpy(kept->text, text, (size_t)kept->size);
  return kept->text;
}

bool evalci_same_text(evalci_call *call, const evalci_kept_text *kept, sqlite3_value *options) {
  bool given = options && sqlite3_value_type(options) != SQLITE_NULL;
  const unsigned char *text = given ? sqlite3_value_text(options) : NULL;
  if (given && !text) return false;
  if (!text && !kept->text) return true;
  if (text && kept->text && sqlite3_value_bytes(options) == kept->size &&
      memcmp(text, kept->text, (size_t)kept->size) == 0)
    return true;
  return evalci_fail(call,
                     "options must be the same on every row of a group, got %s after another; "
                     "group by it, or pass a constant",
                     evalci_show(options).text);
}

/* Whether the value is the name of a distance, which it sets. */
static bool is_distance(sqlite3_value *value, const char *name, ev_distance distance,
                        ev_options *out) {
  const char *given = (const char *)sqlite3_value_text(value);
  if (!given || strcmp(given, name) != 0) return false;
  out->distance = distance;
  return true;
}

static bool read_weights(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  return is_distance(argv[0], "nominal", EV_NOMINAL, out) ||
         is_distance(argv[0], "linear", EV_LINEAR, out) ||
         is_distance(argv[0], "quadratic", EV_QUADRATIC, out) ||
         evalci_fail(call,
                     "weights must be 'nominal', 'linear' or 'quadratic', got %s; 'quadratic' is "
                     "usual for grades",
                     evalci_show(argv[0]).text);
}

static bool read_metric(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  return is_distance(argv[0], "nominal", EV_NOMINAL, out) ||
         is_distance(argv[0], "ordinal", EV_ORDINAL, out) ||
         is_distance(argv[0], "interval", EV_INTERVAL, out) ||
         evalci_fail(call,
                     "metric must be 'nominal', 'ordinal' or 'interval', got %s; 'ordinal' is "
                     "usual for grades",
                     evalci_show(argv[0]).text);
}

/* 2^-500 to 2^500 leave room for products; and the range must be wide enough to hold different
** scores. */
static bool read_range(evalci_call *call, sqlite3_value **argv, ev_options *out) {
  static const double most = 0x1p500;
  if (evalci_read_number(argv[0], &out->lo) && evalci_read_number(argv[1], &out->hi) &&
      out->lo < out->hi && fabs(out->lo) <= most && fabs(out->hi) <= most &&
      out->hi - out->lo >= 1 / most)
    return true;
  return evalci_fail(call,
                     "the range of scores must be two numbers up to 3e150, the lower first, "
                     "got %s and %s; as in 1, 5",
                     evalci_show(argv[0]).text, evalci_show(argv[1]).text);
}

/* An option: the values it takes and their names in messages; and, if it belongs to a model, how
** they are read and where they are stored. */
typedef struct option {
  unsigned flag;
  bool required;
  const char *names[3];
  bool (*read)(evalci_call *call, sqlite3_value **argv, ev_options *out);
  size_t offsets[2];
  const char *called[2];
} option;

#define FIELD(field) offsetof(ev_options, field)

static const option options_table[] = {
    {EVALCI_ATTEMPTS, true, {"k"}, read_attempts, {FIELD(attempts)}, {"k"}},
    {EVALCI_THRESHOLD, true, {"t"}, read_threshold, {FIELD(threshold)}, {"t"}},
    {EVALCI_QUANTILE, true, {"q"}, read_quantile, {FIELD(quantile)}, {"q"}},
    {EVALCI_SURE, false, {"sure"}, read_sure, {FIELD(level)}, {"sure"}},
    {EVALCI_POWER, false, {"power"}, read_power, {FIELD(power)}, {"power"}},
    {EVALCI_LEVEL, false, {"level"}, read_level, {FIELD(level)}, {"level"}},
    {EVALCI_MARGIN, false, {"margin"}, read_margin, {FIELD(margin)}, {"margin"}},
    {EVALCI_LOSS, true, {"margin"}, read_margin, {FIELD(margin)}, {"margin"}},
    {EVALCI_BETA, false, {"a", "b"}, read_beta, {FIELD(a), FIELD(b)}, {"prior a", "prior b"}},
    {EVALCI_ALPHA_BETA,
     false,
     {"alpha", "beta"},
     read_alpha_beta,
     {FIELD(a), FIELD(b)},
     {"prior alpha", "prior beta"}},
    {EVALCI_DIRICHLET, false, {"alpha"}, read_dirichlet, {FIELD(a)}, {"prior alpha"}},
    {EVALCI_HIERARCHY, false, {"prior"}, read_hierarchy, {FIELD(prior)}, {"prior"}},
    {EVALCI_WEIGHTS, false, {"weights"}, read_weights, {FIELD(distance)}, {"weights"}},
    {EVALCI_METRIC, false, {"metric"}, read_metric, {FIELD(distance)}, {"metric"}},
    {EVALCI_RANGE, false, {"lo", "hi"}, read_range, {FIELD(lo), FIELD(hi)}, {"lo", "hi"}},
    {EVALCI_DIGITS, false, {"digits"}, NULL, {0}, {NULL}},
    {EVALCI_UNIT, false, {"unit"}, NULL, {0}, {NULL}},
    {EVALCI_POINT, false, {"point"}, NULL, {0}, {NULL}},
    {EVALCI_WIDTH, false, {"width"}, NULL, {0}, {NULL}},
    {EVALCI_DRAWING, false, {"options"}, NULL, {0}, {NULL}},
    {EVALCI_VOTING, false, {"options"}, NULL, {0}, {NULL}},
};
enum { OPTIONS = sizeof options_table / sizeof *options_table };

/* Option `which` of a set; NULL when it has no more. */
static const option *option_of(unsigned options, int which) {
  for (int i = 0; i < OPTIONS; i++)
    if (options & options_table[i].flag && which-- == 0) return &options_table[i];
  return NULL;
}

const char *const *evalci_option_names(unsigned options, int which) {
  const option *o = option_of(options, which);
  return o ? o->names : NULL;
}

bool evalci_option_required(unsigned options, int which) {
  const option *o = option_of(options, which);
  return o && o->required;
}

static bool check_margin(evalci_call *call, const ev_options *o) {
  double widest = o->hi - o->lo;
  if (fabs(o->margin) <= widest) return true;
  return evalci_fail(call,
                     "margin must be between %.15g and %.15g, got %.15g; "
                     "it is a difference of means",
                     -widest, widest, o->margin);
}

/* The message covers the usual mistake: a percentage. */
static bool check_threshold(evalci_call *call, const ev_options *o) {
  double t = o->threshold;
  if (t >= o->lo && t <= o->hi) return true;
  if (o->lo == 0 && o->hi == 1 && t >= 2 && t <= 100)
    return evalci_fail(call, "t must be from 0 to 1, got %.15g; did you mean %.15g?", t, t / 100);
  return evalci_fail(call, "t must be from %.15g to %.15g, got %.15g; t is the value to exceed",
                     o->lo, o->hi, t);
}

bool evalci_read_options(evalci_call *call, unsigned options, int argc, sqlite3_value **argv,
                         ev_options *out) {
  *out = (ev_options){.level = 0.95,
                      .a = 1,
                      .b = 1,
                      .lo = 0,
                      .hi = 1,
                      .attempts = 1,
                      .quantile = 0.5,
                      .power = 0.8,
                      .prior = options & EVALCI_ICC ? EV_PRIOR_ICC : EV_PRIOR_GAMMA};
  for (int i = 0; argc > 0; i++) {
    const option *o = option_of(options, i);
    if (!o->read(call, argv, out)) return false;
    int values = o->names[1] ? 2 : 1;
    argc -= values;
    argv += values;
  }
  return check_margin(call, out) && (!(options & EVALCI_THRESHOLD) || check_threshold(call, out));
}

static double number_at(const ev_options *options, size_t offset) {
  double number;
  memcpy(&number, (const char *)options + offset, sizeof number);
  return number;
}

/* Whether value `which` of an option is the same in both. */
static bool same_option(const option *o, int which, const ev_options *x, const ev_options *y) {
  if (o->flag == EVALCI_HIERARCHY) return x->prior == y->prior;
  if (o->flag & (EVALCI_WEIGHTS | EVALCI_METRIC)) return x->distance == y->distance;
  return number_at(x, o->offsets[which]) == number_at(y, o->offsets[which]);
}

bool evalci_same_options(evalci_call *call, unsigned options, int argc, sqlite3_value **argv,
                         bool first, ev_options *kept) {
  /* The same level as on the first row, as a constant is: nothing to check. */
  if (!first && argc == 1 && (options & EVALCI_LEVEL) && !evalci_option_required(options, 0) &&
      sqlite3_value_type(argv[0]) == SQLITE_FLOAT && sqlite3_value_double(argv[0]) == kept->level)
    return true;
  ev_options here;
  if (!evalci_read_options(call, options, argc, argv, &here)) return false;
  if (first) *kept = here;
  for (int i = 0; argc > 0; i++) {
    const option *o = option_of(options, i);
    for (int j = 0; o->names[j]; j++, argc--, argv++)
      if (!same_option(o, j, &here, kept))
        return evalci_fail(call,
                           "%s must be the same on every row of a group, got %s after another; "
                           "group by it, or pass a constant",
                           o->called[j], evalci_show(argv[0]).text);
  }
  return true;
}
