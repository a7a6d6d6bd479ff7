"""Cases of a server's channels: ``table`` draws, ``world`` remembers."""
