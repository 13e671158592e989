/*
** A hash table from SQL values to a few counts each: keys.h.
*/
#include "keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool evalci_read_key(sqlite3_value *value, evalci_key *key) {
  *key = (evalci_key){.type = sqlite3_value_type(value)};
  if (key->type == SQLITE_INTEGER) {
    key->integer = sqlite3_value_int64(value);
  } else if (key->type == SQLITE_FLOAT) {
    /* A whole REAL is the INTEGER it equals, as in GROUP BY. */
    static const double end = 9223372036854775808.0; /* 2^63 */
    key->real = sqlite3_value_double(value);
    if (key->real != floor(key->real) || key->real < -end || key->real >= end) return true;
    key->type = SQLITE_INTEGER;
    key->integer = (sqlite3_int64)key->real;
  } else if (key->type != SQLITE_NULL) {
    bool text = key->type == SQLITE_TEXT;
    key->bytes = text ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    key->size = (unsigned)sqlite3_value_bytes(value);
    if (!key->bytes && (text || key->size)) return false;
    if (!key->bytes) key->bytes = "";
  }
  return true;
}

bool evalci_read_name(evalci_call *call, const char *argument, sqlite3_value *value,
                      evalci_key *key) {
  if (!evalci_read_key(value, key)) return false;
  if (key->type != SQLITE_NULL) return true;
  return evalci_fail(call,
                     "%s must not be NULL; name it, or leave the row out with "
                     "WHERE %s IS NOT NULL",
                     argument, argument);
}

static unsigned hash_bytes(const void *bytes, size_t size) {
  sqlite3_uint64 h = evalci_hash_bytes(EVALCI_HASH, bytes, size);
  return (unsigned)(h ^ h >> 32);
}

static unsigned hash_integer(sqlite3_uint64 x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
  return (unsigned)(x ^ x >> 33);
}

/* A hash of 29 bits, as an entry stores it. */
static unsigned hash_key(const evalci_key *key) {
  unsigned hash = key->type == SQLITE_INTEGER ? hash_integer((sqlite3_uint64)key->integer)
                  : key->type == SQLITE_FLOAT ? hash_bytes(&key->real, sizeof key->real)
                                              : hash_bytes(key->bytes, key->size);
  return hash >> 3;
}

static bool same_key(const evalci_entry *e, const evalci_key *key, unsigned hash) {
  if (e->hash != hash || (int)e->type != key->type) return false;
  if (key->type == SQLITE_INTEGER) return e->key.integer == key->integer;
  if (key->type == SQLITE_FLOAT) return e->key.real == key->real;
  return e->size == key->size && memcmp(e->key.bytes, key->bytes, key->size) == 0;
}

static size_t entry_size(const evalci_keys *keys) {
  return sizeof(evalci_entry) + keys->width * sizeof(sqlite3_int64);
}

static evalci_entry *entry_at(const evalci_keys *keys, unsigned place) {
  return (evalci_entry *)(keys->entries + place * entry_size(keys));
}

/* Fills the slots with the positions of all entries. */
static void fill_slots(evalci_keys *keys) {
  memset(keys->slots, 0, keys->slot_count * sizeof *keys->slots);
  for (unsigned i = 0; i < keys->count; i++) {
    unsigned at = entry_at(keys, i)->hash & (keys->slot_count - 1);
    while (keys->slots[at]) at = (at + 1) & (keys->slot_count - 1);
    keys->slots[at] = i + 1;
  }
}

static bool grow_keys(evalci_keys *keys) {
  unsigned room = keys->room < 16 ? 16 : keys->room + keys->room / 2;
  unsigned slot_count = keys->slot_count;
  while (room > slot_count / 4 * 3) slot_count = slot_count ? 2 * slot_count : 32;
  char *entries = sqlite3_realloc64(keys->entries, room * entry_size(keys));
  if (!entries) return false;
  keys->entries = entries;
  if (slot_count > keys->slot_count) {
    unsigned *slots = sqlite3_realloc64(keys->slots, (sqlite3_uint64)slot_count * sizeof *slots);
    if (!slots) return false;
    keys->slots = slots;
    keys->slot_count = slot_count;
    fill_slots(keys);
  }
  keys->room = room;
  return true;
}

