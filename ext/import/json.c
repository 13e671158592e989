/*
** Records of JSON, one at a time: the reader checks the grammar and copies what is wanted.
**
** 1. `at` leads through the keys of objects to the array or object whose elements are the
**    records.  What lies beside that way is copied to `rest`, the document without them.
** 2. A record is copied; where `keys` are given, only those of its keys.  The other keys are
**    read too, but are not kept.
** 3. NaN, Infinity and -Infinity become null: Python writes them.
**
** Values within a record are read recursively, at most IMPORT_DEEPEST deep.
*/
#include <string.h>

#include "inside.h"

enum { MOST_STEPS = 4, LONGEST_IN_OUTLINE = 200 };

typedef enum state { START, OUTSIDE, WITHIN, LINES, DONE } state;

struct import_records {
  import_run *run;
  const import_file *file;
  import_bytes *in;
  import_csv *csv; /* the message if it is not JSON */
  char *path, *keys;
  const char *steps[MOST_STEPS];
  int step_count, level;    /* level: the number of open objects on the way */
  bool any[MOST_STEPS + 1]; /* a comma comes before the next key, or element */
  bool by_key;              /* records are the values of an object */
  state state;
  sqlite3_int64 number;
  import_buffer record, rest, key, name;
  size_t values; /* in the text that is copied */
  bool too_large;
  bool outline, enough; /* for import_outline_json() */
};

/*
** Copying
*/

/* Adds bytes to the text kept; a text that is too large is only measured. */
static bool keep(import_records *r, import_buffer *out, const void *bytes, size_t length) {
  if (!out || r->too_large) return true;
  if (out->length + length > IMPORT_LONGEST || r->values > IMPORT_MOST_VALUES) {
    r->too_large = true;
    return true;
  }
  return import_append(r->run, out, bytes, length);
}

static bool is_not_json(import_records *r, const char *expected) {
  int c = import_peek(r->in);
  if (r->in->failed) return false;
  if (c < 0)
    return import_fail(
        r->run, r->file,
        "line %lld: it ends within a value; is it cut short, or still being written?", r->in->line);
  if (c < 0x20)
    return import_fail(r->run, r->file,
                       "line %lld: this is not JSON: expected %s, got character %d", r->in->line,
                       expected, c);
  return import_fail(r->run, r->file, "line %lld: this is not JSON: expected %s, got %.1s%s",
                     r->in->line, expected, c < 0x80 ? (const char *)r->in->at : "",
                     c < 0x80 ? "" : "another character");
}

/* The next byte that is not white space, or -1. */
static int next_byte(import_records *r) {
  import_bytes *in = r->in;
  for (;;) {
    int c = import_peek(in);
    if (c == '\n')
      in->line++;
    else if (c != ' ' && c != '\t' && c != '\r')
      return c;
    in->at++;
  }
}

static bool take_byte(import_records *r, import_buffer *out, char c) {
  r->in->at++;
  return keep(r, out, &c, 1);
}

/* Copies characters up to the end of the string or a backslash. */
static bool copy_plain(import_records *r, import_buffer *out) {
  import_bytes *in = r->in;
  const unsigned char *c = in->at;
  while (c < in->end && *c != '"' && *c != '\\' && *c >= 0x20) c++;
  bool ok = keep(r, out, in->at, (size_t)(c - in->at));
  in->at = c;
  return ok;
}

static bool copy_escape(import_records *r, import_buffer *out) {
  char text[6] = "\\";
  r->in->at++;
  int c = import_peek(r->in);
  if (c < 0 || !strchr("\"\\/bfnrtu", c)) return is_not_json(r, "an escape such as \\n");
  text[1] = (char)c;
  r->in->at++;
  for (int i = 2; c == 'u' && i < 6; i++, r->in->at++) {
    int digit = import_peek(r->in);
    if (digit <= 0 || !strchr("0123456789abcdefABCDEF", digit))
      return is_not_json(r, "four hexadecimal digits");
    text[i] = (char)digit;
  }
  return keep(r, out, text, c == 'u' ? 6 : 2);
}

/* In an outline a long string becomes an empty one. */
static bool copy_string(import_records *r, import_buffer *out) {
  import_bytes *in = r->in;
  import_buffer *to = out;
  size_t start = out ? out->length : 0;
  bool ok = take_byte(r, out, '"');
  while (ok) {
    int c = import_peek(in);
    if (c == '"') return take_byte(r, out, '"');
    if (c < 0x20) return is_not_json(r, "the end of a string");
    ok = c == '\\' ? copy_escape(r, to) : copy_plain(r, to);
    if (r->outline && to && to->length - start > LONGEST_IN_OUTLINE) {
      to->length = start + 1;
      to = NULL;
    }
  }
  return false;
}

