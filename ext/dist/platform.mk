# Builds the extension and the program evalci for one platform, and what tests them there.
# From the top of the project, called by `make dist`:
#
#   make -f ext/dist/platform.mk PLATFORM=linux-aarch64 library program
#   make -f ext/dist/platform.mk PLATFORM=linux-aarch64 test
#
# Every platform gets the same digits, because it computes with the same code: GSL from
# Debian's source, since Debian's own libgsl.a for arm64 has 5,087 fused multiply-adds, which
# round once less; and exp, log, pow and their kin from musl's libm, since no two C
# libraries agree on their last digit.  That also spares the file the newest symbols of
# glibc: hypot alone would ask for 2.35.

# wasm32 has objects and archives alone, which ext/page/page.mk links.
PLATFORMS := linux-x86_64 linux-aarch64 musl-x86_64 windows-x86_64 wasm32
$(if $(filter $(PLATFORM),$(PLATFORMS)),,$(error PLATFORM must be one of $(PLATFORMS)))

SOURCES ?= build/dist/sources
HERE    := build/dist/$(PLATFORM)
CPU     := $(lastword $(subst -, ,$(PLATFORM)))

CC_linux-x86_64   := gcc
CC_linux-aarch64  := aarch64-linux-gnu-gcc
CC_musl-x86_64    := musl-gcc
CC_windows-x86_64 := x86_64-w64-mingw32-gcc
CC_wasm32         := emcc
CC                := $(CC_$(PLATFORM))
AR                := $(if $(filter emcc,$(CC)),emar,ar)

# How a program of the platform is run on this machine; an ARM that authenticates
# pointers, by a hash that is cheap to emulate.
RUN_linux-x86_64   :=
RUN_linux-aarch64  := qemu-aarch64 -cpu max,pauth-impdef=on -L /usr/aarch64-linux-gnu
RUN_musl-x86_64    :=
RUN_windows-x86_64 := ext/dist/wine.sh
RUN                := $(RUN_$(PLATFORM))

# Hardened as far as the platform goes: musl has no fortified calls, and Windows
# randomises and protects pages by what the file's head says.
FORTIFY             := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
LINUX_LINK          := -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs,--gc-sections,--build-id=none \
                       -Wl,--version-script=ext/dist/exports.map
HARD_linux-x86_64   := -fPIC $(FORTIFY) -fcf-protection
HARD_linux-aarch64  := -fPIC $(FORTIFY) -mbranch-protection=standard
# musl's loader knows no function chosen when it is loaded, which ext/stats/lanes.h
# makes for glibc; the digits are the same without.
HARD_musl-x86_64    := -fPIC -fcf-protection -U__gnu_linux__
# mingw's own inline mathematics would take the place of musl's.
HARD_windows-x86_64 := $(FORTIFY) -D__CRT__NO_INLINE -D__USE_MINGW_ANSI_STDIO=1
# Built together with SQLite, not loaded by it.  The addresses that functions return to
# lie where no write reaches; emscripten's C library has no protector.
HARD_wasm32         := -fno-stack-protector -DSQLITE_CORE
LINK_linux-x86_64   := $(LINUX_LINK)
LINK_linux-aarch64  := $(LINUX_LINK)
LINK_musl-x86_64    := $(LINUX_LINK)
LINK_windows-x86_64 := -static -fstack-protector-strong -Wl,--dynamicbase,--nxcompat,--high-entropy-va,--gc-sections \
                       -Wl,--no-insert-timestamp
# The program has its C library inside: one that is linked against this machine's glibc
# asks for a glibc as new.
STATIC        := -Wl,-z,relro,-z,now,-z,noexecstack,--gc-sections,--build-id=none
# musl-gcc knows no -static-pie: what moves such a program to its address is musl's rcrt1.o.
STATIC_MUSL   := -static -nostartfiles -Wl,-pie,--no-dynamic-linker \
                 $(addprefix /usr/lib/x86_64-linux-musl/,rcrt1.o crti.o crtn.o)
LINK_PROGRAM  = $(if $(WINDOWS),$(LINK_windows-x86_64),$(STATIC) $(if $(filter musl%,$(PLATFORM)),$(STATIC_MUSL),-static-pie))

WINDOWS := $(filter windows%,$(PLATFORM))
LIBRARY := $(HERE)/evalci.$(if $(WINDOWS),dll,so)
EXE     := $(if $(WINDOWS),.exe)

# No path of this machine in the file, so that two directories give the same bytes.
COMMON := -O2 -ffp-contract=off -ffunction-sections -fdata-sections -ffile-prefix-map=$(CURDIR)/= \
          -fstack-protector-strong -fvisibility=hidden -DNDEBUG $(HARD_$(PLATFORM))
