"""Whether the overlapping calls of one run are allowed: the verdict, and what led to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

import msgspec

from purgatory_model.interleaving import Called
from purgatory_model.purgatory import purgatory_model
from purgatory_model.sequential_rules import sequential
from purgatory_pipeline.linearizability.budget import Budget, OutOfBudget
from purgatory_pipeline.linearizability.calls import Entry, NoHistory
from purgatory_pipeline.linearizability.model_rules import ModelRules
from purgatory_pipeline.linearizability.operation_shares import (
    OperationShares,
    with_executor_calls,
)
from purgatory_pipeline.linearizability.purgatory_rules import Statement, statements
from purgatory_pipeline.linearizability.real_clock_rules import NoTime
from purgatory_pipeline.linearizability.refutation import Refutation
from purgatory_pipeline.linearizability.share import Share, ShareFound
from purgatory_pipeline.linearizability.shares import shares_of
from purgatory_pipeline.linearizability.traced_history import TracedHistory
from purgatory_pipeline.trace_lines import Begin, PurgatoryInstance, WallClock
from purgatory_spec.profiles import Executor, PurgatoryProfile


class Answered(Enum):
    """The verdict on the calls of a run."""

    LINEARIZABLE = "linearizable"
    """Some order of the calls is allowed."""
    NOT_LINEARIZABLE = "not linearizable"
    """None is."""
    INCONCLUSIVE = "inconclusive"
    """It could not be decided, or not for the whole run; the reason says why."""


@dataclass(slots=True)
class Finding:
    """What was found of a run.

    Attributes:
        history: The run.
        answered: The verdict.
        reason: Why it is inconclusive; empty otherwise.
        shares: What was explained, each apart; of a run that is not linearizable those that fail,
            the one that fails first in front.
        configurations: How many configurations were looked at.
        statement: Which statement of the rules explains the run, or comes furthest.
    """

    history: TracedHistory
    answered: Answered = Answered.LINEARIZABLE
    reason: str = ""
    shares: list[ShareFound] = field(default_factory=list)
    configurations: int = 0
    statement: str = ""

    @property
    def calls(self) -> int:
        """How many calls the run has."""
        return sum(isinstance(entry.event, Called) for entry in self.history.entries)


def check_run(history: TracedHistory, budget: Budget) -> Finding:
    """Whether some order of the calls of a run is allowed."""
    finding = Finding(history)
    try:
        if history.begin is None:
            finding.answered, finding.reason = Answered.INCONCLUSIVE, history.hole
            return finding
        _explain(finding, history.begin, budget)
    except OutOfBudget as problem:
        finding.answered, finding.reason = Answered.INCONCLUSIVE, str(problem)
    except NoTime as problem:
        finding.answered = Answered.INCONCLUSIVE
        finding.reason = f"line {problem.seq} says no time, and the clock is a real one"
    except ValueError as problem:
        finding.answered, finding.reason = Answered.INCONCLUSIVE, str(problem)
    finding.configurations = budget.configurations
    if finding.answered is Answered.LINEARIZABLE and history.hole:
        finding.answered, finding.reason = Answered.INCONCLUSIVE, history.hole
    return finding


def _explain(finding: Finding, begin: Begin, budget: Budget) -> None:
    if isinstance(begin.instance, PurgatoryInstance):
        _explain_purgatory(finding, begin, begin.instance, budget)
        return
    _judge(finding, [share.explained(budget) for share in shares_of(finding.history)])


def _judge(finding: Finding, found: Sequence[ShareFound]) -> None:
    failing = [share for share in found if share.refutation is not None]
    if failing:
        finding.answered = Answered.NOT_LINEARIZABLE
        finding.shares = sorted(failing, key=_fails_at)
    else:
        finding.shares = list(found)


def _fails_at(share: ShareFound) -> int:
    return share.fails_at


def _explain_purgatory(
    finding: Finding, begin: Begin, instance: PurgatoryInstance, budget: Budget
) -> None:
    """Operation by operation, by one statement of the rules for all of them."""
    real_clock = isinstance(begin.clock, WallClock)
    snapshot = finding.history.snapshot
    waiting = () if snapshot is None else snapshot.operations
    entries = with_executor_calls(finding.history.entries)
    has_threads = real_clock or instance.profile.executor is Executor.THREAD
    broken_off = has_threads and bool(finding.history.hole)
    try:
        operations = OperationShares(entries, begin.keeps_names, broken_off, waiting)
    except NoHistory as problem:
        told = entries[: problem.place]
        operations = OperationShares(told, begin.keeps_names, broken_off, waiting)
        stray: Entry | None = entries[problem.place]
    else:
        stray = operations.miscounted()
    if operations.beyond:
        _explain_whole(finding, instance, operations, budget, real_clock=real_clock)
        return
    best: list[ShareFound] | None = None
    for statement in statements(
        instance.profile.accounting,
        instance.profile.executor,
        real_clock=real_clock,
        any_key_takes_time_out=any(
            each.rule == "PURGATORY-CANCEL-KEEPS-TIME-OUT" for each in begin.deviations
        ),
        counts_entries=operations.counts_entries,
        snapshot=snapshot,
    ):
        found = list(_by_statement(operations, statement, budget))
        failing = sorted((each for each in found if each.refutation is not None), key=_fails_at)
        if best is None or not failing or _fails_at(best[0]) < _fails_at(failing[0]):
            best, finding.statement = failing or found, statement.words
        if not failing:
            break
    _judge(finding, best or [])
    if stray is not None and _is_before(stray, finding):
        place = next(place for place, entry in enumerate(entries) if entry is stray)
        finding.answered = Answered.NOT_LINEARIZABLE
        finding.shares = [ShareFound("", entries, refutation=Refutation(place))]


def _is_before(stray: Entry, finding: Finding) -> bool:
    """Whether nothing fails before this entry."""
    if finding.answered is not Answered.NOT_LINEARIZABLE:
        return True
    return stray.seq < _fails_at(finding.shares[0])


def _by_statement(
    operations: OperationShares, statement: Statement, budget: Budget
) -> Iterator[ShareFound]:
    for name in operations.names:
        yield statement.share_of(name, operations.of(name)).explained(budget)


def _explain_whole(
    finding: Finding,
    instance: PurgatoryInstance,
    operations: OperationShares,
    budget: Budget,
    *,
    real_clock: bool,
) -> None:
    """By the sequential model, every call one effect; that none does so proves nothing."""
    if real_clock or finding.history.snapshot is not None:
        raise ValueError(f"{operations.beyond}, which the rules for calls in parts do not speak of")
    model = purgatory_model(instance.configuration, _showing_nothing(instance))
    share = Share("", finding.history.entries, ModelRules(sequential(model)))
    whole = share.explained(budget)
    if whole.refutation is not None:
        raise ValueError(
            f"{operations.beyond}, which the rules for calls in parts do not speak of, "
            "and no order of whole calls is allowed"
        )
    finding.statement = "every call one effect"
    _judge(finding, [whole])


def _showing_nothing(instance: PurgatoryInstance) -> PurgatoryProfile:
    """The profile without observables, which are no part of a history."""
    return msgspec.structs.replace(instance.profile, observables=frozenset())