/* Copies digits; false if there are none. */
static bool pass_digits(const char **at) {
  size_t digits = strspn(*at, "0123456789");
  *at += digits;
  return digits > 0;
}

static bool is_number(const char *c) {
  if (*c == '-') c++;
  bool zero = *c == '0';
  const char *whole = c;
  if (!pass_digits(&c) || (zero && c - whole > 1)) return false;
  if (*c == '.' && (c++, !pass_digits(&c))) return false;
  if (*c == 'e' || *c == 'E') {
    c += c[1] == '-' || c[1] == '+' ? 2 : 1;
    if (!pass_digits(&c)) return false;
  }
  return *c == 0;
}

/* Copies a number, or a word such as true. */
static bool copy_word(import_records *r, import_buffer *out) {
  enum { LONGEST_NUMBER = 1100 }; /* long enough for any double */
  static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
  char word[LONGEST_NUMBER + 1];
  size_t n = 0;
  for (int c; n < LONGEST_NUMBER && (c = import_peek(r->in)) > 0; r->in->at++) {
    bool in_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '-' || c == '+' || c == '.';
    if (!in_word) break;
    word[n++] = (char)c;
  }
  word[n] = 0;
  if (is_number(word)) return keep(r, out, word, n);
  for (int i = 0; i < 6; i++)
    if (strcmp(word, words[i]) == 0) return i < 3 ? keep(r, out, word, n) : keep(r, out, "null", 4);
  if (n == 0 || r->in->failed) return is_not_json(r, "a value");
  return import_fail(r->run, r->file, "line %lld: this is not JSON: %.40s is not a value",
                     r->in->line, word);
}

static bool copy_value(import_records *r, import_buffer *out, int depth);

/* The number of bytes read of the file. */
static sqlite3_int64 position(const import_records *r) {
  return r->in->offset - (r->in->end - r->in->at);
}

/* An outline ends after IMPORT_LOOK bytes: open arrays and objects are closed. */
static bool is_enough(import_records *r) {
  if (r->outline && position(r) > IMPORT_LOOK) r->enough = true;
  return r->enough;
}

/* In an outline an array keeps only its first element. */
static bool copy_array(import_records *r, import_buffer *out, int depth) {
  import_buffer *to = out;
  bool ok = take_byte(r, out, '[');
  for (bool first = true; ok && !is_enough(r); first = false) {
    int c = next_byte(r);
    if (c == ']') return take_byte(r, out, ']');
    if (!first && c != ',') return is_not_json(r, "a comma or ]");
    if (!first && r->outline) to = NULL;
    if (!first) ok = take_byte(r, to, ',');
    ok = ok && copy_value(r, to, depth + 1);
  }
  return ok && keep(r, out, "]", 1);
}

/* A key and its colon. */
static bool copy_key(import_records *r, import_buffer *out) {
  if (next_byte(r) != '"') return is_not_json(r, "a name in quotes");
  if (!copy_string(r, out)) return false;
  return next_byte(r) == ':' ? take_byte(r, out, ':') : is_not_json(r, "a colon");
}

/* Reads the comma before a key, if one is due; or the end of the object, and sets *ended. */
static bool copy_comma(import_records *r, import_buffer *out, bool due, bool *ended) {
  int c = next_byte(r);
  *ended = c == '}';
  if (*ended) return take_byte(r, out, '}');
  if (!due) return true;
  return c == ',' ? take_byte(r, out, ',') : is_not_json(r, "a comma or }");
}

static bool copy_object(import_records *r, import_buffer *out, int depth) {
  bool ok = take_byte(r, out, '{'), ended = false;
  for (bool first = true; ok && !is_enough(r); first = false) {
    ok = copy_comma(r, out, !first, &ended);
    if (ended || !ok) return ok;
    ok = copy_key(r, out) && copy_value(r, out, depth + 1);
  }
  return ok && keep(r, out, "}", 1);
}

static bool copy_value(import_records *r, import_buffer *out, int depth) {
  int c = next_byte(r);
  if (depth > IMPORT_DEEPEST)
    return import_fail(r->run, r->file, "line %lld: values are nested over %d deep", r->in->line,
                       IMPORT_DEEPEST);
  if (out) r->values++;
  if (c == '{') return copy_object(r, out, depth);
  if (c == '[') return copy_array(r, out, depth);
  return c == '"' ? copy_string(r, out) : copy_word(r, out);
}

