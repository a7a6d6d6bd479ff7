"""Judges: whether a step is right, the rules that the step puts to the test, the rule it breaks.

``case_judge`` follows one case with the component's judge: the model's possible states, one history
of what was seen. ``memory_pool``, ``purgatory`` and ``timer`` have a folder each: ``judge`` asks
the model, ``history`` (in a purgatory also ``visits``) counts which rules a step puts to the test,
``blame`` names the rule that a wrong step breaks. ``real_clock_judge`` judges by intervals of time,
``variant_judge`` follows a declared deviation, ``derived_steps`` makes "advance, then run all" out
of single steps. A verdict about a step is a ``Judgement``; a wrong one holds a ``Divergence``.
"""
