/*
** Names to numbers: a hash table with open addressing, its bytes in one block.
*/
#include <stdlib.h>
#include <string.h>

#include "inside.h"

bool board_grow(void *array, size_t *room, size_t want, size_t size) {
  void *old;
  if (want <= *room) return true;
  size_t to = *room + *room / 2;
  if (to < want) to = want;
  if (to < 16) to = 16;
  memcpy(&old, array, sizeof old);
  char *grown = to <= SIZE_MAX / size ? realloc(old, to * size) : NULL;
  if (!grown) return false;
  memset(grown + *room * size, 0, (to - *room) * size);
  memcpy(array, &grown, sizeof grown);
  *room = to;
  return true;
}

/* Eight bytes at a time, by the multipliers of MurmurHash3's finalizer. */
static uint32_t hash_name(board_name name, uint32_t owner) {
  const char *c = name.bytes;
  uint32_t left = name.size;
  uint64_t h = 0x9e3779b97f4a7c15u ^ ((uint64_t)owner << 8 | name.kind), word;
  for (; left >= 8; c += 8, left -= 8) {
    memcpy(&word, c, 8);
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  word = (uint64_t)left << 56;
  memcpy(&word, c, left);
  h = (h ^ word) * 0xff51afd7ed558ccdu;
  h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
  return (uint32_t)(h >> 32);
}

static bool is_name(const board_names *names, size_t number, board_name name, uint32_t owner) {
  const board_entry *e = &names->entries[number];
  return e->size == name.size && e->owner == owner && e->kind == (uint32_t)name.kind &&
         memcmp(names->bytes + e->at, name.bytes, name.size) == 0;
}

/* The slot of a name, or the free slot where it belongs; one slot is always free. */
static size_t slot_of_name(const board_names *names, board_name name, uint32_t owner,
                           uint32_t hash) {
  size_t at = hash & (names->slot_count - 1);
  for (; names->slots[at]; at = (at + 1) & (names->slot_count - 1)) {
    size_t number = names->slots[at] - 1;
    if (names->entries[number].hash == hash && is_name(names, number, name, owner)) break;
  }
  return at;
}

static bool more_slots(board_names *names) {
  size_t to = names->slot_count ? 2 * names->slot_count : 64;
  uint32_t *slots = calloc(to, sizeof *slots);
  if (!slots) return false;
  free(names->slots);
  names->slots = slots;
  names->slot_count = to;
  for (size_t i = 0; i < names->count; i++) {
    size_t at = names->entries[i].hash & (to - 1);
    while (slots[at]) at = (at + 1) & (to - 1);
    slots[at] = (uint32_t)i + 1;
  }
  return true;
}

bool board_name_number(board_names *names, board_name name, uint32_t owner, uint32_t near,
                       uint32_t *number) {
  for (uint32_t guess = near; guess < names->count && guess <= near + 1; guess++)
    if (is_name(names, guess, name, owner)) {
      *number = guess;
      return true;
    }
  if (4 * (names->count + 1) > 3 * names->slot_count && !more_slots(names)) return false;
  uint32_t hash = hash_name(name, owner);
  size_t at = slot_of_name(names, name, owner, hash);
  if (!names->slots[at]) {
    if (names->count == UINT32_MAX - 1 ||
        !board_grow(&names->entries, &names->room, names->count + 1, sizeof *names->entries) ||
        !board_grow(&names->bytes, &names->bytes_room, names->used + name.size + 1, 1))
      return false;
    memcpy(names->bytes + names->used, name.bytes, name.size);
    names->entries[names->count] =
        (board_entry){names->used, name.size, hash, owner, (uint32_t)name.kind};
    names->used += name.size;
    names->slots[at] = (uint32_t)++names->count;
  }
  *number = names->slots[at] - 1;
  return true;
}

size_t board_find_name(const board_names *names, board_name name, uint32_t owner) {
  if (!names->slot_count) return names->count;
  size_t at = slot_of_name(names, name, owner, hash_name(name, owner));
  return names->slots[at] ? names->slots[at] - 1 : names->count;
}

board_name board_name_at(const board_names *names, size_t number) {
  const board_entry *e = &names->entries[number];
  return (board_name){(board_kind)e->kind, e->size, names->bytes + e->at};
}

static bool is_numeric(board_name name) {
  return name.kind == BOARD_INTEGER || name.kind == BOARD_REAL;
}

/* Whole numbers are stored as integers, so a remaining double never equals one, rounded or not. */
static int compare_numeric(board_name x, board_name y) {
  int64_t i = 0, j = 0;
  double p = 0, q = 0;
  memcpy(x.kind == BOARD_INTEGER ? (void *)&i : (void *)&p, x.bytes, 8);
  memcpy(y.kind == BOARD_INTEGER ? (void *)&j : (void *)&q, y.bytes, 8);
  if (x.kind == BOARD_INTEGER && y.kind == BOARD_INTEGER) return (i > j) - (i < j);
  if (x.kind == BOARD_INTEGER) p = (double)i;
  if (y.kind == BOARD_INTEGER) q = (double)j;
  return (p > q) - (p < q);
}

int board_compare_names(board_name x, board_name y) {
  if (is_numeric(x) && is_numeric(y)) return compare_numeric(x, y);
  if (x.kind != y.kind) return x.kind < y.kind ? -1 : 1;
  int order = memcmp(x.bytes, y.bytes, x.size < y.size ? x.size : y.size);
  return order ? order : (x.size > y.size) - (x.size < y.size);
}

void board_free_names(board_names *names) {
  free(names->entries);
  free(names->bytes);
  free(names->slots);
}
