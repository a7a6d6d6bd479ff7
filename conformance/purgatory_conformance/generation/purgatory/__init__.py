"""Cases of purgatories: ``table`` draws, ``world`` remembers.

``situations`` and ``histories`` have the rows, ``callbacks`` the scripts, ``crowds`` many
operations under one key, ``shutdowns`` what comes after the end.
"""