/*
** Records
*/

/* Whether a comma-separated list has this name, which is a JSON string with its quotes.  Names
** with escapes never match: no format asks for such. */
static bool lists(const char *names, const char *key, size_t length) {
  for (const char *at = names; at;) {
    const char *comma = strchr(at, ',');
    size_t n = comma ? (size_t)(comma - at) : strlen(at);
    if (n + 2 == length && memcmp(at, key + 1, n) == 0) return true;
    at = comma ? comma + 1 : NULL;
  }
  return false;
}

/* Copies the object with some of its keys. */
static bool copy_some(import_records *r, import_buffer *out) {
  bool ok = take_byte(r, out, '{'), ended = false, any = false;
  for (bool first = true; ok; first = false) {
    ok = copy_comma(r, NULL, !first, &ended);
    if (ended || !ok) return ok && keep(r, out, "}", 1);
    r->key.length = 0;
    if (!copy_key(r, &r->key)) return false;
    bool wanted = lists(r->keys, r->key.text, r->key.length - 1);
    if (wanted) ok = (!any || keep(r, out, ",", 1)) && keep(r, out, r->key.text, r->key.length);
    any = any || wanted;
    ok = ok && copy_value(r, wanted ? out : NULL, 1);
  }
  return false;
}

static bool copy_record(import_records *r) {
  bool some = next_byte(r) == '{' && r->keys;
  sqlite3_int64 line = r->in->line, start = position(r);
  r->record.length = 0;
  r->values = 0;
  r->number++;
  if (!(some ? copy_some(r, &r->record) : copy_value(r, &r->record, 0))) return false;
  if (!r->too_large) return import_append(r->run, &r->record, "", 1);
  return import_fail(r->run, r->file,
                     "line %lld: a record of %lld bytes is too large; at most %d bytes and %d "
                     "values can be read of one",
                     line, position(r) - start, IMPORT_LONGEST, IMPORT_MOST_VALUES);
}

/* Reads a key outside the records, and its value if that holds no records. */
static bool copy_outside(import_records *r) {
  r->key.length = 0;
  if (!copy_key(r, &r->key) || !keep(r, &r->rest, r->key.text, r->key.length)) return false;
  int c = next_byte(r);
  bool way = lists(r->steps[r->level], r->key.text, r->key.length - 1);
  bool last = r->level + 1 == r->step_count;
  if (!way || (c != '{' && (!last || c != '['))) return copy_value(r, &r->rest, 1);
  if (!take_byte(r, &r->rest, (char)c)) return false;
  if (!last) {
    r->any[++r->level] = false;
    return true;
  }
  r->state = WITHIN;
  r->by_key = c == '{';
  r->any[MOST_STEPS] = false;
  return keep(r, &r->rest, r->by_key ? "}" : "]", 1);
}

/* Reads outside the records, up to the next ones. */
static bool seek_records(import_records *r) {
  while (r->state == OUTSIDE) {
    bool ended;
    if (!copy_comma(r, &r->rest, r->any[r->level], &ended)) return false;
    r->any[r->level] = true;
    if (ended && --r->level < 0) r->state = DONE;
    if (!ended && !copy_outside(r)) return false;
  }
  return !r->too_large ||
         import_fail(r->run, r->file,
                     "the part outside its records is too large: over %d bytes or %d values",
                     IMPORT_LONGEST, IMPORT_MOST_VALUES);
}

static bool begin(import_records *r) {
  int c = next_byte(r);
  if (r->in->failed) return false;
  if (r->step_count > 0) {
    r->state = OUTSIDE;
    return c == '{' ? take_byte(r, &r->rest, '{') : is_not_json(r, "an object");
  }
  r->state = c == '[' ? WITHIN : LINES;
  r->level = -1;
  if (c == '[') r->in->at++;
  return true;
}

/* A record of an array or object: 1, or 0 at its end. */
static int next_within(import_records *r) {
  bool *any = &r->any[MOST_STEPS];
  int c = next_byte(r);
  if (c == (r->by_key ? '}' : ']')) {
    r->in->at++;
    r->state = r->level < 0 ? DONE : OUTSIDE;
    return 0;
  }
  if (*any && c != ',') {
    is_not_json(r, r->by_key ? "a comma or }" : "a comma or ]");
    return -1;
  }
  if (*any) r->in->at++;
  *any = true;
  r->name.length = 0;
  if (r->by_key && !copy_key(r, &r->name)) return -1;
  return copy_record(r) ? 1 : -1;
}

