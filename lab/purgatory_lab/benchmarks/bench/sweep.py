"""The proposal's workload: target rates from low to high, until a peer no longer holds them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from purgatory_lab.benchmarks.bench.figures import value_of
from purgatory_lab.benchmarks.bench.results import Failure, Measurement, Sample, Setting
from purgatory_lab.benchmarks.bench.rounds import Plan, Taken, turns
from purgatory_lab.benchmarks.bench.sweep_plan import MEASURE, SATURATED_SHARE, Sweep, point
from purgatory_lab.benchmarks.bench.talking import Broken, Declined
from purgatory_lab.benchmarks.bench.team import Member, Team

WARM_UP_RATE: Final = 50_000
_MOST_WARM_UP: Final = 300_000
_SLOWEST_RATE: Final = 2_000
"""The slowest rate, requests a second; a slower peer runs into its time limit."""


@dataclass
class PeersHolding:
    """The peers that still hold the rates of a series.

    Attributes:
        peers: Who still holds the rates.
        left: Who does not, and why.
    """

    peers: list[Member]
    left: dict[str, str] = field(default_factory=dict)

    def leave(self, peer: Member, why: str) -> None:
        """Ask a peer for no further point."""
        if peer in self.peers:
            self.peers.remove(peer)
        self.left[peer.name] = why


def run_sweep(
    team: Team,
    sweep: Sweep,
    plan: Plan,
    taken: Taken,
    say: Callable[[str], None],
    keep: Callable[[Setting], None],
) -> None:
    """Take all points of the sweep.

    At each point there are interleaved rounds. A series ends when no peer holds its rates any more.

    Args:
        team: The peers.
        sweep: What is swept.
        plan: How often; its rounds of warming up are made once for each series.
        taken: Where samples and failures go.
        say: Takes what is under way.
        keep: Called after each point, to write down what there is.
    """
    for series in sweep.series():
        standing = PeersHolding(list(team.able(MEASURE)))
        say(f"warming up for {series.label}")
        _warm_up(team, standing, point(series, WARM_UP_RATE, sweep), plan)
        for rate in sweep.rates:
            if not standing.peers:
                break
            setting = point(series, rate, sweep)
            say(f"measuring {setting.name}")
            taken.failures += [
                Failure(setting.name, name, why) for name, why in standing.left.items()
            ]
            _point(team, standing, setting, plan, taken)
            keep(setting)


def patience(setting: Setting, plan: Plan) -> float:
    """Return how long the answer of a point may take, s."""
    requests, rate = float(setting.request["operations"]), float(setting.request["rate"])
    return plan.patience_s + requests / min(rate, _SLOWEST_RATE)


def saturated(setting: Setting, answers: Sequence[Measurement]) -> str:
    """Return the reason why a peer is asked for no higher rate; empty where it holds this.

    Args:
        setting: The point.
        answers: The answers of one peer, at least one.
    """
    values = [value_of(answer, "achieved") for answer in answers]
    achieved = median([value for value in values if value is not None] or [0.0])
    rate = float(setting.request["rate"])
    if achieved >= SATURATED_SHARE * rate:
        return ""
    return f"saturated: {achieved:,.0f}/s at a target of {rate:,.0f}/s"


def _warm_up(team: Team, standing: PeersHolding, setting: Setting, plan: Plan) -> None:
    """Ask every peer for a point that does not count; who cannot do that leaves the series."""
    requests = min(int(setting.request["operations"]), _MOST_WARM_UP)
    for number in range(plan.warm_up):
        for peer in tuple(standing.peers):
            request = {**setting.request, "operations": requests, "seed": plan.seed + number}
            try:
                team.ask(peer, request, patience(setting, plan))
            except (Declined, Broken) as problem:
                standing.leave(peer, f"warming up: {problem}")


def _point(team: Team, standing: PeersHolding, setting: Setting, plan: Plan, taken: Taken) -> None:
    answers: dict[str, list[Measurement]] = {peer.name: [] for peer in standing.peers}
    peers = tuple(standing.peers)
    for number in range(1, plan.rounds + 1):
        for place, peer in turns(peers, number):
            if peer not in standing.peers:
                continue
            request = {**setting.request, "seed": plan.seed + number}
            try:
                answer = team.ask(peer, request, patience(setting, plan))
            except (Declined, Broken) as problem:
                taken.failures.append(Failure(setting.name, peer.name, str(problem)))
                standing.leave(peer, f"failed in {setting.label}: {problem}")
            else:
                answers[peer.name].append(answer)
                taken.samples.append(Sample(setting.name, peer.name, number, place, answer))
    for peer in tuple(standing.peers):
        if why := saturated(setting, answers[peer.name]):
            standing.leave(peer, why)
