"""The judge: whether a step is right, the rules that it puts to the test, the rule that it breaks.

Begin with ``registry.judged``: a component with its variants and rules, and ``judge`` for one case.
The judge imports the specification and the model alone; nothing here draws cases or pictures.

``case_judge`` follows one case: the model's possible states, one history of what was seen. Each
component has a folder: ``judge`` asks the model, ``history`` (in a purgatory also ``visits``)
counts which rules a step puts to the test, ``blame`` names the rule that a wrong step breaks. In
``timer``, ``real_clock_judge`` judges by intervals of time and ``judged`` follows a declared
deviation. ``derived_steps`` makes "advance, then run all" out of single steps. A verdict about a
step is a ``Judgement``; a wrong one holds a ``Divergence``.
"""
