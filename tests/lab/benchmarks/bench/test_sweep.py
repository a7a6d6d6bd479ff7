"""The workload at rising rates, and with a limit on memory, with scripted peers."""

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from purgatory_lab.benchmarks.bench import tight
from purgatory_lab.benchmarks.bench.figures import Figures
from purgatory_lab.benchmarks.bench.results import Failure, Measurement, Results
from purgatory_lab.benchmarks.bench.roster import Place, Roll
from purgatory_lab.benchmarks.bench.rounds import Plan
from purgatory_lab.benchmarks.bench.run import Book, sweep_all
from purgatory_lab.benchmarks.bench.sweep import saturated
from purgatory_lab.benchmarks.bench.sweep_plan import Series, Sweep, held_rates, point
from purgatory_lab.benchmarks.bench.tight import Limit, ResidentWatch, memory_and_threads, thinned

from .peers import roll, silent

LOW = Series("low", 3)
SWEEP = Sweep(rates=(1_000, 2_000, 3_000, 4_000), cases=("low",), keys=(3,), requests=50)
PLAN = Plan(rounds=2, warm_up=1, seed=7, patience_s=300.0)


def run(
    tmp_path: Path,
    rolls: list[Roll],
    limit: Limit | None = None,
    plan: Plan = PLAN,
    *,
    sweep: Sweep = SWEEP,
    rates: bool = True,
) -> Results:
    book = Book("workload", tmp_path / "workload.json", {}, None)
    place = Place(None, tmp_path / "work")
    return sweep_all(book, rolls, place, sweep, limit, plan, silent, rates=rates)


def test_a_series_ends_for_a_peer_that_is_saturated_and_then_for_all(tmp_path: Path) -> None:
    found = run(tmp_path, [roll("slow", "saturates", "1500"), roll("fast", "saturates", "2500")])
    asked = [(each.setting, each.peer, each.round) for each in found.samples]
    names = [f"workload, low, 3 keys, {rate:,}/s" for rate in (1000, 2000, 3000)]
    assert [each.name for each in found.settings] == names
    assert [(name, number) for name, peer, number in asked if peer == "slow"] == [
        (name, number) for name in names[:2] for number in (1, 2)
    ]
    assert len([each for each in asked if each[1] == "fast"]) == 6
    why = "saturated: 1,500/s at a target of 2,000/s"
    assert found.failures == [Failure(names[2], "slow", why)]
    figures = Figures([found])
    assert held_rates(figures, "slow", LOW, share=0.99, lag_ms=2.0) == [1000.0]
    assert held_rates(figures, "fast", LOW, share=0.99, lag_ms=2.0) == [1000.0, 2000.0]
    assert held_rates(figures, "fast", LOW, share=0.99, lag_ms=1.0) == []
    assert held_rates(figures, "fast", Series("low", 1000), share=0.99, lag_ms=2.0) is None


def test_each_purge_interval_is_a_series_that_peers_are_asked_for(tmp_path: Path) -> None:
    sweep = replace(SWEEP, rates=(1_000, 2_000), purge_intervals=(1000, 25_000))
    found = run(tmp_path, [roll("slow", "saturates", "1500")], sweep=sweep)
    names = [
        "workload, low, 3 keys, 1,000/s",
        "workload, low, 3 keys, 2,000/s",
        "workload, low, 3 keys, purge interval 25,000, 1,000/s",
        "workload, low, 3 keys, purge interval 25,000, 2,000/s",
    ]
    assert [each.name for each in found.settings] == names
    told = {(each.setting, each.answer.detail["purge_interval"]) for each in found.samples}
    assert told == set(zip(names, (1000, 1000, 25_000, 25_000), strict=True))
    figures = Figures([found])
    for interval in sweep.purge_intervals:
        series = Series("low", 3, interval)
        assert held_rates(figures, "slow", series, share=0.99, lag_ms=None) == [1000.0]
    assert held_rates(figures, "slow", Series("low", 3, 7), share=0.99, lag_ms=None) is None


def test_who_fails_while_warming_up_is_said_at_every_point(tmp_path: Path) -> None:
    found = run(tmp_path, [roll("bad", "error"), roll("good", "saturates", "9000")])
    assert [each.reason for each in found.failures] == ["warming up: it is raining"] * 4
    assert {each.peer for each in found.samples} == {"good"}


