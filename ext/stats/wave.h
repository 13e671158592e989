/*
** The characteristic function of a Beta, E exp(izX) = 1F1(a; a+b; iz), in the three ways
** that together serve every shape and every z.  Used by ext/stats/macro.c.
*/
#ifndef EV_WAVE_H
#define EV_WAVE_H

#include <complex.h>

/* A word of the paired model too. */
#undef I
#include <stdbool.h>

enum {
  EV_WAVE_CUMULANTS = 36,
  EV_WAVE_TERMS = 60,    /* of a branch */
  EV_WAVE_MOMENTS = 1536 /* Chebyshev moments at most, which serve up to |z| = 2800 */
};

/* Near z = 0: ln E exp(izX) = sum of u[j] (iz)^(j+1) / (j+1).  Gives the |z| up to which the
** series has converged; those that are not needed up to `goal` are 0. */
double ev_wave_cumulants(double a, double b, double goal, double *u);

/* moments[k] = E T_k(2X-1) for `from` <= k < `to`, those before being there. */
void ev_wave_moments(double a, double b, int from, int to, double *moments);

/* How many moments serve up to |z|, and their weights at z: with those,
** E exp(iz(X-1/2)) is the sum over even k, and i times that over odd k, of weight times
** moment. */
int ev_wave_moments_for(double z);
void ev_wave_moment_weights(double z, int count, double *weights);

/* Far from z = 0: one branch for either end of [0,1], E exp(izX) = low(-iz) + e^iz high(iz),
**
**     branch(s) = scale Z^-shape (1 + sum of terms Z^-k),  Z = s + shift. */
typedef struct ev_wave_branch {
  double shape, shift, ln_scale;
  double terms[EV_WAVE_TERMS];
  int count;   /* of terms that are needed from where it was made for */
  bool absent; /* less than 1e-15 from where it was made for */
} ev_wave_branch;

/* Both branches of Beta(a, b), for use at Re z >= `from` and |Im z| <= Re z - from; false when
** they are not good enough there. */
bool ev_wave_branches_make(double a, double b, double from, ev_wave_branch *low,
                           ev_wave_branch *high);

/* How many terms of the series do at |Z|. */
int ev_wave_terms_at(const ev_wave_branch *branch, double distance);

#endif
