/*
** Clustered questions in SQL: clustered_ci(y, cluster [, level]) over rows of
** results, clustered_ci_counts(k, n [, level]) over one row a cluster, and the
** same with clt for comparison.
**
** Both keep a hash table: of clusters by their key, with k and n; or of pairs
** (k, n), with how many clusters have them.  Rows come and go in a window, so an
** entry may fall to nothing, and is then passed over.  A key is any SQL value,
** and is compared as GROUP BY compares it: 1 and 1.0 are one key, '1' is
** another, x'31' a third.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "surface.h"

/*
** The hash table: entries in the order they came, and slots with their places,
** open addressing.  At most 32 bytes an entry times the slack of 1.5, and 4
** bytes a slot, at least 3/8 of which are used; text and blobs beside them.
*/
typedef struct entry {
  sqlite3_int64 first, second; /* k and n of a cluster; or how many have a pair, and 0 */
  union {
    sqlite3_int64 integer;
    double real;
    char *bytes; /* of text, blob or pair, owned */
  } key;
  unsigned size;                /* of the bytes */
  unsigned hash : 29, type : 3; /* SQLITE_INTEGER and so on */
} entry;

typedef struct clusters {
  entry *entries;
  unsigned *slots; /* 0, or 1 + the place of an entry */
  unsigned count, room, slot_count;
  unsigned dead;      /* entries that have fallen to nothing */
  bool failed;        /* a row was refused: there is nothing to answer */
  sqlite3_int64 rows; /* in the group or frame */
  ev_options options;
} clusters;

/* A key on its way in. */
typedef struct key {
  int type;
  sqlite3_int64 integer;
  double real;
  const void *bytes;
  unsigned size;
} key;

static unsigned hash_bytes(const void *bytes, size_t size) {
  const unsigned char *c = bytes;
  sqlite3_uint64 h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++) h = (h ^ c[i]) * 0x100000001b3u;
  return (unsigned)(h ^ h >> 32);
}

static unsigned hash_integer(sqlite3_uint64 x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
  return (unsigned)(x ^ x >> 33);
}

/* 29 bits, as an entry keeps them. */
static unsigned hash_key(const key *k) {
  unsigned hash = k->type == SQLITE_INTEGER ? hash_integer((sqlite3_uint64)k->integer)
                  : k->type == SQLITE_FLOAT ? hash_bytes(&k->real, sizeof k->real)
                                            : hash_bytes(k->bytes, k->size);
  return hash >> 3;
}

static bool same_key(const entry *e, const key *k, unsigned hash) {
  if (e->hash != hash || (int)e->type != k->type) return false;
  if (k->type == SQLITE_INTEGER) return e->key.integer == k->integer;
  if (k->type == SQLITE_FLOAT) return e->key.real == k->real;
  return e->size == k->size && memcmp(e->key.bytes, k->bytes, k->size) == 0;
}

/* Puts the place of every entry into its slot. */
static void fill_slots(clusters *c) {
  memset(c->slots, 0, c->slot_count * sizeof *c->slots);
  for (unsigned i = 0; i < c->count; i++) {
    unsigned at = c->entries[i].hash & (c->slot_count - 1);
    while (c->slots[at]) at = (at + 1) & (c->slot_count - 1);
    c->slots[at] = i + 1;
  }
}

static bool grow(clusters *c) {
  unsigned room = c->room < 16 ? 16 : c->room + c->room / 2, slot_count = c->slot_count;
  while (room > slot_count / 4 * 3) slot_count = slot_count ? 2 * slot_count : 32;
  entry *entries = sqlite3_realloc64(c->entries, (sqlite3_uint64)room * sizeof *entries);
  if (!entries) return false;
  c->entries = entries;
  if (slot_count > c->slot_count) {
    unsigned *slots = sqlite3_realloc64(c->slots, (sqlite3_uint64)slot_count * sizeof *slots);
    if (!slots) return false;
    c->slots = slots;
    c->slot_count = slot_count;
    fill_slots(c);
  }
  c->room = room;
  return true;
}

static bool owns_bytes(const entry *e) {
  return e->type == SQLITE_TEXT || e->type == SQLITE_BLOB;
}

static bool is_dead(const entry *e) {
  return e->first == 0 && e->second == 0;
}

