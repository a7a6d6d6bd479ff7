"""Cases of timers: ``table`` draws, ``world`` remembers."""
