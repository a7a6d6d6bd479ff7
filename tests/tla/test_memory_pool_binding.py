"""The concurrent memory pool of the model and that of TLA+ have one state graph."""

from collections.abc import Callable
from pathlib import Path

import pytest

from purgatory_model.concurrent_memory_pool import ConcurrentPoolState
from purgatory_tla.binding import Binding
from purgatory_tla.bindings import memory_pool
from purgatory_tla.compare_report import told
from purgatory_tla.comparing import (
    QUICK,
    CompareSettings,
    Verdict,
    compare,
    compare_with,
    explore_module,
)
from purgatory_tla.resources import modules_folder

from .changes_memory_pool import HIDDEN_ARGUMENT
from .seeded_changes import changed_binding

Made = Callable[[], Binding[ConcurrentPoolState]]


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(memory_pool.binding, id="non-strict"),
        pytest.param(memory_pool.strict_binding, id="strict"),
        pytest.param(memory_pool.identity_binding, id="identity", marks=pytest.mark.large),
    ],
)
def test_the_pools_have_the_same_states_and_the_same_steps(made: Made) -> None:
    """
    Given an instance of the pool in the model and in TLA+, with more than 10,000 states
    When both are explored completely
    Then they have the same states, and the same steps with the same arguments between them
    """
    found = compare(made())
    assert found.verdict is Verdict.EQUAL, "\n".join(told(found))
    assert found.states >= 10_000
    assert found.edges > 4 * found.states


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(memory_pool.small_binding, id="non-strict"),
        pytest.param(memory_pool.small_strict_binding, id="strict"),
        pytest.param(memory_pool.small_identity_binding, id="identity"),
    ],
)
def test_the_small_pools_are_equal_too(made: Made) -> None:
    """The instances that the controls change."""
    found = compare(made(), CompareSettings(modules_folder(), java_options=QUICK))
    assert found.verdict is Verdict.EQUAL, "\n".join(told(found))


@pytest.mark.java
@pytest.mark.slow
def test_the_size_of_a_foreign_buffer_shows_in_the_history_alone(tmp_path: Path) -> None:
    """
    Given a model that says of every foreign buffer that it has one byte
    When it is compared with and without the arguments of steps
    Then it differs with them, in no state, and is equal without
    """
    binding = memory_pool.small_identity_binding()
    settings = CompareSettings(modules_folder(), java_options=QUICK)
    dump = explore_module(binding, settings, tmp_path / "graph.dot")
    with changed_binding(HIDDEN_ARGUMENT, tmp_path) as changed:
        found = compare_with(changed, dump, settings.modules)
        blind = compare_with(changed, dump, settings.modules, arguments=False)
    assert found.verdict is Verdict.DIFFERENT
    assert found.differences is not None
    assert set(found.differences.states.values()) == {0}
    assert blind.verdict is Verdict.EQUAL
