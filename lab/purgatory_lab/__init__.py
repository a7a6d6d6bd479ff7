"""Checks of the implementation, and of the suite, that take long: each is a command of its own.

They are no benchmarks: each ends with a verdict, and with exit code 1 where something is wrong.

- ``mutation``: which automatic mutants of the implementation the conformance suite finds, and a
  reviewed list of those that it does not. ``python -m purgatory_lab.mutation``
- ``stress``: timer, purgatory and memory pools under many real threads, with planted races that the
  run must find. ``python -m purgatory_lab.stress``

Begin with ``stress.harness``: what a round is, and how threads meet in it.
"""
