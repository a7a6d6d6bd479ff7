"""Apalache's failures as typed errors, by its exit code and its words."""

import re

from purgatory_tla.checkers.tools import INSTALL_JAVA
from purgatory_tla.errors import (
    CheckerError,
    EvaluationFailure,
    IllTyped,
    InvalidSpecification,
    MissingJava,
    OutOfMemory,
    ParseFailure,
    UnexpectedOutput,
    UnknownOperator,
)

_KINDS: dict[int, type[InvalidSpecification]] = {
    75: EvaluationFailure,
    120: IllTyped,
    150: ParseFailure,
}
_CONFIGURATION_WORDS = ("Configuration error", "configuration error", "not found in the spec")
_TYPE_WORDS = ("typing input error", "type input error")
_MEMORY_WORDS = ("OutOfMemoryError", "Ran out of heap memory", "Could not reserve enough space")
_JAVA_WORDS = ("UnsupportedClassVersionError", "java: not found", "java: command not found")
_STAMP = re.compile(r"\s+[IEW]@\d\d:\d\d:\d\d\.\d+\s*$", re.MULTILINE)
_NOISE = re.compile(
    r"^(?:#|PASS #|Output directory|Parsing file|Semantic processing|It took me).*$"
)
_PLACES = (
    re.compile(r"(?P<module>\w+)\.tla:(?P<line>\d+):(?P<column>\d+)"),
    re.compile(
        r"line (?P<line>\d+), col(?:umn)? (?P<column>\d+)"
        r"(?: to line \d+, col(?:umn)? \d+)?(?: of module (?P<module>\w+))?"
    ),
)


def failure(code: int, log: str) -> CheckerError:
    """Return the error that an exit code and a log tell of."""
    text = _STAMP.sub("", log)
    for words, kind, sentence in (
        (_MEMORY_WORDS, OutOfMemory, "Apalache ran out of memory"),
        (_JAVA_WORDS, MissingJava, f"Java cannot run Apalache; {INSTALL_JAVA}"),
    ):
        said = [line.strip() for line in text.splitlines() if any(each in line for each in words)]
        if said:
            return kind(f"{sentence}: {said[0]}", raw_log=log)
    lines = [line.strip() for line in text.splitlines()]
    told = "\n".join(line for line in lines if line and not _NOISE.match(line))
    invalid = _KINDS.get(code)
    if code == 255 and any(words in told for words in _CONFIGURATION_WORDS):
        invalid = InvalidSpecification
    if code == 255 and any(words in told.lower() for words in _TYPE_WORDS):
        invalid = IllTyped
    if invalid is None:
        return UnexpectedOutput(
            f"Apalache ended (exit code {code}) without a verdict: {told or 'no word'}", raw_log=log
        )
    if "Unknown operator" in told:
        invalid = UnknownOperator
    for pattern in _PLACES:
        if place := pattern.search(told):
            return invalid(
                told,
                module=place["module"],
                line=int(place["line"]),
                column=int(place["column"]),
                raw_log=log,
            )
    return invalid(told or "no reason given", raw_log=log)
