"""Interleaved rounds: in each one, every peer in turn is asked the same.

For each measure there are rounds of warming up, which count for nothing, then those that count. A
round asks for all settings of the measure, so that a ratio between two settings, too, lies within
one round. Who begins changes from round to round.

A peer that declines a setting is not asked for it again. One that hangs, dies or writes something
else was ended; it is left out of the rest of the measure and started anew before the next one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from purgatory_lab.benchmarks.bench.results import Failure, Sample, Setting
from purgatory_lab.benchmarks.bench.talking import Broken, Declined
from purgatory_lab.benchmarks.bench.team import Member, Team

_NS_PER_PIECE: Final = 200_000
"""A time beyond any peer's need for one pending timer, or for one operation, and its inputs."""


@dataclass(frozen=True)
class Plan:
    """The number and order of the rounds.

    Attributes:
        rounds: The number of rounds that count.
        warm_up: The number of rounds before, which do not count.
        seed: Of the first round; each round has its own, the same for all peers.
        patience_s: How long an answer may take besides the time for its size, s.
    """

    rounds: int
    warm_up: int
    seed: int
    patience_s: float


@dataclass
class Taken:
    """The samples and failures so far.

    Attributes:
        samples: In the order in which they were taken.
        failures: What has no figures, and why.
    """

    samples: list[Sample] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def run_rounds(
    team: Team,
    settings: Sequence[Setting],
    plan: Plan,
    taken: Taken,
    say: Callable[[str], None],
    keep: Callable[[], object],
) -> None:
    """Take all measures of the team.

    Args:
        team: The peers.
        settings: The settings to ask, grouped by measure.
        plan: How often.
        taken: Where samples and failures go.
        say: Takes what is under way.
        keep: Called after each measure, to write down what there is.
    """
    for name, group in groupby(settings, key=lambda each: each.measure):
        say(f"measuring {name}")
        _measure(team, name, list(group), plan, taken, say)
        keep()


def turns(peers: Sequence[Member], round_number: int) -> Iterator[tuple[int, Member]]:
    """Yield the peers in the order of a round, each with its place; the first one changes."""
    first = round_number % len(peers) if peers else 0
    yield from enumerate((*peers[first:], *peers[:first]), start=1)


def patience(setting: Setting, plan: Plan) -> float:
    """Return how long an answer may take, s."""
    pieces = 0
    for name in ("pending", "operations"):
        count = setting.request.get(name, 0)
        pieces += count if isinstance(count, int) else 0
    keys = setting.request.get("keys", 1) if setting.measure == "event" else 1
    return plan.patience_s + pieces * float(keys) * _NS_PER_PIECE / 1e9


def _measure(
    team: Team,
    measure: str,
    settings: Sequence[Setting],
    plan: Plan,
    taken: Taken,
    say: Callable[[str], None],
) -> None:
    peers = team.able(measure)
    failed: set[tuple[str, str]] = set()

    def fail(setting: Setting, peer: Member, reason: str) -> None:
        failed.add((setting.name, peer.name))
        taken.failures.append(Failure(setting.name, peer.name, reason))
        say(f"not measured: {peer.name}: {setting.name}: {reason}")

    for number in range(1 - plan.warm_up, plan.rounds + 1):
        for setting in settings:
            for place, peer in turns(peers, number):
                if (setting.name, peer.name) in failed:
                    continue
                request = {**setting.request, "seed": plan.seed + number + plan.warm_up}
                try:
                    answer = team.ask(peer, request, patience(setting, plan))
                except Declined as problem:
                    fail(setting, peer, str(problem))
                except Broken as problem:
                    fail(setting, peer, str(problem))
                    for other in settings:
                        if (other.name, peer.name) not in failed:
                            fail(other, peer, f"it was ended in {setting.name}")
                else:
                    taken.samples.append(Sample(setting.name, peer.name, number, place, answer))