static int next_line(import_records *r) {
  if (next_byte(r) >= 0) return copy_record(r) ? 1 : -1;
  r->state = DONE;
  return r->in->failed ? -1 : 0;
}

static int next_json(import_records *r) {
  int found = 0;
  if (r->state == START && !begin(r)) return -1;
  while (found == 0 && r->state != DONE) {
    if (r->state == OUTSIDE && !seek_records(r)) return -1;
    if (r->state == WITHIN) found = next_within(r);
    if (r->state == LINES) found = next_line(r);
  }
  if (found == 0 && next_byte(r) >= 0) {
    is_not_json(r, "the end of the file");
    return -1;
  }
  return r->in->failed ? -1 : found;
}

/* Writes the fields of a CSV line, or its header, as an array. */
static bool copy_fields(import_records *r, bool header, import_buffer *out) {
  bool ok = import_append(r->run, out, "[", 1);
  for (size_t i = 0; ok && i < import_csv_width(r->csv); i++) {
    const char *name = import_csv_name(r->csv, i);
    import_value v = {.text = name, .length = strlen(name)};
    if (!header) v = import_csv_field(r->csv, i);
    ok = (i == 0 || import_append(r->run, out, ",", 1)) &&
         import_append_quoted(r->run, out, v.text, v.length);
  }
  return ok && import_append(r->run, out, "]", 2);
}

static int next_csv(import_records *r) {
  int found = import_csv_next(r->csv);
  r->record.length = 0;
  r->number = import_csv_line(r->csv);
  return found == 1 && !copy_fields(r, false, &r->record) ? -1 : found;
}

int import_next(import_records *r, const char **text, size_t *length, const char **key) {
  int found = r->csv ? next_csv(r) : next_json(r);
  if (found != 1) return found;
  *text = r->record.text;
  *length = r->record.length - 1;
  if (key) *key = NULL;
  if (key && r->by_key) {
    size_t n = import_unquote(r->name.text, r->name.text + r->name.length - 1, r->name.text);
    r->name.text[n] = 0;
    *key = r->name.text;
  }
  return 1;
}

sqlite3_int64 import_number(const import_records *r) {
  return r->number;
}

bool import_rest(import_records *r, const char **out) {
  *out = "null";
  if (!r->rest.text) return true;
  if (!import_append(r->run, &r->rest, "", 1)) return false;
  *out = r->rest.text;
  return true;
}

/*
** Opening
*/

static bool cut_path(import_records *r, const char *at) {
  if (!at) return true;
  r->path = sqlite3_mprintf("%s", at);
  if (!r->path) return import_no_memory(r->run);
  for (char *dot = strchr(r->path, '.'); dot && r->step_count < MOST_STEPS;
       dot = strchr(dot + 1, '.')) {
    *dot = 0;
    r->steps[r->step_count++] = dot + 1;
  }
  return true;
}

static import_records *new_records(import_run *run, const import_file *file, const char *at,
                                   const char *keys) {
  import_records *r = sqlite3_malloc64(sizeof *r);
  if (!r) {
    import_no_memory(run);
    return NULL;
  }
  *r = (import_records){.run = run, .file = file};
  r->keys = keys ? sqlite3_mprintf("%s", keys) : NULL;
  if ((!keys || r->keys || import_no_memory(run)) && cut_path(r, at)) return r;
  import_close(r);
  return NULL;
}

import_records *import_open(import_run *run, const import_file *file, const char *at,
                            const char *keys) {
  import_records *r = new_records(run, file, at, keys);
  if (!r) return NULL;
  if (file->kind == IMPORT_CSV)
    r->csv = import_csv_open(run, file);
  else
    r->in = import_bytes_open(run, file, true);
  if (r->in || (r->csv && copy_fields(r, true, &r->rest))) return r;
  import_close(r);
  return NULL;
}

import_records *import_open_entry(import_run *run, const import_file *file, const char *entry,
                                  const char *at, const char *keys) {
  import_records *r = new_records(run, file, at, keys);
  if (r && (r->in = import_bytes_entry(run, file, entry))) return r;
  import_close(r);
  return NULL;
}

void import_close(import_records *r) {
  if (!r) return;
  import_bytes_close(r->in);
  import_csv_close(r->csv);
  import_buffer_free(&r->record);
  import_buffer_free(&r->rest);
  import_buffer_free(&r->key);
  import_buffer_free(&r->name);
  sqlite3_free(r->path);
  sqlite3_free(r->keys);
  sqlite3_free(r);
}

