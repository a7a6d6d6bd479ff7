"""Short examples of a purgatory: what must come of some steps, or all that may."""

from immutables import Map

from purgatory_model.purgatory import purgatory_model
from purgatory_spec.operations import Answer, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Accounting,
    CheckDrops,
    Executor,
    PurgatoryConfiguration,
    PurgatoryObservable,
    PurgatoryProfile,
    Structure,
    ThrowingTry,
)
from purgatory_spec.reasons import Reason

from .purgatory_strategies import State, only, told

WAIT, COMPLETE, THROW = Answer.WAIT, Answer.COMPLETE, Answer.THROW
EVERYTHING = frozenset(PurgatoryObservable)


def stepped(
    accounting: Accounting = Accounting.EXACT,
    throwing_try: ThrowingTry = ThrowingTry.STOP,
    structure: Structure = Structure.ANY,
) -> PurgatoryProfile:
    return PurgatoryProfile(
        check_drops=CheckDrops.AS_PASSED,
        accounting=accounting,
        throwing_try=throwing_try,
        executor=Executor.STEPPED,
        structure=structure,
        observables=EVERYTHING,
    )


def asked(
    *operations: Operation,
    profile: PurgatoryProfile | None = None,
    configuration: PurgatoryConfiguration | None = None,
) -> tuple[tuple[Outcome, ...], State]:
    """What must come of the operations."""
    model = purgatory_model(configuration or PurgatoryConfiguration(), profile or stepped())
    return only(model, *operations)


def last(*operations: Operation, profile: PurgatoryProfile | None = None) -> Outcome:
    """What must come of the last of the operations."""
    return asked(*operations, profile=profile)[0][-1]


def everything(
    *operations: Operation, profile: PurgatoryProfile | None = None
) -> set[tuple[object, Reason | None, str, Map[str, tuple[str, ...]]]]:
    """All that may come of the last operation: result, rejection, events, lists."""
    model = purgatory_model(PurgatoryConfiguration(), profile or stepped())
    states = {model.initial()}
    for operation in operations[:-1]:
        states = {after for state in states for _, after in model.successors(state, operation)}
    return {
        (outcome.result, outcome.rejected, told(outcome), after.lists)
        for state in states
        for outcome, after in model.successors(state, operations[-1])
    }
