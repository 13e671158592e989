/*
** Records of CSV, as RFC 4180 has them, and as programs write them.
**
** Fields are separated by commas, or by semicolons or tabs if the first line has more of those.
** A field that contains the separator, a quote (written twice) or a line end is quoted.
** Spaces around a field are dropped.  Between semicolons a number may have a decimal comma, and
** a first line sep=; is skipped, as spreadsheets write both.  Lines end with LF, CRLF or CR,
** and are counted as an editor counts them; blank ones are skipped.
** The first line names the columns.
**
** Only fields that are wanted are kept: the others cost no memory, however long they are.
*/
#include <string.h>

#include "inside.h"

enum { MOST_COLUMNS = 10000 };

typedef struct field {
  size_t start, length;
} field;

struct import_csv {
  import_run *run;
  const import_file *file;
  import_bytes *in;
  int mark;
  bool special[256]; /* characters that end an unquoted field, or may not occur in it */
  bool cr;           /* lines end with CR alone */
  char **names;
  bool *unwanted;
  size_t width;
  field *fields;
  size_t count, room;
  bool blank;
  sqlite3_int64 line;
  import_buffer text;
};

/* Counts a separator in the first line, as far as the line is in the buffer. */
static size_t count_marks(const import_bytes *in, char mark) {
  size_t count = 0;
  bool quoted = false;
  for (const unsigned char *c = in->at; c < in->end; c++) {
    if (*c == '"') quoted = !quoted;
    if (!quoted && (*c == '\n' || *c == '\r')) break;
    count += !quoted && *c == (unsigned char)mark;
  }
  return count;
}

/* Excel's first line, sep= and the separator. */
static bool skip_named_mark(import_csv *csv) {
  static const char *const lines[] = {"sep=,", "sep=;", "sep=\t"};
  import_bytes *in = csv->in;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    if (in->end - in->at < 6 || memcmp(in->at, lines[i], 5) != 0) continue;
    if (in->at[5] != '\r' && in->at[5] != '\n') continue;
    csv->mark = lines[i][4];
    in->at += 5;
    return true;
  }
  return false;
}

static void find_mark(import_csv *csv) {
  static const char marks[] = ",;\t";
  size_t most = 0;
  csv->mark = ',';
  if (import_peek(csv->in) < 0) return;
  bool named = skip_named_mark(csv);
  for (const char *mark = marks; !named && *mark; mark++) {
    size_t count = count_marks(csv->in, *mark);
    if (count <= most) continue;
    csv->mark = *mark;
    most = count;
  }
  csv->special['"'] = csv->special['\n'] = csv->special['\r'] = csv->special[csv->mark] = true;
}

static bool keep(import_csv *csv, const void *bytes, size_t length) {
  if (length > 0) csv->blank = false;
  if (csv->unwanted && csv->count < csv->width && csv->unwanted[csv->count]) return true;
  if (csv->text.length + length > IMPORT_LONGEST)
    return import_fail(csv->run, csv->file, "line %lld: its fields have over %d bytes: too large",
                       csv->line, IMPORT_LONGEST);
  return import_append(csv->run, &csv->text, bytes, length);
}

static int skip_spaces(import_csv *csv) {
  int c;
  while ((c = import_peek(csv->in)) == ' ') csv->in->at++;
  return c;
}

static bool fail_quote(import_csv *csv) {
  return import_fail(
      csv->run, csv->file,
      "line %lld: a quote within a field; put the field in quotes, and double the quote",
      csv->in->line);
}

/* Reads a quoted field, and what follows it up to the separator. */
static bool read_quoted(import_csv *csv) {
  import_bytes *in = csv->in;
  for (in->at++;;) {
    int c = import_peek(in);
    const unsigned char *start = in->at;
    if (c < 0)
      return !in->failed &&
             import_fail(csv->run, csv->file, "line %lld: a quote is not closed", csv->line);
    while (in->at < in->end && *in->at != '"' && *in->at != '\r') in->line += *in->at++ == '\n';
    if (!keep(csv, start, (size_t)(in->at - start))) return false;
    if (in->at == in->end) continue;
    c = *in->at++;
    if (c == '\r') {
      bool pair = import_peek(in) == '\n';
      if (!pair && csv->cr) in->line++;
      if (!pair && !keep(csv, csv->cr ? "\n" : "\r", 1)) return false;
    } else if (import_peek(in) == '"') {
      in->at++;
      if (!keep(csv, "\"", 1)) return false;
    } else {
      c = skip_spaces(csv);
      return (!in->failed && (c < 0 || (c != '"' && csv->special[c]))) ||
             (!in->failed && fail_quote(csv));
    }
  }
}

static bool read_plain(import_csv *csv) {
  import_bytes *in = csv->in;
  while (import_peek(in) >= 0) {
    const unsigned char *start = in->at, *c = start;
    while (c < in->end && !csv->special[*c]) c++;
    in->at = c;
    if (!keep(csv, start, (size_t)(c - start))) return false;
    if (c < in->end) return *c != '"' || fail_quote(csv);
  }
  return !in->failed;
}

