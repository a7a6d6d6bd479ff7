"""The tour in a terminal: what it prints, the picture of it, and what it refuses."""

import webbrowser
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from purgatory_conformance.commands import demo as command
from purgatory_conformance.commands.demo import (
    RIGHT,
    WRONG,
    changed_lines,
    demo,
    picture_of,
    recorder,
    tour,
)
from purgatory_conformance.problems import Problem
from purgatory_conformance.reporting.results import Results
from purgatory_conformance.reporting.results_file import read_results
from purgatory_conformance.reporting.terminal_page import TerminalPage

pytestmark = pytest.mark.slow

CHECKED_IN = Path(__file__).resolve().parents[2] / "docs" / "assets" / "demo.svg"
WORK = Path("purgatory-work") / "demo"
REPORT = WORK / "mutant-expires-with-its-bucket" / "report.html"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the tour was recorded once."""
    folder = tmp_path_factory.mktemp("tour")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        done = CliRunner().invoke(demo, ["--record", "demo.svg"])
    assert (done.exit_code, done.output) == (0, "")
    return folder


@pytest.fixture(scope="module")
def judged(folder: Path) -> dict[str, Results]:
    """Return the results on both timers, as the tour has written them."""
    names = {RIGHT: "bundled", WRONG: REPORT.parent.name}
    return {
        subject: read_results(folder / WORK / name / "results.jsonl")[0]
        for subject, name in names.items()
    }


def picture(judged: dict[str, Results]) -> str:
    """Return the picture of a tour with these results."""
    console = recorder()
    tour(TerminalPage(console), lambda subject: (judged[subject], REPORT))
    return picture_of(console)


def test_the_picture_is_up_to_date(folder: Path) -> None:
    """`purgatory demo --record docs/assets/demo.svg` would write the file that is there."""
    assert (folder / "demo.svg").read_text("utf-8") == CHECKED_IN.read_text("utf-8")
    assert (folder / REPORT).is_file()


def test_an_outdated_picture_is_seen(judged: dict[str, Results]) -> None:
    """The picture of the same results is that of the repository; with one more case it is not."""
    assert picture(judged) == CHECKED_IN.read_text("utf-8")
    footer = judged[RIGHT].footer
    more = msgspec.structs.replace(footer, cases=footer.cases + 1)
    changed = {**judged, RIGHT: msgspec.structs.replace(judged[RIGHT], footer=more)}
    assert picture(changed) != CHECKED_IN.read_text("utf-8")


def test_the_picture_loads_nothing() -> None:
    text = CHECKED_IN.read_text("utf-8")
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "@import" not in text


def test_the_changed_line_is_that_of_the_wrong_timer() -> None:
    """The diff shows the condition of the right method, and the wrong one without it."""
    assert [line for line, _ in changed_lines()] == [
        "  def comes_due(self, task: Task) -> bool:",
        "-     return task.due_tick <= self.own_clock_ms",
        "+     return True",
    ]


def test_a_tour_in_a_pipe_says_the_steps_and_ends_with_the_readers_own_timer(
    judged: dict[str, Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is opened unless it is asked for; then it is the report."""
    monkeypatch.setattr(command, "_judged", lambda subject, *_: (judged[subject], REPORT))
    monkeypatch.delenv("COLUMNS", raising=False)
    seen: list[str] = []
    monkeypatch.setattr(webbrowser, "open", seen.append)
    done = CliRunner().invoke(demo)
    assert done.exit_code == 0
    assert "2  advance to 2  → popped, a expired  ← diverges" in done.output
    assert f"  {REPORT.as_posix()}\n" in done.output
    assert done.output.endswith(
        "  purgatory init --lang python my-timer\n  purgatory check my-timer\n"
    )
    assert seen == []
    CliRunner().invoke(demo, ["--open"])
    assert seen == [REPORT.resolve().as_uri()]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [(WRONG, WRONG, "is not conformant"), (RIGHT, RIGHT, "was not found to be wrong")],
)
def test_a_tour_that_goes_wrong_says_so(
    judged: dict[str, Results], right: str, wrong: str, said: str
) -> None:
    """A right timer that fails, or a wrong one that passes, ends the tour."""
    with pytest.raises(Problem, match=said):
        picture({RIGHT: judged[right], WRONG: judged[wrong]})
