"""Interleaved rounds: who is asked when, and what becomes of a peer that breaks."""

from pathlib import Path

import pytest

from purgatory_lab.benchmarks.bench.results import Failure, Setting
from purgatory_lab.benchmarks.bench.roster import Place, Roll
from purgatory_lab.benchmarks.bench.rounds import Plan, Taken, patience, run_rounds
from purgatory_lab.benchmarks.bench.team import Team

from .peers import roll, silent

HOT = [
    Setting(
        f"hot/virtual, {size}",
        "hot/virtual",
        str(size),
        {"measure": "hot/virtual", "pending": size, "operations": 5},
    )
    for size in (10, 20)
]
FIFO = Setting(
    "fifo/virtual, 10",
    "fifo/virtual",
    "10",
    {"measure": "fifo/virtual", "pending": 10, "operations": 5},
)
PLAN = Plan(rounds=3, warm_up=1, seed=40, patience_s=20.0)


def run(
    tmp_path: Path, rolls: list[Roll], settings: list[Setting], plan: Plan = PLAN
) -> tuple[Taken, Team]:
    taken, kept = Taken(), []
    with Team(rolls, Place(None, tmp_path / "work"), silent) as team:
        run_rounds(team, settings, plan, taken, silent, lambda: kept.append(len(taken.samples)))
    assert len(kept) == len({each.measure for each in settings})
    return taken, team


def test_every_round_asks_every_peer_and_who_begins_changes(tmp_path: Path) -> None:
    taken, _ = run(tmp_path, [roll("a", "well", "1"), roll("b", "well", "2")], [*HOT, FIFO])
    assert taken.failures == []
    order = [(each.round, each.setting, each.peer, each.place) for each in taken.samples]
    hot, more = HOT[0].name, HOT[1].name
    assert order[:8] == [
        (0, hot, "a", 1),
        (0, hot, "b", 2),
        (0, more, "a", 1),
        (0, more, "b", 2),
        (1, hot, "b", 1),
        (1, hot, "a", 2),
        (1, more, "b", 1),
        (1, more, "a", 2),
    ]
    assert len(order) == 2 * 4 * 3
    assert [each[1] for each in order[16:]] == [FIFO.name] * 8


def test_each_round_has_its_own_seed_and_all_peers_the_same(tmp_path: Path) -> None:
    taken, _ = run(tmp_path, [roll("a", "well"), roll("b", "well")], [FIFO])
    seeds = [(each.round, each.answer.detail["seed"]) for each in taken.samples]
    assert seeds == [(n, 41 + n) for n in (0, 1, 2, 3) for _ in range(2)]


def test_one_that_declines_is_not_asked_for_that_again(tmp_path: Path) -> None:
    taken, _ = run(tmp_path, [roll("a", "error on fifo"), roll("b", "well")], [HOT[0], FIFO])
    assert taken.failures == [Failure(FIFO.name, "a", "it is raining")]
    asked = [(each.setting, each.peer) for each in taken.samples]
    assert asked.count((HOT[0].name, "a")) == 4
    assert asked.count((FIFO.name, "a")) == 0
    assert asked.count((FIFO.name, "b")) == 4


def test_one_that_hangs_is_left_out_of_the_measure_and_started_anew(tmp_path: Path) -> None:
    plan = Plan(rounds=2, warm_up=0, seed=1, patience_s=0.5)
    rolls = [roll("a", "hangs on hot"), roll("b", "well")]
    taken, team = run(tmp_path, rolls, [*HOT, FIFO], plan)
    first, second = taken.failures
    assert (first.setting, first.peer) == (HOT[0].name, "a")
    assert "no answer within" in first.reason
    assert second.reason == f"it was ended in {first.setting}"
    asked = [(each.setting, each.peer) for each in taken.samples]
    assert asked.count((FIFO.name, "a")) == 2
    assert asked.count((HOT[0].name, "b")) == 2
    assert team.members[0].starts == 2


def test_one_that_breaks_again_and_again_is_given_up(tmp_path: Path) -> None:
    plan = Plan(rounds=1, warm_up=0, seed=1, patience_s=20.0)
    settings = [
        Setting(f"{name}, {n}", f"{name} {n}", "", {"measure": name, "operations": 1})
        for n in range(3)
        for name in ("hot/virtual", "fifo/virtual")
    ]
    with Team([roll("a", "dies")], Place(None, tmp_path / "work"), silent) as team:
        for setting in settings:
            for member in team.able(str(setting.request["measure"])):
                with pytest.raises(Exception, match="ended with 7"):
                    team.ask(member, {**setting.request, "seed": 1}, plan.patience_s)
        (member,) = team.members
    assert member.reason == "given up after 4 starts"
    assert member.starts == 5


def test_who_is_not_what_he_should_be_is_not_measured(tmp_path: Path) -> None:
    rolls = [roll("a", "well", runtime=", compiled"), roll("b", "well", runtime=", interpreted")]
    taken, team = run(tmp_path, rolls, [FIFO])
    assert team.members[0].reason == "it should be compiled, and is script, interpreted"
    assert {each.peer for each in taken.samples} == {"b"}
    assert team.members[0].facts().offers == ()


def test_what_is_not_offered_is_not_asked(tmp_path: Path) -> None:
    pool = Setting("pool, 100", "pool", "100", {"measure": "pool", "operations": 5})
    taken, _ = run(tmp_path, [roll("a", "error")], [pool])
    assert (taken.samples, taken.failures) == ([], [])


def test_patience_grows_with_the_request() -> None:
    few, many = (
        Setting("", "hot", "", {"pending": size, "operations": 1000}) for size in (0, 1_000_000)
    )
    assert patience(few, PLAN) == pytest.approx(20.2)
    assert patience(many, PLAN) == pytest.approx(220.2)
