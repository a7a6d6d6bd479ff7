"""The hunts: for each defect of the page's timer the instance, and the fewest steps to see it.

What the suite found is kept in ``hunts.json``, because a page is built where Node may be missing.
``python -m purgatory_course.playing.hunts`` finds it anew, with Node.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.resources import adapter_folder
from purgatory_conformance.running.campaign import SUITES, run_campaign
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_judge.components import narrowed
from purgatory_spec.operations import Add, Cancel, Operation
from purgatory_spec.profiles import Component, TimerConfiguration

_BUDGET = SUITES["quick"]
_SEEDS = (1,)
_FILE = "hunts.json"


class Hunt(msgspec.Struct, frozen=True):
    """A defect: its name and title, the rule, the instance, and the suite's shrunk steps."""

    name: str
    title: str
    rule: str
    configuration: TimerConfiguration
    steps: tuple[Operation, ...]


def defective_timer(name: str) -> ChildProcessSubject:
    """Return the page's timer with this defect, as a subject; without a name the right one."""
    command = ("node", "adapter.js", *([name] if name else []))
    return ChildProcessSubject(
        command,
        name=name or "javascript-wheel",
        time_limit_seconds=10.0,
        working_folder=adapter_folder("javascript"),
    )


def hunted(name: str) -> Hunt:
    """Return the suite's hunt for a defect: the shortest case blamed on the defect's rule.

    Raises:
        LookupError: the suite does not blame the rule of the mutant of this name.
    """
    right = mutant(name)
    found = []
    for seed in _SEEDS:
        with defective_timer(name) as subject:
            campaign = run_campaign(
                subject,
                Component.TIMER,
                seed=seed,
                budget=_BUDGET,
                vectors=vectors(Component.TIMER),
            )
        found += [c.shrunk for c in campaign.causes if c.rule in (right.rule, *right.also)]
    if not found:
        raise LookupError(f"{name}: the suite blames no case on {right.rule}")
    shortest = min(found, key=lambda case: len(case.operations))
    return Hunt(
        name,
        right.summary,
        right.rule,
        narrowed(shortest.configuration, TimerConfiguration),
        _with_the_pages_names(shortest.operations),
    )


def _with_the_pages_names(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """Return the operations with tasks renamed to a, b and so on, as they come."""
    names: dict[str, str] = {}

    def named(operation: Operation) -> Operation:
        if not isinstance(operation, Add | Cancel):
            return operation
        name = names.setdefault(operation.task, chr(ord("a") + len(names)))
        return msgspec.structs.replace(operation, task=name)

    return tuple(map(named, operations))


@cache
def hunts() -> tuple[Hunt, ...]:
    """Return the hunts as they were found, those with the fewest steps first."""
    text = (files("purgatory_course.playing") / _FILE).read_bytes()
    return msgspec.json.decode(text, type=tuple[Hunt, ...])


def _find_anew() -> None:
    """Have the suite hunt each defect, and keep what it finds."""
    names = [each.name for each in hunts()]
    found = sorted((hunted(name) for name in names), key=lambda hunt: len(hunt.steps))
    text = msgspec.json.format(msgspec.json.encode(found), indent=1)
    Path(__file__).with_name(_FILE).write_bytes(text + b"\n")


if __name__ == "__main__":
    _find_anew()
