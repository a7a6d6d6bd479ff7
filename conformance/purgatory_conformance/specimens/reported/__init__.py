"""Bugs that people reported, each planted by us in a small correct implementation.

The reports are public; of them only the mechanism is used, no code and no wording. A reported bug
is a wrong subject like any other, ``mutant:reported-NAME``, and has the report as its source and a
kind, which says what a suite must do to meet it.
"""

from purgatory_conformance.specimens.reported import channel_muting as channel_muting
from purgatory_conformance.specimens.reported import memory_pool as memory_pool
from purgatory_conformance.specimens.reported import purgatory as purgatory
from purgatory_conformance.specimens.reported import timer as timer
from purgatory_conformance.specimens.reported import unshown as unshown
