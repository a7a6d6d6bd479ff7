"""TLA+ values as Python values.

``values`` has the shapes (those of itf-py) and writes a value as TLA+ text. ``printed`` reads the
text in which TLC prints a value; ``shapes`` gives a printed value the type that a module declares,
which ``type_annotations`` reads from Apalache's comments. ``itf`` loads itf-py when it is first
needed.
"""
