/*
** The formats, in the order in which they are tried, and what a file is.
**
** A person's own tables come last: other tools' files may have such columns too.
*/
#include <string.h>

#include "inside.h"

extern const import_format import_lm_eval, import_inspect, import_swebench, import_tau_bench,
    import_helm, import_promptfoo_database, import_phoenix;
extern const import_format import_votes, import_csv_table, import_json_records,
    import_database_table, import_counts;
extern const import_format import_promptfoo_output, import_mlflow, import_harbor, import_deepeval,
    import_every_eval_ever;

static const import_format *const formats[] = {
    /* Other tools. */
    &import_promptfoo_output,
    &import_mlflow,
    &import_harbor,
    &import_deepeval,
    &import_every_eval_ever,
    &import_lm_eval,
    &import_inspect,
    &import_swebench,
    &import_tau_bench,
    &import_helm,
    &import_promptfoo_database,
    &import_phoenix,
    /* A person's own. */
    &import_votes,
    &import_csv_table,
    &import_json_records,
    &import_database_table,
    &import_counts,
};
enum { FORMATS = sizeof formats / sizeof *formats };

const import_format *import_formats(int i, const char **name, const char **reads,
                                    const char **recognised_by, const char **becomes) {
  if (i < 0 || i >= FORMATS) return NULL;
  if (name) *name = formats[i]->name;
  if (reads) *reads = formats[i]->reads;
  if (recognised_by) *recognised_by = formats[i]->recognised_by;
  if (becomes) *becomes = formats[i]->becomes;
  return formats[i];
}

/* Which of a person's own tables a file of this kind is, if any. */
static const import_format *own_table(const import_file *file) {
  static const import_format *const tables[] = {[IMPORT_CSV] = &import_csv_table,
                                                [IMPORT_JSONL] = &import_json_records,
                                                [IMPORT_JSON] = &import_json_records,
                                                [IMPORT_DATABASE] = &import_database_table,
                                                [IMPORT_ZIP] = NULL};
  return tables[file->kind];
}

const import_format *import_detect(import_run *run, import_file *file) {
  const char *from = run->choices->from;
  for (int i = 0; i < FORMATS; i++)
    if (from ? strcmp(from, formats[i]->name) == 0 : formats[i]->knows(run, file)) {
      /* In a folder, files of other formats are skipped. */
      return file->given || formats[i]->knows(run, file) ? formats[i] : NULL;
    }
  /* A file that the person named is then taken for a table whose columns are wrong, and reading
  ** it says which. */
  return file->given && !run->error ? own_table(file) : NULL;
}

/* The kind of file, from its first bytes; -1 after leaving a message. */
static int kind_of(import_run *run, const import_file *file) {
  import_bytes *in = import_bytes_open(run, file, false);
  int kind = in && import_peek(in) >= 0 ? IMPORT_CSV : -1;
  if (kind >= 0) {
    size_t n = (size_t)(in->end - in->at);
    const unsigned char *b = in->at;
    static const struct {
      const char *bytes, *what;
    } others[] = {{"\x1F\x8B", "compressed by gzip: unpack it first, by gunzip"},
                  {"\x28\xB5\x2F\xFD", "compressed by zstd: unpack it first, by unzstd"},
                  {"PAR1",
                   "Parquet: convert it, as in duckdb -c \"COPY (FROM 'FILE') TO 'results.csv'\"; "
                   "lighteval's details by COPY (SELECT 'MODEL' AS model, doc.id AS item, "
                   "metric.NAME AS score FROM 'FILE') TO 'results.csv'"}};
    if (n >= 16 && memcmp(b, "SQLite format 3", 16) == 0) kind = IMPORT_DATABASE;
    if (n >= 4 && (memcmp(b, "PK\3\4", 4) == 0 || memcmp(b, "PK\5\6", 4) == 0)) kind = IMPORT_ZIP;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      size_t m = strlen(others[i].bytes);
      if (n < m || memcmp(b, others[i].bytes, m) != 0) continue;
      import_fail(run, file, "this is %s", others[i].what);
      kind = -1;
    }
    size_t at = n >= 3 && memcmp(b, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < n && (b[at] == ' ' || b[at] == '\n' || b[at] == '\r' || b[at] == '\t')) at++;
    /* Not every file that begins with "[" is JSON: it may be the first column of a CSV file. */
    bool json = at < n && (b[at] == '{' || b[at] == '[') && sqlite3_strlike("%.csv", file->name, 0);
    if (kind == IMPORT_CSV && json) kind = IMPORT_JSON;
  } else if (in && !in->failed) {
    import_fail(run, file, "it is empty");
  }
  import_bytes_close(in);
  return kind;
}

bool import_look(import_run *run, import_file *file) {
  int kind = kind_of(run, file);
  if (kind < 0) return false;
  file->kind = (import_kind)kind;
  switch (file->kind) {
  case IMPORT_CSV:
    file->outline = import_outline_csv(run, file);
    break;
  case IMPORT_ZIP:
    file->outline = import_outline_zip(run, file);
    break;
  case IMPORT_DATABASE:
    file->outline = import_outline_database(run, file);
    break;
  default:
    file->outline = import_outline_json(run, file, &file->kind);
  }
  return file->outline;
}

bool import_has(import_run *run, const import_file *file, const char *path) {
  if (!run->has && sqlite3_prepare_v2(run->scratch, "SELECT json_type(?1, ?2) IS NOT NULL", -1,
                                      &run->has, NULL) != SQLITE_OK)
    return import_no_memory(run);
  int rc = sqlite3_bind_text(run->has, 1, file->outline, -1, SQLITE_STATIC);
  if (rc == SQLITE_OK) rc = sqlite3_bind_text(run->has, 2, path, -1, SQLITE_STATIC);
  if (rc != SQLITE_OK) return import_no_memory(run);
  bool has = sqlite3_step(run->has) == SQLITE_ROW && sqlite3_column_int(run->has, 0);
  return sqlite3_reset(run->has) == SQLITE_OK ? has : import_no_memory(run);
}

bool import_named(const import_file *file, const char *glob) {
  return sqlite3_strglob(glob, file->name) == 0;
}
