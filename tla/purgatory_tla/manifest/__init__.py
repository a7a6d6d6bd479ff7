"""The project's models: the result that each run must have, and the runs themselves.

``manifest`` reads ``tla/manifest.json``: for each model the module, the configuration, the expected
verdict and the number of states. ``models`` runs one and compares, ``campaign`` runs many at a
time, ``checks`` asks whether manifest and modules fit. ``statements`` tells which properties state
a rule, ``seeded_defects`` which models must fail and for which property.
"""