static bool add_field(import_csv *csv, size_t start) {
  if (csv->count == csv->room) {
    size_t room = csv->room ? 2 * csv->room : 16;
    field *fields = sqlite3_realloc64(csv->fields, room * sizeof *fields);
    if (!fields) return import_no_memory(csv->run);
    csv->fields = fields;
    csv->room = room;
  }
  size_t end = csv->text.length;
  while (start < end && csv->text.text[start] == ' ') start++;
  while (end > start && csv->text.text[end - 1] == ' ') end--;
  csv->fields[csv->count++] = (field){start, end - start};
  return csv->count <= MOST_COLUMNS ||
         import_fail(csv->run, csv->file, "line %lld: it has over %d columns", csv->line,
                     MOST_COLUMNS);
}

/* Skips the end of a line. */
static void end_line(import_csv *csv) {
  import_bytes *in = csv->in;
  int c = import_peek(in);
  if (c < 0) return;
  in->at++;
  in->line++;
  if (c != '\r') return;
  if (import_peek(in) == '\n')
    in->at++;
  else if (csv->width == 0)
    csv->cr = true;
}

/* Reads the next record, blank ones too: 1, 0 or -1. */
static int read_record(import_csv *csv) {
  import_bytes *in = csv->in;
  csv->count = csv->text.length = 0;
  csv->blank = true;
  csv->line = in->line;
  if (import_peek(in) < 0) return in->failed ? -1 : 0;
  for (;;) {
    size_t start = csv->text.length;
    bool quoted = skip_spaces(csv) == '"';
    if (in->failed || !(quoted ? read_quoted : read_plain)(csv) || !add_field(csv, start))
      return -1;
    if (import_peek(in) != csv->mark) break;
    in->at++;
  }
  end_line(csv);
  return in->failed ? -1 : 1;
}

static bool read_header(import_csv *csv) {
  int found = read_record(csv);
  while (found == 1 && csv->blank) found = read_record(csv);
  if (found == 0) return import_fail(csv->run, csv->file, "it is empty: there are no columns");
  if (found < 0) return false;
  csv->names = sqlite3_malloc64(csv->count * sizeof *csv->names);
  csv->unwanted = sqlite3_malloc64(csv->count);
  if (!csv->names || !csv->unwanted) return import_no_memory(csv->run);
  memset(csv->names, 0, csv->count * sizeof *csv->names);
  memset(csv->unwanted, 0, csv->count);
  csv->width = csv->count;
  for (size_t i = 0; i < csv->width; i++) {
    import_value v = import_csv_field(csv, i);
    csv->names[i] = sqlite3_mprintf("%.*s", (int)v.length, v.text);
    if (!csv->names[i]) return import_no_memory(csv->run);
  }
  return true;
}

import_csv *import_csv_open(import_run *run, const import_file *file) {
  import_csv *csv = sqlite3_malloc64(sizeof *csv);
  if (!csv) {
    import_no_memory(run);
    return NULL;
  }
  *csv = (import_csv){.run = run, .file = file, .in = import_bytes_open(run, file, true)};
  if (csv->in) find_mark(csv);
  if (csv->in && !csv->in->failed && read_header(csv)) return csv;
  import_csv_close(csv);
  return NULL;
}

bool import_csv_has_commas(const import_csv *csv) {
  return csv->mark == ';';
}

size_t import_csv_width(const import_csv *csv) {
  return csv->width;
}

const char *import_csv_name(const import_csv *csv, size_t column) {
  return csv->names[column];
}

void import_csv_want(import_csv *csv, size_t column, bool wanted) {
  csv->unwanted[column] = !wanted;
}

int import_csv_next(import_csv *csv) {
  int found;
  while ((found = read_record(csv)) == 1) {
    if (csv->blank) continue;
    if (csv->count == csv->width) return 1;
    char place[40];
    sqlite3_snprintf(sizeof place, place, "line %lld", csv->line);
    if (!import_refuse(csv->run, csv->file, place,
                       "it must have %llu fields, as the first line has, got %llu",
                       (unsigned long long)csv->width, (unsigned long long)csv->count))
      return -1;
  }
  return found;
}

import_value import_csv_field(const import_csv *csv, size_t column) {
  field f = csv->fields[column];
  return (import_value){.type = IMPORT_TEXT,
                        .text = csv->text.text ? csv->text.text + f.start : "",
                        .length = f.length};
}

sqlite3_int64 import_csv_line(const import_csv *csv) {
  return csv->line;
}

void import_csv_close(import_csv *csv) {
  if (!csv) return;
  import_bytes_close(csv->in);
  for (size_t i = 0; csv->names && i < csv->width; i++) sqlite3_free(csv->names[i]);
  sqlite3_free(csv->names);
  sqlite3_free(csv->unwanted);
  sqlite3_free(csv->fields);
  import_buffer_free(&csv->text);
  sqlite3_free(csv);
}

char *import_outline_csv(import_run *run, const import_file *file) {
  import_csv *csv = import_csv_open(run, file);
  import_buffer out = {0};
  bool ok = csv && import_append(run, &out, "{", 1);
  for (size_t i = 0; ok && i < csv->width; i++)
    ok = (i == 0 || import_append(run, &out, ",", 1)) &&
         import_append_quoted(run, &out, csv->names[i], strlen(csv->names[i])) &&
         import_append(run, &out, ":null", 5);
  ok = ok && import_append(run, &out, "}", 2);
  import_csv_close(csv);
  if (ok) return out.text;
  import_buffer_free(&out);
  return NULL;
}
