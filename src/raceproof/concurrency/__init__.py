"""What calls mean: events, models (TOML data files), effects of library functions.

    models = Models.load(options.models)
    events = Events(program, models)
    events.of(call)              # LockAcquire(...), ThreadCreate(...), ..., or None
    events.effects(instruction)  # MemoryEffect(pointer, size, is_read, is_write, is_atomic), ...

The event classes are in `concurrency.events`, what a model can say in `concurrency.model`.
"""

from raceproof.concurrency.accesses import Events, memory_effects
from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.effects import MemoryEffect
from raceproof.concurrency.events import Event
from raceproof.concurrency.meaning import event

__all__ = ["Event", "Events", "MemoryEffect", "Models", "event", "memory_effects"]
