"""Looking for a planted race, in a process of its own: what it breaks may never come to an end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Final

from purgatory_lab.stress.races import RACES, Race
from purgatory_lab.stress.stress_run import stress

_LIMIT_S: Final = 3600.0
"""The longest time that a process may take, s; only a process that hangs reaches it."""


@dataclass(frozen=True)
class Hunt:
    """The search for a race, and its result.

    Attributes:
        rounds: How many it took, or how many were in vain.
        kinds: What was found, as the values of ``Kind``; empty where nothing was.
        words: All of it, for people.
    """

    rounds: int
    kinds: tuple[str, ...]
    words: str

    def has_found(self, race: Race) -> bool:
        """Decide whether a finding is one that the race may cause."""
        return any(kind.value in self.kinds for kind in race.kinds)


def hunt(race: Race, seed: int, rounds: int) -> Hunt:
    """Plant a race and run the stress, in another process.

    Args:
        race: Which.
        seed: Of the first round.
        rounds: The budget.

    Raises:
        subprocess.CalledProcessError: the process has failed.
        subprocess.TimeoutExpired: it has not ended.
    """
    arguments = [race.name, str(seed), str(rounds)]
    finished = subprocess.run(
        [sys.executable, "-m", "purgatory_lab.stress.hunting", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=_LIMIT_S,
        check=True,
    )
    found = json.loads(finished.stdout)
    return Hunt(found["rounds"], tuple(found["kinds"]), found["words"])


def _hunt_here(name: str, seed: int, rounds: int) -> Hunt:
    race = next(race for race in RACES if race.name == name)
    with race.planted():
        run = stress(race.component, seed, rounds, race.patience_s)
    return Hunt(run.rounds, tuple(each.kind.value for each in run.findings), str(run))


if __name__ == "__main__":
    name, seed, rounds = sys.argv[1:]
    print(json.dumps(asdict(_hunt_here(name, int(seed), int(rounds)))))
    sys.stdout.flush()
    # Threads that are stuck are not waited for, and no finaliser that would be stuck, too, is run.
    os._exit(0)
