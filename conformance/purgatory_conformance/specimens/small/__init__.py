"""The correct specimens, one for each component; begin with ``timer``.

Each states by itself what the rules ask for. It is written to be broken: every decision is one
short method, which a mutant overrides.
"""
