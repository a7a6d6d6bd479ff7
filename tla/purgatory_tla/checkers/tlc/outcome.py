"""Meanings of TLC's messages: a result, or the error that explains why it is missing.

An exit code alone is never believed. A success is the message that says so, at least one state,
an empty queue, the message that TLC has finished, the exit code 0, and no message of an error. Any
error message that is not known to be part of a verdict makes an error.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import purgatory_tla.checkers.tlc.errors as tlc_errors
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.results import CheckResult, Outcome, Statistics
from purgatory_tla.checkers.tlc.log import Message, TlcLog, parse_depth, parse_progress
from purgatory_tla.checkers.tlc.traces import trace_in
from purgatory_tla.errors import InvalidSpecification, UnexpectedOutput, VacuousRun
from purgatory_tla.modules.module_text import ModuleText

_VERSION = 2262
_NO_ERROR = 2193
_COUNTS = 2199
_DEPTH = 2194
_FINISHED = 2186
_PROGRESS = 2200
_DEADLOCK = 2114
_ASSERTION = 2132
_SYMMETRY_AND_LIVENESS = 2279

_VERDICTS = {
    2107: Outcome.INVARIANT,
    2110: Outcome.INVARIANT,
    2108: Outcome.PROPERTY,
    2112: Outcome.PROPERTY,
    2116: Outcome.PROPERTY,
    _DEADLOCK: Outcome.DEADLOCK,
    _ASSERTION: Outcome.ASSERTION,
}
# Errors by their class, but only the headings of the behaviour that follows.
_HEADINGS = frozenset({2121, 2264})
# What comes with a failed Assert: the failed invariant or exception, the nested positions.
_WITH_ASSERTION = frozenset({1000, 2102, 2103, 2111})

_NAMED = re.compile(r"(?:Invariant|[Pp]roperty) (\S+) is violated")
_PLACED = re.compile(r"line (\d+), col \d+ to line \d+, col \d+ of module (\S+)")
_COUNTED = re.compile(
    r"([\d,]+) states? generated.*?, ([\d,]+) distinct states? found, ([\d,]+) states? left"
)
_COMPLETE_DEPTH = re.compile(r"depth of the complete state graph search is ([\d,]+)")
_NO_INITIAL_STATE = re.compile(r"initial states: 0 distinct")


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run of TLC: the request, the log, and the exit code."""

    module: ModuleText
    configuration: Configuration
    log: TlcLog
    exit_code: int
    seconds: float


def check_result(run: Run) -> CheckResult:
    """Return the result of an exhaustive run.

    Raises:
        CheckerError: there is no verdict, see ``errors``.
    """
    messages = run.log.messages
    verdict = _verdict(run)
    counts = _counts(messages)
    if verdict is None:
        _expect_success(run, counts)
    trace = trace_in(messages, run.module) if verdict is not None else None
    # A failed Assert in a step comes without a behaviour from TLC 2.15.
    if verdict is not None and trace is None and verdict.code != _ASSERTION:
        raise UnexpectedOutput(
            "TLC reports a violation, but no behaviour", raw_log=str(run.log.raw)
        )
    return CheckResult(
        outcome=_VERDICTS[verdict.code] if verdict is not None else Outcome.SUCCESS,
        violated=_violated(verdict, run),
        statistics=Statistics(
            generated=counts[0] if counts is not None else None,
            distinct=counts[1] if counts is not None else None,
            depth=_depth(messages),
            seconds=run.seconds,
        ),
        trace=trace,
        tool="TLC",
        version=version(messages),
        raw_log=str(run.log.raw),
    )


def violation(run: Run) -> tuple[Outcome, str | None] | None:
    """Return the violation's kind and the violated property; None without a violation.

    Raises:
        CheckerError: an error came, or the run did not finish.
    """
    verdict = _verdict(run)
    return None if verdict is None else (_VERDICTS[verdict.code], _violated(verdict, run))


def version(messages: Iterable[Message]) -> str:
    """Return TLC's name for itself, such as ``TLC2 Version 2.18 of 20 March 2023``."""
    return next((each.text.strip() for each in messages if each.code == _VERSION), "")


def _verdict(run: Run) -> Message | None:
    """Return the message of the violation; None where there was neither that nor an error."""
    messages = run.log.messages
    verdict = next((each for each in messages if each.code in _VERDICTS), None)
    accepted = _HEADINGS | _VERDICTS.keys()
    if verdict is not None and verdict.code == _ASSERTION:
        accepted |= _WITH_ASSERTION
    tlc_errors.raise_error(run.log, accepted, run.exit_code)
    if not any(each.code == _FINISHED for each in messages) or not run.log.is_complete:
        raise UnexpectedOutput(
            f"TLC ended (exit code {run.exit_code}) before it had finished: "
            + tlc_errors.last_words(run.log),
            raw_log=str(run.log.raw),
        )
    return verdict


def _expect_success(run: Run, counts: tuple[int, int, int] | None) -> None:
    raw_log = str(run.log.raw)
    messages = run.log.messages
    if any(_NO_INITIAL_STATE.search(each.text) for each in messages):
        raise VacuousRun("there is no initial state: nothing was checked", raw_log=raw_log)
    if not any(each.code == _NO_ERROR for each in messages) or counts is None or run.exit_code:
        raise UnexpectedOutput(
            f"TLC ended (exit code {run.exit_code}) and says neither success nor violation",
            raw_log=raw_log,
        )
    unsound = next((each for each in messages if each.code == _SYMMETRY_AND_LIVENESS), None)
    if unsound is not None:
        raise InvalidSpecification(unsound.text, raw_log=raw_log)
    generated, distinct, queue = counts
    if not distinct or not generated:
        raise VacuousRun("no state was reached: nothing was checked", raw_log=raw_log)
    if queue:
        raise UnexpectedOutput(
            f"TLC says success, but {queue} states were not expanded", raw_log=raw_log
        )


def _violated(verdict: Message | None, run: Run) -> str | None:
    """Return the name of the violated property.

    TLC names a property by its place, or, where it is about infinite behaviours, not at all.
    """
    if verdict is None or verdict.code in (_DEADLOCK, _ASSERTION):
        return None
    checked = run.configuration.invariants
    if _VERDICTS[verdict.code] is Outcome.PROPERTY:
        checked = run.configuration.properties
    named = _NAMED.search(verdict.text)
    if named is not None and named[1] in checked:
        return named[1]
    placed = _PLACED.search(verdict.text)
    if placed is not None:
        name = run.module.definition_at(placed[2], int(placed[1]))
        if name in checked:
            return name
    return checked[0] if len(checked) == 1 else None


def _counts(messages: Iterable[Message]) -> tuple[int, int, int] | None:
    """Return the states generated, distinct, and left on the queue."""
    for message in messages:
        if message.code == _COUNTS and (match := _COUNTED.search(message.text)):
            generated, distinct, queue = (int(each.replace(",", "")) for each in match.groups())
            return generated, distinct, queue
    return None


def _depth(messages: Iterable[Message]) -> int | None:
    """Return the depth: told at the end, and after a violated property only on the way."""
    depth: int | None = None
    for message in messages:
        if message.code == _DEPTH and (match := _COMPLETE_DEPTH.search(message.text)):
            return int(match[1].replace(",", ""))
        if message.code == _PROGRESS and parse_progress(message.text, 0.0) is not None:
            depth = parse_depth(message.text)
    return depth
