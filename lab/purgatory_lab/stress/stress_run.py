"""Many rounds of one component, until something is found or the budget is spent.

Rounds go through the settings of the component in turn: both accountings of the purgatory, closed
half way or in the end; pools strict or not, with and without leak detection.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from purgatory_lab.stress.harness import PATIENCE_S, Fault, Round, harsh_interpreter
from purgatory_lab.stress.memory_pool_stress import memory_pool_round
from purgatory_lab.stress.purgatory_stress import Load, purgatory_round
from purgatory_lab.stress.timer_stress import TimerLoad, timer_round

COMPONENTS: Final = ("purgatory", "timer", "memory_pool")

_POOL_STEPS: Final = 500


@dataclass
class StressRun:
    """The counts and findings of the rounds.

    Attributes:
        component: Which.
        seed: Of the first round; each further one has the next.
        rounds: How many were run.
        setting: Of the last round, in words.
        counts: How often each thing was done, in all rounds together.
        findings: What was wrong with the last round; empty where all is well.
    """

    component: str
    seed: int
    rounds: int = 0
    setting: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Fault] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the findings in words, and the command that looks for them again."""
        last = self.seed + self.rounds - 1
        lines = [f"{self.component}: {self.rounds} rounds from seed {self.seed}"]
        lines += [f"{what:>30} {count:>9}" for what, count in self.counts.items()]
        if self.findings:
            again = f"python -m purgatory_lab.stress --component {self.component} --seed {last}"
            lines += [f"wrong in the round of seed {last}, {self.setting}:", ""]
            lines += [str(finding) for finding in self.findings[:3]]
            lines += ["", f"{len(self.findings)} findings; once more, with luck: {again}"]
        return "\n".join(lines)


def stress(component: str, seed: int, rounds: int, patience_s: float = PATIENCE_S) -> StressRun:
    """Run rounds until one of them finds something.

    Args:
        component: One of ``COMPONENTS``.
        seed: Of the first round.
        rounds: How many at most.
        patience_s: How long nothing may go on before it counts as stuck, seconds.
    """
    run = StressRun(component, seed)
    with harsh_interpreter():
        while run.rounds < rounds and not run.findings:
            run.setting, result = _ROUNDS[component](seed + run.rounds, patience_s)
            run.rounds += 1
            run.counts.update(result.counts)
            run.findings = result.findings
    return run


def _purgatory(seed: int, patience_s: float) -> tuple[str, Round]:
    accounting, closing = ("exact", "proposal")[seed % 2], seed % 5 > 2
    setting = f"accounting {accounting}, closed {'half way' if closing else 'in the end'}"
    one_round = partial(purgatory_round, seed, "exact" if accounting == "exact" else "proposal")
    return setting, one_round(closing, Load(), patience_s)


def _timer(seed: int, patience_s: float) -> tuple[str, Round]:
    closing = seed % 3 == 2
    setting = f"closed {'half way' if closing else 'in the end'}"
    return setting, timer_round(seed, closing, TimerLoad(), patience_s)


def _memory_pool(seed: int, patience_s: float) -> tuple[str, Round]:
    detecting, strict = seed % 3 != 2, seed % 2 == 0
    setting = f"{'strict' if strict else 'not strict'}, {'with' if detecting else 'no'} detection"
    return setting, memory_pool_round(seed, detecting, strict, _POOL_STEPS, patience_s)


_ROUNDS: Final = {"purgatory": _purgatory, "timer": _timer, "memory_pool": _memory_pool}
