"""The commands about scheduling, as a user types them."""

from pathlib import Path

import pytest

from purgatory_lab.commands import schedule as schedule_command
from purgatory_lab.scheduling.bundled.scenarios import SCENARIOS
from purgatory_lab.scheduling.bundled.seeded_races import SEEDED_RACES
from tests.conformance.command import purgatory


def schedule(*words: str) -> tuple[int, str]:
    done = purgatory(Path(), "schedule", *words)
    return done.returncode, done.stdout + done.stderr


def test_it_lists_scenarios_and_yield_points() -> None:
    code, words = schedule("list")
    assert code == 0
    lines = words.splitlines()
    assert [line.split()[0] for line in lines[::2]] == list(SCENARIOS)
    assert lines[0] == "exact-watch-and-check  watch, check"
    assert all(line.startswith("    ") for line in lines[1::2])
    code, words = schedule("points")
    assert code == 0
    assert words.split()[:4] == ["module", "name", "where", "why"]
    assert "OperationLocks.word" in words


def test_it_runs_a_scenario_and_counts_its_schedules() -> None:
    code, words = schedule("run", "model-watch-and-check", "--preemptions", "1")
    assert (code, words) == (
        0,
        "model-watch-and-check: 20 schedules (2 with 0, 18 with 1 preemptions); "
        "3 of the model's 3 ends\n",
    )
    code, words = schedule("run", "model-watch-and-check", "--random", "5", "--seed", "3")
    assert (code, words.split(";")[0]) == (0, "model-watch-and-check: 5 random schedules")
    code, words = schedule("run", "exact-watch-and-check", "--limit", "3")
    assert (code, words.rstrip().split("; ")[1]) == (4, "more are left")


def test_it_runs_all_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: SCENARIOS[name] for name in ("exact-watch-and-check", "timer-add-and-advance")}
    monkeypatch.setattr(schedule_command, "SCENARIOS", few)
    code, words = schedule("run", "--preemptions", "0")
    assert code == 0
    lines = words.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == list(few)
    assert lines[-1] == "2 scenarios, 4 schedules: nothing is wrong"
    code, words = schedule("run", "--limit", "1")
    assert code == 4
    assert words.endswith("2 scenarios, 2 schedules: nothing is wrong in these; more are left\n")


def test_a_failure_comes_with_its_interleaving_and_can_be_had_again() -> None:
    """The interleaving is shown in columns, with the command that shows it again."""
    code, words = schedule("run", "model-watch-and-check", "--race", "no-second-try")
    assert code == 1
    lines = words.splitlines()
    first, second = lines[1].split()[:2], lines[1].split()[2:]
    assert (first, second) == (["a:", "watch"], ["b:", "check"])
    assert "  looks at the condition of 1" in lines
    assert lines[-2].endswith("1 could be completed when k was checked, and is lost")
    assert lines[-1].startswith("again: purgatory schedule replay model-watch-and-check a")
    again = lines[-1].removeprefix("again: purgatory schedule ").split()
    assert schedule(*again) == (1, "\n".join(lines[1:]) + "\n")
    code, words = schedule(*again[:3])
    assert (code, words.splitlines()[-2]) == (0, "nothing is wrong")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "nothing"), "there is no scenario 'nothing'; see: purgatory schedule list"),
        (("replay", "all", "a"), "there is no scenario 'all'"),
        (("replay", "exact-watch-and-check", "3"), "'3' is no schedule: give letters of threads"),
        (
            ("replay", "exact-watch-and-check", "a12b40"),
            "the code or the scenario has changed since it was recorded",
        ),
        (("run", "--race", "nothing"), "'nothing' is not one of 'no-second-try'"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], words: str) -> None:
    code, said = schedule(*arguments)
    assert code == 2
    assert words in said


def test_each_race_has_a_row_that_says_how_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_command, "SEEDED_RACES", SEEDED_RACES[:2])
    code, words = schedule("races", "--random", "300")
    assert code == 0
    rows = [line.split() for line in words.splitlines()[1:]]
    assert [row[0] for row in rows] == [race.name for race in SEEDED_RACES[:2]]
    assert "not in" not in words


def test_a_race_that_escapes_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_command, "SEEDED_RACES", SEEDED_RACES[1:2])
    code, words = schedule("races", "--preemptions", "0", "--random", "1")
    assert code == 1
    assert "not in 2" in words


# A class of the user's


_MUSEUM = "purgatory_lab.museum.threads"
_OTHERS = "tests.lab.scheduling.others"


def test_a_class_is_run_and_its_failing_schedule_can_be_had_again() -> None:
    code, words = schedule(f"{_MUSEUM}.pools:looks_outside")
    assert code == 1
    lines = words.splitlines()
    assert lines[0].startswith("strict-allocate-and-allocate: ")
    assert lines[-2].startswith("POOL-BOUND: ")
    again = lines[-1].removeprefix("again: purgatory schedule ").split()
    assert again[:2] == [f"{_MUSEUM}.pools:looks_outside", "--program"]
    code, words = schedule(*again)
    assert (code, words.splitlines()[-2:]) == (1, lines[-2:])


def test_a_class_without_a_fault_says_how_much_was_tried() -> None:
    code, words = schedule(
        f"{_MUSEUM}.pools:under_one_lock", "--preemptions", "1", "--seconds", "600"
    )
    assert code == 0
    lines = words.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == [
        "strict-allocate-and-allocate",
        "strict-allocate-and-release",
        "strict-release-and-release",
        "strict-release-again",
    ]
    assert lines[-1].startswith("4 programs, ")
    assert lines[-1].endswith(
        "nothing is wrong; every schedule with at most 1 preemptions was tried"
    )
    code, words = schedule(f"{_MUSEUM}.pools:under_one_lock", "--seconds", "0")
    assert code == 4
    assert words.splitlines()[-1].endswith("even without a preemption: see --seconds")


def test_a_class_may_be_declared_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "here_pool.py").write_text(f"from {_OTHERS}.pools import raises\n")
    (tmp_path / "purgatory.toml").write_text(
        '[subject]\nname = "my pool"\npython = "here_pool:raises"\n'
    )
    code, words = schedule(str(tmp_path))
    assert code == 1
    assert "raised KeyError(10)" in words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no.module:factory",), "cannot be imported"),
        ((f"{_MUSEUM}.pools:Instance",), "is a class of instances, and has no profile of its own"),
        ((f"{_OTHERS}.pools:right", "--program", "nothing"), "there is no program 'nothing'"),
        ((f"{_OTHERS}.pools:right", "--schedule", "a"), "name it by --program"),
        (
            (
                *(f"{_OTHERS}.pools:right", "--program", "strict-release-and-release"),
                *("--schedule", "b2c90"),
            ),
            "the code or the scenario has changed since it was recorded",
        ),
    ],
)
def test_a_class_that_cannot_be_run_says_why(arguments: tuple[str, ...], words: str) -> None:
    code, said = schedule(*arguments)
    assert code == 2
    assert words in said
