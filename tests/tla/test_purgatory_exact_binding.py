"""The purgatory with the exact accounting: every legal choice has the same graph on both sides."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from purgatory_model.concurrent_exact_state import ExactState
from purgatory_tla.binding import Binding
from purgatory_tla.bindings import purgatory_exact
from purgatory_tla.compare_report import told
from purgatory_tla.comparing import Verdict, compare


@pytest.mark.java
@pytest.mark.large
@pytest.mark.parametrize(
    ("made", "states", "edges"),
    [
        (purgatory_exact.interval_zero_binding, 31655, 129936),
        (purgatory_exact.cancelling_binding, 43423, 206162),
        (purgatory_exact.by_entry_binding, 10108, 43331),
        (purgatory_exact.watched_again_binding, 32986, 123055),
        (purgatory_exact.re_entrant_binding, 12415, 36601),
        (purgatory_exact.legal_choices_binding, 17103, 79087),
    ],
)
def test_the_graphs_are_equal(
    made: Callable[[], Binding[ExactState]], states: int, edges: int
) -> None:
    """
    Given an instance with more threads, more calls or more choices than the one that is reported
    When both sides are compared
    Then they are equal
    """
    found = compare(made())
    assert found.verdict is Verdict.EQUAL, told(found)
    assert (found.states, found.edges) == (states, edges)


@pytest.mark.parametrize("flag", ["programs", "ordered"])
def test_what_the_module_does_not_know_is_not_bound(flag: str) -> None:
    """
    Given an instance that keeps results, or the order of lists
    When it is to be bound
    Then it is refused
    """
    instance = replace(purgatory_exact.SMALL, **{flag: True})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="neither results of calls nor orders of lists"):
        purgatory_exact.bound("a", "b", instance)