STRICT := -std=c11 -D_DEFAULT_SOURCE

# Whole parts of GSL, by its own lists, less what is for physics: the linker takes what
# is called.
PARTS   := specfunc cdf randist err sys complex integration
PHYSICS := airy% atanint% bessel% clausen% coulomb% coupling% debye% elljac% fermi% legendre% mathieu% synchrotron% \
           transport%
part     = $(filter %.c,$(shell sed -n 's/^libgsl$(1)_la_SOURCES = //p' $(SOURCES)/gsl/$(1)/Makefile.am))
GSL_C   := rng/inline.c rng/rng.c $(foreach p,$(PARTS),$(addprefix $(p)/,$(filter-out $(PHYSICS),$(call part,$(p)))))
GSL_O   := $(GSL_C:%.c=$(HERE)/gsl/%.o)

# Functions of <math.h> on doubles, with what they share.
MATH   := acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh erf exp exp2 expm1 fabs fmax fmin fmod frexp \
          hypot ldexp llround log log10 log1p log2 lround modf nextafter pow round rint floor ceil trunc scalbn \
          sin sincos sinh sqrt tan tanh \
          __cos __sin __tan __expo2 __rem_pio2 __rem_pio2_large __math_divzero __math_invalid __math_oflow \
          __math_uflow __math_xflow exp_data log_data log2_data pow_data sqrt_data
# Rounded once by its definition, so any that is right will do; mingw's is not.
MATH   += $(if $(WINDOWS),fma)
LIBM_O := $(MATH:%=$(HERE)/musl/%.o)

