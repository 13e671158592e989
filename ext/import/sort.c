/*
** Sorts rows by the bytes of their keys, in bounded memory.
**
** 1. Collect rows in one block of memory.  When it is full, sort them and write them to a
**    temporary file, as a run.
** 2. At the end merge the runs, each read through a buffer; or, if there are none, sort the
**    rows in memory and read them from there.
*/
#include <stdlib.h>
#include <string.h>

#include "inside.h"

enum { LEAST_MEMORY = 1 << 14, MEMORY = 12 << 20, RUN_BUFFER = 1 << 15 };

/* A row in memory is its two lengths, key and row. */
typedef struct lengths {
  uint32_t key, row;
} lengths;

typedef struct run {
  sqlite3_int64 at, end; /* unread bytes in the file */
  unsigned char *buffer;
  size_t used, filled, room;
} run;

struct import_sort {
  unsigned char *memory; /* grows to MEMORY */
  size_t used, room, count;
  unsigned char **rows; /* in memory, once they are sorted */
  size_t next;
  FILE *file;
  sqlite3_int64 written;
  run *runs;
  sqlite3_int64 *starts; /* of the runs; and their end */
  size_t run_count;
  size_t *heap; /* a heap of runs, the one with the least first row on top */
  size_t heap_count;
  bool advance; /* the row on top was read */
};

import_sort *import_sort_new(void) {
  import_sort *s = sqlite3_malloc64(sizeof *s);
  if (s) *s = (import_sort){0};
  return s;
}

static lengths lengths_of(const unsigned char *row) {
  lengths n;
  memcpy(&n, row, sizeof n);
  return n;
}

static int compare(const unsigned char *a, const unsigned char *b) {
  lengths m = lengths_of(a), n = lengths_of(b);
  int by_bytes = memcmp(a + sizeof m, b + sizeof n, m.key < n.key ? m.key : n.key);
  return by_bytes ? by_bytes : (m.key > n.key) - (m.key < n.key);
}

static int compare_rows(const void *a, const void *b) {
  return compare(*(unsigned char *const *)a, *(unsigned char *const *)b);
}

static size_t size_of(const unsigned char *row) {
  lengths n = lengths_of(row);
  return sizeof n + n.key + n.row;
}

static bool sort_rows(import_sort *s) {
  unsigned char **rows = sqlite3_realloc64(s->rows, (s->count + 1) * sizeof *rows), *at = s->memory;
  if (!rows) return false;
  s->rows = rows;
  for (size_t i = 0; i < s->count; i++, at += size_of(at)) rows[i] = at;
  qsort(rows, s->count, sizeof *rows, compare_rows);
  return true;
}

/* Writes the rows in memory as a run. */
static bool write_run(import_sort *s) {
  if (s->count == 0) return true;
  if (!s->file && !(s->file = import_file_temporary())) return false;
  sqlite3_int64 *starts = sqlite3_realloc64(s->starts, (s->run_count + 2) * sizeof *starts);
  if (!starts) return false;
  s->starts = starts;
  starts[s->run_count++] = s->written;
  if (!sort_rows(s)) return false;
  for (size_t i = 0; i < s->count; i++) {
    size_t size = size_of(s->rows[i]);
    if (fwrite(s->rows[i], 1, size, s->file) < size) return false;
    s->written += (sqlite3_int64)size;
  }
  starts[s->run_count] = s->written;
  s->count = s->used = 0;
  return true;
}

static bool make_room(import_sort *s, size_t size) {
  size_t room = s->room ? s->room : LEAST_MEMORY;
  while (room < s->used + size) room *= 2;
  if (room > MEMORY) room = MEMORY;
  if (room == s->room) return true;
  unsigned char *memory = sqlite3_realloc64(s->memory, room);
  if (!memory) return false;
  s->memory = memory;
  s->room = room;
  return true;
}

bool import_sort_add(import_sort *s, const void *key, size_t key_length, const void *row,
                     size_t row_length) {
  size_t size = sizeof(lengths) + key_length + row_length;
  if (size > MEMORY || (size > MEMORY - s->used && !write_run(s)) || !make_room(s, size))
    return false;
  unsigned char *at = s->memory + s->used;
  lengths n = {(uint32_t)key_length, (uint32_t)row_length};
  memcpy(at, &n, sizeof n);
  memcpy(at + sizeof n, key, key_length);
  memcpy(at + sizeof n + key_length, row, row_length);
  s->count++;
  s->used += size;
  return true;
}

/*
** Runs
*/

static const unsigned char *row_of(const run *r) {
  return r->buffer + r->used;
}

