/*
** Private to ext/sqlite: a hash table from SQL values to a few counts each.
**
** A key is any SQL value but NULL, compared as GROUP BY compares it with the
** BINARY collation (contract 11): 1 and 1.0 are one key, '1' is another, x'31' a third.  Rows come
** and go in a window, so an entry's counts may fall back to nothing; it is then
** vacant, passed over, and swept when such entries are the most.
*/
#ifndef EVALCI_KEYS_H
#define EVALCI_KEYS_H

#include "surface.h"

/* A key on its way in; the bytes are the caller's. */
typedef struct evalci_key {
  int type; /* SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT or SQLITE_BLOB */
  sqlite3_int64 integer;
  double real;
  const void *bytes;
  unsigned size;
} evalci_key;

/* 16 bytes and 8 a count, and the bytes of text and blobs beside them. */
typedef struct evalci_entry {
  union {
    sqlite3_int64 integer;
    double real;
    char *bytes; /* owned */
  } key;
  unsigned size; /* of the bytes */
  unsigned hash : 29, type : 3;
  sqlite3_int64 counts[]; /* as many as the table is wide */
} evalci_entry;

/* Zeroed but for its width, it is empty.  Entries are in the order they came, with a
** slack of at most 1.5; slots hold their places, open addressing, 4 bytes each, at
** least 3/8 used. */
typedef struct evalci_keys {
  unsigned width; /* counts of an entry */
  unsigned count, room, slot_count, vacant;
  char *entries;
  unsigned *slots; /* 0, or 1 + the place of an entry */
} evalci_keys;

/* NULL has the type SQLITE_NULL, and is no key.  False only when the text could not
** be had for want of memory. */
bool evalci_read_key(sqlite3_value *value, evalci_key *key);

/* Likewise the cluster of a result, of which NULL is an error; false after leaving a
** message. */
bool evalci_read_cluster(evalci_call *call, sqlite3_value *value, evalci_key *key);

/* Likewise the label of a model. */
bool evalci_read_label(evalci_call *call, sqlite3_value *value, evalci_key *key);

/* The entry of a key, made if it is new; NULL when memory is short. */
evalci_entry *evalci_entry_of(evalci_keys *keys, const evalci_key *key);

/* Adds `times` as much to each count of an entry, which may be gone after that where they
** are taken away. */
void evalci_add_to_entry(evalci_keys *keys, evalci_entry *e, const sqlite3_int64 *counts,
                         int times);

/* How many entries are not vacant; and the next of them after `e`, or the first after
** NULL, or NULL after the last. */
unsigned evalci_count_entries(const evalci_keys *keys);
const evalci_entry *evalci_next_entry(const evalci_keys *keys, const evalci_entry *e);

/* As GROUP BY orders them: numbers, text, blobs. */
int evalci_compare_keys(const evalci_entry *x, const evalci_entry *y);

/* A key as JSON, which has no blobs: those become text as SQL writes them, x'31'. */
void evalci_append_key(sqlite3_str *out, const evalci_entry *e);

void evalci_free_keys(evalci_keys *keys);

#endif
