"""Whatever a subject does costs one run: it is a row, and every other run is as it would be."""

from pathlib import Path

import pytest

from purgatory_conformance.problems import Problem
from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_judge.components import narrowed
from purgatory_spark.campaigns import first_failures
from purgatory_spark.campaigns.drawing import Drawing
from purgatory_spark.campaigns.folder import read_result
from purgatory_spec.cases import read_case
from purgatory_spec.operations import Advance
from purgatory_spec.profiles import Component, TimerConfiguration

from .bad_subjects import BAD_WHEEL_SIZE
from .judging_runs import HERE, Row, rows, run

RUNS = 16
DRAWING = Drawing(Component.TIMER, PROFILE, seed=7, steps=50)


def bad_numbers() -> dict[int, int]:
    """The numbers whose runs go wrong, each with the step at which they do."""
    bad: dict[int, int] = {}
    for number in range(RUNS):
        case = DRAWING.draw(number)
        wheel = narrowed(case.configuration, TimerConfiguration).wheel_size
        moves = [i for i, op in enumerate(case.operations) if isinstance(op, Advance)]
        if wheel == BAD_WHEEL_SIZE and moves:
            bad[number] = moves[0]
    return bad


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """The rows of the same runs on a subject that does nothing wrong."""
    out = tmp_path_factory.mktemp("good") / "campaign"
    assert run("bundled", out, runs=RUNS)[0] == 4
    return rows(out)


@pytest.fixture(autouse=True)
def in_this_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    monkeypatch.setattr(first_failures, "SHRINK_RUNS", 80)


def test_there_are_good_and_bad_runs(good: list[Row]) -> None:
    """Control the tests below: two of the runs are bad."""
    assert len(bad_numbers()) == 2
    assert [row["verdict"] for row in good] == ["pass"] * RUNS
    assert [row["seed"] for row in good] == [f"7-{number}" for number in range(RUNS)]


MISDEEDS = [
    ("exits", "crashed", "crashed", "exited with code 7"),
    ("leaves", "failed", "reported a failure of its own", "SystemExit: 3"),
    ("segfaults", "crashed", "crashed", "was ended by SIGSEGV"),
    pytest.param("loops", "hung", "hung", "no reply within 3 s", marks=pytest.mark.verify),
    ("sleeps", "hung", "hung", "no reply within 3 s"),
    ("hogs", "crashed", "crashed", "the subject took more memory than it may"),
    ("raises", "failed", "reported a failure of its own", "LookupError: nothing here"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "verdict", "kind", "seen"), MISDEEDS, ids=lambda each: each)
def test_a_misdeed_is_a_row_and_the_others_go_on(
    subject: str, verdict: str, kind: str, seen: str, good: list[Row], tmp_path: Path
) -> None:
    seconds = 3 if verdict == "hung" else 300
    code, printed = run(
        f"bad_subjects:{subject}", tmp_path / "campaign", runs=RUNS, seconds=seconds, mebibytes=128
    )
    assert code == 3
    bad = bad_numbers()
    found = rows(tmp_path / "campaign")
    assert {row["seed"]: row["verdict"] for row in found} == {
        f"7-{number}": verdict if number in bad else "pass" for number in range(RUNS)
    }
    for number, (row, usual) in enumerate(zip(found, good, strict=True)):
        if number not in bad:
            assert row == usual
            continue
        assert (row["steps"], row["kind"], row["rule"]) == (bad[number], kind, "")
        assert str(row["expected"]).startswith(f"an answer to step {bad[number] + 1}: advance")
        assert seen in str(row["seen"])
    assert f"of {RUNS} runs {len(bad)} {verdict}" in " ".join(printed.split())
    (replay,) = (read_result(tmp_path / "campaign") / "replays").iterdir()
    assert read_case(replay).operations == DRAWING.draw(min(bad)).operations


def test_what_a_subject_prints_is_no_reply(good: list[Row], tmp_path: Path) -> None:
    run("bad_subjects:prints", tmp_path / "campaign", runs=RUNS)
    assert rows(tmp_path / "campaign") == good


def test_all_crashed(tmp_path: Path) -> None:
    code, printed = run("bad_subjects:dies_in_the_open", tmp_path / "campaign", runs=4)
    assert code == 3
    assert [row["verdict"] for row in rows(tmp_path / "campaign")] == ["crashed"] * 4
    assert {row["visits"] for row in rows(tmp_path / "campaign", "coverage")} == {0}
    assert "of 4 runs 4 crashed" in " ".join(printed.split())


@pytest.mark.slow
def test_shrinking_survives_crashes(tmp_path: Path) -> None:
    code, _ = run("bad_subjects:miscounts", tmp_path / "campaign", runs=12)
    assert code == 1
    (cause,) = rows(tmp_path / "campaign", "causes")
    assert (cause["rule"], cause["steps"]) == ("TIMER-SIZE", 2)


def test_a_subject_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="'no-such-program' cannot be started") as raised:
        run("", tmp_path / "campaign", command="no-such-program")
    assert raised.value.exit_code == 3
