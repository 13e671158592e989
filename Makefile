# evalci: error bars for LLM evals, inside SQL.  README.md says how to use it.
#
#   make            build the extension          make demo       see it work
#   make test       run every test               make bench      measure its speed
#   make install    into PREFIX                  make dist       a tarball
#   make coverage   the paper's claims, redone   make reference  numeric references
#   make report DB=evals.db OUT=report.html          a page to read and to send
#   make test-report    that page in Chromium    make test-clients   every client, for real
#   make test-pushdown  count in PostgreSQL and DuckDB, finish in SQLite
#   make test-promptfoo an adapter on promptfoo's own database; 1.4 GB from npm
#   make fuzz       for FUZZ_SECONDS             make stress     longer runs of its kin
#   make valgrind   the tests under valgrind     make differential  against scipy
#   make lint       make format                  make clean
#
# All but install, dist and clean install the Debian packages they lack.

VERSION  := $(shell sed -n 's/^.define EVALCI_VERSION "\(.*\)"/\1/p' ext/evalci.h)
PREFIX   ?= /usr/local
CFLAGS   ?= -O2 -g
PYTHON   := /usr/bin/python3
comma    := ,
DARWIN   := $(filter Darwin,$(shell uname))
SO       := build/evalci.$(if $(DARWIN),dylib,so)
SOURCES  := $(wildcard ext/*/*.c)
STATS    := $(wildcard ext/stats/*.c)
HEADERS  := $(wildcard ext/*.h ext/*/*.h tests/*.h)
FUZZERS  := $(wildcard tests/fuzz/*.c)
OURS     := $(HEADERS) $(SOURCES) $(wildcard tests/*.c tests/fuzz/*.h) $(FUZZERS)
SUITES   := $(wildcard tests/sql/*.test)

# Nothing fused, so that every processor gives the same digits: ext/stats/lanes.h.
WARN     := -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion
HARDEN   := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
SANITIZE := -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
# Of the fuzz targets: ext/stats tells what it covers, but is not searched for what
# its comparisons want, which costs most of the time there.
FUZZ     := -g -O2 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_SECONDS ?= 60
VALGRIND := valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=all --show-leak-kinds=all
# Allocations of ext/stats and GSL that tests/oom.c may refuse.
FAULTY   := $(foreach f,malloc calloc realloc free,-Wl$(comma)--wrap=$(f))
COMPILE   = $(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) $(HARDEN) -MMD -MP

# One exported symbol.  GSL comes from its static library, so that its global
# error handler is a private copy; looked up late, because it may be installed
# by the very make that links it.
HIDE     := $(if $(DARWIN),-Wl$(comma)-exported_symbol$(comma)_sqlite3_evalci_init,-Wl,--exclude-libs,ALL -Wl,-z,relro,-z,now)
GSL       = $(shell for a in "$$($(CC) -print-file-name=libgsl.a)" "$$(gsl-config --prefix 2>&-)/lib/libgsl.a"; do test -f "$$a" && echo "$$a" && exit; done; echo -lgsl -lgslcblas)

# What each of the self-installing targets needs, as Debian names it.
BUILD_NEEDS     := libc6-dev libgsl-dev libsqlite3-dev
DEMO_NEEDS      := $(BUILD_NEEDS) sqlite3
TEST_NEEDS      := $(DEMO_NEEDS) libmd-dev binutils python3 python3-yaml locales valgrind
# Node and Java only where the machine has none: those in use need not be Debian's.
CLIENT_NEEDS     = $(DEMO_NEEDS) python3 sqlite-utils libsqliteodbc unixodbc libxerial-sqlite-jdbc-java r-cran-rsqlite g++ \
                   $(if $(shell command -v npm),,nodejs npm libnode-dev) $(if $(shell command -v javac),,default-jdk-headless)
VALGRIND_NEEDS  := $(BUILD_NEEDS) libmd-dev valgrind
FUZZ_NEEDS      := $(BUILD_NEEDS) clang libclang-rt-dev
DIFFER_NEEDS    := $(DEMO_NEEDS) python3-scipy python3-mpmath
LINT_NEEDS      := $(BUILD_NEEDS) libmd-dev clang clang-format cppcheck
REFERENCE_NEEDS := python3-mpmath python3-scipy python3-statsmodels
BENCH_NEEDS     := $(DEMO_NEEDS) python3-scipy python3-statsmodels python3-pandas
# Node is often there from elsewhere, and then Debian's would only be in the way.
PUSHDOWN_NEEDS  := $(DEMO_NEEDS) python3 postgresql $(if $(shell command -v npm),,nodejs npm)

# DuckDB, which Debian has not, from npm.
DUCKDB_API      := @duckdb/node-api@1.5.6-r.1
DUCKDB          := build/$(notdir $(DUCKDB_API))

# $(call need,PACKAGES): install those that are missing, and say so.
need = @missing=; for p in $(1); do dpkg-query -W -f '$${Status}' $$p 2>&- | grep -q 'ok installed' || missing="$$missing $$p"; done; \
  if [ -z "$$missing" ]; then exit 0; fi; \
  if ! command -v apt-get >/dev/null; then echo "this is not a Debian machine; if what follows fails, install the like of:$$missing"; exit 0; fi; \
  sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; echo "installing:$$missing"; \
  $$sudo apt-get -qq update >/dev/null && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing >/dev/null

.PHONY: all demo report test test-report test-clients test-pushdown test-promptfoo fuzz stress valgrind differential bench coverage install dist lint format reference clean

all: $(SO)

$(SO): $(SOURCES:%.c=build/%.o)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -o $@ $^ $(HIDE) $(GSL) -lm
	@$(if $(filter -lgsl,$(GSL)),echo "note: no static libgsl.a here; $@ needs the shared GSL at run time and switches its error handler off for the whole process",:)

build/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) -fPIC -fvisibility=hidden -c -o $@ $<

build/sqllogictest: tests/sqllogictest.c
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $< -lsqlite3 -lmd -lm

build/numeric build/models build/properties: build/%: tests/%.c $(STATS) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CFLAGS) -o $@ $(filter %.c,$^) $(GSL) -lm

# The SQLITE_CORE way: evalci built into the program.
build/oom: tests/oom.c $(SOURCES) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CFLAGS) -DSQLITE_CORE $(FAULTY) -o $@ $(filter %.c,$^) $(GSL) -lsqlite3 -lm

build/threads: tests/threads.c $(SOURCES) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(WARN) -g -O2 -fsanitize=thread -DSQLITE_CORE -o $@ $(filter %.c,$^) $(GSL) -lsqlite3 -lm -lpthread

# The fuzz targets: searching, by clang; and as a program that runs what was found.
build/fuzz/%.o: %.c $(HEADERS)
	@mkdir -p $(@D)
	clang $(WARN) $(FUZZ) -fsanitize-coverage=inline-8bit-counters,pc-table -c -o $@ $<

$(FUZZERS:tests/fuzz/%.c=build/fuzz/%): build/fuzz/%: tests/fuzz/%.c tests/fuzz/fuzz.h $(SOURCES) $(HEADERS) $(STATS:%.c=build/fuzz/%.o)
	@mkdir -p $(@D)
	clang $(WARN) $(FUZZ) -fsanitize=fuzzer -DSQLITE_CORE -o $@ $< $(wildcard ext/sqlite/*.c) $(filter %.o,$^) $(GSL) -lsqlite3 -lm

build/fuzz/replay-%: tests/fuzz/%.c tests/fuzz/fuzz.h $(SOURCES) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CFLAGS) -DSQLITE_CORE -DREPLAY -o $@ $(filter %.c,$^) $(GSL) -lsqlite3 -lm

# With sanitizers.
build/sanitized/oom: tests/oom.c $(SOURCES) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(WARN) $(SANITIZE) -DSQLITE_CORE $(FAULTY) -o $@ $(filter %.c,$^) $(GSL) -lsqlite3 -lm

build/sanitized/sqllogictest: tests/sqllogictest.c $(SOURCES) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(WARN) $(SANITIZE) -DSQLITE_CORE -o $@ $(filter %.c,$^) $(GSL) -lsqlite3 -lmd -lm

build/sanitized/%: tests/%.c $(STATS) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(WARN) $(SANITIZE) -o $@ $(filter %.c,$^) $(GSL) -lm

-include $(wildcard build/*.d build/*/*/*.d)

demo:
	$(call need,$(DEMO_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	@rm -f build/demo.db
	@sqlite3 build/demo.db '.load build/evalci' '.echo on' '.read sql/demo.sql'
	@echo 'Go on: sqlite3 build/demo.db ".load build/evalci"'

# Names may hold anything, so the shell reads them from its environment.
report: export EVALS := $(value DB)
report: export PAGE := $(value OUT)
report:
	$(call need,$(DEMO_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	@say() { echo "make report: $$1; as in make report DB=evals.db OUT=report.html" >&2; exit 1; }; \
	case $$EVALS in /*) ;; *) EVALS=./$$EVALS ;; esac; case $$PAGE in /* | '') ;; *) PAGE=./$$PAGE ;; esac; \
	test -f "$$EVALS" || say "there is no database '$$EVALS'"; \
	test -n "$$PAGE" && ! test -d "$$PAGE" || say "OUT must name a file, not '$$PAGE'"; \
	! test "$$EVALS" -ef "$$PAGE" || say "the page would replace the database"; \
	sqlite3 -bail "$$EVALS" '.load build/evalci' '.read sql/report.sql' > "$$PAGE.part" || { rm -f "$$PAGE.part"; exit 1; }; \
	mv "$$PAGE.part" "$$PAGE" && echo "wrote $$PAGE"

test:
	$(call need,$(TEST_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO) build/sqllogictest build/threads build/fuzz/replay-sql build/fuzz/replay-interval \
	  $(foreach t,numeric models properties oom,build/$(t) build/sanitized/$(t)) build/sanitized/sqllogictest
	@PYTHON=$(PYTHON) SO=$(SO) tests/run $(SUITES)

test-report:
	$(call need,$(DEMO_NEEDS) python3 chromium fonts-dejavu-core)
	@$(MAKE) -s --no-print-directory $(SO)
	@$(PYTHON) tests/report.py $(SO)

# A client that cannot be installed or started is a failure, not a skip.
test-clients:
	$(call need,$(CLIENT_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	@PYTHON=$(PYTHON) tests/clients/run

test-pushdown:
	$(call need,$(PUSHDOWN_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO) $(DUCKDB)/installed
	@$(PYTHON) tests/pushdown/run.py $(SO) $(DUCKDB)

$(DUCKDB)/installed:
	@mkdir -p $(@D)
	npm install --silent --no-audit --no-fund --no-save --prefix $(@D) $(DUCKDB_API)
	@touch $@

# promptfoo wants a newer Node than Debian's, and npm has that too.
PROMPTFOO := 0.123.1
test-promptfoo:
	$(call need,$(DEMO_NEEDS) python3)
	@$(MAKE) -s --no-print-directory $(SO)
	@mkdir -p build/promptfoo
	npm --prefix build/promptfoo install --no-audit --no-fund --loglevel error promptfoo@$(PROMPTFOO) node-linux-$$(node -p process.arch)@22
	$(PYTHON) tests/promptfoo.py $(SO) build/promptfoo

fuzz:
	$(call need,$(FUZZ_NEEDS))
	@$(MAKE) -s --no-print-directory $(foreach f,$(FUZZERS:tests/fuzz/%.c=%),build/fuzz/$(f) build/fuzz/replay-$(f))
	@tests/fuzz/run $(FUZZ_SECONDS) $(FUZZERS:tests/fuzz/%.c=%)

stress:
	$(call need,$(TEST_NEEDS))
	@$(MAKE) -s --no-print-directory build/threads build/properties build/fuzz/replay-sql
	build/threads 60
	build/properties 1000000 $(shell date +%s)
	build/fuzz/replay-sql --random 60 $(shell date +%s)

valgrind:
	$(call need,$(VALGRIND_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO) build/sqllogictest build/numeric build/models
	$(VALGRIND) build/sqllogictest --load $(basename $(SO)) --within valgrind $(SUITES)
	$(VALGRIND) build/numeric tests/reference/proportion.csv
	$(VALGRIND) build/models tests/reference

differential:
	$(call need,$(DIFFER_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	$(PYTHON) tests/differential.py $(SO) $(DIFFERENTIAL)

bench:
	$(call need,$(BENCH_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	@$(PYTHON) tests/bench.py $(SO)

coverage:
	$(call need,$(BENCH_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	$(PYTHON) tests/coverage.py $(SO)

reference:
	$(call need,$(REFERENCE_NEEDS))
	$(PYTHON) tests/reference/generate.py
	git diff --exit-code --stat -- tests/reference

install: $(SO)
	install -d $(DESTDIR)$(PREFIX)/lib/sqlite3 $(DESTDIR)$(PREFIX)/include
	install -m 755 $(SO) $(DESTDIR)$(PREFIX)/lib/sqlite3/
	install -m 644 ext/evalci.h $(DESTDIR)$(PREFIX)/include/

# With its source, as the licence asks, and the library where README loads it from.
dist: $(SO)
	rm -rf build/evalci-$(VERSION) && mkdir -p build/evalci-$(VERSION)/build
	cp -r Makefile README.md LICENSE .clang-format .ci ext sql tests build/evalci-$(VERSION)/
	cp $(SO) build/evalci-$(VERSION)/build/
	tar -C build -czf build/evalci-$(VERSION).tar.gz evalci-$(VERSION)

lint:
	$(call need,$(LINT_NEEDS))
	clang-format --dry-run -Werror $(OURS)
	cppcheck --quiet --std=c11 --enable=warning,style,performance,portability --inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 ext tests
	$(CC) $(WARN) -Werror -fsyntax-only $(SOURCES) tests/*.c $(FUZZERS)
	$(CC) $(WARN) -Werror -fsyntax-only -DREPLAY $(FUZZERS)
	clang -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(SOURCES) tests/*.c $(FUZZERS)

format:
	$(call need,clang-format)
	clang-format -i $(OURS)

clean:
	rm -rf build
