"""Hold what the small specimens share: refusals, failures of scripts, and the shape of a step.

None of it states a rule; whatever a rule says is written four times, in the four specimens.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from purgatory_conformance.subjects.dropped import Dropped
from purgatory_spec.operations import Operation, ThrowSort
from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.profiles import Profile
from purgatory_spec.reasons import Reason

Named = TypeVar("Named")


class Refusal(Exception):
    """Reject an operation, for a reason that the outcome names."""

    def __init__(self, reason: Reason = Reason.INVALID_ARGUMENT) -> None:
        super().__init__(reason.value)
        self.reason = reason


class ScriptFailure(BaseException):
    """Leave a task, a try or a callback because its script says so: a severe exception."""


class OrdinaryScriptFailure(ScriptFailure, Exception):
    """Leave it by an ordinary exception."""


def failure_of(sort: ThrowSort) -> ScriptFailure:
    """Return the exception that a script throws."""
    return ScriptFailure() if sort is ThrowSort.SEVERE else OrdinaryScriptFailure()


def reason_of(error: BaseException) -> Reason:
    """Return the reason of the rejection that an exception stands for."""
    if isinstance(error, Refusal):
        return error.reason
    return Reason.THROWN if isinstance(error, ScriptFailure) else Reason.INTERNAL


def known(named: Mapping[str, Named], name: str) -> Named:
    """Return what has a name; raises ``Refusal`` for a name that nothing has."""
    if name not in named:
        raise Refusal(Reason.UNKNOWN_NAME)
    return named[name]


class Specimen:
    """Carry out one step at a time, and show what the profile declares."""

    def __init__(self, profile: Profile) -> None:
        """Keep the names of the declared observables."""
        self.observables = frozenset(each.value for each in profile.observables)
        self.events: list[Event] = []
        self.dropped = Dropped()

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation and return its outcome."""
        self.events = []
        result: Value = None
        rejected: Reason | None = None
        detail = ""
        try:
            try:
                result = self.perform(operation)
            finally:
                self.settle()
        except Refusal as refusal:
            rejected = refusal.reason
        except (ScriptFailure, Exception) as error:
            rejected, detail = reason_of(error), repr(error)
        shown = {o.value: v for o, v in self.show().items() if o.value in self.observables}
        return Outcome(result, rejected, tuple(self.events), shown, detail)

    def perform(self, operation: Operation) -> Value:
        """Return the result of an operation; raises ``Refusal`` and ``ScriptFailure``."""
        raise NotImplementedError

    def settle(self) -> None:
        """Do what happens by itself at the end of a step."""

    def show(self) -> Mapping[StrEnum, Value]:
        """Return all observables, the undeclared ones included."""
        raise NotImplementedError

    def close(self) -> None:
        """Hold nothing that would have to be given back."""