static bool owns_bytes(const evalci_entry *e) {
  return e->type == SQLITE_TEXT || e->type == SQLITE_BLOB;
}

static bool is_vacant(const evalci_keys *keys, const evalci_entry *e) {
  for (unsigned i = 0; i < keys->width; i++)
    if (e->counts[i] != 0) return false;
  return true;
}

/* Adds a vacant entry with a copy of the key; false when memory is short. */
static bool make_entry(const evalci_keys *keys, const evalci_key *key, unsigned hash,
                       evalci_entry *e) {
  memset(e, 0, entry_size(keys));
  e->hash = hash & 0x1fffffff;
  e->type = (unsigned)key->type & 7;
  e->size = key->size;
  if (key->type == SQLITE_INTEGER) {
    e->key.integer = key->integer;
  } else if (key->type == SQLITE_FLOAT) {
    e->key.real = key->real;
  } else {
    e->key.bytes = sqlite3_malloc64((sqlite3_uint64)key->size + 1);
    if (!e->key.bytes) return false;
    memcpy(e->key.bytes, key->bytes, key->size);
  }
  return true;
}

evalci_entry *evalci_entry_of(evalci_keys *keys, const evalci_key *key) {
  unsigned hash = hash_key(key), at = 0;
  if (keys->slot_count) {
    for (at = hash & (keys->slot_count - 1); keys->slots[at];
         at = (at + 1) & (keys->slot_count - 1)) {
      evalci_entry *e = entry_at(keys, keys->slots[at] - 1);
      if (same_key(e, key, hash)) return e;
    }
  }
  if (keys->count == keys->room) {
    if (!grow_keys(keys)) return NULL;
    at = hash & (keys->slot_count - 1);
    while (keys->slots[at]) at = (at + 1) & (keys->slot_count - 1);
  }
  evalci_entry *e = entry_at(keys, keys->count);
  if (!make_entry(keys, key, hash, e)) return NULL;
  keys->slots[at] = ++keys->count;
  keys->vacant++; /* vacant until something is added */
  return e;
}

/* Drops vacant entries when they are the majority, as happens in a window over ever new keys. */
static void sweep(evalci_keys *keys) {
  if (keys->vacant < 32 || keys->vacant < keys->count / 2) return;
  unsigned kept = 0;
  for (unsigned i = 0; i < keys->count; i++) {
    evalci_entry *e = entry_at(keys, i);
    if (!is_vacant(keys, e))
      memmove(entry_at(keys, kept++), e, entry_size(keys));
    else if (owns_bytes(e))
      sqlite3_free(e->key.bytes);
  }
  keys->count = kept;
  keys->vacant = 0;
  fill_slots(keys);
}

void evalci_add_to_entry(evalci_keys *keys, evalci_entry *e, const sqlite3_int64 *counts,
                         int times) {
  bool was_vacant = is_vacant(keys, e);
  for (unsigned i = 0; i < keys->width; i++) e->counts[i] += times * counts[i];
  if (is_vacant(keys, e)) keys->vacant++;
  if (was_vacant) keys->vacant--;
  if (times < 0) sweep(keys);
}

unsigned evalci_count_entries(const evalci_keys *keys) {
  return keys->count - keys->vacant;
}

const evalci_entry *evalci_next_entry(const evalci_keys *keys, const evalci_entry *e) {
  size_t size = entry_size(keys);
  unsigned place = e ? (unsigned)((size_t)((const char *)e - keys->entries) / size) + 1 : 0;
  for (; place < keys->count; place++)
    if (!is_vacant(keys, entry_at(keys, place))) return entry_at(keys, place);
  return NULL;
}