OURS_C := $(sort $(wildcard ext/stats/*.c ext/board/*.c ext/sqlite/*.c))
OURS_O := $(OURS_C:%.c=$(HERE)/%.o)

# The program evalci: the same, the SQL surface as a part of SQLite; what reads files, and
# what that needs: SQLite, zlib, and zstd's decoder.
PROGRAM   := $(HERE)/bin/evalci$(EXE)
READING_C := $(sort $(wildcard ext/import/*.c))
CORE_C    := $(sort $(wildcard ext/sqlite/*.c) $(READING_C) $(wildcard ext/cli/*.c))
PROGRAM_O := $(patsubst %.c,$(HERE)/%.o,$(sort $(wildcard ext/stats/*.c ext/board/*.c))) $(CORE_C:%.c=$(HERE)/core/%.o)
ZLIB_O    := $(addprefix $(HERE)/zlib/,adler32.o crc32.o inffast.o inflate.o inftrees.o zutil.o)
ZSTD_O    := $(addprefix $(HERE)/libzstd/lib/,$(addprefix common/,debug.o entropy_common.o error_private.o \
             fse_decompress.o xxhash.o zstd_common.o) $(addprefix decompress/,huf_decompress.o zstd_ddict.o \
             zstd_decompress.o zstd_decompress_block.o))
INSIDE    := -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_USE_URI=1 -DSQLITE_ENABLE_MATH_FUNCTIONS \
             -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB

# SQLite as Debian configures it, as far as the tests ask.
SQLITE := -O1 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB \
          -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_THREADSAFE=1

.PHONY: library program test sql digits
library: $(LIBRARY)
program: $(PROGRAM)

$(LIBRARY): $(OURS_O) $(HERE)/libgsl.a $(HERE)/libmath.a ext/dist/platform.mk ext/dist/exports.map
	$(CC) -shared -s -o $@ $(filter %.o %.a,$^) $(LINK_$(PLATFORM)) $(if $(EXE),,-lm)

$(PROGRAM): $(PROGRAM_O) $(HERE)/inside-sqlite3.o $(ZLIB_O) $(ZSTD_O) $(if $(WINDOWS),$(HERE)/manifest.o) \
            $(HERE)/libgsl.a $(HERE)/libmath.a ext/dist/platform.mk
	@mkdir -p $(@D)
	$(CC) -s -o $@ $(filter %.o %.a,$^) $(LINK_PROGRAM) $(if $(EXE),,-lm)

# Names beyond ASCII, which Windows else gives in a code page of the country.
$(HERE)/manifest.o: ext/dist/evalci.rc ext/dist/evalci.manifest
	x86_64-w64-mingw32-windres --include-dir ext/dist $< $@

include ext/import/views.mk
$(HERE)/core/ext/import/views.o: $(VIEWS)
$(HERE)/core/ext/%.o: ext/%.c $(wildcard ext/*.h ext/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(STRICT) $(COMMON) -DSQLITE_CORE -I$(SOURCES)/gsl/include -I$(SOURCES)/sqlite3 -I$(SOURCES)/zlib \
	  -I$(SOURCES)/libzstd/lib -c -o $@ $<

$(HERE)/inside-sqlite3.o: $(SOURCES)/sqlite3/sqlite3.c ext/dist/platform.mk
	@mkdir -p $(@D)
	@$(CC) -w $(COMMON) $(INSIDE) -c -o $@ $<

$(HERE)/zlib/%.o: $(SOURCES)/zlib/%.c
	@mkdir -p $(@D)
	@$(CC) -w $(COMMON) -DHAVE_UNISTD_H -c -o $@ $<

# Its faster decoder in assembler gives the same bytes.
$(HERE)/libzstd/%.o: $(SOURCES)/libzstd/%.c
	@mkdir -p $(@D)
	@$(CC) -w $(COMMON) -DZSTD_DISABLE_ASM -c -o $@ $<

$(HERE)/libgsl.a: $(GSL_O)
	@rm -f $@
	$(AR) qcD $@ $^
$(HERE)/libmath.a: $(LIBM_O)
	@rm -f $@
	$(AR) qcD $@ $^

# The headers of SQLite from its source, for all platforms one.
$(HERE)/ext/%.o: ext/%.c $(wildcard ext/*.h ext/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(STRICT) $(COMMON) -I$(SOURCES)/gsl/include -I$(SOURCES)/sqlite3 -c -o $@ $<

$(HERE)/gsl/%.o: $(SOURCES)/gsl/%.c
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 -w $(COMMON) -Iext/dist/config -I$(<D) -I$(SOURCES)/gsl -I$(SOURCES)/gsl/include \
	  -c -o $@ $<

# musl has no wasm32: of its own processors, arm has the same integers.
ARCH := $(SOURCES)/musl/arch/$(CPU:wasm32=arm)

# With musl's own headers; its 64-bit integer is a long, which on Windows has 32.
$(HERE)/musl/bits/alltypes.h: $(SOURCES)/musl/include/alltypes.h.in
	@mkdir -p $(@D)
	@cat $(ARCH)/bits/alltypes.h.in $< | sed -f $(SOURCES)/musl/tools/mkalltypes.sed | \
	  sed 's/^\(#define _\(Int64\|Addr\|Reg\)\) long$$/\1 long long/' >$@

# log and pow have another arithmetic, with other digits, for a processor that multiplies
# and adds at once, such as ARM's.
$(HERE)/musl/%.o: $(SOURCES)/musl/src/math/%.c $(HERE)/musl/bits/alltypes.h
	@$(CC) -std=c99 -w $(COMMON) -U__FP_FAST_FMA -nostdinc -ffreestanding -fexcess-precision=standard -frounding-math \
	  -I$(ARCH) -I$(SOURCES)/musl/arch/generic -I$(HERE)/musl -I$(SOURCES)/musl/src/include \
	  -I$(SOURCES)/musl/src/internal -I$(SOURCES)/musl/include -c -o $@ $<

# What tests it there: the library itself, loaded as a user's host loads it.
TESTED := -g -O1 -I$(SOURCES)/sqlite3 -I$(HERE)/include
LOADER := $(if $(EXE),-static,$(if $(filter musl%,$(PLATFORM)),,-ldl -lpthread))
$(HERE)/sqlite3.o: $(SOURCES)/sqlite3/sqlite3.c
	@mkdir -p $(@D)
	$(CC) -w $(SQLITE) -c -o $@ $<

MD5 := $(HERE)/md5.o $(HERE)/md5hl.o
$(MD5): $(HERE)/%.o: $(SOURCES)/libmd/src/%.c
	@mkdir -p $(HERE)/include && cp $(SOURCES)/libmd/include/md5.h $(HERE)/include/
	$(CC) -w -std=gnu11 -Iext/dist/config -I$(HERE)/include -c -o $@ $<

$(HERE)/sqllogictest$(EXE): tests/sql/sqllogictest.c $(HERE)/sqlite3.o $(MD5)
	$(CC) $(STRICT) $(TESTED) -o $@ $^ -lm $(LOADER)

$(HERE)/references$(EXE): tests/numeric/references.c $(HERE)/sqlite3.o
	$(CC) $(STRICT) $(TESTED) -o $@ $^ -lm $(LOADER)

# The references print every digit as well, which tests/packages/dist.py compares.  Two
# at once on two processors, but for a Windows, which the first call makes.
test: digits sql
sql: $(HERE)/sqllogictest$(EXE) $(LIBRARY)
	$(RUN) $< --load $(HERE)/evalci $(sort $(wildcard tests/sql/*.test)) >$(HERE)/sql.txt
digits: $(HERE)/references$(EXE) $(LIBRARY) $(if $(WINDOWS),sql)
	$(RUN) $< --load $(HERE)/evalci --digits $(sort $(wildcard tests/numeric/reference/*.csv)) >$(HERE)/digits.txt
