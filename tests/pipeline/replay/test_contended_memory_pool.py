"""The order of open calls of a memory pool matters where some order refuses a request."""

from itertools import permutations, product

import pytest

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.memory_pool_arithmetic import is_granted
from purgatory_spec.operations import Allocate
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile
from purgatory_traces.replay.overlapping.explainer import Explanation, LateExplainer
from purgatory_traces.replay.overlapping.memory_pool import rules
from purgatory_traces.replay.overlapping.memory_pool.rules import (
    PoolCall,
    PoolStanding,
    SharedPoolRules,
)
from purgatory_traces.traces.lines import MemoryPoolInstance

from .wall_clock import Line, begin, call, judged, returns, rule_of


def is_contended(available: int, sizes: tuple[int, ...], *, strict: bool) -> bool:
    """Return what the rules say of open requests of these sizes."""
    configuration = MemoryPoolConfiguration(100, 10, strict=strict)
    pool = SharedPoolRules(MemoryPoolModel(configuration, MemoryPoolProfile()))
    moment = Explanation(PoolStanding(available))
    for number, size_bytes in enumerate(sizes):
        call = PoolCall(number, Allocate(str(number), size_bytes))
        pool.open[number] = call
        moment = LateExplainer(pool).with_ways(moment, call.thread, frozenset({call.begun}))
    return pool.order_matters(moment)


def is_refused_in_some_order(available: int, sizes: tuple[int, ...], *, strict: bool) -> bool:
    """Return whether some order of these requests has one that is not granted."""
    for order in permutations(sizes):
        left = available
        for size_bytes in order:
            if not is_granted(left, size_bytes, strict):
                return True
            left -= size_bytes
    return False


REQUESTS = [sizes for number in (1, 2, 3) for sizes in product((1, 2, 5), repeat=number)]


def differing(*, strict: bool) -> list[tuple[int, tuple[int, ...]]]:
    """Return where the rules say something else than all orders, one by one."""
    return [
        (available, sizes)
        for available in range(-2, 18)
        for sizes in REQUESTS
        if is_contended(available, sizes, strict=strict)
        != is_refused_in_some_order(available, sizes, strict=strict)
    ]


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
def test_the_order_matters_where_in_some_order_a_request_is_refused(strict: bool) -> None:
    assert differing(strict=strict) == []


def test_it_is_the_smallest_request_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control the test above: by the largest one a non-strict pool seems to have plenty."""
    monkeypatch.setattr(rules, "min", max, raising=False)
    assert (5, (5, 1)) in differing(strict=False)
    assert differing(strict=True) == []


SMALL_BEHIND_LARGE: list[Line] = [
    call(0, "t1", Allocate("large", 5)),
    call(0, "t2", Allocate("small", 1)),
    returns(0, "t2", False),
    returns(0, "t1", True),
]


def test_a_small_request_may_be_refused_for_the_sake_of_a_large_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Allow it where the large one takes all there is, and not where a byte is left."""
    all_there_is = begin(MemoryPoolInstance(MemoryPoolConfiguration(5, 5)))
    a_byte_more = begin(MemoryPoolInstance(MemoryPoolConfiguration(6, 5)))
    assert judged(all_there_is, SMALL_BEHIND_LARGE) is None
    assert rule_of(a_byte_more, SMALL_BEHIND_LARGE) == "POOL-NON-STRICT"
    monkeypatch.setattr(rules, "min", max, raising=False)
    assert rule_of(all_there_is, SMALL_BEHIND_LARGE) == "POOL-NON-STRICT"
