"""The requests of the proposal's workload: when they arrive, and when they can be completed."""

from array import array
from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist
from typing import Final

from purgatory_lab.benchmarks.python_peer.draws import Draws, key_names
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Request

TIME_OUT_MS: Final = 200

_NORMAL: Final = NormalDist()
_PERCENTILES_MS: Final = {"low": (20, 60), "high": (200, 400)}
"""Of the time until a request can be completed: at the 50th and at the 75th percentile, ms."""

_SHARED_CHOICES: Final = 4096


@dataclass(frozen=True)
class Inputs:
    """Everything that is drawn before the clock starts.

    Attributes:
        arrivals_ns: When each request is to be given, ns from the begin.
        latencies_ns: After what time each can be completed, ns.
        keys: Choices of three keys; request number n has number n modulo their count.
    """

    arrivals_ns: "array[int]"
    latencies_ns: "array[int]"
    keys: list[tuple[str, str, str]]


def drawn_inputs(request: Request) -> Inputs:
    """Draw the inputs of a workload.

    Raises:
        CannotMeasure: there are fewer than three keys.
    """
    if request.keys < 3:
        raise CannotMeasure(f"a request has three different keys, and there are {request.keys}")
    draws = Draws(request.seed)
    names = key_names(request.keys)
    choices = _SHARED_CHOICES if request.keys > 3 else 1
    keys = [draws.three_of(names) for _ in range(choices)]
    latencies_ns = _latencies_ns(draws, request.case, request.operations)
    return Inputs(_arrivals_ns(draws, request.rate, request.operations), latencies_ns, keys)


def _arrivals_ns(draws: Draws, rate: float, count: int) -> "array[int]":
    arrivals_ns = array("q", bytes(8 * count))
    if rate > 0:
        now_ns, mean_ns = 0.0, 1e9 / rate
        for number in range(count):
            now_ns -= log(draws.unit()) * mean_ns
            arrivals_ns[number] = int(now_ns)
    return arrivals_ns


def _latencies_ns(draws: Draws, case: str, count: int) -> "array[int]":
    """Log-normal times; those beyond an hour are an hour."""
    median_ms, upper_ms = _PERCENTILES_MS[case]
    mean = log(median_ms * 1e6)
    deviation = log(upper_ms / median_ms) / _NORMAL.inv_cdf(0.75)
    most = log(3600e9)
    inverse, unit = _NORMAL.inv_cdf, draws.unit
    return array(
        "q", (int(exp(min(mean + deviation * inverse(unit()), most))) for _ in range(count))
    )
