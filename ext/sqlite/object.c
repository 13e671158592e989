/*
** A flat object of JSON, strictly read: its members are texts, numbers and words.
**
** SQLite's own JSON functions can be reached from here only by running a statement,
** which an authorizer may refuse and an older SQLite may lack; a flat object is little
** to read.
*/
#include "object.h"

#include <string.h>

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The value of the four hex digits of \u; -1 if they are not four. */
static long read_unit16(const char *c) {
  long code = 0;
  for (int i = 0; i < 4; i++) {
    int digit = hex_digit(c[i]);
    if (digit < 0) return -1;
    code = 16 * code + digit;
  }
  return code;
}

/* The string that begins at a quote, including the closing quote; NULL if it is not closed. */
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

/* Decodes an escape after its backslash to *out, and returns what follows it.  An unpaired
** surrogate is not text; it is replaced later, with other invalid UTF-8. */
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

/* An escape is never shorter than the bytes it stands for. */
char *evalci_part_text(evalci_part string, size_t *size) {
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

evalci_shown evalci_show_part(evalci_part value) {
  evalci_shown shown;
  size_t size = (size_t)(value.end - value.at), keep = size <= 40 ? size : 40;
  while (keep < size && keep > 0 && (value.at[keep] & 0xC0) == 0x80) keep--;
  for (size_t i = 0; i < keep; i++)
    shown.text[i] = (unsigned char)value.at[i] < ' ' ? '?' : value.at[i];
  strcpy(shown.text + keep, keep < size ? "..." : "");
  return shown;
}

bool evalci_part_is(evalci_part part, const char *text) {
  size_t size = strlen(text);
  return (size_t)(part.end - part.at) == size && memcmp(part.at, text, size) == 0;
}

int evalci_key_of(evalci_part name, const char *const *keys, int count) {
  evalci_part inside = {name.at + 1, name.end - 1};
  for (int i = 0; i < count; i++)
    if (evalci_part_is(inside, keys[i])) return i;
  return -1;
}

/* The string, number or word that a value is.  Other values end where no value can continue, and
** are refused. */
static evalci_part value_at(const char *c) {
  const char *end = *c == '"' ? string_end(c) : c + strcspn(c, " \t\n\r,}\"");
  if (end && *c == '"') end++;
  return (evalci_part){c, end};
}

/* Reads one key and its value; returns what follows them, or NULL where the text is not JSON. */
static const char *read_member(evalci_call *call, const char *c, evalci_member *member, void *out,
                               bool *read) {
  const char *end = *c == '"' ? string_end(c) : NULL;
  evalci_part name = {c, end ? end + 1 : c};
  if (!end) return NULL;
  c = evalci_skip_space(end + 1);
  if (*c++ != ':') return NULL;
  evalci_part value = value_at(evalci_skip_space(c));
  if (!value.end || value.end == value.at) return NULL;
  *read = member(call, name, value, out);
  return evalci_skip_space(value.end);
}

/* False without a message where the value is not an object, or memory is short. */
static bool read_members(evalci_call *call, const char *c, evalci_member *member, void *out,
                         bool *object) {
  bool read = true;
  c = evalci_skip_space(c);
  *object = *c == '{';
  if (!*object) return false;
  c = evalci_skip_space(c + 1);
  for (bool first = true; c && read && (*c != '}' || !first); first = false) {
    c = read_member(call, c, member, out, &read);
    if (!c || !read || *c == '}') break;
    c = *c == ',' ? evalci_skip_space(c + 1) : NULL;
  }
  *object = c && (!read || *evalci_skip_space(c + 1) == 0);
  return read && *object;
}

bool evalci_read_object(evalci_call *call, sqlite3_value *value, const char *example,
                        evalci_member *member, void *out) {
  bool object = false;
  if (sqlite3_value_type(value) == SQLITE_TEXT) {
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text) return false;
    bool read = read_members(call, text, member, out, &object);
    object = object && strlen(text) == (size_t)sqlite3_value_bytes(value);
    if (read && object) return true;
  }
  if (object) return false;
  return evalci_fail(call, "options must be an object of JSON, like %s, got %s", example,
                     evalci_show(value).text);
}
