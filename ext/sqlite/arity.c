/*
** A wrong number of arguments, as an error of ours (contract 8).
**
** SQLite takes the function whose arity fits, or else one registered for any number of
** arguments.  Every name has one of those, of the same kind, scalar or aggregate, so that
** OVER and FILTER lead to this message too.
*/
#include <string.h>

#include "function.h"

const char *const *evalci_names_of(const evalci_function *f) {
  if (f->rows) return f->rows->arguments;
  return f->kind->arguments ? f->kind->arguments(f) : f->kind->names;
}

int evalci_arguments_of(const evalci_function *f) {
  const char *const *names = evalci_names_of(f);
  int count = 0;
  while (names[count]) count++;
  return count;
}

int evalci_arity_of(const evalci_function *f, int options_given) {
  int arity = evalci_arguments_of(f);
  for (int i = 0; evalci_option_required(f->options, i) || options_given-- > 0; i++) {
    const char *const *names = evalci_option_names(f->options, i);
    if (!names) return -1;
    while (*names++) arity++;
  }
  return arity;
}

/* name(k, n [, level [, a, b]]) */
static void append_signature(sqlite3_str *out, const evalci_function *f) {
  const char *const *names = evalci_names_of(f);
  int nested = 0;
  sqlite3_str_appendf(out, "%s(", f->name);
  for (int i = 0; names[i]; i++) sqlite3_str_appendf(out, i ? ", %s" : "%s", names[i]);
  for (int i = 0; (names = evalci_option_names(f->options, i)); i++) {
    bool required = evalci_option_required(f->options, i);
    if (!required) sqlite3_str_appendall(out, " [");
    for (int j = 0; names[j]; j++) sqlite3_str_appendf(out, ", %s", names[j]);
    nested += !required;
  }
  while (nested-- > 0) sqlite3_str_appendchar(out, 1, ']');
  sqlite3_str_appendchar(out, 1, ')');
}

/* Whether the function takes this number of arguments. */
static bool takes(const evalci_function *f, int argc) {
  for (int i = 0; evalci_arity_of(f, i) >= 0; i++)
    if (evalci_arity_of(f, i) == argc) return true;
  return false;
}

static bool are_whole(int argc, sqlite3_value **argv) {
  for (int i = 0; i < argc; i++) {
    double x;
    if (!evalci_read_number(argv[i], &x) || !(x >= 0 && x < 1e15) || x != (double)(sqlite3_int64)x)
      return false;
  }
  return true;
}

char *evalci_twin_call(const evalci_function *f, int argc, sqlite3_value **argv) {
  char *name = sqlite3_mprintf("%s_counts", f->name);
  const evalci_function *twin = name ? evalci_function_named(name) : NULL;
  sqlite3_free(name);
  if (!twin || !takes(twin, argc) || !are_whole(evalci_arguments_of(twin), argv)) return NULL;
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_str_appendf(out, "%s(", twin->name);
  for (int i = 0; i < argc; i++)
    sqlite3_str_appendf(out, i ? ", %s" : "%s", evalci_show(argv[i]).text);
  sqlite3_str_appendchar(out, 1, ')');
  return sqlite3_str_finish(out);
}

static void report_arity(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = sqlite3_user_data(context);
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_str_appendf(out, "%s: wrong number of arguments, got %d; call it as ", f->name, argc);
  append_signature(out, f);
  char *twin = evalci_twin_call(f, argc, argv);
  if (twin) sqlite3_str_appendf(out, ", or for counts %s", twin);
  sqlite3_free(twin);
  evalci_call call = {f->name, sqlite3_str_finish(out)};
  evalci_report(context, &call);
}

/* Called for a group without rows, where the arguments are unknown. */
static void report_arity_of_group(sqlite3_context *context) {
  const evalci_function *f = sqlite3_user_data(context);
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_str_appendf(out, "%s: wrong number of arguments; call it as ", f->name);
  append_signature(out, f);
  evalci_call call = {f->name, sqlite3_str_finish(out)};
  evalci_report(context, &call);
}

static void ignore_row(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)context;
  (void)argc;
  (void)argv;
}

static const evalci_kind wrong_arity_of_scalar = {.scalar = report_arity};
static const evalci_kind wrong_arity_of_aggregate = {.step = report_arity,
                                                     .final = report_arity_of_group,
                                                     .value = report_arity_of_group,
                                                     .inverse = ignore_row};

const evalci_kind *evalci_wrong_arity_for(const evalci_kind *kind) {
  return kind->scalar ? &wrong_arity_of_scalar : &wrong_arity_of_aggregate;
}
