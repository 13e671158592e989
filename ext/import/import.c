/*
** import_results(): reads the files one after the other, all of them or none.
**
** 1. Paths are files, standard input or folders.  Folders are searched recursively, in the
**    order of names, for files with an extension that some format has.  A file or folder is
**    read once, even if several links lead to it.
** 2. Each file is identified (formats.c) and read by its format, which stages answers.
** 3. settle.c moves the answers to the table.  Everything happens inside a savepoint.
*/
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inside.h"

enum { DEEPEST_FOLDER = 64 };

/*
** Messages
*/

bool import_no_memory(import_run *run) {
  run->no_memory = true;
  return false;
}

static bool set_text(import_run *run, char **out, char *text) {
  if (!text) return import_no_memory(run);
  sqlite3_free(*out);
  *out = text;
  return true;
}

/* Makes one line of a message, parts of which a person named: a file, say. */
static char *on_one_line(char *message) {
  for (char *c = message; c && *c; c++)
    if (*c == '\n') *c = ' ';
  return message;
}

bool import_fail(import_run *run, const import_file *file, const char *format, ...) {
  va_list arguments;
  if (run->error || run->no_memory) return false;
  va_start(arguments, format);
  char *what = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  run->error = on_one_line(what && file ? sqlite3_mprintf("%s: %s", file->path, what) : what);
  if (what != run->error) sqlite3_free(what);
  if (!run->error) import_no_memory(run);
  return false;
}

bool import_refuse(import_run *run, const import_file *file, const char *place, const char *format,
                   ...) {
  va_list arguments;
  va_start(arguments, format);
  char *what = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  run->refusals++;
  if (!run->refused) run->refused = import_map_new(sizeof(import_refusal));
  bool ok = (what && run->refused) || import_no_memory(run);
  const char *got = ok ? strstr(what, ", got ") : NULL;
  bool more = ok && import_map_count(run->refused) < IMPORT_MOST_REFUSED;
  import_refusal *r =
      ok ? import_map_at(run->refused, what, got ? (size_t)(got - what) : strlen(what), more)
         : NULL;
  if (ok && !r && more) ok = import_no_memory(run);
  if (ok && !r) run->unlisted++;
  if (ok && r && r->count++ == 0)
    ok = set_text(run, &r->line,
                  on_one_line(sqlite3_mprintf("%s: %s%s%s", file->path, place ? place : "",
                                              place ? ": " : "", what)));
  sqlite3_free(what);
  return ok;
}

bool import_note(import_run *run, import_file *file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *what = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  char *all = what && file->note ? sqlite3_mprintf("%s; %s", file->note, what) : what;
  if (all != what) sqlite3_free(what);
  return set_text(run, &file->note, all);
}

bool import_skip(import_run *run, import_file *file, const char *format, ...) {
  va_list arguments;
  file->skipped = true;
  va_start(arguments, format);
  bool ok = set_text(run, &file->note, sqlite3_vmprintf(format, arguments));
  va_end(arguments);
  return ok;
}

bool import_set(import_run *run, char **out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  bool ok = set_text(run, out, sqlite3_vmprintf(format, arguments));
  va_end(arguments);
  if (ok && **out == 0) {
    sqlite3_free(*out);
    *out = NULL;
  }
  return ok;
}

void import_report_together(import_run *run, import_file *file) {
  const import_file *first = run->together;
  if (first && first->format == file->format && file->model &&
      strcmp(first->model, file->model) == 0)
    file->told_with = first;
  else
    run->together = file->model ? file : NULL;
}

bool import_progress(import_run *run) {
  const import_choices *c = run->choices;
  if (!c->progress || c->progress(c->host, run->rows, run->file_count) == 0) return true;
  return import_fail(run, NULL, "interrupted; nothing was imported");
}

const import_choices *import_chosen(const import_run *run) {
  return run->choices;
}

bool import_set_head(import_run *run, const char *text) {
  return set_text(run, &run->head, sqlite3_mprintf("%s", text));
}

/*
** Texts that grow
*/

