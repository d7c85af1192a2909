"""Which objects a pointer may point to, for the whole program at once: see `points_to`."""
