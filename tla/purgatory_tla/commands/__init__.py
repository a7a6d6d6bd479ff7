"""The commands ``purgatory tla``: check, list, explain, compare, simulate, replay, vectors.

``commands`` registers them all; each other module has one command or a part that several share.
"""
