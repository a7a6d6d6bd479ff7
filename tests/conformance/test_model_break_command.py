"""``purgatory model break``: what can be planted, and who catches it."""

import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.commands.model import model
from purgatory_conformance.specimens.mutants import mutants
from purgatory_course.breaking.counterparts import seeded_defects
from purgatory_spec.profiles import Component


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(model, ["break", *words])


def test_everything_that_can_be_planted_is_listed() -> None:
    """Each stands there by its whole name, with the rule or the property that it breaks."""
    done = run("list")
    assert done.exit_code == 0
    lines = {tuple(line.split()) for line in done.output.splitlines()}
    assert {(each.name, each.rule) for each in mutants()} <= lines
    assert {(each.name, each.fails) for each in seeded_defects() if each.planted} <= lines
    assert "Fires strictly after the due tick" in done.output
    assert "In TLA+: timer-strictly-later-fails." in " ".join(done.output.split())
    assert "Planted: strictly-later in Timer." in " ".join(done.output.split())


def test_the_list_of_one_component_has_nothing_of_the_others() -> None:
    done = run("list", "--component", "memory-pool")
    names = {line.split()[0] for line in done.output.splitlines() if line and line[0] != " "}
    mine = {each.name for each in mutants() if each.component is Component.MEMORY_POOL}
    assert mine <= names
    assert not {each.name for each in mutants()} - mine & names
    assert "pool-blind-store" in names
    assert "timer-strictly-later-fails" not in names


@pytest.mark.slow
def test_a_mutant_is_told_with_the_rule_and_the_shrunk_case() -> None:
    """Given a mutant: the rule that it breaks is blamed, and the shortest case stands below."""
    done = run("run", "pool-zero-granted", "--cases", "40")
    assert done.exit_code == 0
    assert "pool-zero-granted, a wrong memory pool" in done.output
    assert "It breaks POOL-ZERO-REQUEST (MUST)" in done.output
    assert "shrunk to 1 step, the failure is blamed on POOL-ZERO-REQUEST" in done.output
    assert "ask for" in done.output
    assert "expected: rejected: invalid_argument" in done.output


@pytest.mark.slow
def test_who_catches_it_is_a_table_and_a_sentence_each() -> None:
    done = run("run", "pool-admits-at-zero", "--who-catches-it", "--cases", "40")
    assert done.exit_code == 0
    table = [line.split() for line in done.output.splitlines()]
    assert ["rule", "POOL-NON-STRICT"] in table
    assert ["TLA+", "Bound", "of", "MemoryPool"] in table
    for who in ("rule: ", "TLA+: ", "vectors: ", "generation: "):
        assert who in done.output


def test_nobody_is_said_plainly() -> None:
    """Given a defect that no vector shows: nobody catches it, and the exit code is 1."""
    done = run("run", "nested-throw-unheard", "--who-catches-it", "--cases", "0")
    assert done.exit_code == 1
    assert "nobody of " in done.output
    assert "generation: nobody: 0 cases with 0 steps of seed 1 found nothing." in done.output
    assert run("run", "nested-throw-unheard", "--cases", "0").exit_code == 1


def test_all_mutants_of_a_component_are_judged_one_after_another() -> None:
    """Each is told, those that nobody catches are named, and the exit code is 1."""
    done = run("run", "--component", "memory-pool", "--cases", "0")
    assert done.exit_code == 1
    words = " ".join(done.output.split())
    mine = [each for each in mutants() if each.component is Component.MEMORY_POOL]
    for mutant in mutants():
        assert (f"{mutant.name} {mutant.rule} rule: " in words) is (mutant in mine)
    summary = words.partition(f"{len(mine)} mutants: ")[2]
    assert "pool-size-in-an-int" in summary
    assert "pool-zero-granted" not in summary
    assert summary.endswith("caught by nobody")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "offered-twic"), "did you mean offered-twice"),
        (("run", "zzz"), "there is no mutant 'zzz'; see: purgatory model break list"),
        (("run", "timer-drops-one-fails"), "see: purgatory tla explain timer-drops-one-fails"),
        (("run", "rounds-up", "--all"), "give either a NAME, or --all or --component"),
        (("run", "rounds-up", "--cases", "-1"), "is not in the range"),
        (("list", "--component", "moon"), "is not one of"),
        (("fly",), "No such command"),
    ],
)
def test_wrong_words_are_usage_errors(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert said in done.output
