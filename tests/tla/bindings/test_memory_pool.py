"""What the history of the memory pool shows that its states do not."""

# That both sides have one state graph is in ``test_state_graphs``.

from pathlib import Path

import pytest

from purgatory_tla.bindings import memory_pool
from purgatory_tla.comparing.comparing import (
    QUICK,
    CompareSettings,
    GraphVerdict,
    compare_with,
    explore_module,
)
from purgatory_tla.resources import modules_folder

from ..comparing.changes_memory_pool import HIDDEN_ARGUMENT
from ..comparing.seeded_changes import changed_binding


@pytest.mark.java
@pytest.mark.slow
def test_the_size_of_a_foreign_buffer_shows_in_the_history_alone(tmp_path: Path) -> None:
    binding = memory_pool.small_identity_binding()
    settings = CompareSettings(modules_folder(), java_options=QUICK)
    dump = explore_module(binding, settings, tmp_path / "graph.dot")
    with changed_binding(HIDDEN_ARGUMENT, tmp_path) as changed:
        found = compare_with(changed, dump, settings.modules)
        blind = compare_with(changed, dump, settings.modules, arguments=False)
    assert found.verdict is GraphVerdict.DIFFERENT
    assert found.differences is not None
    assert set(found.differences.states.values()) == {0}
    assert blind.verdict is GraphVerdict.EQUAL