bool import_head(import_run *run, import_file *file, const char *at) {
  import_records *r = import_open(run, file, at, "");
  const char *text;
  size_t length;
  int found = r ? 1 : -1;
  while (found == 1) found = import_next(r, &text, &length, NULL);
  bool ok = found == 0 && import_rest(r, &text) && import_set_head(run, text);
  import_close(r);
  return ok;
}

/*
** Outlines
*/

static bool ends_with(const char *name, const char *ending) {
  size_t n = strlen(name), m = strlen(ending);
  return n >= m && sqlite3_stricmp(name + n - m, ending) == 0;
}

char *import_outline_json(import_run *run, const import_file *file, import_kind *kind) {
  import_records *r = new_records(run, file, NULL, NULL);
  char *text = NULL;
  if (!r || !(r->in = import_bytes_open(run, file, true))) {
    import_close(r);
    return NULL;
  }
  r->outline = true;
  bool array = next_byte(r) == '[';
  if (array) r->in->at++;
  bool empty = array && next_byte(r) == ']';
  bool ok = empty ? keep(r, &r->record, "[]", 2) : copy_value(r, &r->record, 0);
  bool lines = ok && !array && !r->enough && next_byte(r) == '{';
  if (array || lines || ends_with(file->name, ".jsonl") || ends_with(file->name, ".ndjson"))
    *kind = IMPORT_JSONL;
  else
    *kind = IMPORT_JSON;
  if (ok && !r->in->failed && import_append(run, &r->record, "", 1)) {
    text = r->record.text;
    r->record = (import_buffer){0};
  }
  import_close(r);
  return text;
}

/*
** Texts in memory
*/

static unsigned hexadecimal(const char *at) {
  unsigned x = 0;
  for (int i = 0; i < 4; i++) {
    unsigned c = (unsigned char)at[i];
    x = x << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return x;
}

static size_t put_character(unsigned c, char *out) {
  int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
  out[0] = (char)(first[more] | c >> 6 * more);
  for (int i = 1; i <= more; i++) out[i] = (char)(0x80 | (c >> 6 * (more - i) & 63));
  return (size_t)more + 1;
}

/* Decodes \uXXXX, and a surrogate pair together; an unpaired surrogate becomes U+FFFD. */
static unsigned read_escaped(const char **at, const char *end) {
  unsigned c = hexadecimal(*at + 2);
  *at += 6;
  if (c < 0xD800 || c > 0xDFFF) return c;
  if (c > 0xDBFF || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u') return 0xFFFD;
  unsigned low = hexadecimal(*at + 2);
  if (low < 0xDC00 || low > 0xDFFF) return 0xFFFD;
  *at += 6;
  return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

size_t import_unquote(const char *json, const char *end, char *out) {
  static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
  size_t n = 0;
  const char *c = json + 1;
  end--;
  while (c < end) {
    if (*c != '\\') {
      out[n++] = *c++;
    } else if (c[1] == 'u') {
      n += put_character(read_escaped(&c, end), out + n);
    } else {
      const char *known = strchr(from, c[1]);
      out[n++] = known ? to[known - from] : c[1];
      c += 2;
    }
  }
  return n;
}

/* Where a string ends, its last quote included. */
static const char *skip_string(const char *c) {
  for (c++; *c != '"'; c++) c += *c == '\\';
  return c + 1;
}

const char *import_skip_value(const char *c) {
  int depth = 0;
  do {
    if (*c == '{' || *c == '[') depth++;
    if (*c == '}' || *c == ']') depth--;
    if (*c == '"')
      c = skip_string(c);
    else if (strchr(",:]}[{", *c))
      c++;
    else
      c += strcspn(c, ",:]}[{\"");
  } while (depth > 0);
  return c;
}

bool import_append_quoted(import_run *run, import_buffer *out, const char *text, size_t length) {
  bool ok = import_append(run, out, "\"", 1);
  size_t start = 0;
  for (size_t i = 0; ok && i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    char escaped[8];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    sqlite3_snprintf(sizeof escaped, escaped, c >= 0x20 ? "\\%c" : "\\u%04x", c);
    ok = import_append(run, out, text + start, i - start) &&
         import_append(run, out, escaped, strlen(escaped));
    start = i + 1;
  }
  return ok && import_append(run, out, text + start, length - start) &&
         import_append(run, out, "\"", 1);
}
