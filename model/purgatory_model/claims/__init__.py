"""Claims about the models, and the search for exceptions.

Begin with ``timer``, ``purgatory`` or ``memory_pool``: each has the invariants of its component, a
small instance with finitely many states, claims that hold and claims that one would believe and
that do not. ``explorer`` visits every state of an instance, breadth first, and finds the shortest
path to a broken claim; ``narrative`` tells that path as a story. ``state_graph`` keeps all states
and steps, for the comparison with TLA+.

``timer_variants`` and ``purgatory_variants`` follow implementations that are known to break a rule,
so that any other fault of theirs is still found; ``long_arithmetic_wheel`` is one of them.
``reconfiguration`` claims that tick and wheel size can be changed while tasks wait.
"""
