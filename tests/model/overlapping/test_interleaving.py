"""Steps and their threads, and a model without interleaving."""

import pytest

from purgatory_model.concurrent.memory_pool.model import ConcurrentPoolState
from purgatory_model.overlapping.histories import (
    histories,
)
from purgatory_model.overlapping.interleaving import (
    Step,
    WithoutInterleaving,
    thread_of,
)
from purgatory_model.overlapping.programs import Programmed
from purgatory_spec.operations import Allocate

from ..concurrent_pools import asks, pool


def test_without_interleaving_only_the_thread_inside_a_call_moves() -> None:
    """
    Given a pool of one byte, and two threads that ask for it, without interleaving
    When the histories are listed
    Then each call returns before the next one begins, and they are these two
    """

    def inside(state: ConcurrentPoolState) -> frozenset[str]:
        return state.inside

    alone = WithoutInterleaving(pool(1, 1, 2), inside)
    runs = Programmed(alone, {"t1": (Allocate("t1", 1),), "t2": (Allocate("t2", 1),)})
    first, one_has, one_not = asks("t1", 1)
    second, two_has, two_not = asks("t2", 1)
    assert set(histories(runs)) == {
        (first, one_has, second, two_not),
        (second, two_has, first, one_not),
    }


@pytest.mark.parametrize("arguments", [(), (1, "t1")])
def test_a_label_without_a_thread_is_told(arguments: tuple[str | int, ...]) -> None:
    with pytest.raises(ValueError, match=r"the label Advance\(.*\) names no thread"):
        thread_of(Step("Advance", arguments))
