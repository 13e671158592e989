/*
** A hash table of different scores, and how often each came: scores.h.
*/
#include "scores.h"

#include <math.h>
#include <string.h>

/* The slot that holds a score, or the free slot where it belongs. */
static unsigned slot_of(const ev_score *slots, unsigned capacity, double score) {
  sqlite3_uint64 bits;
  memcpy(&bits, &score, sizeof bits);
  bits = (bits ^ bits >> 31) * 0x7fb5d329728ea185u;
  bits = (bits ^ bits >> 27) * 0x81dadef4bc2dd44du;
  unsigned at = (unsigned)((bits >> 32) * capacity >> 32);
  while (!isnan(slots[at].score) && slots[at].score != score) at = at + 1 < capacity ? at + 1 : 0;
  return at;
}

/* Moves the scores that are not vacant into a table of this many slots. */
static bool rehash_scores(evalci_scores *scores, unsigned capacity) {
  ev_score *slots = sqlite3_malloc64((sqlite3_uint64)capacity * sizeof *slots);
  if (!slots) return false;
  for (unsigned i = 0; i < capacity; i++) slots[i] = (ev_score){NAN, 0};
  for (unsigned i = 0; i < scores->capacity; i++) {
    const ev_score *s = &scores->slots[i];
    if (s->times > 0) slots[slot_of(slots, capacity, s->score)] = *s;
  }
  sqlite3_free(scores->slots);
  scores->slots = slots;
  scores->capacity = capacity;
  scores->used -= scores->vacant;
  scores->vacant = 0;
  return true;
}

/* Makes room for one more: by dropping vacant scores when they are the majority, as happens in a
** window over ever new scores, or by growing by half. */
static bool make_room(evalci_scores *scores) {
  if (scores->used < scores->capacity / 5 * 4) return true;
  if (scores->vacant > scores->used / 2) return rehash_scores(scores, scores->capacity);
  if (scores->capacity > 1u << 31) return false;
  return rehash_scores(scores, scores->capacity < 20 ? 20 : scores->capacity / 2 * 3);
}

bool evalci_add_score(evalci_scores *scores, double score, double times) {
  if (times == 0) return true;
  score += 0.0; /* -0.0 is 0.0 */
  if (!make_room(scores)) return false;
  ev_score *s = &scores->slots[slot_of(scores->slots, scores->capacity, score)];
  if (isnan(s->score)) {
    s->score = score;
    scores->used++;
    scores->vacant++;
  }
  if (s->times == 0) scores->vacant--;
  s->times += times;
  if (s->times == 0) scores->vacant++;
  scores->total += times;
  return true;
}

ev_score *evalci_list_scores(const evalci_scores *scores, size_t *count) {
  ev_score *list = sqlite3_malloc64((scores->used + 1) * sizeof *list);
  *count = 0;
  for (unsigned i = 0; list && i < scores->capacity; i++)
    if (scores->slots[i].times > 0) list[(*count)++] = scores->slots[i];
  return list;
}

void evalci_free_scores(evalci_scores *scores) {
  sqlite3_free(scores->slots);
  *scores = (evalci_scores){0};
}
