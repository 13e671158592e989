/*
** The roles of the columns of a person's own table.  A role's column is the one that the person
** names; else the one with the role's name; else the only one with an alias of
** ext/sqlite/roles.c, where spaces and hyphens count as underscores.
*/
#include <string.h>

#include "../sqlite/roles.h"
#include "inside.h"

_Static_assert(IMPORT_MODEL == (int)EVALCI_MODEL && IMPORT_LATENCY == (int)EVALCI_LATENCY,
               "the first columns are the first roles");

const char *const import_column_names[IMPORT_COLUMNS] = {
    "model", "task", "item", "attempt", "correct", "score", "error", "cost", "latency", "tokens"};

bool import_is_name(const char *name, size_t length, const char *other) {
  return strlen(other) == length && sqlite3_strnicmp(name, other, (int)length) == 0;
}

static bool is_alias(const char *name, size_t length, const char *alias) {
  size_t i = 0;
  for (; i < length && alias[i]; i++) {
    char c = name[i] == ' ' || name[i] == '-' ? '_' : name[i];
    if (sqlite3_strnicmp(&c, &alias[i], 1) != 0) return false;
  }
  return i == length && !alias[i];
}

int import_suits_alias(const char *name, size_t length, int role) {
  for (int i = 0; i < EVALCI_MOST_ALIASES && evalci_role_aliases[role][i]; i++)
    if (is_alias(name, length, evalci_role_aliases[role][i])) return 2;
  return evalci_role_last[role] && is_alias(name, length, evalci_role_last[role]);
}

/*
** Answers
*/

static int suits(const import_run *run, int role, const char *name, size_t length) {
  const char *const *given = run->choices->columns;
  if (given[role]) return import_is_name(name, length, given[role]) ? 4 : 0;
  /* The person may have named this column for another role. */
  for (int i = 0; i < IMPORT_COLUMNS; i++)
    if (given[i] && import_is_name(name, length, given[i])) return 0;
  if (import_is_name(name, length, import_column_names[role])) return 3;
  if (role == IMPORT_TOKENS) return import_is_name(name, length, "total_tokens");
  return role <= IMPORT_LATENCY ? import_suits_alias(name, length, role) : 0;
}

static bool enough(const import_run *run, const bool *there) {
  return (there[IMPORT_MODEL] || run->choices->model_name) && there[IMPORT_ITEM] &&
         (there[IMPORT_CORRECT] || there[IMPORT_SCORE]);
}

/* Reports everything that is missing at once; true if nothing is. */
static bool fail_missing(import_run *run, const import_file *file, const bool *there,
                         const char *columns) {
  const struct {
    bool there;
    const char *name, *way;
  } needs[] = {
      {there[IMPORT_MODEL] || run->choices->model_name || file->model, "model",
       "--model COLUMN, or name the model by --model-name NAME"},
      {there[IMPORT_ITEM], "item (the question)", "--item COLUMN"},
      {there[IMPORT_CORRECT] || there[IMPORT_SCORE], "correct or score",
       "--correct COLUMN or --score COLUMN"},
  };
  sqlite3_str *text = sqlite3_str_new(NULL);
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    if (needs[i].there) continue;
    if (sqlite3_str_length(text) == 0)
      sqlite3_str_appendf(text, "there is no column %s; there are: %s; say which it is by %s",
                          needs[i].name, columns, needs[i].way);
    else
      sqlite3_str_appendf(text, "; there is no column %s either: %s", needs[i].name, needs[i].way);
  }
  bool ok = sqlite3_str_length(text) == 0 && sqlite3_str_errcode(text) == SQLITE_OK;
  char *said = sqlite3_str_finish(text);
  if (!ok) said ? import_fail(run, file, "%s", said) : import_no_memory(run);
  sqlite3_free(said);
  return ok;
}

static bool check(import_run *run, const import_file *file, const bool *there,
                  const char *columns) {
  const import_choices *c = run->choices;
  for (int i = 0; i < IMPORT_COLUMNS; i++)
    if (c->columns[i] && !there[i])
      return import_fail(run, file, "there is no column %s, which --%s names; there are: %s",
                         c->columns[i], import_column_names[i], columns);
  return fail_missing(run, file, there, columns);
}

const import_shape import_answers = {.table = "results",
                                     .count = IMPORT_COLUMNS,
                                     .names = import_column_names,
                                     .suits = suits,
                                     .enough = enough,
                                     .check = check,
                                     .take = import_take};

/*
** Any shape
*/

/* All names, separated by commas; cut if there are many. */
static char *list_names(const char *const *names, size_t count) {
  sqlite3_str *out = sqlite3_str_new(NULL);
  size_t i = 0;
  for (; i < count && sqlite3_str_length(out) < 1000; i++)
    sqlite3_str_appendf(out, "%s%.60s", i ? ", " : "", names[i]);
  if (i < count) sqlite3_str_appendf(out, " and %d more", (int)(count - i));
  return sqlite3_str_finish(out);
}

/* The column of a role; -1 if there is none. */
static bool find_role(import_run *run, const import_file *file, const import_shape *shape, int role,
                      const char *const *names, size_t count, int *out) {
  int best = 0, rival = -1;
  *out = -1;
  for (size_t i = 0; i < count; i++) {
    int fits = shape->suits(run, role, names[i], strlen(names[i]));
    if (fits == 0 || fits < best) continue;
    rival = fits == best ? *out : -1;
    best = fits;
    *out = (int)i;
  }
  if (rival < 0) return true;
  if (sqlite3_stricmp(names[rival], names[*out]) == 0)
    return import_fail(run, file, "there are two columns %s", names[*out]);
  return import_fail(run, file, "both %s and %s may be the %s; say which it is by --%s COLUMN",
                     names[rival], names[*out], shape->names[role], shape->names[role]);
}

bool import_find_roles(import_run *run, const import_file *file, const import_shape *shape,
                       const char *const *names, size_t count, import_roles *out) {
  bool there[IMPORT_COLUMNS], ok = true;
  for (int i = 0; ok && i < shape->count; i++) {
    ok = find_role(run, file, shape, i, names, count, &out->of[i]);
    there[i] = out->of[i] >= 0;
  }
  char *all = list_names(names, count);
  ok = ok && (all ? shape->check(run, file, there, all) : import_no_memory(run));
  for (int i = 0; ok && run->keep[i]; i++) {
    out->kept[i] = -1;
    for (size_t k = 0; k < count; k++)
      if (sqlite3_stricmp(names[k], run->keep[i]) == 0) out->kept[i] = (int)k;
    if (i < run->asked && out->kept[i] < 0)
      ok =
          import_fail(run, file, "there is no column %s to keep; there are: %s", run->keep[i], all);
  }
  sqlite3_free(all);
  return ok;
}
