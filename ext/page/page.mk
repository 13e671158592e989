# SQLite and evalci as WebAssembly, and the page that holds them.  From the top of the
# project, called by `make page`:
#
#   make -f ext/page/page.mk page
#
# GSL, musl's libm, zlib, zstd's decoder and evalci's own files are compiled by the rules of
# the other platforms.  This file adds SQLite and its generate_series.
PLATFORM := wasm32
include ext/dist/platform.mk

# emscripten's scripts need acorn, which a Node that is not Debian's would look for in
# another folder.
export NODE_PATH := /usr/share/nodejs

PAGE   := build/page
comma  := ,
SERIES := $(HERE)/series.o
READ_O := $(READING_C:%.c=$(HERE)/core/%.o) $(HERE)/core/ext/page/import.o

# The functions that JavaScript calls.
CALLED := malloc free $(addprefix sqlite3_,open_v2 close errmsg error_offset free interrupt memory_used \
          prepare_v2 step finalize progress_handler serialize get_autocommit \
          column_count column_name column_type column_int64 column_double column_text column_bytes column_blob \
          bind_parameter_count bind_parameter_name bind_null bind_int64 bind_double bind_text64 bind_blob64 \
          evalci_init series_init) page_import

# Memory may grow to the 4 GB that 32 bits address.  No code is generated from text, because a
# strict Content-Security-Policy forbids that.
LINK := -O2 -sMODULARIZE -sEXPORT_NAME=instantiateEvalci -sENVIRONMENT=web,worker --no-entry -sWASM_BIGINT \
        -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=32MB -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=5MB -sALLOW_TABLE_GROWTH \
        -sFORCE_FILESYSTEM -sDYNAMIC_EXECUTION=0 -sINCOMING_MODULE_JS_API=instantiateWasm \
        -sEXPORTED_RUNTIME_METHODS=FS,addFunction -sEXPORTED_FUNCTIONS=$(subst $() ,$(comma),$(addprefix _,$(CALLED)))

OURS_JS := $(addprefix ext/page/,files.js database.js imports.js evalci.js)
PIECES  := $(addprefix ext/page/,api.txt notices.txt page.html page.css page.js worker.js)
SQL     := $(sort $(wildcard sql/*.sql sql/*/*.sql))

.PHONY: page
page: $(PAGE)/evalci.mjs

$(PAGE)/module.js $(PAGE)/evalci.wasm &: $(OURS_O) $(HERE)/libgsl.a $(HERE)/libmath.a $(HERE)/page-sqlite3.o $(SERIES) $(READ_O) $(ZLIB_O) $(ZSTD_O) \
                                         ext/page/page.mk
	@mkdir -p $(PAGE)
	emcc $(LINK) -o $(PAGE)/module.js $(filter %.o %.a,$^)
	mv $(PAGE)/module.wasm $(PAGE)/evalci.wasm

$(PAGE)/evalci.mjs: $(PAGE)/module.js $(OURS_JS) $(PIECES) $(SQL) ext/page/assemble.py
	ext/page/assemble.py $(PAGE) $(OURS_JS)

# What is temporary is in memory.
$(HERE)/page-sqlite3.o: $(SOURCES)/sqlite3/sqlite3.c ext/page/page.mk
	emcc -w -O2 $(INSIDE) -DSQLITE_TEMP_STORE=2 -c -o $@ $<

$(SERIES): $(SOURCES)/sqlite3/ext/misc/series.c ext/page/page.mk
	emcc -w -O2 -DNDEBUG -DSQLITE_CORE -I$(SOURCES)/sqlite3 -c -o $@ $<
