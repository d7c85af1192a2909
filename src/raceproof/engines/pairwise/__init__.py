"""Proofs for any number of threads, rounds and context switches: one pair of accesses at a time.

    pthread_mutex_lock(&m); mine = next++; pthread_mutex_unlock(&m);
    slot[mine] = 1;                                   // each thread a slot of its own

The bounded question is about whole executions, so it needs bounds. This one is about two accesses
at one moment: take *all* pairs that the thread-modular analysis (strategy *over*) cannot exclude,
and show of each that no two threads can be about to do them at once, on the same bytes.

Why a proof is one
------------------

*What is covered.* The analysis is sound, so a race is one of its open pairs, between two threads
whose creating calls and entries it names (`threads`). Each such template, and `main`, is executed
symbolically once, with all ways followed under guards and all calls entered (`execution`); whatever
is not modelled ends the attempt (`Unsupported`), and so does an access of the analysis in a
function that was not executed. Take any execution up to a race. For each of the two threads there
are values of the variables of its symbolic execution, in the latest round of each loop, so that the
guard and the facts of its access hold and address, locks and views are what they were: loads of
memory that others may write, inputs, unknown results and everything at a loop's head are variables
of their own.

*What is guessed* (`conjectures`): loop invariants, cells that no thread writes while there are
several threads (`stable`), cells that are written under a lock only (`guarded`), what holds of them
when the lock is free and how sections change them, variables that are locks (`home-made`). All are
proved together by induction over the steps of an execution of the whole program. `main` is alone
until the first creation that may have happened: up to there no other thread writes, and at that
moment what is said of free locks must be true; a loop that may create a thread counts as creating
one when it is entered. A lock that is forgotten at a loop's head must leave its cells as if it were
given back, a lock that is given back without being known to be held guards nothing.

*Views.* If all writes of a cell hold a lock, and the thread holds it, the cell is what the thread
last saw or wrote. What it finds when it enters a section obeys what is said of free locks, and
comes after all it left in earlier sections. Read locks let others look, not write.

*Order* (`query`). Sections of one lock come one after the other in time, unless both are for
reading; each thread's own moments have the order of its execution. So for two sections in the past
of the two threads, one was left before the other was entered, and what it left was there then, or
had become what changes allow; and who is in a section now entered it after everyone else who has
been in one had left. That makes tickets different (one left `next` at v + 1, the other found at
least that), and a flag that is only ever set stay set. A ticket that wraps around is not greater
than the one before: the solver sees that, unless signed overflow is undefined and said to be
assumed. A lock that is taken again by its holder goes on with its section, and counts as given back
the first time that it is.

*Spin locks.* A variable is one if whoever sets it to 0 while others run has found it 0 and set it
to something else under a lock that guards it (an atomic section, mostly), and not set it to 0
since. As long as it is held it is not 0, so no other thread can take it. A thread that has found it
0 and still holds the guard for writing may as well have it.

*Ticket locks* are another lock that programs make of a variable; `ticket_locks` says why they are
one.

*Counting.* Some programs don't join their threads, but count them: `thread_counters` and
`work_counters` say when a counter tells that all are done, `elements` how one thread can count for
another.

*Apart.* What the types of pointers tell apart need not be asked about at all (`aliases`).

*Instances.* Two instances of one template have two copies of all its variables. If `main` creates
them in a loop of its own, they were created in different rounds, so a variable that only grows from
round to round differs, and so do objects allocated there. An access of `main` itself comes after
the creation: in a later round if it stands before the creating call in the loop. Variables of
`main` that are set before the loop are the same for all. Objects of different threads, sites and
rounds are different; two addresses in one object overlap if their offsets do, computed without
wrapping around, for an address that leaves its object is undefined.

*Locks in common.* Two accesses exclude each other if they surely hold one lock at one address, one
of them for writing. Addresses are terms: `m[i]` protects `a[i]` for equal `i` only.

A candidate that was given up is false, and then less is known; every query asks for a race, so what
is not known can only make more of them.
"""

from raceproof.engines.pairwise.engine import ENGINE
from raceproof.engines.pairwise.prover import Failure, Proof, prove_pairs

__all__ = ["ENGINE", "Failure", "Proof", "prove_pairs"]
