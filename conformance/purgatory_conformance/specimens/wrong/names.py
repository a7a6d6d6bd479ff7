"""Components that confuse two names."""

import unicodedata
from functools import reduce

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.purgatory import Entry, SmallPurgatory
from purgatory_conformance.specimens.small.timer import SmallTimer, Task


@breaks("TIMER-EXACTLY-ONCE", "TIMER-SIZE", "TIMER-CANCEL-UNKNOWN").by(SmallTimer.task)
def tasks_of_one_hash(self: SmallTimer, name: str) -> Task:
    """Tasks are looked up by the 32-bit hash of their names, as Java makes it."""
    number = reduce(lambda total, letter: (31 * total + ord(letter)) % 2**32, name, 0)
    return self.tasks.setdefault(str(number), Task(name))


@breaks("PURGATORY-CHECK-ORDER", "PURGATORY-CHECK-UNKNOWN").by(SmallPurgatory.met_by_check)
def keys_are_folded(self: SmallPurgatory, key: str) -> list[Entry]:
    """A check meets what is watched under keys that look the same in normal form."""
    form = unicodedata.normalize("NFKC", key)
    alike = (each for each in self.lists if unicodedata.normalize("NFKC", each) == form)
    return [entry for each in alike for entry in self.lists[each]]


@breaks("TIMER-EXACTLY-ONCE", "TIMER-SIZE", "TIMER-CANCEL-UNKNOWN").by(SmallTimer.task)
def names_are_cut(self: SmallTimer, name: str) -> Task:
    """Tasks are looked up by the first 255 characters of their names."""
    return self.tasks.setdefault(name[:255], Task(name))
