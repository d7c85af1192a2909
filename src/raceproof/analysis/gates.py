"""Locks that are held when a thread is created, and that it has to wait for.

    lock(&gate);  create(child);  x = 1;  unlock(&gate);
    child:  lock(&gate);  unlock(&gate);  x = 2;

The creator holds the lock from before the creation until after its access, without a break; the
child has taken the lock before its access, so it has waited for the creator to give it back. We
note at each point of the creator which threads are shut out by which lock (`State.gates`), and at
each point of a thread which of the locks it was created under it has taken (`State.passed`). A lock
counts if its holder has it for writing. Both threads must exist once, or else the child may have
met another creator's lock.
"""

from __future__ import annotations

from raceproof.analysis.state import ATOMIC, LockKey, State, is_once
from raceproof.analysis.threads import ThreadInfo


def close_gates(state: State, info: ThreadInfo) -> None:
    """A thread is created: the locks held now shut it out, those of an earlier instance do not."""
    others = {gate for gate in state.gates if gate[0] != info.index}
    mine = {
        (info.index, held.lock)
        for held in state.held
        if held.is_write and held.lock != ATOMIC and not is_once(held.lock)
    }
    state.gates = frozenset(others | mine)


def open_gates(state: State) -> None:
    """Locks were given back: those that are not held any more shut nobody out."""
    if state.gates:
        held = {held.lock for held in state.held}
        state.gates = frozenset(gate for gate in state.gates if gate[1] in held)


def pass_gate(state: State, key: LockKey, info: ThreadInfo) -> None:
    """The thread has taken a lock."""
    if key in info.created_under:
        state.passed |= {key}
