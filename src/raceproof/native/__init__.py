"""Native confirmation: the program itself runs, under ThreadSanitizer, and is led to the race.

The modules that the analysis has read are compiled once more, for this machine, with
ThreadSanitizer's instrumentation and with calls of a small runtime of ours (`runtime.c`) around the
instructions that a finding names. The runtime holds threads there:

- *scheduled*: each thread waits for its turn, as the schedule of a confirmed finding has it, until
  both accesses are about to happen;
- *noise*: whoever comes first to one of the two accesses waits a while for another thread to come
  to the other one, at the same address.

The runtime is not instrumented, so its waiting orders nothing in ThreadSanitizer's eyes: what that
reports is a race of the program. Nothing of the user's is executed natively by any other part.
"""
