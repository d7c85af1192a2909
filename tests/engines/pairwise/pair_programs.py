"""What the tests of the pair prover have in common."""

from __future__ import annotations

import time

from raceproof.analysis.facts import ProgramFacts
from raceproof.concurrency import Models
from raceproof.engines.pairwise import Failure, Proof, prove_pairs
from raceproof.options import Options
from tests.lowering import lower

HEAD = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
static void require(int condition) { if (!condition) abort(); }
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t ms[64], again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int data[64], other[64], *shared = data;
"""


def outcome_of(text: str) -> Proof | Failure:
    facts = ProgramFacts(lower(text), Models.load())
    return prove_pairs(facts, Options(), time.monotonic() + 600)
