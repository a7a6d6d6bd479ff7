"""Judge the mutants of tiny modules in processes of their own; prints how each ended, as JSON."""

# A program, so that it forks from a process with one thread, which a process of pytest need not be.

import json
import threading
from collections.abc import Callable

from purgatory_lab.mutation.mutants import Mutant, mutants_of
from purgatory_lab.mutation.runner import judge_all

SOURCES = {
    "answers": """
def of_age(years: int | None) -> bool:
    return years >= 18
""",
    "spins": """
def spin(*, stop):
    while not stop:
        try:
            sum(range(stop))
        except BaseException:
            pass
""",
    "waits": """
def wait(lock):
    for _ in [lock]:
        lock.release()
    lock.acquire()
""",
    "leaves": """
import os

def leave(number):
    if number == 1:
        os._exit(number)
""",
}


def judge(mutant: Mutant, getting_on: Callable[[str], None]) -> None:
    """A few questions to each module; what they leave open, a mutant survives by."""
    module: dict[str, Callable[..., object]] = {}
    exec(mutant.source, module)
    getting_on("questions")
    match mutant.module:
        case "answers":
            assert module["of_age"](18)
            assert not module["of_age"](3)
        case "spins":
            module["spin"](stop=1)
        case "waits":
            lock = threading.Lock()
            lock.acquire()
            module["wait"](lock)
        case "leaves":
            module["leave"](2)


def main() -> None:
    """Print for each module the mutated lines, each with its end."""
    mutants = [
        mutant for name, source in SOURCES.items() for mutant in mutants_of(name, source).judged
    ]
    ends: dict[str, dict[str, str]] = {name: {} for name in SOURCES}
    for result in judge_all(mutants, judge, workers=2, limit_seconds=4):
        mutant = result.mutant
        change = mutant.mutated if mutant.mutated != "pass" else f"no {mutant.line}"
        ends[mutant.module][change] = result.end.value
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
