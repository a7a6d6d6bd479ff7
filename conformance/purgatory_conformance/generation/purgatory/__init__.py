"""Cases of purgatories: ``table`` draws, ``world`` remembers.

``situations`` and ``histories`` have the rows, ``callbacks`` the scripts, ``tries`` the acting
tries and other threads, ``crowds`` many operations, many keys and far time-outs.
"""
