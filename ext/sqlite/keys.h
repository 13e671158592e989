/*
** Private to ext/sqlite: a hash table from SQL values to a few counts each.
**
** A key is any SQL value but NULL, compared as GROUP BY compares it with the BINARY collation
** (contract 11): 1 and 1.0 are one key, '1' is another, x'31' a third.  Rows enter and leave a
** window, so the counts of an entry may return to zero.  Such an entry is vacant: it is skipped,
** and removed once vacant entries are the majority.
*/
#ifndef EVALCI_KEYS_H
#define EVALCI_KEYS_H

#include "surface.h"

/* A key before it is stored; its bytes belong to the caller. */
typedef struct evalci_key {
  int type; /* SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT or SQLITE_BLOB */
  sqlite3_int64 integer;
  double real;
  const void *bytes;
  unsigned size;
} evalci_key;

/* An entry takes 16 bytes, 8 per count, and the bytes of its text or blob. */
typedef struct evalci_entry {
  union {
    sqlite3_int64 integer;
    double real;
    char *bytes; /* owned */
  } key;
  unsigned size; /* number of bytes */
  unsigned hash : 29, type : 3;
  sqlite3_int64 counts[]; /* as many as the table is wide */
} evalci_entry;

/* An empty table is zeroed except for its width.  Entries are in the order they came, with
** capacity at most 1.5 times their number; the slots hold their positions (open addressing, 4
** bytes each, at least 3/8 used). */
typedef struct evalci_keys {
  unsigned width; /* counts per entry */
  unsigned count, room, slot_count, vacant;
  char *entries;
  unsigned *slots; /* 0, or 1 + the index of an entry */
} evalci_keys;

/* Reads a key.  NULL has the type SQLITE_NULL and is not a key.  False only when memory is
** short. */
bool evalci_read_key(sqlite3_value *value, evalci_key *key);

/* Reads the cluster, item, task or label of a result, for which NULL is an error; false after
** leaving a message. */
bool evalci_read_name(evalci_call *call, const char *argument, sqlite3_value *value,
                      evalci_key *key);

/* The entry of a key, added if it is new; NULL when memory is short. */
evalci_entry *evalci_entry_of(evalci_keys *keys, const evalci_key *key);

/* Adds `times` times the counts to an entry.  After a negative `times` the entry may have been
** moved or removed. */
void evalci_add_to_entry(evalci_keys *keys, evalci_entry *e, const sqlite3_int64 *counts,
                         int times);

/* The number of entries that are not vacant; and the next of them after `e` (the first after
** NULL), or NULL after the last. */
unsigned evalci_count_entries(const evalci_keys *keys);
const evalci_entry *evalci_next_entry(const evalci_keys *keys, const evalci_entry *e);

/* Compares keys as ORDER BY does: numbers, text, blobs. */
int evalci_compare_keys(const evalci_entry *x, const evalci_entry *y);

/* All entries in that order, for which there is room; returns how many. */
size_t evalci_sort_entries(const evalci_keys *keys, const evalci_entry **entries);

/* Writes a key as JSON.  JSON has no blobs: they are written as text in SQL's notation, x'31'. */
void evalci_append_key(sqlite3_str *out, const evalci_entry *e);

/* Delivers a key as the SQL value it is. */
void evalci_result_key(sqlite3_context *context, const evalci_entry *e);

void evalci_free_keys(evalci_keys *keys);

/*
** pair_keys.c: two keys as one.
*/

/* The entry of two keys, added if it is new; NULL when memory is short. */
evalci_entry *evalci_pair_entry(evalci_keys *keys, const evalci_key *first,
                                const evalci_key *second);

/* The keys of such an entry, whose bytes are the entry's. */
evalci_key evalci_pair_first(const evalci_entry *e);
evalci_key evalci_pair_second(const evalci_entry *e);

bool evalci_same_key(const evalci_key *x, const evalci_key *y);

#endif
