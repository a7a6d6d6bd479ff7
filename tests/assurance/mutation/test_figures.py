"""What the page says of a run."""

import pytest

pytest.importorskip("cosmic_ray")

from purgatory_assurance.mutation.figures import page_text
from purgatory_assurance.mutation.mutants import Mutant, Mutants
from purgatory_assurance.mutation.reviewed import Reviewed
from purgatory_assurance.mutation.runner import End, Result

SURVIVOR = Mutant("task_queue", "TaskQueue.take", "Eq", 3, "a == b", "a | b", "")


def test_the_page_has_the_survivors_and_the_constants_that_are_smaller() -> None:
    """
    Given: a run of one module, with a killed mutant and a reviewed survivor
    When:  the text of the page is made
    Then:  it has the share, the constant that is smaller for this module alone, and the reason
    """
    killed = Mutant("task_queue", "TaskQueue.take", "Eq", 3, "a == b", "a != b", "")
    results = [Result(killed, End.RAISED, "KeyError"), Result(SURVIVOR, End.SURVIVED, "")]
    reviewed = [Reviewed("task_queue", "TaskQueue.take", "a == b", ("a | b",), "free")]

    lines = page_text(
        results, {"task_queue": Mutants([killed, SURVIVOR])}, reviewed, "Today."
    ).splitlines()

    assert "**1 of 2 mutants are killed: 50.0%.** Today." in lines
    assert [line for line in lines if "| 2 |" in line and "so that" not in line] == [
        "| `task_queue` | 2 | 1 | 1 | 50.0% |",
        "| all | 2 | 1 | 1 | 50.0% |",
        "| `task_queue`, `BATCH` | 2 | `task_queue` | the queue has more than one batch |",
    ]
    assert lines[-1] == (
        "| `task_queue`, `TaskQueue.take` | <code>a == b</code> | <code>a &#124; b</code> | free |"
    )
