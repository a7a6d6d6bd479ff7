"""A setting: a workload and a design with all parameters; and the setting's name."""

from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Final, Literal

from purgatory_lab.studies.key_layouts import Layout
from purgatory_lab.studies.workload import Workload

DesignName = Literal[
    "old",
    "proposal",
    "exact",
    "discontinuous",
    "weak",
    "eager",
    "bundled-proposal",
    "bundled-exact",
]
Case = Literal["low", "high", "all-expire"]
Expiries = Literal["before-purge-test", "after-purge-test"]

_SHARES: Final[dict[Case, tuple[float, float]]] = {
    "low": (0.1, 0.3),
    "high": (1.0, 2.0),
    "all-expire": (1000.0, 2000.0),
}
"""Median and upper quartile of the completion time, in time-outs.

With the proposal's time-out of 200 ms: 20 and 60 ms, 200 and 400 ms. The third is none of the
proposal's: next to nothing is completed, so that everything passes through the whole timer.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """A line of a study's results; the defaults are the proposal's benchmark.

    Attributes:
        study: The study it belongs to.
        design: What is simulated; the two bundled ones are ``purgatory_impl`` itself.
        case: How long requests take.
        requests: How many there are.
        seed: Of all that is drawn.
        rate: Arrivals a second.
        time_out_ms: Of each request.
        tick_ms: The timer's resolution.
        wheel_size: Buckets on each level of the wheel.
        layout: How keys are chosen.
        keys: Keys of each request.
        key_space: The number of keys to draw from, where keys are drawn.
        purge_interval: Operations, or entries with the exact accounting.
        collection_ms: Milliseconds from one collection of garbage to the next, for weak references.
        expiries: Whether expired requests run before the reaper tests for a purge, or after it.
    """

    study: str
    design: DesignName
    case: Case
    requests: int = 1_000_000
    seed: int = 7
    rate: int = 10_000
    time_out_ms: int = 200
    tick_ms: int = 1
    wheel_size: int = 20
    layout: Layout = "drawn"
    keys: int = 3
    key_space: int = 100
    purge_interval: int = 1000
    collection_ms: int = 1000
    expiries: Expiries = "before-purge-test"

    @property
    def name(self) -> str:
        """Return a name that tells the setting from others, usable as a file name."""
        values = [str(getattr(self, field.name)) for field in fields(self)]
        digest = sha256("\0".join(values).encode()).hexdigest()[:12]
        return f"{self.study}-{self.design}-{self.case}-{digest}"

    @property
    def workload(self) -> Workload:
        """Return the requests of the setting's workload."""
        median, upper_quartile = _SHARES[self.case]
        return Workload(
            self.requests,
            self.rate,
            round(median * self.time_out_ms),
            round(upper_quartile * self.time_out_ms),
            self.time_out_ms,
            self.seed,
        )

    def scaled(self, requests: int | None, seed: int | None) -> "Setting":
        """Return the same with another number of requests, or another seed."""
        return replace(
            self,
            requests=self.requests if requests is None else requests,
            seed=self.seed if seed is None else seed,
        )
