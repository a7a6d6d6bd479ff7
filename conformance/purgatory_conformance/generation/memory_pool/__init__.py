"""Cases of memory pools: ``table`` draws, ``world`` remembers."""
