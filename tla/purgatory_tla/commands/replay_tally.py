"""Results of behaviours that a subject was asked, counted in steps of TLA+."""

from collections import Counter
from dataclasses import dataclass, field

from rich.console import Console

from purgatory_tla.cases.comparison import Followed
from purgatory_tla.cases.instances import Instance
from purgatory_tla.cases.predictions import Driven
from purgatory_tla.cases.sources import Found


@dataclass(frozen=True, slots=True)
class FollowedBehaviour:
    """The result of one behaviour: the steps that the subject followed, and the rules' verdict.

    ``stopped`` says why not all of it was asked; ``rule`` is the rule that the subject diverges
    from where it differs, and ``declared`` whether it is known to.
    """

    followed: Followed
    driven: Driven
    stopped: str = ""
    rule: str = ""
    declared: bool = False


@dataclass(slots=True)
class Tally:
    """Counts steps of TLA+: of all behaviours, of what could be driven, of what was followed."""

    behaviours: int
    steps: int = 0
    drivable: int = 0
    followed: int = 0
    differs: tuple[Found, FollowedBehaviour] | None = None
    ends: Counter[str] = field(default_factory=Counter)

    def add(self, found: Found, answer: FollowedBehaviour) -> None:
        """Count a behaviour; the first one that differs is kept."""
        self.steps += found.driven.length
        self.drivable += found.driven.driven
        self.followed += answer.followed.steps(answer.driven)
        if answer.followed.difference is not None and answer.declared:
            self.ends[f"declared deviation from {answer.rule}"] += 1
        elif answer.followed.difference is not None:
            self.differs = self.differs or (found, answer)
            self.ends["differs"] += 1
        elif answer.followed.left:
            self.ends[answer.followed.left] += 1
        elif answer.stopped:
            self.ends[answer.stopped.partition(": ")[2] or answer.stopped] += 1

    def print_to(self, console: Console, instance: Instance, subject: str) -> None:
        """Print the counts of the tally."""
        console.print(
            f"{instance.name}, asked of {subject}: {instance.title}", markup=False, soft_wrap=True
        )
        console.print(
            f"{self.behaviours} behaviours of {instance.module}, {steps_of(self.steps)}; "
            f"{self.drivable} drivable, {self.followed} as predicted",
            markup=False,
            soft_wrap=True,
        )
        for why, count in sorted(self.ends.items(), key=lambda each: (-each[1], each[0])):
            console.print(f"  {count} end early: {why}", markup=False, soft_wrap=True)


def steps_of(number: int) -> str:
    """Return a number of steps in words."""
    return "1 step" if number == 1 else f"{number} steps"
