"""The doctor's findings about lines of the conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """The doctor's judgement of a line."""

    OK = "ok"
    WRONG = "wrong"
    NOTE = "note"
    DECLARED = "says"
    """A sentence about what the adapter declares."""


@dataclass(frozen=True)
class Finding:
    """A line of the conversation and the finding about it.

    ``sent`` and ``received`` are lines without their newline; either may be empty.
    ``standard_error`` is given where the process failed.
    """

    verdict: Severity
    explanation: str
    sent: str = ""
    received: str = ""
    standard_error: str = ""


def report(findings: Sequence[Finding], *, everything: bool) -> str:
    """Return the verdict, which is the last finding, and the doubtful ones; or all in order."""
    *said, verdict = findings
    doubtful = [each for each in said if each.verdict in (Severity.WRONG, Severity.NOTE)]
    lines = [explain(each) for each in (verdict, *doubtful)]
    if everything:
        return "\n".join([*lines, "", *map(explain, said)])
    fine = sum(each.verdict is Severity.OK for each in said)
    declared = sum(each.verdict is Severity.DECLARED for each in said)
    lines.append(f"{fine} lines are fine, {declared} choices are declared: --all shows them")
    return "\n".join(lines)


def explain(finding: Finding) -> str:
    """Return the finding as plain text, and below it the lines it is about."""
    lines = [f"{finding.verdict.value:<5}  {finding.explanation}"]
    if finding.sent:
        lines.append(f"         sent      {finding.sent}")
    if finding.received:
        lines.append(f"         received  {finding.received}")
    lines += [f"         stderr    {line}" for line in finding.standard_error.splitlines()]
    return "\n".join(lines)
