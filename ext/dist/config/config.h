/*
** The results of GSL's configure, which are the same on all platforms of platform.mk: each has
** C11's library and IEEE arithmetic in registers as wide as a double.
*/
#ifndef EV_DIST_CONFIG_H
#define EV_DIST_CONFIG_H

#define HAVE_DECL_ACOSH 1
#define HAVE_DECL_ASINH 1
#define HAVE_DECL_ATANH 1
#define HAVE_DECL_EXPM1 1
#define HAVE_DECL_FREXP 1
#define HAVE_DECL_HYPOT 1
#define HAVE_DECL_ISFINITE 1
#define HAVE_DECL_ISINF 1
#define HAVE_DECL_ISNAN 1
#define HAVE_DECL_LDEXP 1
#define HAVE_DECL_LOG1P 1
#define HAVE_IEEE_COMPARISONS 1
#define HAVE_IEEE_DENORMALS 1
#define HAVE_UNISTD_H 1
#define GSL_COERCE_DBL(x) (x)
#define GSL_RANGE_CHECK 0
#define RETURN_IF_NULL(x)                                                                          \
  if (!x) {                                                                                        \
    return;                                                                                        \
  }
#define DISCARD_POINTER(p)

#endif
