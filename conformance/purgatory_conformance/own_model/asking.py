"""Asking a user's model: every answer is checked before it is used."""

import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from purgatory_conformance.describing.words import shortened
from purgatory_conformance.own_model.watch import Watching
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Profile

MOST_OUTCOMES = 5_040
"""The orders of seven tasks: a step with more outcomes is not compared, and a step that has them
where the rules leave no such choice is taken for one that never ends."""

_ASKED_TWICE = 300


class OwnModelFailure(Exception):
    """The code of the file failed, or gave no valid answer: the message says where."""


class TooManyOutcomes(OwnModelFailure):
    """A step has so many outcomes that it may never come to an end of them."""


Branch = tuple[Outcome, Hashable]
"""An outcome, and the state after it."""


@contextmanager
def guarded(path: Path, watch: Watching, what: Callable[[], str]) -> Iterator[None]:
    """Run code of the file; whatever it raises is told as its own failure.

    Raises:
        OwnModelFailure: it raised something.
    """
    try:
        with watch.asking(what):
            yield
    except OwnModelFailure:
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename) == path.resolve()]
        where = f":{lines[-1]}" if lines else ""
        raise OwnModelFailure(
            f"{path}{where}: {what()} raised {type(error).__name__}: {error}"
        ) from error


@dataclass
class OwnInstance:
    """An instance of the model of a file."""

    path: Path
    watch: Watching
    start: Callable[..., object]
    arguments: tuple[object, ...]
    go: Callable[..., object]
    profile: Profile
    asked: int = 0

    def initial(self) -> Hashable:
        """Return the state at the beginning.

        Raises:
            OwnModelFailure: the code failed, or gave no state.
        """
        with guarded(self.path, self.watch, lambda: "initial()"):
            return self._hashable("initial()", self.start(*self.arguments))

    def step(self, state: Hashable, operation: Operation) -> list[Branch]:
        """Return the outcomes that the model allows, each with the state after it.

        Raises:
            TooManyOutcomes: there are more than ``MOST_OUTCOMES``.
            OwnModelFailure: the code failed, or gave no such thing.
        """

        def what() -> str:
            return f"step({shortened(repr(state), 200)}, {operation!r})"

        answers = self._answers(what, state, operation)
        self.asked += 1
        if self.asked <= _ASKED_TWICE and self._answers(what, state, operation) != answers:
            raise OwnModelFailure(
                f"{self.path}: {what()} answers differently when it is asked a second time: a "
                "state must not be changed in place, and two equal states must be equal by =="
            )
        return answers

    def _answers(
        self, what: Callable[[], str], state: Hashable, operation: Operation
    ) -> list[Branch]:
        with guarded(self.path, self.watch, what):
            given = self.go(state, operation)
            if isinstance(given, tuple) and given and isinstance(given[0], Outcome):
                given = [given]
            if not isinstance(given, Iterable) or isinstance(given, str | bytes):
                raise OwnModelFailure(
                    f"{self.path}: {what()} gave {given!r}; an outcome with the state after it was "
                    "expected, or a list of such pairs"
                )
            pairs = list(islice(given, MOST_OUTCOMES + 1))
        if len(pairs) > MOST_OUTCOMES:
            raise TooManyOutcomes(
                f"{self.path}: {what()} gave more than {MOST_OUTCOMES} outcomes, perhaps for ever"
            )
        return [self._answer(what, pair) for pair in pairs]

    def _answer(self, what: Callable[[], str], pair: object) -> Branch:
        match pair:
            case (Outcome() as outcome, state):
                return self._outcome(what, outcome), self._hashable(what(), state)
        raise OwnModelFailure(
            f"{self.path}: {what()} gave {pair!r}; a pair of an Outcome and a state was expected"
        )

    def _outcome(self, what: Callable[[], str], outcome: Outcome) -> Outcome:
        """Return the outcome with every value of the right type, without undeclared observables."""
        try:
            right = msgspec.convert(msgspec.to_builtins(outcome), Outcome)
        except (msgspec.ValidationError, TypeError) as error:
            raise OwnModelFailure(
                f"{self.path}: {what()} gave an outcome with a value of a wrong type: {error}"
            ) from error
        declared: frozenset[str] = self.profile.observables
        shown = {name: value for name, value in right.observed.items() if name in declared}
        return Outcome(right.result, right.rejected, right.events, shown)

    def _hashable(self, what: str, state: object) -> Hashable:
        try:
            hash(state)
        except TypeError as error:
            raise OwnModelFailure(
                f"{self.path}: {what} gave a state that cannot be kept in a set ({error}): use a "
                "frozen dataclass, with tuples and frozensets in it"
            ) from error
        return state
