"""The cost of one operation, by counts: the difference of two runs, and nothing beside it."""

from collections.abc import Mapping

import click
import pytest
from click.testing import CliRunner

from purgatory_impl import Purgatory, Timer, VirtualClock
from purgatory_lab.benchmarks import counters
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure


def test_one_operation_is_the_difference_of_two_runs_on_the_same_inputs() -> None:
    asked: list[counters.Work] = []

    def counted(of: counters.Work) -> Mapping[str, int]:
        asked.append(of)
        return {"Ir": 1_000_000 + 50 * of.done}

    assert counters.of_one("hot", 100, 400, 20, counted) == {"Ir": 50.0}
    assert asked == [
        counters.Work("hot", 400, 400, 100, 20),
        counters.Work("hot", 400, 400, 400, 20),
    ]


def test_the_sums_of_a_file_are_read() -> None:
    text = "version: 1\nevents: Ir D1mr\nfn=(1) main\n+3 4 1\ntotals: 12 3\n"
    assert counters.totals(text) == {"Ir": 12, "D1mr": 3}
    for broken in ("", "events: Ir\n", "events: Ir\ntotals: 1 2\n"):
        with pytest.raises(click.ClickException, match="no file of Callgrind"):
            counters.totals(broken)


@pytest.mark.parametrize("measure", counters.MEASURES)
def test_the_work_is_done(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counters.work(counters.Work(measure, 50, 40, 30, 20))
    monkeypatch.setattr(Timer, "cancel", lambda *_: True)
    monkeypatch.setattr(VirtualClock, "set_ms", lambda *_: None)
    with pytest.raises(CannotMeasure):
        counters.work(counters.Work(measure, 50, 40, 30, 20))


def test_the_work_of_a_purgatory_is_done_and_the_users_share_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for measure in counters.OF_PURGATORY:
        counters.work(counters.Work(measure, 0, 40, 30, 20))
    monkeypatch.setattr(Purgatory, "check_and_complete", lambda *_: 0)
    counters.work(counters.Work("users-share", 0, 40, 30, 20))
    for measure in ("interpreted", "ready-made"):
        with pytest.raises(CannotMeasure):
            counters.work(counters.Work(measure, 0, 40, 30, 20))


def test_without_valgrind_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = CliRunner().invoke(counters.main, ["--few", "10", "--many", "20"])
    assert (result.exit_code, "valgrind is not installed" in result.output) == (1, True)
    assert CliRunner().invoke(counters.main, ["--few", "20", "--many", "20"]).exit_code == 2
