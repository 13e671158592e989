/*
** Where a board reads its rows: a table or view by its name, its columns by theirs.
**
** 1. The text is the name of a table as it stands; else quoted names, or a schema and a
**    table with a dot between them.  It is a name, never SQL: it is quoted.
** 2. The column of a role is the one that the options name; else the one with the role's name;
**    else the only one with a common alias.
** 3. Columns are read as r."name": an unqualified "name" that is missing would be text.
**
** 4. Without an item, or without what it was answered, k and n make the rows counts.
**
** An authorizer may deny a column that nobody needs, and then SELECT * fails; columns are
** then tried one by one.
*/
#include <string.h>

#include "boards.h"

/* What is searched for, and where. */
typedef struct search {
  evalci_found_table table;
  const char *found[EVALCI_ROLES];
  bool counts, costs;
} search;

/* Takes ownership of the text; NULL means that memory is short. */
static int prepare_text(sqlite3 *db, char *sql, sqlite3_stmt **out) {
  int rc = sql ? sqlite3_prepare_v2(db, sql, -1, out, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  return rc;
}

/*
** The table
*/

/* Tries one way to read the name; takes ownership of `from` if it is the right one. */
static int try_table(evalci_found_table *s, char *from) {
  if (!from) return SQLITE_NOMEM;
  int rc = prepare_text(s->db, sqlite3_mprintf("SELECT * FROM %s AS r", from), &s->all);
  if (rc == SQLITE_OK || rc == SQLITE_AUTH)
    s->from = from;
  else
    sqlite3_free(from);
  return rc == SQLITE_AUTH ? SQLITE_OK : rc;
}

/* Unquotes the quoted name at the beginning of the text; `rest` is what follows it. */
static char *unquote(const char *text, const char **rest) {
  char *out = sqlite3_malloc64(strlen(text) + 1);
  size_t used = 0;
  const char *c = text + 1;
  for (; out && *c && (*c != '"' || c[1] == '"'); c++) {
    out[used++] = *c;
    if (*c == '"') c++;
  }
  if (out) out[used] = 0;
  *rest = *c ? c + 1 : c;
  return out;
}

/* "table" or "schema"."table". */
static int try_quoted(evalci_found_table *s) {
  const char *rest;
  char *first = unquote(s->name, &rest), *second = NULL;
  int rc = SQLITE_ERROR;
  if (first && *rest == 0) rc = try_table(s, sqlite3_mprintf("\"%w\"", first));
  if (first && *rest == '.') {
    second = rest[1] == '"' ? unquote(rest + 1, &rest) : sqlite3_mprintf("%s", rest + 1);
    rc = second ? try_table(s, sqlite3_mprintf("\"%w\".\"%w\"", first, second)) : SQLITE_NOMEM;
  }
  if (!first) rc = SQLITE_NOMEM;
  sqlite3_free(first);
  sqlite3_free(second);
  return rc;
}

int evalci_find_table(evalci_found_table *s) {
  int rc = try_table(s, sqlite3_mprintf("\"%w\"", s->name));
  if (rc == SQLITE_ERROR && *s->name == '"') rc = try_quoted(s);
  for (const char *dot = s->name; rc == SQLITE_ERROR && (dot = strchr(dot, '.')); dot++) {
    char *schema = sqlite3_mprintf("%.*s", (int)(dot - s->name), s->name);
    rc = schema ? try_table(s, sqlite3_mprintf("\"%w\".\"%w\"", schema, dot + 1)) : SQLITE_NOMEM;
    sqlite3_free(schema);
  }
  if (rc == SQLITE_ERROR)
    evalci_fail(s->call,
                "cannot read %s: %s; pass the name of a table or view, as in %s('results')",
                s->name, sqlite3_errmsg(s->db), s->call->name);
  else if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
    evalci_fail(s->call, "cannot read %s: %s", s->name, sqlite3_errmsg(s->db));
  return rc;
}

/*
** Its columns
*/

/* Whether the table has this column and the authorizer lets it be read. */
static int probe_column(const evalci_found_table *s, const char *column, bool *there) {
  sqlite3_stmt *one = NULL;
  int rc =
      prepare_text(s->db, sqlite3_mprintf("SELECT r.\"%w\" FROM %s AS r", column, s->from), &one);
  sqlite3_finalize(one);
  *there = rc == SQLITE_OK;
  return rc == SQLITE_ERROR || rc == SQLITE_AUTH ? SQLITE_OK : rc;
}

static int has_column(const evalci_found_table *s, const char *column, bool *there) {
  *there = false;
  if (!s->all) return probe_column(s, column, there);
  for (int i = 0; i < sqlite3_column_count(s->all) && !*there; i++) {
    const char *name = sqlite3_column_name(s->all, i);
    if (!name) return SQLITE_NOMEM;
    *there = sqlite3_stricmp(name, column) == 0;
  }
  return SQLITE_OK;
}

/* Whether the options name this column for another role. */
static bool is_taken(const evalci_found_table *s, const char *column) {
  for (int i = 0; i < s->roles; i++)
    if (s->given[i] && sqlite3_stricmp(s->given[i], column) == 0) return true;
  return false;
}

/* A column that the options name may be hidden, or the rowid. */
static int find_given(const evalci_found_table *s, const char *role, const char *column,
                      const char **found) {
  bool there;
  int rc = has_column(s, column, &there);
  if (rc == SQLITE_OK && !there) rc = probe_column(s, column, &there);
  if (rc != SQLITE_OK) return rc;
  *found = column;
  if (there) return SQLITE_OK;
  evalci_fail(s->call, "%s has no column %s, which options name as its %s", s->name, column, role);
  return SQLITE_ERROR;
}

int evalci_find_column(const evalci_found_table *s, int role, const evalci_column_names *names,
                       const char **found) {
  const char *own = names->own;
  bool there = false;
  *found = NULL;
  if (s->given[role]) return find_given(s, own, s->given[role], found);
  int rc = is_taken(s, own) ? SQLITE_OK : has_column(s, own, &there);
  if (there) *found = own;
  for (int i = 0; rc == SQLITE_OK && *found != own && i < EVALCI_MOST_ALIASES; i++) {
    const char *alias = names->aliases[i];
    if (!alias) break;
    rc = is_taken(s, alias) ? SQLITE_OK : has_column(s, alias, &there);
    if (rc != SQLITE_OK || !there || is_taken(s, alias)) continue;
    if (*found) {
      evalci_fail(s->call,
                  "both %s and %s of %s may be its %s; name one in options, as in {\"%s\":\"%s\"}",
                  *found, alias, s->name, own, own, *found);
      return SQLITE_ERROR;
    }
    *found = alias;
  }
  const char *last = names->last;
  if (rc != SQLITE_OK || *found || !last || is_taken(s, last)) return rc;
  rc = has_column(s, last, &there);
  if (rc == SQLITE_OK && there) *found = last;
  return rc;
}

void evalci_end_search(evalci_found_table *s) {
  sqlite3_finalize(s->all);
  sqlite3_free(s->from);
}

int evalci_fail_missing(const evalci_found_table *s, const char *what, const char *key) {
  evalci_fail(s->call, "%s has no column %s; name it in options, as in {\"%s\":\"...\"}", s->name,
              what, key);
  return SQLITE_ERROR;
}

/* Cost and latency are searched for only where a query needs them: otherwise two candidates for
** one of them would be an error for nothing. */
static int find_roles(search *s, evalci_role from, evalci_role to) {
  int rc = SQLITE_OK;
  for (int i = (int)from; i < (int)to && rc == SQLITE_OK; i++) {
    evalci_column_names names = {evalci_role_names[i], evalci_role_aliases[i], evalci_role_last[i]};
    if (s->costs || s->table.given[i] || (i != EVALCI_COST && i != EVALCI_LATENCY))
      rc = evalci_find_column(&s->table, i, &names, &s->found[i]);
  }
  return rc;
}

/* Whether to read counts: the options name them, or there is nothing else. */
static int find_counts(search *s) {
  char *const *given = s->table.given;
  bool named = given[EVALCI_K] || given[EVALCI_N];
  bool answers = s->found[EVALCI_ITEM] && (s->found[EVALCI_CORRECT] || s->found[EVALCI_SCORE]);
  if (named && given[EVALCI_ITEM]) {
    evalci_fail(s->table.call,
                "options name both an item and k or n of counts; name one of the two");
    return SQLITE_ERROR;
  }
  if (!named && (answers || given[EVALCI_ITEM])) return SQLITE_OK;
  int rc = find_roles(s, EVALCI_N, EVALCI_K);
  if (rc == SQLITE_OK && (s->found[EVALCI_N] || named)) rc = find_roles(s, EVALCI_K, EVALCI_ROLES);
  s->counts = named || (s->found[EVALCI_N] && s->found[EVALCI_K]);
  if (rc == SQLITE_OK && named && !s->found[EVALCI_N])
    rc = evalci_fail_missing(&s->table, "n", "n");
  if (rc == SQLITE_OK && named && !s->found[EVALCI_K])
    rc = evalci_fail_missing(&s->table, "k", "k");
  return rc;
}

/* Counts have a model, perhaps a task, k and n; answers have no k and n. */
static bool is_read(const search *s, evalci_role role) {
  bool of_counts = role == EVALCI_N || role == EVALCI_K;
  if ((role == EVALCI_COST || role == EVALCI_LATENCY) && !s->costs) return false;
  if (role == EVALCI_MODEL || role == EVALCI_TASK) return s->found[role];
  return s->found[role] && role != EVALCI_ATTEMPT && of_counts == s->counts;
}

static int find_columns(search *s) {
  int rc = find_roles(s, EVALCI_MODEL, EVALCI_N);
  if (rc == SQLITE_OK) rc = find_counts(s);
  if (rc != SQLITE_OK) return rc;
  if (!s->found[EVALCI_MODEL]) return evalci_fail_missing(&s->table, "model", "model");
  if (s->counts) return SQLITE_OK;
  if (!s->found[EVALCI_ITEM]) return evalci_fail_missing(&s->table, "item", "item");
  if (!s->found[EVALCI_CORRECT] && !s->found[EVALCI_SCORE])
    return evalci_fail_missing(&s->table, "correct or score", "correct");
  return SQLITE_OK;
}

/* Prepares the statement that reads the columns found.  The number of the attempt is left out,
** since no result depends on it. */
static int prepare_rows(const search *s, evalci_source *out) {
  sqlite3_str *sql = sqlite3_str_new(s->table.db);
  int count = 0;
  sqlite3_str_appendall(sql, "SELECT ");
  for (int i = 0; i < EVALCI_ROLES; i++) {
    out->columns[i] = is_read(s, (evalci_role)i) ? count : -1;
    if (out->columns[i] < 0) continue;
    sqlite3_str_appendf(sql, "%sr.\"%w\"", count++ ? ", " : "", s->found[i]);
  }
  sqlite3_str_appendf(sql, " FROM %s AS r", s->table.from);
  int rc = prepare_text(s->table.db, sqlite3_str_finish(sql), &out->rows);
  if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
    evalci_fail(s->table.call, "cannot read %s: %s", s->table.name, sqlite3_errmsg(s->table.db));
  return rc;
}

int evalci_open_source(evalci_call *call, sqlite3 *db, const char *source,
                       const evalci_board_options *options, bool costs, evalci_source *out) {
  search s = {.table = {call, db, source, options->columns, EVALCI_ROLES, NULL, NULL},
              .costs = costs};
  *out = (evalci_source){0};
  int rc = evalci_find_table(&s.table);
  if (rc == SQLITE_OK) rc = find_columns(&s);
  if (rc == SQLITE_OK) rc = prepare_rows(&s, out);
  out->counts = s.counts;
  if (rc == SQLITE_OK && s.found[EVALCI_ATTEMPT]) out->columns[EVALCI_ATTEMPT] = 0;
  evalci_end_search(&s.table);
  return rc;
}

int evalci_open_columns(evalci_call *call, sqlite3 *db, const char *source,
                        const char *const *columns, const char *const *keys, int count,
                        sqlite3_stmt **rows) {
  evalci_found_table s = {.call = call, .db = db, .name = source};
  sqlite3_str *sql = sqlite3_str_new(db);
  int rc = evalci_find_table(&s);
  for (int i = 0; rc == SQLITE_OK && i < count; i++) {
    bool there;
    rc = has_column(&s, columns[i], &there);
    if (rc == SQLITE_OK && !there) rc = probe_column(&s, columns[i], &there);
    if (rc == SQLITE_OK && !there) rc = evalci_fail_missing(&s, columns[i], keys[i]);
    sqlite3_str_appendf(sql, i ? ", r.\"%w\"" : "SELECT r.\"%w\"", columns[i]);
  }
  sqlite3_str_appendf(sql, " FROM %s AS r", s.from);
  char *text = sqlite3_str_finish(sql);
  if (rc == SQLITE_OK) {
    rc = prepare_text(db, text, rows);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
      evalci_fail(call, "cannot read %s: %s", source, sqlite3_errmsg(db));
  } else {
    sqlite3_free(text);
  }
  evalci_end_search(&s);
  return rc;
}
