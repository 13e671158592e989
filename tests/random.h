/*
** Random numbers for the C tests, the same on every machine: splitmix64.
*/
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>
#include <stdio.h>

static uint64_t random_state;

/* Begins anew, and prints the seed. */
static inline void random_seed(uint64_t seed) {
  random_state = seed;
  printf("seed %llu\n", (unsigned long long)seed);
}

static inline uint64_t random_bits(void) {
  uint64_t z = random_state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Uniform, at least 0 and below 1. */
static inline double random_share(void) {
  return (double)(random_bits() >> 11) * 0x1p-53;
}

#endif
