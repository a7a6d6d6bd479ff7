"""The proposal's workload: exponential arrivals, log-normal completion, one time-out for all."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log, log1p
from random import Random
from statistics import NormalDist
from typing import Final, NamedTuple

_UPPER_QUARTILE: Final = NormalDist().inv_cdf(0.75)


class Request(NamedTuple):
    """A request, on a clock of whole milliseconds.

    Attributes:
        arrival_ms: When it is watched.
        completion_ms: When an event makes it completable; None where it would be after its
            time-out, and no event comes.
    """

    arrival_ms: int
    completion_ms: int | None


@dataclass(frozen=True, slots=True)
class Workload:
    """The arrivals of requests, and the times to their completion.

    Attributes:
        requests: How many arrive.
        rate: Arrivals a second, on average.
        median_ms: Half of the requests would be completed within so long.
        upper_quartile_ms: Three quarters of them would.
        time_out_ms: The time-out of each.
        seed: Of all that is drawn.
    """

    requests: int
    rate: int
    median_ms: int
    upper_quartile_ms: int
    time_out_ms: int
    seed: int

    @property
    def location(self) -> float:
        """Return the mean of the logarithm of the completion time in milliseconds."""
        return log(self.median_ms)

    @property
    def scale(self) -> float:
        """Return the standard deviation of that logarithm."""
        return log(self.upper_quartile_ms / self.median_ms) / _UPPER_QUARTILE

    def survival(self, after_ms: float) -> float:
        """Return the probability that a request is not completed within ``after_ms``."""
        if after_ms <= 0:
            return 1.0
        return 1 - NormalDist(self.location, self.scale).cdf(log(after_ms))

    def generate(self) -> Iterator[Request]:
        """Yield the requests in the order of their arrival, the same for the same workload.

        Both distributions are drawn by inversion, so that every request takes two numbers of the
        generator, whatever the parameters: workloads of one seed differ in nothing else.
        """
        random = Random(self.seed).random
        mean_gap_ms = 1000 / self.rate
        standard_normal = NormalDist().inv_cdf
        location, scale, time_out_ms = self.location, self.scale, self.time_out_ms
        now_ms = 0.0
        for _ in range(self.requests):
            now_ms -= log1p(-random()) * mean_gap_ms
            latency_ms = exp(location + scale * standard_normal(_inside(random())))
            completed = latency_ms < time_out_ms
            yield Request(int(now_ms), int(now_ms + latency_ms) if completed else None)


def _inside(uniform: float) -> float:
    """Return a number of [0, 1) as one of (0, 1), where the normal distribution can be inverted."""
    return uniform or 0.5**54
