# pg_doublets, built with PGXS.
#
#   make                       build (PG_CONFIG=... for another PostgreSQL 15)
#   make install               install into that PostgreSQL
#   make installcheck          tests against a running server that has the library preloaded
#   make INJECTION=1           with injection points (pg_doublets/shared/inject.h), for tests
#   make -C test/unit check    unit tests of the store, without PostgreSQL
#   make torture               crash torture (CYCLES=200 SEED=1), on a private copy
#   make injection             every fault at each injection point, on a private copy (./run test takes one a point)
#   make differential          random schedules on heap and on doublets; SCHEDULES=20000 SEED=... JOBS=3
#   make bench-graphql         the workload of the links API, on a private copy
#   make mutation              do the tests see faults that are planted in a copy
#
# ./run test does all of it on a private copy, with a server of its own.

MODULE_big = pg_doublets
SOURCES = $(wildcard pg_doublets/*.c pg_doublets/*/*.c)
OBJS = $(SOURCES:.c=.o)
EXTENSION = pg_doublets
DATA = pg_doublets--1.0.sql
PGFILEDESC = "pg_doublets - links tables in doublets trees"

PG_CPPFLAGS = -I$(srcdir)/pg_doublets $(if $(INJECTION),-DDBL_INJECTION)
PG_CFLAGS = -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Wno-declaration-after-statement -MMD -MP

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
ISOLATION = $(patsubst test/specs/%.spec,%,$(sort $(wildcard test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test --load-extension=pg_doublets
TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl
PROVE_FLAGS += -I test/lib

# Where the TAP tests note the ports that they use; by default a folder of the installation.
export PG_TEST_PORT_DIR ?= $(CURDIR)/tmp_check/ports

EXTRA_CLEAN = $(SOURCES:.c=.d) test/unit/build output_iso results tmp_check

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# CYCLES=200 SEED=1 make torture: kill a server of its own again and again.
torture:
	RUN_ONLY="build tap" RUN_TAP=test/torture/torture.pl ./run test

.PHONY: torture

# Every fault at each injection point (a build of its own with INJECTION=1); ./run test takes one a point.
.PHONY: injection
injection:
	INJECTION_FULL=1 RUN_ONLY="build tap" RUN_TAP=test/t/022_injection.pl $(srcdir)/run test

# Random schedules on heap and on doublets, on a private copy and a server of its own (test/differential).
.PHONY: differential
differential:
	RUN_ONLY="build tap" RUN_TAP=test/t/012_differential.pl DIFF_SCHEDULES=$(or $(SCHEDULES),20000) \
		DIFF_SEED=$(or $(SEED),$(shell date +%s)) DIFF_JOBS=$(JOBS) $(srcdir)/run test

# Do the tests see planted faults?  FAULTS="lock_bit no_queue" for some of them (test/mutation).
.PHONY: mutation
mutation:
	perl $(srcdir)/test/mutation/run.pl $(FAULTS)

# The workload of the links API on heap and on doublets (hasura/README.md).
.PHONY: bench-graphql
bench-graphql:
	$(srcdir)/run bench-graphql

-include $(SOURCES:.c=.d)