static bool is_number(const evalci_entry *e) {
  return e->type == SQLITE_INTEGER || e->type == SQLITE_FLOAT;
}

/* Whole REALs in the range of INTEGER are stored as INTEGER, so a remaining REAL never equals an
** INTEGER, rounded or not. */
static double number_of(const evalci_entry *e) {
  return e->type == SQLITE_INTEGER ? (double)e->key.integer : e->key.real;
}

int evalci_compare_keys(const evalci_entry *x, const evalci_entry *y) {
  if (x->type == SQLITE_INTEGER && y->type == SQLITE_INTEGER)
    return (x->key.integer > y->key.integer) - (x->key.integer < y->key.integer);
  if (is_number(x) && is_number(y))
    return (number_of(x) > number_of(y)) - (number_of(x) < number_of(y));
  if (is_number(x) || is_number(y)) return is_number(x) ? -1 : 1;
  if (x->type != y->type) return x->type == SQLITE_TEXT ? -1 : 1;
  int order = memcmp(x->key.bytes, y->key.bytes, x->size < y->size ? x->size : y->size);
  return order ? order : (x->size > y->size) - (x->size < y->size);
}

static int entries_by_key(const void *a, const void *b) {
  const evalci_entry *const *x = a, *const *y = b;
  return evalci_compare_keys(*x, *y);
}

size_t evalci_sort_entries(const evalci_keys *keys, const evalci_entry **entries) {
  size_t count = 0;
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(keys, e));) entries[count++] = e;
  qsort(entries, count, sizeof *entries, entries_by_key);
  return count;
}

static void append_json_text(sqlite3_str *out, const char *text, unsigned size) {
  sqlite3_str_appendchar(out, 1, '"');
  for (const char *c = text; c < text + size; c++) {
    if ((unsigned char)*c < ' ')
      sqlite3_str_appendf(out, "\\u%04x", *c);
    else if (*c == '"' || *c == '\\')
      sqlite3_str_appendf(out, "\\%c", *c);
    else
      sqlite3_str_append(out, c, 1);
  }
  sqlite3_str_appendchar(out, 1, '"');
}

void evalci_append_key(sqlite3_str *out, const evalci_entry *e) {
  char number[EVALCI_NUMBER_SIZE];
  switch (e->type) {
  case SQLITE_INTEGER:
    sqlite3_str_appendf(out, "%lld", e->key.integer);
    break;
  case SQLITE_FLOAT:
    sqlite3_str_append(out, number, evalci_write_number(e->key.real, number));
    break;
  case SQLITE_TEXT:
    append_json_text(out, e->key.bytes, e->size);
    break;
  default:
    sqlite3_str_appendall(out, "\"x'");
    for (unsigned i = 0; i < e->size; i++)
      sqlite3_str_appendf(out, "%02x", (unsigned char)e->key.bytes[i]);
    sqlite3_str_appendall(out, "'\"");
  }
}

void evalci_result_key(sqlite3_context *context, const evalci_entry *e) {
  switch (e->type) {
  case SQLITE_INTEGER:
    sqlite3_result_int64(context, e->key.integer);
    break;
  case SQLITE_FLOAT:
    sqlite3_result_double(context, e->key.real);
    break;
  case SQLITE_TEXT:
    sqlite3_result_text(context, e->key.bytes, (int)e->size, SQLITE_TRANSIENT);
    break;
  default:
    sqlite3_result_blob(context, e->key.bytes, (int)e->size, SQLITE_TRANSIENT);
  }
}

void evalci_free_keys(evalci_keys *keys) {
  for (unsigned i = 0; i < keys->count; i++)
    if (owns_bytes(entry_at(keys, i))) sqlite3_free(entry_at(keys, i)->key.bytes);
  sqlite3_free(keys->entries);
  sqlite3_free(keys->slots);
  *keys = (evalci_keys){0};
}
