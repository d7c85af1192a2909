"""What calls mean: events, models (TOML data files), effects of library functions.

models = Models.load(options.models)
events = Events(program, models)
events.of(call)              # LockAcquire(...), ThreadCreate(...), ..., or None
events.effects(instruction)  # MemoryEffect(pointer, size, is_read, is_write, is_atomic), ...
"""
