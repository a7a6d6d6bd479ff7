"""The finding about a run in words, for the terminal and the page."""

from collections.abc import Iterator

from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_conformance.describing.words import (
    VERDICT_SYMBOLS,
    describe_events,
    joined,
    noun,
    printable,
    shortened,
)
from purgatory_model.overlapping.interleaving import Called, Happened
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, component_of
from purgatory_traces.linearizability.calls import (
    Entry,
    NoHistory,
    RecordedCall,
    calls_of,
    thread_of_line,
)
from purgatory_traces.linearizability.checker import Answered, Finding
from purgatory_traces.linearizability.real_clock_rules import END
from purgatory_traces.linearizability.refutation import Refutation, ShownAnswer
from purgatory_traces.linearizability.share import ShareFound
from purgatory_traces.linearizability.time_outs import TimeOuts, is_before

EXIT_CODES = {Answered.LINEARIZABLE: 0, Answered.NOT_LINEARIZABLE: 1, Answered.INCONCLUSIVE: 4}

SYMBOLS = {answered: VERDICT_SYMBOLS[code] for answered, code in EXIT_CODES.items()}

_MOST_ANSWERS = 6
_NO_EVENT = "no event"
"""The end of a description where nothing happened; the pages here leave it out."""
_MOST_LETTERS = 300


class Words:
    """The words for one run.

    Attributes:
        finding: The finding to describe.
    """

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        begin = finding.history.begin
        component = Component.TIMER if begin is None else component_of(begin.instance.configuration)
        self._component = component

    @property
    def subject(self) -> str:
        """Return the instance of the run in words, for example ``a memory pool of size 100``."""
        begin = self.finding.history.begin
        if begin is None:
            return ""
        what = describe_configuration(begin.instance.configuration)
        said = f"{noun(self._component)}: {what}"
        return f"{said} ({printable(begin.subject)})" if begin.subject else said

    @property
    def verdict(self) -> str:
        """Return the verdict, with the number of calls."""
        finding = self.finding
        calls = f"{finding.calls:,} {'call' if finding.calls == 1 else 'calls'}"
        counts = f"{calls}, {finding.configurations:,} configurations"
        reason = f": {printable(finding.reason)}" if finding.reason else ""
        return f"{finding.answered.value}{reason} ({counts})"

    def details(self) -> Iterator[str]:
        """Yield the lines about a run that is not linearizable, or undecided."""
        if self.finding.answered is Answered.INCONCLUSIVE:
            yield from self._undecided()
        if self.finding.answered is not Answered.NOT_LINEARIZABLE:
            return
        share = self.finding.shares[0]
        yield self.first_unexplained(share)
        refutation = share.refutation
        assert refutation is not None
        for call in refutation.open_calls:
            early = self._comes_early(share, call)
            yield f"open then: {self.opened(call, refutation)}{early}"
        if len(self.finding.shares) > 1:
            others = [printable(each.name) for each in self.finding.shares[1:]]
            more = shortened(joined(others), _MOST_LETTERS)
            yield f"not explained either, from a later line on: {more}"
        if self.finding.undecided:
            yield f"not decided with the configurations allowed: {self.finding.undecided:,} more"

    def _undecided(self) -> Iterator[str]:
        """Yield the explained extent of undecided shares."""
        undecided = [share for share in self.finding.shares if share.undecided is not None]
        if not undecided:
            return
        share, last = undecided[0], undecided[0].last_explained
        whose = f", of what concerns {printable(share.name)}" if share.name else ""
        if last is None:
            yield f"no line is explained{whose}"
        else:
            yield f"explained up to {self.place(last)}{whose}: {self.told(share, last)}"
        if len(undecided) > 1:
            others = shortened(joined([printable(e.name) for e in undecided[1:]]), _MOST_LETTERS)
            yield f"not decided either: {others}"

    def place(self, entry: Entry) -> str:
        """Return the place of a line."""
        return printable(self.finding.history.place(entry.seq).removesuffix(","))

    def first_unexplained(self, share: ShareFound) -> str:
        """Return the extent of the longest explainable beginning, and the line behind it."""
        entry = share.unexplained
        refutation = share.refutation
        assert entry is not None
        assert refutation is not None
        whose = f" of what concerns {printable(share.name)}" if share.name else ""
        is_exact = refutation.is_exact and not self.finding.undecided
        first = "is the first" if is_exact else "or one before it is the first"
        place = printable(self.finding.history.place(entry.seq))
        return f"{place} {first}{whose} that cannot be explained: {self.told(share, entry)}"

    def told(self, share: ShareFound, entry: Entry) -> str:
        """Return a line of the trace in words."""
        event = entry.event
        thread = printable(thread_of_line(event.thread))
        if isinstance(event, Called):
            return f"{thread} calls: {self.operation(event.operation)}"
        if isinstance(event, Happened):
            happened = describe_events(Outcome(events=(event.event,)))
            return f"{happened}, in {thread}"
        call = next((each for each in calls_of_share(share) if each.ended is entry), None)
        if call is None:
            return f"{thread} returns"
        if call.operation is END:
            return "the run ends, and a task has not run that should have"
        answer = self.answer(call.operation, ShownAnswer(event.result, event.raised))
        shown = describe_events(Outcome(events=call.events), silence="")
        after = f", after {shown}" if shown else ""
        return f"{thread} returns from “{self.operation(call.operation)}”: {answer}{after}"

    def opened(self, call: RecordedCall, refutation: Refutation) -> str:
        """Return an open call, and its possible answers."""
        thread = printable(thread_of_line(call.thread))
        said = f"{thread} in “{self.operation(call.operation)}” since seq {call.called.seq}"
        answers = refutation.answers.get(call.number, ())
        words = list(dict.fromkeys(self.answer(call.operation, each) for each in answers))
        if not words:
            return f"{said}; {_why_no_answer(call, refutation)}"
        shown = words[:_MOST_ANSWERS]
        rest = [] if len(words) == len(shown) else [f"{len(words) - len(shown)} more"]
        least = "" if refutation.all_answers else "at least "
        return f"{said}; could have answered {least}{' or '.join([*shown, *rest])}"

    def _comes_early(self, share: ShareFound, call: RecordedCall) -> str:
        """Return a remark about a time-out before its earliest time; empty without one."""
        if not isinstance(call.operation, RunOne) or not call.shown:
            return ""
        earliest_ms = TimeOuts(self.finding.history).earliest_ms(share.name, share.entries)
        if not is_before(call.shown[0], earliest_ms):
            return ""
        return f"; it was told at {call.shown[0].at_ms} ms, and is due from {earliest_ms} ms on"

    def operation(self, operation: Operation) -> str:
        """Return an operation in words."""
        return printable(shortened(describe_operation(operation), _MOST_LETTERS))

    def answer(self, operation: Operation, answer: ShownAnswer) -> str:
        """Return the answer of a call in words."""
        outcome = Outcome(answer.result, answer.raised, answer.owed)
        words = describe_outcome(operation, outcome)
        words = words.removesuffix(_NO_EVENT).removesuffix(", ")
        return printable(shortened(words or "done", _MOST_LETTERS))


def _why_no_answer(call: RecordedCall, refutation: Refutation) -> str:
    if not refutation.all_answers:
        return "what it could have answered is not known"
    if call.events:
        return "nothing explains what it has shown"
    return "it could not have taken effect"


def calls_of_share(share: ShareFound) -> list[RecordedCall]:
    """Return the calls of a share, as far as it can be read as calls."""
    try:
        return calls_of(share.entries)
    except NoHistory as problem:
        return calls_of(share.entries[: problem.place])
