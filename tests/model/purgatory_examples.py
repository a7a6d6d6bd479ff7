"""Short examples of a purgatory: what must come of some steps, or all that may."""

from immutables import Map

from purgatory_model.purgatory import purgatory_model
from purgatory_spec import profiles
from purgatory_spec.operations import Answer, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.reasons import Reason

from .purgatory_strategies import State, only, told

WAIT, COMPLETE, THROW = Answer.WAIT, Answer.COMPLETE, Answer.THROW
EVERYTHING = frozenset(profiles.PurgatoryObservable)


def stepped(
    accounting: profiles.Accounting = profiles.Accounting.EXACT,
    throwing_try: profiles.ThrowingTry = profiles.ThrowingTry.STOP,
    structure: profiles.Structure = profiles.Structure.ANY,
) -> profiles.PurgatoryProfile:
    return profiles.PurgatoryProfile(
        check_drops=profiles.CheckDrops.AS_PASSED,
        accounting=accounting,
        throwing_try=throwing_try,
        executor=profiles.Executor.STEPPED,
        structure=structure,
        observables=EVERYTHING,
    )


def asked(
    *operations: Operation,
    profile: profiles.PurgatoryProfile | None = None,
    configuration: profiles.PurgatoryConfiguration | None = None,
) -> tuple[tuple[Outcome, ...], State]:
    """Return the only outcomes that the operations may have, and the state behind them."""
    model = purgatory_model(
        configuration or profiles.PurgatoryConfiguration(), profile or stepped()
    )
    return only(model, *operations)


def last(*operations: Operation, profile: profiles.PurgatoryProfile | None = None) -> Outcome:
    """Return the only outcome that the last of the operations may have."""
    return asked(*operations, profile=profile)[0][-1]


def everything(
    *operations: Operation, profile: profiles.PurgatoryProfile | None = None
) -> set[tuple[object, Reason | None, str, Map[str, tuple[str, ...]]]]:
    """All that may come of the last operation: result, rejection, events, lists."""
    model = purgatory_model(profiles.PurgatoryConfiguration(), profile or stepped())
    states = {model.initial()}
    for operation in operations[:-1]:
        states = {after for state in states for _, after in model.successors(state, operation)}
    return {
        (outcome.result, outcome.rejected, told(outcome), after.lists)
        for state in states
        for outcome, after in model.successors(state, operations[-1])
    }
