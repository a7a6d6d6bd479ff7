"""Check of one run's overlapping calls: the verdict, and the reasons for it."""

from dataclasses import dataclass, field
from enum import Enum

import msgspec

from purgatory_model.overlapping.interleaving import Called
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_model.purgatory import purgatory_model
from purgatory_traces.errors import Unusable
from purgatory_traces.linearizability.attempt import Attempt
from purgatory_traces.linearizability.budget import MOST_CONFIGURATIONS, Budget
from purgatory_traces.linearizability.calls import Entry, ModelRules, NoHistory
from purgatory_traces.linearizability.executor_calls import with_executor_calls
from purgatory_traces.linearizability.operation_shares import OperationShares
from purgatory_traces.linearizability.purgatory_rules import operation_share
from purgatory_traces.linearizability.real_clock_rules import NoTime
from purgatory_traces.linearizability.refutation import Refutation
from purgatory_traces.linearizability.share import Share, ShareFound
from purgatory_traces.linearizability.shares import shares_of
from purgatory_traces.linearizability.traced_history import TracedHistory
from purgatory_traces.traces.lines import PurgatoryInstance


class Answered(Enum):
    """The verdict on the calls of a run."""

    LINEARIZABLE = "linearizable"
    """Some order of the calls is allowed by the rules."""
    NOT_LINEARIZABLE = "not linearizable"
    """The rules allow no order of the calls."""
    INCONCLUSIVE = "inconclusive"
    """It could not be decided, or not for the whole run; the reason says why."""


@dataclass(slots=True)
class Finding:
    """The finding about a run.

    Attributes:
        history: The run.
        answered: The verdict.
        reason: Why it is inconclusive; empty otherwise.
        shares: The explained shares. If the run is not linearizable: the failing shares, sorted by
            the line at which a share fails. If the run is undecided: the undecided shares,
            sorted by the line up to which a share is explained.
        undecided: How many shares could not be decided.
        configurations: How many configurations were looked at.
    """

    history: TracedHistory
    answered: Answered = Answered.LINEARIZABLE
    reason: str = ""
    shares: list[ShareFound] = field(default_factory=list)
    undecided: int = 0
    configurations: int = 0

    @property
    def calls(self) -> int:
        """Return the number of the run's calls."""
        return sum(isinstance(entry.event, Called) for entry in self.history.entries)


def check_run(history: TracedHistory, most_configurations: int = MOST_CONFIGURATIONS) -> Finding:
    """Decide whether some order of the calls of a run is allowed.

    Args:
        history: The run.
        most_configurations: How many the search may remember at once.
    """
    finding = Finding(history)
    budget = Budget(most_configurations, finding.calls)
    try:
        if history.begin is None:
            finding.answered, finding.reason = Answered.INCONCLUSIVE, history.hole
            return finding
        instance = history.begin.instance
        if isinstance(instance, PurgatoryInstance):
            _explain_purgatory(finding, instance, budget)
        else:
            shares = {each.name: each for each in shares_of(history)}
            _judge(finding, Attempt(tuple(shares), shares.__getitem__, budget))
    except NoTime as problem:
        finding.answered = Answered.INCONCLUSIVE
        finding.reason = f"{history.place(problem.seq)} says no time, and the clock is a real one"
    except (Unusable, ValueError) as problem:
        finding.answered, finding.reason = Answered.INCONCLUSIVE, str(problem)
    finding.configurations = budget.configurations
    if finding.answered is Answered.LINEARIZABLE and history.hole:
        finding.answered, finding.reason = Answered.INCONCLUSIVE, history.hole
    return finding


def _judge(finding: Finding, attempt: Attempt) -> None:
    """Judge an attempt: enter its verdict and shares into the finding."""
    finding.undecided = len(attempt.undecided)
    if attempt.refuted:
        finding.answered, finding.shares = Answered.NOT_LINEARIZABLE, attempt.refuted
    elif attempt.undecided:
        finding.answered = Answered.INCONCLUSIVE
        finding.shares = sorted(attempt.undecided, key=_goes_to)
        finding.reason = str(finding.shares[0].undecided)
    else:
        finding.shares = attempt.explained


def _goes_to(share: ShareFound) -> tuple[bool, int]:
    """Return a sort key by the explained extent; a share that was not looked at comes last."""
    last = share.last_explained
    return last is None, -1 if last is None else last.seq


def _explain_purgatory(finding: Finding, instance: PurgatoryInstance, budget: Budget) -> None:
    """Explain a purgatory's run operation by operation."""
    entries = with_executor_calls(finding.history.entries)
    try:
        operations = OperationShares(finding.history, entries)
        stray = operations.miscounted()
    except NoHistory as problem:
        operations = OperationShares(finding.history, entries[: problem.place])
        stray = entries[problem.place]
    if operations.beyond:
        _explain_whole(finding, instance, operations, budget)
        return
    attempt = Attempt(
        operations.names,
        lambda name: operation_share(name, instance.profile, operations),
        budget,
    )
    _judge(finding, attempt)
    if stray is not None and _is_before(stray, finding):
        place = next(place for place, entry in enumerate(entries) if entry is stray)
        finding.answered, finding.reason = Answered.NOT_LINEARIZABLE, ""
        finding.shares = [ShareFound("", entries, refutation=Refutation(place))]


def _is_before(stray: Entry, finding: Finding) -> bool:
    """Decide whether no failure comes before this entry."""
    if finding.answered is not Answered.NOT_LINEARIZABLE:
        return True
    return stray.seq < finding.shares[0].fails_at


def _explain_whole(
    finding: Finding,
    instance: PurgatoryInstance,
    operations: OperationShares,
    budget: Budget,
) -> None:
    """Explain a run by the sequential model, each call one effect; failure proves nothing."""
    if finding.history.is_on_real_clock or finding.history.snapshot is not None:
        raise ValueError(f"{operations.beyond}, which the rules for calls in parts do not speak of")
    showing_nothing = msgspec.structs.replace(instance.profile, observables=frozenset())
    model = purgatory_model(instance.configuration, showing_nothing)
    share = Share("", finding.history.entries, (ModelRules(sequential(model)),))
    attempt = Attempt(("",), lambda _: share, budget)
    if attempt.refuted:
        raise ValueError(
            f"{operations.beyond}, which the rules for calls in parts do not speak of, "
            "and no order of whole calls is allowed"
        )
    _judge(finding, attempt)
