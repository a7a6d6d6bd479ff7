"""A behaviour of a history module as labelled moves from state to state.

A history module (``…History.tla``) has a variable ``step`` that bears the label of the action just
taken, and is ``<<>>`` at rest. Two states of its behaviours that follow each other are a move and
the rest after it; only the moves are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import msgspec

from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.errors import UnexpectedOutput
from purgatory_tla.values.printed import parse
from purgatory_tla.values.shapes import unshaped

if TYPE_CHECKING:
    from itf_py import State as TraceState
    from itf_py import Trace

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class TlaState:
    """A state of a behaviour: the values of its variables."""

    values: Mapping[str, object]

    def read(self, name: str, kind: type[Kind]) -> Kind:
        """Return a variable's value as a Python value of a type, for example ``dict[str, int]``.

        Raises:
            UnexpectedOutput: there is no such variable, or its value is of another type.
        """
        if name not in self.values:
            raise UnexpectedOutput(f"the behaviour has no variable {name}")
        try:
            return msgspec.convert(_plain(self.values[name]), kind)
        except msgspec.ValidationError as error:
            raise UnexpectedOutput(f"{name} is not what was expected: {error}") from error


@dataclass(frozen=True, slots=True)
class Move:
    """A step of the bound module: number, from 1 on, label, and the states before and after."""

    number: int
    step: Step
    before: TlaState
    after: TlaState

    @property
    def thread(self) -> str:
        """Return the thread that takes the step, for labels whose first argument is a thread."""
        return self.text(0)

    def text(self, position: int) -> str:
        """Return an argument of the label that is a string."""
        return str(self._argument(position, str))

    def integer(self, position: int) -> int:
        """Return an argument of the label that is an integer."""
        return int(self._argument(position, int))

    def _argument(self, position: int, kind: type) -> str | int:
        arguments = self.step.arguments
        if position < len(arguments) and isinstance(arguments[position], kind):
            return arguments[position]
        raise UnexpectedOutput(
            f"step {self.number}, {self.step.action}, has no {kind.__name__} as argument "
            f"{position + 1}: its arguments are {arguments}"
        )


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A behaviour: the initial state, and the moves in order."""

    first: TlaState
    moves: tuple[Move, ...]


def behaviour_of(trace: "Trace") -> Behaviour:
    """Return the behaviour that a trace of a history module shows; a lasso is cut where it closes.

    Raises:
        UnexpectedOutput: the module keeps no labels.
    """
    states = list(trace.states)
    moves: list[Move] = []
    for before, after in pairwise(states):
        label = _label(after)
        if label is not None and _label(before) is None:
            moves.append(
                Move(len(moves) + 1, label, TlaState(before.values), TlaState(after.values))
            )
    return Behaviour(TlaState(states[0].values), tuple(moves))


def _label(state: "TraceState") -> Step | None:
    """Return the step in the variable ``step``; None at rest."""
    words = _plain(state.values.get("step"))
    if not isinstance(words, list):
        raise UnexpectedOutput("the behaviour has no variable step: it is of no history module")
    if not words:
        return None
    action, *arguments = words
    return Step(str(action), tuple(each for each in arguments if isinstance(each, str | int)))


def _plain(value: object) -> object:
    """Return functions as dictionaries, sequences and tuples as lists, sets as they are."""
    if isinstance(value, Mapping):
        return {_key(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, frozenset):
        return frozenset(_key(each) for each in value)
    return value


def _key(value: object) -> object:
    """Return a plain value in a form that can be hashed."""
    if isinstance(value, list | tuple):
        return tuple(_key(each) for each in value)
    return value


@dataclass(frozen=True, slots=True)
class Constants:
    """The values of the module's constants in a configuration, as text of TLA+."""

    texts: Mapping[str, str]

    def read(self, name: str, kind: type[Kind]) -> Kind:
        """Return a constant's value as a Python value of a type, for example ``frozenset[str]``.

        Raises:
            UnexpectedOutput: it has none that is written out, or one of another type.
        """
        text = self.texts.get(name, "")
        if not text or text.startswith("<-"):
            raise UnexpectedOutput(f"the configuration does not write out a value of {name}")
        try:
            return msgspec.convert(_plain(unshaped(parse(text))), kind)
        except msgspec.ValidationError as error:
            raise UnexpectedOutput(f"{name} = {text} is not what was expected: {error}") from error

    def operator(self, name: str) -> str:
        """Return the operator in place of a constant, as ``Name <- Operator``; else empty."""
        text = self.texts.get(name, "")
        return text.removeprefix("<-").strip() if text.startswith("<-") else ""