/* Drops the dead when they are the most, as they come to be in a window over
** ever new clusters. */
static void sweep(clusters *c) {
  if (c->dead < 32 || c->dead < c->count / 2) return;
  unsigned kept = 0;
  for (unsigned i = 0; i < c->count; i++) {
    entry *e = &c->entries[i];
    if (!is_dead(e))
      c->entries[kept++] = *e;
    else if (owns_bytes(e))
      sqlite3_free(e->key.bytes);
  }
  c->count = kept;
  c->dead = 0;
  fill_slots(c);
}

/* Adds to an entry, which may die or come back to life. */
static void add_to(clusters *c, entry *e, int first, int second) {
  bool was_dead = is_dead(e);
  e->first += first;
  e->second += second;
  if (is_dead(e)) c->dead++;
  if (was_dead) c->dead--;
}

/* The entry of a key, made if it is new; NULL when memory is short. */
static entry *entry_of(clusters *c, const key *k) {
  unsigned hash = hash_key(k), at = 0;
  if (c->slot_count) {
    for (at = hash & (c->slot_count - 1); c->slots[at]; at = (at + 1) & (c->slot_count - 1)) {
      entry *e = &c->entries[c->slots[at] - 1];
      if (same_key(e, k, hash)) return e;
    }
  }
  if (c->count == c->room) {
    if (!grow(c)) return NULL;
    at = hash & (c->slot_count - 1);
    while (c->slots[at]) at = (at + 1) & (c->slot_count - 1);
  }
  entry e = {.hash = hash & 0x1fffffff, .type = (unsigned)k->type & 7, .size = k->size};
  if (k->type == SQLITE_INTEGER) {
    e.key.integer = k->integer;
  } else if (k->type == SQLITE_FLOAT) {
    e.key.real = k->real;
  } else {
    e.key.bytes = sqlite3_malloc64((sqlite3_uint64)k->size + 1);
    if (!e.key.bytes) return NULL;
    memcpy(e.key.bytes, k->bytes, k->size);
  }
  c->slots[at] = c->count + 1;
  c->entries[c->count] = e;
  c->dead++; /* until something is added to it */
  return &c->entries[c->count++];
}

static void free_clusters(clusters *c) {
  for (unsigned i = 0; i < c->count; i++)
    if (owns_bytes(&c->entries[i])) sqlite3_free(c->entries[i].key.bytes);
  sqlite3_free(c->entries);
  sqlite3_free(c->slots);
  *c = (clusters){0};
}

/* A whole REAL is the INTEGER it equals, as in GROUP BY.  False only when the
** text could not be had for want of memory. */
static bool read_key(sqlite3_value *value, key *k) {
  *k = (key){.type = sqlite3_value_type(value)};
  if (k->type == SQLITE_INTEGER) {
    k->integer = sqlite3_value_int64(value);
  } else if (k->type == SQLITE_FLOAT) {
    k->real = sqlite3_value_double(value);
    static const double end = 9223372036854775808.0; /* 2^63 */
    if (k->real != floor(k->real) || k->real < -end || k->real >= end) return true;
    k->type = SQLITE_INTEGER;
    k->integer = (sqlite3_int64)k->real;
  } else if (k->type != SQLITE_NULL) {
    bool text = k->type == SQLITE_TEXT;
    k->bytes = text ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    k->size = (unsigned)sqlite3_value_bytes(value);
    if (!k->bytes && (text || k->size)) return false;
    if (!k->bytes) k->bytes = "";
  }
  return true;
}

/*
** Steps
*/
/* Over results and keys; else over k and n. */
static bool is_over_rows(const evalci_function *f) {
  return !f->shape;
}

/* Adds a result to its cluster `times`, 1 or -1. */
static bool add_result(evalci_call *call, clusters *c, sqlite3_value **argv, int times) {
  int y = evalci_read_result(argv[0]);
  key k;
  if (y == EVALCI_BAD_RESULT) return evalci_fail_result(call, argv[0]);
  if (y == EVALCI_NO_RESULT) return true;
  if (!read_key(argv[1], &k)) return false;
  if (k.type == SQLITE_NULL)
    return evalci_fail(call, "the cluster of a result must not be NULL; name it, or leave the row "
                             "out with WHERE cluster IS NOT NULL");
  entry *e = entry_of(c, &k);
  if (!e) return false;
  add_to(c, e, y * times, times);
  return true;
}

