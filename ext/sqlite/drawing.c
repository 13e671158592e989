/*
** The options of a picture: a flat object of JSON, strictly read (contract 23).
**
** SQLite's own JSON functions can be reached from here only by running a statement,
** which an authorizer may refuse and an older SQLite may lack; a flat object of texts
** and numbers is little to read.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"

/* A part of the options: text from `at` up to `end`, where SQLite has put a NUL. */
typedef struct part {
  const char *at, *end;
} part;

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits of \u; -1 where they are not four. */
static long read_unit16(const char *c) {
  long code = 0;
  for (int i = 0; i < 4; i++) {
    int digit = hex_digit(c[i]);
    if (digit < 0) return -1;
    code = 16 * code + digit;
  }
  return code;
}

/* The string that begins at a quote, to the quote that ends it; NULL when it is none. */
static const char *string_end(const char *c) {
  for (c++; *c != '"'; c++) {
    if ((unsigned char)*c < 0x20) return NULL;
    if (*c != '\\') continue;
    c++;
    if (!*c || !strchr("\"\\/bfnrtu", *c)) return NULL;
    if (*c == 'u' && read_unit16(c + 1) < 0) return NULL;
  }
  return c;
}

static char *write_utf8(long code, char *out) {
  static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
  int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = size - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3F));
    code >>= 6;
  }
  out[0] = (char)(first[size < 2 ? 0 : size] | code);
  return out + size;
}

/* An escape after its backslash, written to *out; what follows it is returned.  Half of
** a surrogate pair is no text, and is mended with the rest. */
static const char *read_escape(const char *c, char **out) {
  static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
  const char *found = strchr(letters, *c);
  if (*c != 'u') {
    *(*out)++ = found ? meant[found - letters] : *c;
    return c + 1;
  }
  long code = read_unit16(c + 1);
  c += 5;
  if (code >= 0xD800 && code < 0xDC00 && c[0] == '\\' && c[1] == 'u') {
    long low = read_unit16(c + 2);
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      c += 6;
    }
  }
  *out = write_utf8(code, *out);
  return c;
}

/* The text of a string, without its quotes; no escape is shorter than what it means. */
static char *string_text(part string, size_t *size) {
  char *text = sqlite3_malloc64((sqlite3_uint64)(string.end - string.at)), *out = text;
  if (!text) return NULL;
  for (const char *c = string.at + 1; c < string.end - 1;) {
    if (*c == '\\')
      c = read_escape(c + 1, &out);
    else
      *out++ = *c++;
  }
  *out = 0;
  *size = (size_t)(out - text);
  return text;
}

/* A value as a message shows it, cut when long. */
static evalci_shown show_part(part value) {
  evalci_shown shown;
  size_t size = (size_t)(value.end - value.at), keep = size <= 40 ? size : 40;
  while (keep < size && keep > 0 && (value.at[keep] & 0xC0) == 0x80) keep--;
  for (size_t i = 0; i < keep; i++)
    shown.text[i] = (unsigned char)value.at[i] < ' ' ? '?' : value.at[i];
  strcpy(shown.text + keep, keep < size ? "..." : "");
  return shown;
}

static bool read_title(evalci_call *call, const char *key, part value, char **out) {
  if (*value.at != '"')
    return evalci_fail(call, "%s in options must be text, got %s", key, show_part(value).text);
  size_t size;
  char *text = string_text(value, &size);
  if (text && size > 0) *out = evalci_clean(text, size);
  sqlite3_free(text);
  return text && (size == 0 || *out);
}

/* One of two words. */
static bool read_word(evalci_call *call, const char *key, part value, const char *const *words,
                      int *which) {
  for (*which = 0; *which < 2; ++*which) {
    size_t size = strlen(words[*which]);
    if ((size_t)(value.end - value.at) == size && memcmp(value.at, words[*which], size) == 0)
      return true;
  }
  return evalci_fail(call, "%s in options must be %s or %s, got %s", key, words[0], words[1],
                     show_part(value).text);
}

static bool read_place(evalci_call *call, const char *key, part value, double *out) {
  const char *end = evalci_parse_number(value.at, out);
  if (end == value.end && fabs(*out) <= 1e9) return true;
  return evalci_fail(call, "%s in options must be a number from -1e9 to 1e9, got %s", key,
                     show_part(value).text);
}

/* Which key a name is; the first two are what every picture takes. */
enum { TITLE, AXIS, UNIT, SCALE, FROM, TO, LINE_AT, KEYS, PLAIN_KEYS = UNIT };
static const char *const keys[KEYS] = {"title", "axis", "unit", "scale", "from", "to", "line"};

