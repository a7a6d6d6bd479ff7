"""Figures out of files of results: for each round, of several rounds, and why there is none."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from purgatory_lab.benchmarks.bench.catalogue import PROCESS, THREAD
from purgatory_lab.benchmarks.bench.results import Measurement, PeerFacts, Results, Setting
from purgatory_lab.documents import number


@dataclass(frozen=True)
class Summary:
    """The summary of several rounds.

    Attributes:
        median: Of the rounds.
        least: Of them.
        most: Of them.
        rounds: The number of rounds, at least 1.
    """

    median: float
    least: float
    most: float
    rounds: int

    @property
    def spread(self) -> float:
        """Return the distance from the least to the most, as a share of the median."""
        return (self.most - self.least) / abs(self.median) if self.median else 0.0


def summary(values: Sequence[float]) -> Summary:
    """Return the summary of values, at least one."""
    return Summary(median(values), min(values), max(values), len(values))


def ratios(above: Mapping[int, float], below: Mapping[int, float]) -> list[float]:
    """Return the ratio of each round that has both values, in the order of the rounds.

    A round where the lower one is 0 has none: the clock was too coarse to tell.
    """
    return [above[each] / below[each] for each in sorted(above) if below.get(each)]


def told(found: Summary, digits: int = 0) -> str:
    """Return the median, and least and most in brackets where there are several rounds."""
    middle = number(found.median, digits)
    if found.rounds == 1:
        return middle
    return f"{middle} [{number(found.least, digits)} to {number(found.most, digits)}]"


def per_cent(found: Summary) -> str:
    """Return a factor as per cent above 1."""
    middle, least, most = (f"{(x - 1):+.1%}" for x in (found.median, found.least, found.most))
    return middle if found.rounds == 1 else f"{middle} [{least} to {most}]"


NOT_OFFERED: Final = "not offered"
LEFT_OUT: Final = "left out of this run"
_PER_OPERATION: Final = (THREAD, PROCESS, "wall_ns")


class Figures:
    """The figures in files of results.

    Attributes:
        files: The files.
        peers: All peers, in the order in which the files have them.
        settings: All settings, by their names, in the order in which the files have them.
    """

    def __init__(self, files: Sequence[Results]) -> None:
        """Read them; of two files that measured the same, each setting is the later one's."""
        self.files = files
        self.peers: dict[str, PeerFacts] = {}
        self.settings: dict[str, Setting] = {}
        self._answers: dict[tuple[str, str], dict[int, Measurement]] = defaultdict(dict)
        self._reasons: dict[tuple[str, str], str] = {}
        self._peers_of: dict[str, dict[str, PeerFacts]] = {}
        for file in files:
            self._add(file)

    def values(self, setting: str, peer: str, source: str) -> Mapping[int, float]:
        """Return the figure of each round that counts; empty where there is none.

        Args:
            setting: Its name.
            peer: Its name.
            source: What is taken from an answer, as ``catalogue.Quantity`` has it.
        """
        if (setting, peer) in self._reasons:
            return {}
        found = {}
        for place, answer in self._answers.get((setting, peer), {}).items():
            value = value_of(answer, source)
            if value is not None:
                found[place] = value
        return found

    def summary(self, setting: str, peer: str, source: str) -> Summary | None:
        """Return the summary of all rounds; None without a figure."""
        values = self.values(setting, peer, source)
        return summary(list(values.values())) if values else None

    def ratio(
        self,
        above: tuple[str, str],
        below: tuple[str, str],
        source: str,
        source_below: str = "",
    ) -> Summary | None:
        """Return the summary of ratios within rounds; None without a figure.

        Args:
            above: Setting and peer of the numerator.
            below: The same of the denominator.
            source: What is taken from an answer.
            source_below: The same of the denominator, where it is another figure.
        """
        found = ratios(self.values(*above, source), self.values(*below, source_below or source))
        return summary(found) if found else None

    def peers_of(self, setting: str) -> Iterable[str]:
        """Return the peers of the file that has a setting, in their order."""
        return self._peers_of.get(setting, {})

    def reason(self, setting: str, peer: str) -> str:
        """Return the reason why a figure is missing; empty where a figure exists."""
        if setting not in self.settings:
            return LEFT_OUT
        if reason := self._reasons.get((setting, peer)):
            return reason
        facts = self._peers_of[setting].get(peer)
        if facts is None:
            return LEFT_OUT
        if self._answers.get((setting, peer)):
            return ""
        if facts.reason:
            return facts.reason
        if self.settings[setting].request["measure"] not in facts.offers:
            return NOT_OFFERED
        return "no answer"

    def _add(self, file: Results) -> None:
        facts = {each.name: each for each in file.peers}
        for name, each in facts.items():
            self.peers.setdefault(name, each)
        for setting in file.settings:
            self.settings[setting.name] = setting
            self._peers_of[setting.name] = facts
            for key in [key for key in self._answers if key[0] == setting.name]:
                del self._answers[key]
            for key in [key for key in self._reasons if key[0] == setting.name]:
                del self._reasons[key]
        for sample in file.samples:
            if sample.round >= 1:
                self._answers[sample.setting, sample.peer][sample.round] = sample.answer
        for failure in file.failures:
            self._reasons.setdefault((failure.setting, failure.peer), failure.reason)


def value_of(answer: Measurement, source: str) -> float | None:
    """Return a figure of an answer; None where the peer does not tell it."""
    if source in _PER_OPERATION:
        whole: float | None = getattr(answer, source)
        return None if whole is None else whole / answer.operations
    value = answer.detail.get(source)
    return float(value) if isinstance(value, int | float) else None