/* Adds one cluster's counts `times`.  NULL counts are skipped, and so is a
** cluster without questions. */
static bool add_cluster(evalci_call *call, clusters *c, sqlite3_value **argv, int times) {
  double counts[2];
  if (evalci_any_null(2, argv)) return true;
  if (!evalci_read_counts(call, &evalci_k_n, argv, counts)) return false;
  if (counts[1] == 0) return true;
  key k = {.type = SQLITE_BLOB, .bytes = counts, .size = sizeof counts};
  entry *e = entry_of(c, &k);
  if (!e) return false;
  add_to(c, e, times, 0);
  return true;
}

static void step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = evalci_function_of(context);
  clusters *c = sqlite3_aggregate_context(context, sizeof *c);
  evalci_call call = {f->name, NULL};
  bool done = false;
  if (c)
    done = ((c->rows > 0 && argc == 2) ||
            evalci_same_options(&call, argc - 2, argv + 2, c->rows == 0, &c->options)) &&
           (is_over_rows(f) ? add_result : add_cluster)(&call, c, argv, 1);
  if (done) {
    c->rows++;
  } else {
    if (c) c->failed = true;
    evalci_report(context, &call);
  }
}

/* The row leaving the frame was checked when it came, and its entry is there. */
static void inverse(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  const evalci_function *f = evalci_function_of(context);
  clusters *c = sqlite3_aggregate_context(context, sizeof *c);
  evalci_call call = {f->name, NULL};
  if (c && (is_over_rows(f) ? add_result : add_cluster)(&call, c, argv, -1)) {
    c->rows--;
    sweep(c);
  } else {
    evalci_report(context, &call);
  }
}

/* Hosts can tell from 3.41 on, and the headers need not be theirs: the table of
** routines only ever grows, and that of 3.40 ends just before this one. */
static bool interrupted(void *context) {
  if (sqlite3_libversion_number() < 3041000) return false;
#if SQLITE_VERSION_NUMBER >= 3041000
  return sqlite3_is_interrupted(sqlite3_context_db_handle(context));
#elif SQLITE_VERSION_NUMBER >= 3040000 && !defined SQLITE_CORE
  int (*is_interrupted)(sqlite3 *);
  memcpy(&is_interrupted, sqlite3_api + 1, sizeof is_interrupted);
  return is_interrupted(sqlite3_context_db_handle(context));
#else
  (void)context;
  return false;
#endif
}

static int by_counts(const void *a, const void *b) {
  const ev_cluster *x = a, *y = b;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return (x->k > y->k) - (x->k < y->k);
}

/* The table as the models take it: entries that have fallen to nothing are left
** out, and the rest put in one order, whatever order the rows came in, so that
** sums round alike. */
static size_t list(const clusters *c, bool rows, ev_cluster *out) {
  size_t count = 0;
  for (unsigned i = 0; i < c->count; i++) {
    const entry *e = &c->entries[i];
    double pair[2] = {(double)e->first, (double)e->second};
    if (!rows) memcpy(pair, e->key.bytes, sizeof pair);
    if (!is_dead(e)) out[count++] = (ev_cluster){pair[0], pair[1], rows ? 1 : (double)e->first};
  }
  qsort(out, count, sizeof *out, by_counts);
  return count;
}

static void value(sqlite3_context *context) {
  const evalci_function *f = evalci_function_of(context);
  const clusters *c = sqlite3_aggregate_context(context, 0);
  if (!c || c->failed || c->count == c->dead) return;
  ev_cluster *listed = sqlite3_malloc64((sqlite3_uint64)c->count * sizeof *listed);
  if (!listed) {
    sqlite3_result_error_nomem(context);
    return;
  }
  ev_interval ci;
  evalci_call call = {f->name, NULL};
  ev_status status = f->clustered(listed, list(c, is_over_rows(f), listed), &c->options,
                                  (ev_host){interrupted, context}, &ci);
  sqlite3_free(listed);
  switch (status) {
  case EV_DONE:
    evalci_result_interval(context, ci);
    break;
  case EV_STOPPED:
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    break;
  case EV_TOO_LARGE:
    evalci_fail(&call, "these clusters hold more questions than double precision can weigh; "
                       "pass fewer, or scale k and n down");
    evalci_report(context, &call);
    break;
  case EV_NO_MEMORY:
    sqlite3_result_error_nomem(context);
  }
}

static void final(sqlite3_context *context) {
  clusters *c = sqlite3_aggregate_context(context, 0);
  if (!c) return;
  value(context);
  free_clusters(c);
}

const evalci_kind evalci_over_clusters = {
    .step = step, .final = final, .value = value, .inverse = inverse};
