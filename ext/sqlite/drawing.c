/*
** The options of a picture: a flat object of JSON, strictly read (contract 23).
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "svg.h"

static bool read_title(evalci_call *call, const char *key, evalci_part value, char **out) {
  if (*value.at != '"')
    return evalci_fail(call, "%s in options must be text, got %s", key,
                       evalci_show_part(value).text);
  size_t size;
  char *text = evalci_part_text(value, &size);
  if (text && size > 0) *out = evalci_clean(text, size);
  sqlite3_free(text);
  return text && (size == 0 || *out);
}

/* Reads one of two words. */
static bool read_word(evalci_call *call, const char *key, evalci_part value,
                      const char *const *words, int *which) {
  for (*which = 0; *which < 2; ++*which)
    if (evalci_part_is(value, words[*which])) return true;
  return evalci_fail(call, "%s in options must be %s or %s, got %s", key, words[0], words[1],
                     evalci_show_part(value).text);
}

static bool read_place(evalci_call *call, const char *key, evalci_part value, double *out) {
  const char *end = evalci_parse_number(value.at, out);
  if (end == value.end && fabs(*out) <= 1e9) return true;
  return evalci_fail(call, "%s in options must be a number from -1e9 to 1e9, got %s", key,
                     evalci_show_part(value).text);
}

/* The index of a key; every picture takes the first two. */
enum { TITLE, AXIS, UNIT, SCALE, FROM, TO, LINE_AT, KEYS, PLAIN_KEYS = UNIT };
static const char *const keys[KEYS] = {"title", "axis", "unit", "scale", "from", "to", "line"};

static bool read_key(evalci_call *call, int key, evalci_part value, evalci_drawing *out) {
  static const char *const units[] = {"\"%\"", "\"\""}, *const unit_text[] = {"%", ""};
  static const char *const scales[] = {"\"linear\"", "\"log\""};
  int which = 0;
  if (evalci_part_is(value, "null")) return true;
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

static bool fail_key(evalci_call *call, bool plain, evalci_part name) {
  if (plain)
    return evalci_fail(call, "options has no key %s; it may have title and axis",
                       evalci_show_part(name).text);
  return evalci_fail(call,
                     "options has no key %s; it may have title, axis, unit, scale, from, to and "
                     "line",
                     evalci_show_part(name).text);
}

/* The options being read, and which of them were given. */
typedef struct drawing_options {
  evalci_drawing *drawing;
  bool plain;
  unsigned seen;
} drawing_options;

static bool read_option(evalci_call *call, evalci_part name, evalci_part value, void *out) {
  drawing_options *o = out;
  int key = evalci_key_of(name, keys, o->plain ? PLAIN_KEYS : KEYS);
  if (key < 0) return fail_key(call, o->plain, name);
  if (o->seen & 1u << key)
    return evalci_fail(call, "options has the key %s twice", evalci_show_part(name).text);
  o->seen |= 1u << key;
  return read_key(call, key, value, o->drawing);
}

/* Checks options that depend on each other, such as both ends of the axis, and positive ends on
** a logarithmic one. */
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
  drawing_options options = {out, plain, 0};
  *out = (evalci_drawing){.from = NAN, .to = NAN, .line = NAN};
  if (!value) return true;
  return evalci_read_object(call, value, "{\"title\":\"Accuracy\"}", read_option, &options) &&
         check_places(call, out);
}

void evalci_free_drawing(evalci_drawing *drawing) {
  sqlite3_free(drawing->title);
  sqlite3_free(drawing->axis);
  drawing->title = drawing->axis = NULL;
}