def test_who_dies_leaves_the_series(tmp_path: Path) -> None:
    plan = Plan(rounds=2, warm_up=0, seed=7, patience_s=300.0)
    rolls = [roll("bad", "dies"), roll("good", "saturates", "1000")]
    found = run(tmp_path, rolls, plan=plan)
    first, second = found.failures
    assert first.reason == "ended with 7 without an answer: out of luck"
    assert second.reason.startswith("failed in low, 3 keys, 1,000/s: ended with 7")
    assert len(found.samples) == 4


def test_saturated_is_below_95_per_cent_of_the_target() -> None:
    setting = point(LOW, 1000, SWEEP)

    def answers(*achieved: float) -> list[Measurement]:
        return [Measurement(50, detail={"achieved": each}) for each in achieved]

    assert saturated(setting, answers(100, 950, 960)) == ""
    assert saturated(setting, answers(949)) == "saturated: 949/s at a target of 1,000/s"
    assert saturated(setting, [Measurement(50)]) == "saturated: 0/s at a target of 1,000/s"


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="this system does not tell what others hold"
)


@needs_proc
@pytest.mark.verify
def test_who_grows_beyond_the_limit_is_ended_and_its_growth_is_kept(tmp_path: Path) -> None:
    rolls = [
        roll("modest", "modest", "1500", alone=True),
        roll("greedy", "eats", alone=True),
        roll("foreign", "saturates", "9000"),
    ]
    found = run(tmp_path, rolls, Limit(None, 40.0), rates=False)
    modest, greedy = found.curves[:2]
    limit = modest.limit_mib
    assert 44 < limit < 100
    assert (modest.peer, modest.exceeded, max(modest.mib) < limit - 30) == ("modest", False, True)
    assert (greedy.peer, greedy.exceeded, greedy.limit_mib) == ("greedy", True, limit)
    assert greedy.mib[-1] > limit > greedy.mib[0]
    assert found.failures[0].peer == "greedy"
    assert found.failures[0].reason.startswith(f"resident memory beyond {limit} MiB after")
    assert {each.peer for each in found.samples} == {"modest"}
    assert len(found.samples) == 2
    # Control: with more room the same peer lives.
    plenty = run(tmp_path, rolls[1:2], Limit(1000.0, 1.0), rates=False)
    assert [each.peer for each in plenty.samples] == ["greedy"]
    assert max(plenty.curves[0].mib) > 160


@pytest.mark.parametrize(
    ("seen", "noted", "exceeded"),
    [(50.19, 50.19, False), (50.204, 50.2, False), (50.206, 50.21, True)],
)
def test_what_is_judged_is_what_is_noted(
    seen: float, noted: float, exceeded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tight, "memory_and_threads", lambda process: (seen, 2))
    watch = ResidentWatch(50.2)
    why = watch.look(1)
    assert (watch.mib, watch.exceeded) == ([noted], exceeded)
    assert why.startswith("resident memory beyond 50.2 MiB") == exceeded


@needs_proc
def test_without_a_first_answer_there_is_no_limit(tmp_path: Path) -> None:
    found = run(tmp_path, [roll("bad", "error", alone=True)], Limit(None, 8.0), rates=False)
    assert [each.reason for each in found.failures] == [
        "the limit was not found: bad: it is raining"
    ]
    assert (found.samples, found.curves) == ([], [])


@needs_proc
def test_resident_memory_is_that_of_the_process() -> None:
    mine, threads = memory_and_threads(os.getpid())
    assert 5 < mine < 4000
    end = threading.Event()
    more = threading.Thread(target=end.wait)
    more.start()
    assert memory_and_threads(os.getpid())[1] == threads + 1
    end.set()
    more.join()
    assert memory_and_threads(2**22 + 1) == (0.0, 0)


@needs_proc
def test_a_process_with_one_thread_is_not_judged(tmp_path: Path) -> None:
    rolls = [roll("alone", "saturates", "9000", alone=True)]
    found = run(tmp_path, rolls, Limit(1.0, 1.0), rates=False)
    assert len(found.samples) == 4
    assert all(curve.mib == [] and not curve.exceeded for curve in found.curves)
    # Control: with a second thread the same limit ends it at once.
    found = run(tmp_path, [roll("two", "modest", "9000", alone=True)], Limit(1.0, 1.0), rates=False)
    assert found.samples == []
    assert found.curves[0].exceeded


def test_a_long_curve_is_thinned_to_its_peaks() -> None:
    watch = ResidentWatch(
        None, [n / 100 for n in range(2400)], [float(n % 10) for n in range(2400)]
    )
    seconds, mib = thinned(watch)
    assert mib == [9.0] * 240
    assert seconds[:2] == [0.09, 0.19]
    assert thinned(ResidentWatch(None)) == ([], [])
