# make demo         build syncdb, sync a sample on two days, and show the changes with their reasons
# make demo-engine  two devices edit offline and sync with a local Kinto server; show the conflicts and their resolutions
# make services     run the tests that need the REST server of Tests/Servers/REST, and build that server
# make test         run the tests, with a few random cases; four to ten minutes after the build on two cores
# make check        run the long tests and thousands of random cases (TURN=5: one eighth of the random cases, a different
#                   one for each number, for 90 seconds)
# make tsan         run the tests of concurrent code under the Thread Sanitizer (ALL=1: all tests)
# make portable     build the library with Foundation's file functions, as for Windows, and run a program with it
# make soak         run random histories of devices and a service for ten minutes (SECONDS=60: one minute), and reduce a
#                   history that fails
# make fuzz         fuzz the code that reads payloads, ten minutes for each target (SECONDS=60: one minute)
# make guard        count the instructions of syncdb, and compare them with the limits (UPDATE=1: write new limits)
# make man          write the man pages of syncdb and its commands to .build/man (CONFIGURATION=debug: without a release build)
# make dist         build the archive of syncdb for Linux in .build/dist: a static program, man pages, completions, checksum
# make docs         build the DocC documentation: .build/docs/Sync.doccarchive, and .build/docs/site for a web server
# make docs-preview build the documentation, and serve it on a free port of this machine
# make bench        compare syncdb with other programs for 10,000 users, a few minutes; the page is in .build/benchmarks/short
# make bench-full   measure all workloads, up to a million records, and write Docs/Benchmarks.md; takes an hour, and continues
#                   after an interruption (remove .build/benchmarks/results to start again)
# All targets except the benchmarks, which need Python 3.11, first install missing Debian packages.

DAY := Fixtures/Payloads
DEMO := .build/demo
DATABASE := $(DEMO)/company.sqlite
export PATH := $(CURDIR)/.build/debug:$(PATH)
# Without a limit, Swift Testing starts all tests at once, which takes twice the processor time.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 4

.PHONY: demo demo-engine services fuzz guard test check tsan soak portable man dist docs docs-preview bench bench-full

test:
	@.ci/install libsqlite3-dev zlib1g-dev sqlite3 iso-codes python3 python3-pip
	swift test

# The suites that run more cases here than in 'make test'. Their files match the pattern, a use of Tests/TestSize.
suites = $(shell grep -rlE --include='*Tests.swift' '$(1)' Tests | sed 's|.*/||; s|\.swift$$||' | paste -sd '|')

check:
	@.ci/install libsqlite3-dev zlib1g-dev sqlite3 iso-codes python3 python3-pip
ifdef TURN
	SYNC_TEST_TURN=$(TURN) SYNC_LONG_SECONDS=$(or $(SECONDS),90) swift test --filter '$(call suites,RandomTest\.|LongTests\.some)'
else
	SYNC_LONG_TESTS=1 swift test --filter '$(call suites,^import TestSize)'
endif

tsan:
	@.ci/install libsqlite3-dev zlib1g-dev sqlite3 iso-codes curl python3 python3-pip
	TSAN_OPTIONS=halt_on_error=1 swift test --sanitize thread --scratch-path .build/tsan $(if $(ALL),,--package-path Tests/AtOnce)

soak:
	@.ci/install libsqlite3-dev zlib1g-dev curl python3 python3-pip
	SYNC_SOAK_SECONDS=$(or $(SECONDS),600) swift test --filter ConvergenceTests.soak

portable:
	@.ci/install libsqlite3-dev
	.ci/check-portable

fuzz:
	@.ci/install libsqlite3-dev
	.ci/fuzz $(or $(SECONDS),600)

guard:
	@.ci/install libsqlite3-dev zlib1g-dev libxml2-dev valgrind binutils python3
	.ci/check-instructions $(if $(UPDATE),--update)

# The plugin of swift-argument-parser writes the pages to its own output folder.
man:
	@.ci/install libsqlite3-dev zlib1g-dev
	swift package --allow-writing-to-package-directory generate-manual \
	  --configuration $(or $(CONFIGURATION),release) --multi-page --section 1
	@rm -rf .build/man && mkdir -p .build/man
	@find .build/plugins -path '*GenerateManual*' -name 'syncdb*.1' -exec cp {} .build/man \;
	@ls .build/man/syncdb.1 && echo 'look at it with: man -l .build/man/syncdb.1'

dist:
	.ci/build-archive

docs:
	@.ci/install libsqlite3-dev zlib1g-dev python3
	.ci/build-docs

docs-preview:
	@.ci/install libsqlite3-dev zlib1g-dev python3
	.ci/build-docs --preview

demo:
	@.ci/install libsqlite3-dev zlib1g-dev sqlite3
	swift build --product syncdb
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@printf '\n# Day 1: eight users with companies, notes and tags, into a new database.\n'
	syncdb import $(DAY)/day1.json --entity User --model Fixtures/Models/company.json --database $(DATABASE)
	@printf '\n# One table per entity, with real columns and foreign keys.\n'
	syncdb query User --database $(DATABASE)
	syncdb query Company --database $(DATABASE)
	syncdb query Note --database $(DATABASE) --where "user.lastName == 'Amini'"
	sqlite3 -box $(DATABASE) "SELECT lastName, Company.name AS company, \
	  (SELECT count(*) FROM Note WHERE userID = User.id) AS notes FROM User LEFT JOIN Company ON Company.id = companyID"
	@printf '\n# Day 2: what will change? (Nothing is written.)\n'
	syncdb diff $(DAY)/day2.json --entity User --database $(DATABASE)
	@printf '%s\n' '' '# Why:' \
	  '#   + User 9, Company 4, Note 18   new in the JSON; company and note are nested in the user' \
	  '#   ~ User 1, User 3, Note 12      values differ: only these columns are written' \
	  '#   ~ User 8                       "company": null clears; an absent key would have kept it' \
	  '#   ~ Note 14                      listed under another user now, so it moves there' \
	  '#   - User 6                       no longer in the list' \
	  '#   - Note 16, Note 17             were notes of user 6, and the model says cascade' \
	  '#   links                          companies, notes and tags that changed hands; the tags themselves stay'
	@printf '\n# Do it, and do it again: the second time there is nothing left to do.\n'
	syncdb import $(DAY)/day2.json --entity User --database $(DATABASE)
	syncdb import $(DAY)/day2.json --entity User --database $(DATABASE)
	syncdb query User --database $(DATABASE)
	@printf '\nThe database is %s; look at it with: sqlite3 -box %s "SELECT * FROM User"\n' $(DATABASE) $(DATABASE)

demo-engine:
	@.ci/install libsqlite3-dev zlib1g-dev sqlite3 curl python3 python3-pip
	swift build --product syncdb
	@Examples/TwoWay/demo.sh

services:
	@.ci/check-services

BENCH := Tests/Benchmarks/run.py
SHORT := --results .build/benchmarks/short --page .build/benchmarks/short/Benchmarks.md

bench:
	@rm -rf .build/benchmarks/short
	@$(BENCH) --sizes 1000 --runs 1 --scenarios import,noop,delta $(SHORT) --no-report
	@$(BENCH) --sizes 10000 --runs 3 $(SHORT) --no-build
	@cat .build/benchmarks/short/Benchmarks.md

bench-full:
	$(BENCH) --resume --sizes 1000,10000,100000 --runs 5
	$(BENCH) --resume --no-build --workloads documents,regions,packages --sizes 10000,100000
	$(BENCH) --resume --no-build --sizes 1000000
	$(BENCH) --resume --no-build --workloads documents --sizes 500000,1000000
