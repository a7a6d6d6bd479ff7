"""How long a lock is held: the parts that locks guard, driven one by one and timed."""
