"""A run of a task that was missing in time: the lines that follow tell whether it ever comes.

A task that comes too late breaks a SHOULD, one that never comes a MUST. When it is missing nobody
knows which, so that the rest of the run is looked through for it. A call that names the task, or a
shutdown, leaves it open.
"""

from dataclasses import dataclass, replace

from purgatory_spec.operations import Add, Cancel, Shutdown
from purgatory_traces.replay.judge import Finding, Missing
from purgatory_traces.traces.lines import NS_PER_MS, Call, Happened, Step, TraceLine


@dataclass(slots=True)
class Missed:
    """Follows the rest of a run for one task; see ``Missing``."""

    missing: Missing
    is_open: bool = False
    """True once the task has come, or need not come any more."""
    latest_ms: int | None = None

    def take(self, line: TraceLine) -> None:
        """Take in a line of the run, that of the finding first."""
        if self.is_open:
            return
        if line.at_ns is not None:
            self.latest_ms = max(self.latest_ms or 0, line.at_ns // NS_PER_MS)
        task = self.missing.task
        match line:
            case Happened():
                self.is_open = line.task == task
            case Call(operation=Shutdown()):
                self.is_open = True
            case Call(operation=Add() | Cancel() as call):
                self.is_open = call.task == task
            case Step(operation=operation):
                named = isinstance(operation, Add | Cancel) and operation.task == task
                ran = any(event.task == task for event in line.events)
                self.is_open = named or ran or isinstance(operation, Shutdown)

    def told(self, finding: Finding) -> Finding:
        """Return the finding, under the rule of a task that never runs where it never did."""
        if self.is_open or self.latest_ms is None or self.latest_ms < self.missing.never_ms:
            return finding
        rules = (finding.rule, *finding.also)
        return replace(
            finding,
            rule=self.missing.rule,
            kind="missing",
            seen=f"{self.missing.task} has not run by {self.latest_ms}, and never does",
            also=tuple(rule for rule in rules if rule != self.missing.rule),
        )
