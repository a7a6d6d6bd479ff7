"""TLC's error messages as typed errors, with TLC's own words and the place that it names."""

import re
from collections.abc import Collection

from purgatory_tla.checkers.tlc.log import DEFECT, ERROR, Message, TlcLog
from purgatory_tla.checkers.tools import INSTALL_JAVA
from purgatory_tla.errors import (
    CheckerError,
    EvaluationFailure,
    InvalidSpecification,
    MissingJava,
    MissingTool,
    OutOfMemory,
    ParseFailure,
    UnexpectedOutput,
    UnknownOperator,
    VacuousRun,
)

_PARSING_FAILED = 3002
_POSITIONS = 2103
_CONFIGURATION_NAME = 2229
_MEMORY_CODES = frozenset({1001, 1002, 1003, 1004})
_STACK_OVERFLOW = 1005
_NO_INITIAL_STATE = 2118

_MEMORY_WORDS = (
    "java.lang.OutOfMemoryError",
    "OutOfMemoryError:",
    "Could not reserve enough space",
    "Too small maximum heap",
    "Initial heap size set to a larger value",
    "There is insufficient memory for the Java Runtime Environment",
)
_JAVA_WORDS = (
    "UnsupportedClassVersionError",
    "Unable to locate a Java Runtime",
    "Unrecognized VM option",
)
_PLACES = (
    re.compile(
        r"line (?P<line>\d+), col(?:umn)? (?P<column>\d+)"
        r"(?: to line \d+, col(?:umn)? \d+)?(?: of module| in) (?P<module>\w+)",
        re.IGNORECASE,
    ),
    re.compile(r"line (?P<line>\d+), col(?:umn)? (?P<column>\d+)", re.IGNORECASE),
    re.compile(r"at line (?P<line>\d+)", re.IGNORECASE),
)
_MODULE = re.compile(r"(?:In module|Could not parse module) (\w+)")
_EXCEPTION = re.compile(
    r"\ATLC threw an unexpected exception\..*?The exception was an? [\w.$]+\s*:?", re.DOTALL
)
_NO_WORDS = re.compile(r"^(?:Parsing file|Semantic processing of module) .*$", re.MULTILINE)


def raise_error(log: TlcLog, accepted: Collection[int], exit_code: int) -> None:
    """Raise the error that the log tells of, if it does.

    ``accepted`` are the codes of error messages that belong to a verdict.

    Raises:
        CheckerError: as said.
    """
    outside = str(log.outside)
    problems = [
        message
        for message in log.messages
        if message.kind in (ERROR, DEFECT) and message.code not in accepted
    ]
    everything = "\n".join([outside, *(each.text for each in problems)])
    memory = any(word in everything for word in _MEMORY_WORDS)
    if memory or any(each.code in _MEMORY_CODES for each in problems):
        words = _line_with(everything, _MEMORY_WORDS) or _first_words(problems)
        raise OutOfMemory(f"TLC ran out of memory: {words}", raw_log=str(log.raw))
    if not log.messages:
        raise _java_failure(outside, exit_code, str(log.raw))
    if problems:
        raise _error(problems, log)


def last_words(log: TlcLog) -> str:
    """Return the end of the printed text."""
    lines = [line for line in str(log.raw).splitlines() if line.strip()]
    return " / ".join(lines[-3:])


def _java_failure(outside: str, exit_code: int, raw_log: str) -> CheckerError:
    """Return the error of a run in which TLC printed no message."""
    words = _line_with(outside, _JAVA_WORDS)
    if words:
        return MissingJava(f"Java cannot run TLC: {words}; {INSTALL_JAVA}", raw_log=raw_log)
    words = outside.strip() or "nothing at all"
    if "Could not find or load main class" in outside or "Unable to access jarfile" in outside:
        return MissingTool(f"the jar holds no TLC: {words}", raw_log=raw_log)
    return UnexpectedOutput(f"TLC did not start (exit code {exit_code}): {words}", raw_log=raw_log)


def _error(problems: list[Message], log: TlcLog) -> CheckerError:
    raw_log = str(log.raw)
    if any(each.code == _NO_INITIAL_STATE for each in problems):
        return VacuousRun("there is no initial state: nothing was checked", raw_log=raw_log)
    if any(each.code == _PARSING_FAILED for each in problems):
        return _parse_failure(_NO_WORDS.sub("", str(log.outside)), raw_log)
    positions = "\n".join(each.text for each in problems if each.code == _POSITIONS)
    # Messages end from the inside out: the first one is the cause.
    told = [each for each in problems if each.code != _POSITIONS]
    words = "\n".join(filter(None, (_words(each.text) for each in told))) or "no reason given"
    line, column, module = _place(positions, innermost=True)
    if line is None:
        line, column, module = _place(words)
    kind: type[InvalidSpecification] = EvaluationFailure
    codes = {each.code for each in told}
    if _CONFIGURATION_NAME in codes:
        kind = UnknownOperator
    elif any(5000 <= code < 6000 for code in codes):
        kind = ParseFailure
    elif any(each.kind == DEFECT for each in told):
        return UnexpectedOutput(f"TLC reports a defect of its own: {words}", raw_log=raw_log)
    elif codes & _MODEL_CODES:
        kind = InvalidSpecification
    elif not positions and not codes & _EVALUATION_CODES:
        return UnexpectedOutput(f"TLC reports an unknown error: {words}", raw_log=raw_log)
    where = f" ({module}, line {line}, column {column})" if line is not None and module else ""
    return kind(words + where, module=module, line=line, column=column, raw_log=raw_log)


_MODEL_CODES = frozenset({2104, 2105, *range(2222, 2260), *range(2279, 2290)})
"""The configuration and the module do not fit each other, or an assumption is false."""

_EVALUATION_CODES = frozenset({1000, _STACK_OVERFLOW, *range(2100, 2182), 2266})
"""An expression could not be evaluated."""


def _parse_failure(words: str, raw_log: str) -> InvalidSpecification:
    """Return the error for text that SANY could not parse and reports outside of TLC's messages."""
    text = "\n".join(line.strip() for line in words.splitlines() if line.strip())
    line, column, module = _place(text)
    if module is None and (match := _MODULE.search(text)):
        module = match[1]
    kind: type[InvalidSpecification] = InvalidSpecification
    if "Unknown operator" in text:
        kind = UnknownOperator
    elif "Parse Error" in text or "Lexical" in text or "Could not parse" in text:
        kind = ParseFailure
    return kind(text, module=module, line=line, column=column, raw_log=raw_log)


def _place(text: str, *, innermost: bool = False) -> tuple[int | None, int | None, str | None]:
    """Return line, column and module of the first place that is named, or of the innermost one."""
    for pattern in _PLACES:
        matches = list(pattern.finditer(text))
        if matches:
            groups = matches[-1 if innermost else 0].groupdict()
            column = groups.get("column")
            return int(groups["line"]), int(column) if column else None, groups.get("module")
    return None, None, None


def _words(text: str) -> str:
    """Return the text without TLC's words before any exception."""
    text = _EXCEPTION.sub("", text)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _first_words(problems: list[Message]) -> str:
    return _words(problems[0].text) if problems else ""


def _line_with(text: str, words: Collection[str]) -> str:
    """Return the first line that holds one of the words."""
    for line in text.splitlines():
        if any(word in line for word in words):
            return line.strip()
    return ""
