"""The summary of a check, made while its rows go by.

``summary`` counts, ``reasons`` puts together what differs in names and numbers alone, ``rules``
tells which rules the runs could have put to the test. ``terminal`` and ``html`` show it in the
words of ``words``.
"""
