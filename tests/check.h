/*
** Counting checks, for the C tests.
*/
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdio.h>

static int passed, failed;

static inline void check(bool ok, const char *what, double got, double wanted) {
  if (ok) {
    passed++;
  } else {
    failed++;
    printf("FAILED %s: got %.17g, wanted %.17g\n", what, got, wanted);
  }
}

/* The closing line, and the exit status: having checked nothing is no success. */
static inline int check_summary(void) {
  printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed;
}

#endif
