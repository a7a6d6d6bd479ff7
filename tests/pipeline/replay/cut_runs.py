"""Cut runs: what is live at any line of a run, and what is said of the rest."""

# A *ledger* goes through the lines and knows what an instance that keeps to the rules holds. Of
# calls that are open it may know that they took effect at once, or that they have not yet: both may
# be so, and a snapshot tells one of the two.

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Value
from purgatory_spec.reasons import Reason
from purgatory_traces.replay.judge import Finding
from purgatory_traces.traces.lines import Begin, Call, End, Happened, OpenCall, Return, Snapshot

from .wall_clock import NS_PER_MS, Line, judged


@dataclass
class OpenLine:
    """A call that is open, with what it will return; None for both where it never returns."""

    thread: str
    operation: Operation
    at_ms: int
    result: Value
    rejected: Reason | None
    is_done: bool = False


class Ledger(Protocol):
    """Knows what is live."""

    def takes_effect(self, call: OpenLine, now_ms: int) -> None:
        """A call takes effect."""

    def shows(self, thread: str, call: OpenLine | None, kind: str, name: str, now_ms: int) -> None:
        """A callback begins."""

    def returns(self, call: OpenLine, now_ms: int) -> None:
        """A call is over."""

    def live(self, now_ms: int) -> Snapshot:
        """Return what is live, without the open calls."""


@dataclass
class CutRun:
    """Goes through the lines of a run up to a cut."""

    lines: Sequence[Line]
    ledger: Ledger
    at_once: bool
    """True if calls take effect when they begin, and not when they return."""
    now_ms: int = 0
    stacks: dict[str, list[OpenLine]] = field(default_factory=dict)

    def go_to(self, cut: int) -> Snapshot:
        """The snapshot in front of a line."""
        for place, line in enumerate(self.lines[:cut]):
            assert line.at_ns is not None
            self.now_ms = max(self.now_ms, line.at_ns // NS_PER_MS)
            match line:
                case Call():
                    self._call(line, place)
                case Happened(thread=thread, event=kind, task=name):
                    call = self.stacks.get(thread, [None])[-1]
                    self.ledger.shows(thread, call, kind.value, name, self.now_ms)
                case Return(thread=thread):
                    self._return(thread)
                case _:
                    assert isinstance(line, End)
        calls = tuple(
            OpenCall(each.thread, each.operation, each.at_ms * NS_PER_MS)
            for stack in self.stacks.values()
            for each in stack
        )
        told = self.ledger.live(self.now_ms)
        return msgspec.structs.replace(told, at_ns=self.now_ms * NS_PER_MS, calls=calls)

    def _call(self, line: Call, place: int) -> None:
        returned = _return_of(self.lines, place)
        result = None if returned is None else returned.result
        rejected = None if returned is None else returned.rejected
        call = OpenLine(line.thread, line.operation, self.now_ms, result, rejected)
        self.stacks.setdefault(line.thread, []).append(call)
        if self.at_once and rejected is None:
            call.is_done = True
            self.ledger.takes_effect(call, self.now_ms)

    def _return(self, thread: str) -> None:
        call = self.stacks[thread].pop()
        if not self.stacks[thread]:
            del self.stacks[thread]
        if not call.is_done and call.rejected is None:
            self.ledger.takes_effect(call, self.now_ms)
        self.ledger.returns(call, self.now_ms)


def _return_of(lines: Sequence[Line], place: int) -> Return | None:
    """The line with which a call returns, if one does."""
    depth, begun = 0, lines[place]
    assert isinstance(begun, Call)
    for line in lines[place:]:
        if isinstance(line, Call | Return) and line.thread == begun.thread:
            depth += 1 if isinstance(line, Call) else -1
            if depth == 0:
                assert isinstance(line, Return)
                return line
    return None


Said = tuple[int, Finding] | None
"""The line where a run diverges, and the finding; None without a divergence."""


def said_from(
    cut: int, first: Begin, lines: Sequence[Line], ledger: Callable[[], Ledger], *, at_once: bool
) -> Said:
    """Return the finding on a run that begins with its snapshot in front of a line."""
    told = CutRun(lines, ledger(), at_once).go_to(cut)
    found = judged(msgspec.structs.replace(first, seq=1), [told, *lines[cut:]])
    return None if found is None else (found[0] + cut - 1, found[1])


def is_same(whole: Said, resumed: Said) -> bool:
    """Return whether the same line is wrong, by a rule that either of the two names."""
    if whole is None or resumed is None:
        return whole is resumed
    rules = {whole[1].rule, *whole[1].also} & {resumed[1].rule, *resumed[1].also}
    return whole[0] == resumed[0] and bool(rules)
