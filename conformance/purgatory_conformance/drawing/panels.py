"""The contents of a picture of panels: states of the model as rows, the lanes of the step.

A panel is a state: a list, a queue or a budget of bytes each has a row. Two panels stand side by
side, the state before the diverging step and the one expected after it; the third has what was
expected of the step beside what was seen.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.drawing.lanes import Lane, lanes_of
from purgatory_judge.retraced_case import RetracedCase


class Box(msgspec.Struct, frozen=True):
    """Something in a list: ``stale`` is a completed operation, which only its entry is left of.

    ``focus`` says that the divergence is about it.
    """

    words: str
    stale: bool = False
    focus: bool = False


class Boxes(msgspec.Struct, frozen=True, tag="boxes"):
    """A list or a queue in its order; empty is drawn too."""

    about: str
    boxes: tuple[Box, ...]


class Words(msgspec.Struct, frozen=True, tag="words"):
    """A fact in words, for example the counts of a state."""

    about: str
    words: str


class Holder(msgspec.Struct, frozen=True):
    """A holder of bytes, and the number of bytes."""

    name: str
    size_bytes: int
    focus: bool = False


class Budget(msgspec.Struct, frozen=True, tag="budget"):
    """Bytes that are shared: the holders side by side, what is left, and where the bound is.

    ``bound_bytes`` is None where there is no bound. ``available_bytes`` may be below zero, where
    the holders have more than there is.
    """

    about: str
    holders: tuple[Holder, ...]
    available_bytes: int
    bound_bytes: int | None


Row = Boxes | Words | Budget


@dataclass(frozen=True, slots=True)
class Panel:
    """A state of the model: its title, its rows, and the same in a sentence."""

    title: str
    rows: tuple[Row, ...]
    description: str


@dataclass(frozen=True, slots=True)
class PanelScene:
    """All that a picture of panels shows."""

    panels: tuple[Panel, ...]
    step: str
    """The number of the diverging step, and the step in words."""
    lanes: tuple[Lane, ...]


def panel_scene(case: RetracedCase, rows: Callable[[object], tuple[Row, ...]]) -> PanelScene:
    """Return the scene of a failing case.

    Args:
        case: The case, judged anew.
        rows: The rows of a state; none for what is no state of the component.
    """
    divergence, number = case.divergence, len(case.steps)
    states = (
        (f"before step {number}" if number > 1 else "at first", divergence.before),
        (f"expected after step {number}", divergence.after),
    )
    panels = (Panel(title, rows(state), describe_state(state)) for title, state in states)
    return PanelScene(
        panels=tuple(panel for panel in panels if panel.rows),
        step=f"step {number}: {describe_operation(divergence.operation)}",
        lanes=lanes_of(divergence),
    )
