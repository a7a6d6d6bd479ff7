"""The checkers, behind one interface: TLC by default, Apalache where it is asked for.

Begin with ``checking``: ``check`` explores a module, or asks the symbolic checker. ``simulation``
makes random behaviours, ``inductive`` proves that an invariant is kept by every step. All take a
``Configuration`` (``configurations``: what a ``.cfg`` file says) and answer with a result of
``results``, whose trace is an ITF trace. Whatever prevents a verdict is a
``CheckerError`` of ``purgatory_tla.errors``.

``tlc`` and ``apalache`` know the command line, the output and the failures of their tool;
``tool_process`` runs a tool and ends its whole process group; ``tools`` says where the tools are.
"""