/* Makes sure that `size` bytes are in the buffer; false if they cannot be read. */
static bool fill_buffer(import_sort *s, run *r, size_t size) {
  size_t left = r->filled - r->used;
  if (left >= size) return true;
  if (size > r->room) {
    unsigned char *buffer = sqlite3_realloc64(r->buffer, size);
    if (!buffer) return false;
    r->buffer = buffer;
    r->room = size;
  }
  memmove(r->buffer, r->buffer + r->used, left);
  size_t want = r->room - left;
  if ((sqlite3_int64)want > r->end - r->at) want = (size_t)(r->end - r->at);
  if (!import_seek(s->file, r->at) || fread(r->buffer + left, 1, want, s->file) < want)
    return false;
  r->at += (sqlite3_int64)want;
  r->used = 0;
  r->filled = left + want;
  return r->filled >= size;
}

static bool is_empty(const run *r) {
  return r->used == r->filled && r->at == r->end;
}

static bool load_row(import_sort *s, run *r) {
  return fill_buffer(s, r, sizeof(lengths)) && fill_buffer(s, r, size_of(row_of(r)));
}

/* Sifts the number at `i` down the heap. */
static void sift_down(import_sort *s, size_t i) {
  for (size_t child; (child = 2 * i + 1) < s->heap_count; i = child) {
    if (child + 1 < s->heap_count &&
        compare(row_of(&s->runs[s->heap[child + 1]]), row_of(&s->runs[s->heap[child]])) < 0)
      child++;
    if (compare(row_of(&s->runs[s->heap[i]]), row_of(&s->runs[s->heap[child]])) <= 0) return;
    size_t other = s->heap[i];
    s->heap[i] = s->heap[child];
    s->heap[child] = other;
  }
}

static void free_runs(import_sort *s) {
  for (size_t i = 0; s->runs && i < s->run_count; i++) sqlite3_free(s->runs[i].buffer);
  sqlite3_free(s->runs);
  sqlite3_free(s->heap);
  s->runs = NULL;
  s->heap = NULL;
}

static bool start_runs(import_sort *s) {
  if (fflush(s->file) != 0) return false;
  s->runs = sqlite3_malloc64(s->run_count * sizeof *s->runs);
  s->heap = sqlite3_malloc64(s->run_count * sizeof *s->heap);
  if (!s->runs || !s->heap) return false;
  memset(s->runs, 0, s->run_count * sizeof *s->runs);
  for (size_t i = 0; i < s->run_count; i++) {
    s->runs[i] = (run){.at = s->starts[i],
                       .end = s->starts[i + 1],
                       .buffer = sqlite3_malloc64(RUN_BUFFER),
                       .room = RUN_BUFFER};
    s->heap[i] = i;
    if (!s->runs[i].buffer || !load_row(s, &s->runs[i])) return false;
  }
  s->heap_count = s->run_count;
  for (size_t i = s->heap_count; i-- > 0;) sift_down(s, i);
  return true;
}

/* Moves on from the row on top. */
static bool advance(import_sort *s) {
  run *top = &s->runs[s->heap[0]];
  top->used += size_of(row_of(top));
  if (is_empty(top))
    s->heap[0] = s->heap[--s->heap_count];
  else if (!load_row(s, top))
    return false;
  sift_down(s, 0);
  return true;
}

/*
** Reading
*/

bool import_sort_start(import_sort *s) {
  s->next = 0;
  s->advance = false;
  if (s->file && !write_run(s)) return false;
  if (s->file) {
    /* Ends the adding of rows. */
    sqlite3_free(s->memory);
    sqlite3_free(s->rows);
    s->memory = NULL;
    s->rows = NULL;
    free_runs(s);
    return start_runs(s);
  }
  return sort_rows(s);
}

int import_sort_next(import_sort *s, const unsigned char **key, size_t *key_length,
                     const unsigned char **row, size_t *row_length) {
  const unsigned char *at;
  if (s->file) {
    if (s->advance && !advance(s)) return -1;
    if (s->heap_count == 0) return 0;
    at = row_of(&s->runs[s->heap[0]]);
    s->advance = true;
  } else {
    if (s->next == s->count) return 0;
    at = s->rows[s->next++];
  }
  lengths n = lengths_of(at);
  *key = at + sizeof n;
  *key_length = n.key;
  *row = *key + n.key;
  *row_length = n.row;
  return 1;
}

void import_sort_free(import_sort *s) {
  if (!s) return;
  free_runs(s);
  if (s->file) fclose(s->file);
  sqlite3_free(s->starts);
  sqlite3_free(s->memory);
  sqlite3_free(s->rows);
  sqlite3_free(s);
}
