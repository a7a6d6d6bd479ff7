"""The panels of a purgatory: watcher lists by key, the timer, the executor's queue, the counts."""

from collections.abc import Iterator

from purgatory_conformance.describing.words import describe_task
from purgatory_conformance.drawing.lanes import differing_names
from purgatory_conformance.drawing.panels import Box, Boxes, PanelScene, Row, Words, panel_scene
from purgatory_judge.components import narrowed
from purgatory_judge.purgatory.step import Model, State
from purgatory_judge.retraced_case import RetracedCase
from purgatory_model.purgatory import purgatory_model
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_spec.operations import Force, Satisfy, Watch
from purgatory_spec.profiles import Accounting, PurgatoryConfiguration, PurgatoryProfile

_MOST_LISTS = 8


def purgatory_scene(case: RetracedCase) -> PanelScene:
    """Return the scene of a failing case of a purgatory that was judged anew."""
    configuration = narrowed(case.configuration, PurgatoryConfiguration)
    model = purgatory_model(configuration, narrowed(case.profile, PurgatoryProfile))
    operation = case.divergence.operation
    focus = differing_names(case.divergence)
    if not focus and isinstance(operation, Watch | Force | Satisfy):
        focus = frozenset({operation.operation})

    def rows(state: object) -> tuple[Row, ...]:
        return (
            tuple(purgatory_rows(model, state, focus)) if isinstance(state, PurgatoryState) else ()
        )

    return panel_scene(case, rows)


def purgatory_rows(
    model: Model, state: State, focus: frozenset[str] = frozenset()
) -> Iterator[Row]:
    """Yield the rows of a purgatory's state; operations of ``focus`` are to be seen first."""
    completed = state.completed

    def box(name: str, words: str = "") -> Box:
        shown = describe_task(name)
        return Box(f"{shown} {words}" if words else shown, name in completed, name in focus)

    lists = sorted(state.lists.items())
    for key, names in lists[:_MOST_LISTS]:
        yield Boxes(f"list {describe_task(key)}", tuple(box(name) for name in names))
    if len(lists) > _MOST_LISTS or not lists:
        yield Words("lists", f"… and {len(lists) - _MOST_LISTS} more" if lists else "none")
    due_ticks = sorted(state.timer.store.due_ticks.items(), key=lambda item: (item[1], item[0]))
    yield Boxes("timer", tuple(box(name, f"due {due_tick}") for name, due_tick in due_ticks))
    yield Boxes("executor", tuple(box(name) for name in state.timer.queue))
    yield Words("entries", f"{state.entries}, of them {state.stale_entries} stale")
    yield Words("time-outs", f"{state.pending} owed")
    if model.profile.accounting is not Accounting.ANY:
        yield Words("estimate", str(model.estimate(state)))
    yield Words("clock", f"{state.timer.now_ms}{', shut down' if state.closed else ''}")