bool import_make_room(import_run *run, import_buffer *b, size_t length) {
  size_t room = 2 * b->room > b->length + length ? 2 * b->room : b->length + length + 64;
  char *text = sqlite3_realloc64(b->text, room);
  if (!text) return import_no_memory(run);
  b->text = text;
  b->room = room;
  return true;
}

void import_buffer_free(import_buffer *b) {
  sqlite3_free(b->text);
  *b = (import_buffer){0};
}

/*
** The person's database
*/

bool import_db_failed(import_run *run) {
  if (sqlite3_errcode(run->db) == SQLITE_NOMEM) return import_no_memory(run);
  return import_fail(run, NULL, "the database cannot be written: %s", sqlite3_errmsg(run->db));
}

bool import_exec(import_run *run, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  int rc = sql ? sqlite3_exec(run->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  if (!sql) return import_no_memory(run);
  return rc == SQLITE_OK || import_db_failed(run);
}

bool import_prepare(import_run *run, sqlite3_stmt **out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  int rc = sql ? sqlite3_prepare_v2(run->db, sql, -1, out, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  if (!sql) return import_no_memory(run);
  return rc == SQLITE_OK || import_db_failed(run);
}

bool import_has_column(import_run *run, const char *table, const char *column) {
  sqlite3_stmt *one = NULL;
  if (!import_prepare(run, &one,
                      "SELECT 1 FROM pragma_table_xinfo(%Q, 'main') WHERE name = %Q COLLATE NOCASE",
                      table, column))
    return false;
  bool there = sqlite3_step(one) == SQLITE_ROW;
  return sqlite3_finalize(one) == SQLITE_OK ? there : import_db_failed(run);
}

/*
** Files and folders
*/

typedef struct walk {
  import_run *run;
  import_map *seen; /* devices and numbers of files */
} walk;

static bool is_slash(char c) {
#ifdef _WIN32
  return c == '/' || c == '\\';
#else
  return c == '/';
#endif
}

/* Sets path, name, stem and folder. */
static bool name_file(import_run *run, import_file *file, const char *path) {
  size_t slash = strlen(path), n = slash;
  while (slash > 0 && !is_slash(path[slash - 1])) slash--;
  const char *dot = strrchr(path + slash, '.');
  size_t stem = dot && dot > path + slash ? (size_t)(dot - path) : n;
  file->path = sqlite3_mprintf("%s", path);
  file->name = sqlite3_mprintf("%s", path + slash);
  file->stem = sqlite3_mprintf("%.*s", (int)(stem - slash), path + slash);
  file->folder = sqlite3_mprintf("%.*s", (int)slash, path);
  return (file->path && file->name && file->stem && file->folder) || import_no_memory(run);
}

static void free_file(import_file *f) {
  const char *texts[] = {f->path, f->name,   f->stem,    f->folder, f->outline, f->model,
                         f->task, f->metric, f->created, f->note,   f->unit};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) sqlite3_free((void *)texts[i]);
  if (f->source) {
    if (f->source->spool) fclose(f->source->spool);
    import_zip_free(f->source->zip);
    sqlite3_free(f->source->path);
  }
  sqlite3_free(f->source);
  sqlite3_free(f);
}

static import_file *new_file(import_run *run, const char *path, bool given) {
  import_file *f = sqlite3_malloc64(sizeof *f);
  if (!f) {
    import_no_memory(run);
    return NULL;
  }
  *f = (import_file){.given = given, .id = ++run->file_count};
  f->source = sqlite3_malloc64(sizeof *f->source);
  if (f->source) *f->source = (import_source){0};
  *run->last = f;
  run->last = &f->next;
  if (!f->source) import_no_memory(run);
  return f->source && name_file(run, f, path) ? f : NULL;
}

/* A file that cannot be read stops the import if the person named it. */
static bool leave_out(import_run *run, import_file *file) {
  if (file->given || run->no_memory || !run->error) return false;
  char *error = run->error;
  run->error = NULL;
  size_t path = strlen(file->path);
  bool prefixed = strncmp(error, file->path, path) == 0 && error[path] == ':';
  bool ok = import_skip(run, file, "not imported: %s", error + (prefixed ? path + 2 : 0));
  sqlite3_free(error);
  return ok;
}

/* Identifies a file and has its format read it. */
static bool read_file(import_run *run, import_file *file) {
  if (!import_look(run, file)) return leave_out(run, file);
  file->format = import_detect(run, file);
  if (run->error || run->no_memory) return false;
  if (!file->format && file->given)
    return import_fail(
        run, file, "no format is known that this could be; see evalci formats, and --from FORMAT");
  sqlite3_free(run->head);
  run->head = NULL;
  if (!file->format) return true;
  return import_names_begin(run, file) && file->format->read(run, file) &&
         import_names_end(run, file);
}

/* Frees what was needed only for reading: there may be many files. */
static void free_reading(import_file *file) {
  sqlite3_free((void *)file->outline);
  import_zip_free(file->source->zip);
  file->outline = NULL;
  file->source->zip = NULL;
}

/* Whether the file is still as it was.  SQLite sees to databases itself. */
static bool check_unchanged(import_run *run, const import_file *file, const import_stamp *before) {
  import_stamp after;
  if (run->no_memory || file->kind == IMPORT_DATABASE) return !run->no_memory;
  if (import_is_file(file->path, &after) && memcmp(before, &after, sizeof after) == 0) return true;
  sqlite3_free(run->error);
  run->error = NULL;
  return import_fail(run, file, "it changed while it was read; import it when it is complete");
}

static bool add_file(walk *w, const char *path, bool given) {
  import_file *file = new_file(w->run, path, given);
  import_stamp before;
  if (!file) return false;
  if (!import_is_file(path, &before)) return import_fail(w->run, file, "it cannot be opened");
  file->source->path = sqlite3_mprintf("%s", path);
  file->source->size = before.size;
  if (!file->source->path) return import_no_memory(w->run);
  bool ok = read_file(w->run, file);
  ok = check_unchanged(w->run, file, &before) && ok && import_progress(w->run);
  free_reading(file);
  return ok;
}

static bool add_input(walk *w) {
  import_file *file = new_file(w->run, "-", true);
  return file && import_spool(w->run, stdin, file->source) && read_file(w->run, file);
}

/* Whether the file was seen before; always false where files have no number, as on Windows. */
static bool is_seen(walk *w, const struct stat *about) {
  uint64_t id[2] = {(uint64_t)about->st_dev, (uint64_t)about->st_ino};
  if (id[1] == 0) return false;
  char *seen = import_map_at(w->seen, id, sizeof id, true);
  if (!seen) return import_no_memory(w->run);
  return *seen ? true : (*seen = 1, false);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A growing list of names, ended by NULL. */
typedef struct names {
  char **at;
  size_t count, room;
} names;

static bool add_name(import_run *run, names *n, char *name) {
  if (n->count + 1 >= n->room) {
    size_t room = 2 * n->room + 64;
    char **at = sqlite3_realloc64(n->at, room * sizeof *at);
    if (!at) {
      sqlite3_free(name);
      return import_no_memory(run);
    }
    n->at = at;
    n->room = room;
  }
  if (!name) return import_no_memory(run);
  n->at[n->count++] = name;
  return true;
}

static void free_names(names *n) {
  for (size_t i = 0; i < n->count; i++) sqlite3_free(n->at[i]);
  sqlite3_free(n->at);
}

/* The paths of what is in a folder, sorted. */
static bool list_folder(import_run *run, const char *path, names *out) {
  DIR *folder = opendir(path);
  const char *slash = *path && is_slash(path[strlen(path) - 1]) ? "" : "/";
  bool ok = folder || import_fail(run, NULL, "%s: the folder cannot be read", path);
  for (struct dirent *entry; ok && (entry = readdir(folder));) {
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    ok = add_name(run, out, sqlite3_mprintf("%s%s%s", path, slash, name));
  }
  if (folder) closedir(folder);
  if (ok && out->count) qsort(out->at, out->count, sizeof *out->at, compare_names);
  return ok;
}

static bool may_be_results(const char *name) {
  static const char *const endings[] = {".csv",  ".tsv", ".json",   ".jsonl",  ".ndjson",
                                        ".eval", ".db",  ".sqlite", ".sqlite3"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    size_t n = strlen(name), m = strlen(endings[i]);
    if (n > m && sqlite3_stricmp(name + n - m, endings[i]) == 0) return true;
  }
  return false;
}

static bool add_path(walk *w, const char *path, int depth) {
  struct stat about;
  bool given = depth == 0;
  if (stat(path, &about) != 0)
    return given ? import_fail(w->run, NULL, "%s: there is no such file or folder", path) : true;
  if (S_ISREG(about.st_mode)) {
    if (!given && !may_be_results(path)) return true;
    return is_seen(w, &about) || w->run->no_memory ? !w->run->no_memory : add_file(w, path, given);
  }
  if (!S_ISDIR(about.st_mode))
    return given ? import_fail(
                       w->run, NULL,
                       "%s: this is a pipe or a device; pipe it into -, which is standard input",
                       path)
                 : true;
  if (depth > DEEPEST_FOLDER || is_seen(w, &about)) return !w->run->no_memory;
  names in = {0};
  bool ok = list_folder(w->run, path, &in);
  for (size_t i = 0; ok && i < in.count; i++) ok = add_path(w, in.at[i], depth + 1);
  free_names(&in);
  return ok;
}

static bool read_all(import_run *run, const char *const *paths, int n) {
  walk w = {run, import_map_new(1)};
  bool ok = w.seen || import_no_memory(run);
  for (int i = 0; ok && i < n; i++)
    ok = strcmp(paths[i], "-") == 0 ? add_input(&w) : add_path(&w, paths[i], 0);
  import_map_free(w.seen);
  return ok;
}

/*
** A run
*/

/* Whether a column is kept anyway: results has it, or it was named before. */
static bool is_kept(const import_run *run, const char *name, size_t length) {
  bool kept = false;
  for (int i = 0; i < IMPORT_COLUMNS; i++)
    kept = kept || import_is_name(name, length, import_column_names[i]);
  for (int i = 0; run->keep[i]; i++) kept = kept || import_is_name(name, length, run->keep[i]);
  return kept;
}

/* Splits a list of columns. */
static bool split_names(import_run *run, const char *at, int most, int *count) {
  while (at && *at) {
    size_t n = strcspn(at, ",");
    while (n > 0 && *at == ' ') at++, n--;
    size_t used = n;
    while (used > 0 && at[used - 1] == ' ') used--;
    if (*count == most) return import_fail(run, NULL, "at most %d columns can be kept", most);
    if (used > 0 && !is_kept(run, at, used) &&
        !(run->keep[(*count)++] = sqlite3_mprintf("%.*s", (int)used, at)))
      return import_no_memory(run);
    at += n;
    at += *at == ',';
  }
  return true;
}

/* The columns to keep: those the person asks for, then those that formats have. */
static bool split_keep(import_run *run) {
  int count = 0;
  bool ok = split_names(run, run->choices->keep, IMPORT_MOST_ASKED, &count);
  run->asked = count;
  const import_format *format;
  for (int i = 0; ok && (format = import_formats(i, NULL, NULL, NULL, NULL)); i++)
    ok = split_names(run, format->keeps, IMPORT_MOST_KEPT, &count);
  return ok;
}

static bool check_choices(import_run *run) {
  const import_choices *c = run->choices;
  if (c->has_range && !(c->lo < c->hi))
    return import_fail(run, NULL,
                       "a range of scores must be two numbers, the lower first, got %!g and %!g",
                       c->lo, c->hi);
  const char *name = NULL;
  for (int i = 0; c->from && import_formats(i, &name, NULL, NULL, NULL); i++)
    if (strcmp(c->from, name) == 0) return split_keep(run);
  return c->from ? import_fail(run, NULL, "there is no format %s; see evalci formats", c->from)
                 : split_keep(run);
}

static bool open_scratch(import_run *run) {
  if (sqlite3_open(":memory:", &run->scratch) != SQLITE_OK) return import_no_memory(run);
  sqlite3_limit(run->scratch, SQLITE_LIMIT_ATTACHED, 0);
  return true;
}

static bool has_nothing(const import_run *run) {
  for (const import_file *f = run->files; f; f = f->next)
    if (f->rows) return false;
  return run->stage->count == 0;
}

/* Says why nothing was found. */
static bool fail_empty(import_run *run, const char *path) {
  for (import_file *f = run->files; f; f = f->next)
    if (f->note && !import_refuse(run, f, NULL, "%s", f->note)) return false;
  if (run->refusals) return false;
  if (!run->files)
    return import_fail(run, NULL, "%s: no file in it is of a known format; see evalci formats",
                       path);
  return import_fail(run, run->files->next ? NULL : run->files, "there are no answers in it");
}

static bool run_import(import_run *run, const char *const *paths, int n, import_done *done) {
  bool ok =
      check_choices(run) && open_scratch(run) && import_stage_begin(run) && read_all(run, paths, n);
  if (!ok || run->refusals || !import_names_check(run)) return false;
  if (has_nothing(run)) return fail_empty(run, paths[0]);
  const char *format = NULL;
  for (const import_file *f = run->files; f; f = f->next) {
    if (!f->format || f->skipped) continue;
    format = format && strcmp(format, f->format->name) != 0 ? "several" : f->format->name;
  }
  done->format = format;
  if (run->stage->direct && run->stage->count)
    return import_fail(run, NULL,
                       "some of the files are %s and some are answers; import them apart",
                       run->stage->direct);
  return (run->stage->direct ? import_direct_end : import_settle)(run, done) && run->refusals == 0;
}

static char *message_of(import_run *run) {
  if (run->refusals && !run->error && !run->no_memory) {
    sqlite3_str *all = sqlite3_str_new(NULL);
    for (size_t i = 0; i < import_map_count(run->refused); i++) {
      const import_refusal *r = import_map_entry(run->refused, i);
      sqlite3_str_appendall(all, r->line);
      if (r->count > 1) sqlite3_str_appendf(all, " (and %lld more like it)", r->count - 1);
      sqlite3_str_appendchar(all, 1, '\n');
    }
    if (run->unlisted) sqlite3_str_appendf(all, "and %lld others\n", run->unlisted);
    sqlite3_str_appendall(all, "nothing was imported");
    return sqlite3_str_finish(all);
  }
  char *error = run->error;
  run->error = NULL;
  return error;
}

static void end_run(import_run *run) {
  import_stage_end(run);
  for (import_file *f = run->files, *next; f; f = next) {
    next = f->next;
    free_file(f);
  }
  sqlite3_finalize(run->has);
  sqlite3_close(run->scratch);
  sqlite3_free(run->head);
  sqlite3_free(run->error);
  for (size_t i = 0; run->refused && i < import_map_count(run->refused); i++)
    sqlite3_free(((import_refusal *)import_map_entry(run->refused, i))->line);
  import_map_free(run->refused);
  for (int i = 0; run->keep[i]; i++) sqlite3_free(run->keep[i]);
}

char *import_results(sqlite3 *db, const char *const *paths, int n, const import_choices *choices,
                     import_done *done) {
  /* A reserve for when memory is short: for a message, and for SQLite to roll back. */
  enum { RESERVE = 1 << 16 };
  char *no_memory = sqlite3_mprintf("out of memory; nothing was imported");
  void *reserve = sqlite3_malloc(RESERVE);
  import_run run = {.db = db, .choices = choices};
  run.last = &run.files;
  *done = (import_done){0};
  bool begun = import_exec(&run, "SAVEPOINT import_results");
  bool ok = begun && run_import(&run, paths, n, done);
  if (ok) ok = import_exec(&run, "RELEASE import_results");
  char *message = ok ? NULL : message_of(&run);
  if (!ok) *done = (import_done){0};
  sqlite3_free(reserve);
  if (begun && !ok)
    sqlite3_exec(db, "ROLLBACK TO import_results; RELEASE import_results", NULL, NULL, NULL);
  end_run(&run);
  if (ok || message) {
    sqlite3_free(no_memory);
    return message;
  }
  return no_memory;
}