static bool read_key(evalci_call *call, int key, part value, evalci_drawing *out) {
  static const char *const units[] = {"\"%\"", "\"\""}, *const unit_text[] = {"%", ""};
  static const char *const scales[] = {"\"linear\"", "\"log\""};
  int which = 0;
  if (strncmp(value.at, "null", 4) == 0 && value.end == value.at + 4) return true;
  if (key == TITLE) return read_title(call, keys[key], value, &out->title);
  if (key == AXIS) return read_title(call, keys[key], value, &out->axis);
  if (key == UNIT) {
    if (!read_word(call, keys[key], value, units, &which)) return false;
    out->unit = unit_text[which];
    return true;
  }
  if (key == SCALE) {
    if (!read_word(call, keys[key], value, scales, &which)) return false;
    out->logarithmic = which;
    return true;
  }
  return read_place(call, keys[key], value,
                    key == FROM ? &out->from
                    : key == TO ? &out->to
                                : &out->line);
}

static bool fail_key(evalci_call *call, bool plain, part name) {
  if (plain)
    return evalci_fail(call, "options has no key %s; it may have title and axis",
                       show_part(name).text);
  return evalci_fail(call,
                     "options has no key %s; it may have title, axis, unit, scale, from, to and "
                     "line",
                     show_part(name).text);
}

/* The string, number or word that a value is; what else there is ends where nothing can
** follow it, and is refused as a value. */
static part value_at(const char *c) {
  const char *end = *c == '"' ? string_end(c) : c + strcspn(c, " \t\n\r,}\"");
  if (end && *c == '"') end++;
  return (part){c, end};
}

/* One key and its value; returns what follows them, or NULL.  Without a message what
** stands there is no JSON. */
static const char *read_member(evalci_call *call, const char *c, bool plain, unsigned *seen,
                               evalci_drawing *out, bool *read) {
  const char *end = *c == '"' ? string_end(c) : NULL;
  part name = {c, end ? end + 1 : c};
  int key = 0, known = plain ? PLAIN_KEYS : KEYS;
  *read = true;
  if (!end) return NULL;
  while (key < known && (strlen(keys[key]) != (size_t)(end - c - 1) ||
                         memcmp(keys[key], c + 1, strlen(keys[key])) != 0))
    key++;
  c = evalci_skip_space(end + 1);
  if (*c++ != ':') return NULL;
  part value = value_at(evalci_skip_space(c));
  if (!value.end || value.end == value.at) return NULL;
  if (key == known) {
    *read = fail_key(call, plain, name);
  } else if (*seen & 1u << key) {
    *read = evalci_fail(call, "options has the key %s twice", show_part(name).text);
  } else {
    *read = read_key(call, key, value, out);
    *seen |= 1u << key;
  }
  return evalci_skip_space(value.end);
}

/* False without a message when it is no object, or when there is no memory. */
static bool read_object(evalci_call *call, const char *c, bool plain, evalci_drawing *out,
                        bool *object) {
  unsigned seen = 0;
  bool read = true;
  c = evalci_skip_space(c);
  *object = *c == '{';
  if (!*object) return false;
  c = evalci_skip_space(c + 1);
  for (bool first = true; c && read && (*c != '}' || !first); first = false) {
    c = read_member(call, c, plain, &seen, out, &read);
    if (!c || !read || *c == '}') break;
    c = *c == ',' ? evalci_skip_space(c + 1) : NULL;
  }
  *object = c && (!read || *evalci_skip_space(c + 1) == 0);
  return read && *object;
}

/* What two of them must be to each other, and on a logarithmic axis. */
static bool check_places(evalci_call *call, const evalci_drawing *d) {
  const double places[] = {d->from, d->to, d->line};
  for (int i = 0; i < 3; i++)
    if (d->logarithmic && places[i] < 1e-9)
      return evalci_fail(call, "%s in options must be at least 1e-9 on a log scale, got %.15g",
                         keys[FROM + i], places[i]);
  double apart = d->logarithmic ? 1e-6 * d->from : 1e-9;
  if (d->to - d->from >= apart || isnan(d->to) || isnan(d->from)) return true;
  return evalci_fail(call, "from in options must be below to, got %.15g and %.15g", d->from, d->to);
}

bool evalci_read_drawing(evalci_call *call, bool plain, sqlite3_value *value, evalci_drawing *out) {
  bool object = false;
  *out = (evalci_drawing){.from = NAN, .to = NAN, .line = NAN};
  if (!value) return true;
  if (sqlite3_value_type(value) == SQLITE_TEXT) {
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text) return false;
    bool read = read_object(call, text, plain, out, &object);
    object = object && strlen(text) == (size_t)sqlite3_value_bytes(value);
    if (read && object) return check_places(call, out);
  }
  if (object) return false;
  return evalci_fail(call,
                     "options must be an object of JSON, like {\"title\":\"Accuracy\"}, got %s",
                     evalci_show(value).text);
}

void evalci_free_drawing(evalci_drawing *drawing) {
  sqlite3_free(drawing->title);
  sqlite3_free(drawing->axis);
  drawing->title = drawing->axis = NULL;
}
