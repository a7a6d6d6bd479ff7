"""A change of one line on either side is reported, with a path to the step that differs."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from purgatory_tla.comparing.binding import Binding
from purgatory_tla.comparing.comparing import (
    QUICK,
    CompareSettings,
    Dump,
    GraphVerdict,
    compare_with,
    explore_module,
)
from purgatory_tla.comparing.report import told
from purgatory_tla.resources import modules_folder

from .seeded_changes import (
    LineNotUnique,
    SeededChange,
    changed_binding,
    changed_modules,
    installed_binding,
    plant,
    seeded_changes,
)

CHANGES = seeded_changes()

Explore = Callable[[Binding[Any]], Dump]

AT_LEAST = 12
NOT_LARGE = {True: 1, False: 2}
"""The number of planted changes of each component, in TLA+ and in Python; others are large.

`make test` plants those in TLA+, `make verify` those in Python. The changes that show what the
history is for are planted in every run, in tests of their own.
"""


def _kind(change: SeededChange) -> tuple[str, bool]:
    """The component and the side."""
    return change.binding.rpartition(".")[0], change.in_tla


def _is_large(place: int) -> bool:
    earlier = [each for each in CHANGES[:place] if _kind(each) == _kind(CHANGES[place])]
    return len(earlier) >= NOT_LARGE[CHANGES[place].in_tla]


def _marks(place: int) -> list[pytest.MarkDecorator]:
    if _is_large(place):
        return [pytest.mark.large]
    return [] if CHANGES[place].in_tla else [pytest.mark.verify]


PARAMETERS = [
    pytest.param(change, id=change.name, marks=_marks(place))
    for place, change in enumerate(CHANGES)
]


@pytest.fixture(scope="session")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Explore:
    """The graph of a binding's module, explored once."""
    dumps: dict[str, Dump] = {}

    def of(binding: Binding[Any]) -> Dump:
        if binding.name not in dumps:
            path = tmp_path_factory.mktemp("dumps") / f"{binding.name}.dot"
            settings = CompareSettings(modules_folder(), java_options=QUICK)
            dumps[binding.name] = explore_module(binding, settings, path)
        return dumps[binding.name]

    return of


@contextmanager
def sides(
    change: SeededChange, folder: Path, explored: Explore
) -> Iterator[tuple[Binding[Any], Dump, Path]]:
    """Yield binding, graph of the module and folder of modules, with the change in place."""
    binding = installed_binding(change.binding)
    if change.in_tla:
        settings = CompareSettings(changed_modules(change, folder), java_options=QUICK)
        yield binding, explore_module(binding, settings, folder / "graph.dot"), settings.modules
    else:
        with changed_binding(change, folder) as changed:
            yield changed, explored(binding), modules_folder()


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize("change", PARAMETERS)
def test_a_change_of_one_line_is_reported(
    change: SeededChange, tmp_path: Path, explored: Explore
) -> None:
    with sides(change, tmp_path, explored) as (binding, dump, modules):
        found = compare_with(binding, dump, modules)
    assert found.verdict is GraphVerdict.DIFFERENT
    assert found.differences is not None
    first = found.differences.first[0]
    assert first.label is not None, told(found)
    assert first.label.partition("(")[0] == change.action, "\n".join(told(found))


def test_there_are_changes_enough_on_both_sides() -> None:
    assert len({each.name for each in CHANGES}) == len(CHANGES)
    assert sum(not _is_large(place) for place in range(len(CHANGES))) >= AT_LEAST
    kinds = Counter(map(_kind, CHANGES))
    assert len(kinds) == 18
    assert min(kinds.values()) >= 3, kinds


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [each for each in CHANGES if each.in_label_alone], ids=lambda each: each.name
)
def test_only_the_history_shows_a_wrong_argument_of_a_step_to_an_equal_state(
    change: SeededChange, tmp_path: Path, explored: Explore
) -> None:
    """Leave the arguments out on both sides, which makes the graphs equal."""
    with sides(change, tmp_path, explored) as (binding, dump, modules):
        found = compare_with(binding, dump, modules)
        blind = compare_with(binding, dump, modules, arguments=False)
    assert found.differences is not None
    assert set(found.differences.states.values()) == {0}
    assert blind.verdict is GraphVerdict.EQUAL
    assert blind.edges < found.edges


@pytest.mark.parametrize("line", ["no such line", "/\\ UNCHANGED <<now, closed>>"])
def test_a_change_of_a_line_that_is_not_there_once_is_refused(line: str, tmp_path: Path) -> None:
    path = tmp_path / "Toy.tla"
    path.write_text("/\\ UNCHANGED <<now, closed>>\n  /\\ UNCHANGED <<now, closed>>\n", "utf-8")
    before = path.read_text(encoding="utf-8")
    change = SeededChange("a", "timing_wheel.binding", "Toy.tla", line, "TRUE", "Advance")
    with pytest.raises(LineNotUnique, match=r"Toy\.tla has (0|2) lines"):
        plant(change, path)
    assert path.read_text(encoding="utf-8") == before


def test_a_changed_model_is_a_copy(tmp_path: Path) -> None:
    change = next(each for each in CHANGES if each.name.startswith("the model forgets a level"))
    binding = installed_binding(change.binding)
    before = list(binding.steps(binding.initial))
    with changed_binding(change, tmp_path) as changed:
        assert type(changed.initial) is not type(binding.initial)
    assert list(binding.steps(binding.initial)) == before
    assert list(installed_binding(change.binding).steps(binding.initial)) == before
