"""Predictions of a behaviour: operations, with outcomes from the TLA+ states."""

from dataclasses import dataclass, replace

import msgspec

from purgatory_spec.cases import Case, Step, case_header
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Configuration, Profile


@dataclass(frozen=True, slots=True)
class Prediction:
    """An operation of a behaviour, with the outcome that the TLA+ states predict.

    Attributes:
        operation: The operation that the subject is asked.
        outcome: The predicted outcome; of the observables only the values that follow from the
            states.
        steps: The numbers of the TLA+ steps that the operation stands for; none where it only
            prepares a later one.
        groups: How the events are grouped: sizes, from the first event on. The module leaves the
            order of different tasks inside a group open. Events beyond them stand by themselves.
        free: The parts of the outcome that are not predicted: ``answer`` (result and rejection),
            ``events``.
        needs: The optional parts of the vocabulary that the operation takes, for example
            ``change_delay``.
        either: Why an implementation may answer otherwise and be as right; empty where it may not.
    """

    operation: Operation
    outcome: Outcome
    steps: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    free: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    either: str = ""


@dataclass(frozen=True, slots=True)
class NotDrivable:
    """The number of the first TLA+ step that cannot be driven, and why it cannot."""

    step: int
    reason: str


@dataclass(frozen=True, slots=True)
class Driven:
    """A behaviour as far as it can be driven.

    ``profile`` holds the choices that the behaviour makes, and the observables that it predicts.
    ``length`` counts the behaviour's TLA+ steps.
    """

    configuration: Configuration
    profile: Profile
    predictions: tuple[Prediction, ...]
    length: int
    stopped: NotDrivable | None = None

    @property
    def driven(self) -> int:
        """Return the number of TLA+ steps that the operations stand for."""
        return sum(len(prediction.steps) for prediction in self.predictions)

    def for_subject(self, declared: Profile) -> "Driven":
        """Return the predictions for a subject of a profile, up to one that it does not offer."""
        for number, prediction in enumerate(self.predictions):
            missing = prediction.needs - declared.features
            if missing:
                step = min(prediction.steps, default=0)
                stopped = NotDrivable(step, f"the subject does not offer {min(missing)}")
                return replace(self, predictions=self.predictions[:number], stopped=stopped)
        return self

    def case(self, name: str, title: str, origin: str, rules: tuple[str, ...] = ()) -> Case:
        """Return the predictions as a case, to be stored or replayed."""
        used = frozenset(each for prediction in self.predictions for each in prediction.needs)
        profile = msgspec.convert(
            {**msgspec.to_builtins(self.profile), "features": used}, type(self.profile)
        )
        header = case_header(name, self.configuration, profile, title=title, rules=rules)
        steps = (Step(each.operation, each.outcome) for each in self.predictions)
        return Case(msgspec.structs.replace(header, origin=origin), tuple(steps))


class CannotDrive(Exception):
    """A step of a behaviour is no operation, nor part of one."""

    def __init__(self, step: int, reason: str) -> None:
        """Keep the step and the reason."""
        super().__init__(f"step {step}: {reason}")
        self.step = step
        self.reason = reason
