"""The judgement of a goal, from files that are written by hand."""

from collections.abc import Mapping, Sequence

import pytest

from purgatory_lab.benchmarks.bench.figures import Figures, ratios
from purgatory_lab.benchmarks.bench.goals import GOALS, GoalVerdict, Judged, judge
from purgatory_lab.benchmarks.bench.report import Column, gate_problem, goals_text
from purgatory_lab.benchmarks.bench.results import Failure, Measurement, Results, Setting

from .written import detailed, in_rounds, results, setting, timed

SIZES = ("100,000", "1,000,000")
HOT, RANDOM, EXPIRE, PURGATORY, READY_MADE, OWN, EVENT, HELD, CPU, GROWTH, BYTES = GOALS


def judged(title: str, *files: Results) -> Judged:
    (found,) = (each for each in judge(Figures(files)) if each.goal.title == title)
    return found


def table_of(*files: Results) -> str:
    return goals_text([Column("measured", judge(Figures(files)))])


def expiring(ours: Sequence[float], kafka: Sequence[float] = (100.0, 200.0)) -> Results:
    """`expire/virtual` at both sizes, each in one round."""
    return in_rounds(
        {
            f"expire/virtual, {size}": {"compiled": [mine], "kafka": [theirs]}
            for size, mine, theirs in zip(SIZES, ours, kafka, strict=True)
        }
    )


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ((80.0, 160.0), GoalVerdict.AIM),
        ((80.0, 161.0), GoalVerdict.MET),
        ((130.0, 260.0), GoalVerdict.MET),
        ((10.0, 261.0), GoalVerdict.MISSED),
    ],
)
def test_every_size_counts(ours: Sequence[float], verdict: GoalVerdict) -> None:
    assert judged(EXPIRE.title, expiring(ours)).verdict is verdict


def test_the_ratio_is_a_median_of_ratios_within_rounds() -> None:
    costs = {"compiled": [10.0, 100.0, 12.0], "kafka": [20.0, 200.0, 20.0]}
    found = judged(EXPIRE.title, in_rounds({f"expire/virtual, {size}": costs for size in SIZES}))
    (first, _) = found.parts
    assert first.measured is not None
    assert (first.measured.median, first.measured.least, first.measured.most) == (0.5, 0.5, 0.6)
    assert first.measured.rounds == 3


def test_a_round_that_lacks_one_value_has_no_ratio() -> None:
    assert ratios({1: 10.0, 2: 30.0, 4: 1.0}, {2: 10.0, 3: 10.0, 4: 0.0}) == [3.0]


def test_with_one_size_missing_nothing_is_decided_but_a_miss() -> None:
    def one(ours: float) -> Results:
        return in_rounds({f"expire/virtual, {SIZES[0]}": {"compiled": [ours], "kafka": [100.0]}})

    good, bad = judged(EXPIRE.title, one(50.0)), judged(EXPIRE.title, one(131.0))
    assert (good.verdict, bad.verdict) == (GoalVerdict.NOT_MEASURED, GoalVerdict.MISSED)
    assert [part.reason for part in good.parts] == ["", "compiled: left out of this run"]


def test_why_a_figure_is_missing_is_said() -> None:
    names = [f"expire/virtual, {size}" for size in SIZES]
    file = results(
        [setting(name) for name in names],
        {(names[0], "compiled"): [timed(1)]},
        offers={"kafka": ["expire/virtual"]},
        failures=[Failure(names[0], "kafka", "it hung")],
    )
    parts = judged(EXPIRE.title, file).parts
    reasons = [part.reason for part in parts]
    assert reasons == ["kafka: it hung", "compiled: no answer"]
    without = results(
        [setting(name) for name in names],
        {(name, "compiled"): [timed(1)] for name in names},
        reasons={"kafka": "Maven is not installed"},
    )
    assert judged(EXPIRE.title, without).parts[0].reason == "kafka: Maven is not installed"
    assert "(kafka: Maven is not installed)" in table_of(without)


def test_timers_purgatory_and_event() -> None:
    timers = {
        f"{pattern}/virtual, {size}": {"compiled": [79.0], "kafka": [100.0]}
        for pattern in ("hot", "random", "expire")
        for size in SIZES
    }
    waiting = {
        f"purgatory, 3 keys, {size} operations{kind}": {"compiled": [190.0], "kafka": [100.0]}
        for size in ("10,000", "100,000")
        for kind in ("", ", ready-made")
    }
    event = "event, 10,000"
    answers = {
        (event, "compiled"): [detailed(p99_ns=9.0)],
        (event, "kafka"): [detailed(p99_ns=3.0)],
    }
    files = [in_rounds({**timers, **waiting}), results([setting(event)], answers)]
    verdicts = {each.goal.title: each.verdict for each in judge(Figures(files))}
    assert [verdicts[goal.title] for goal in (HOT, RANDOM, EXPIRE)] == [
        GoalVerdict.MET,  # 0.79 is within 0.8, not within 0.6
        GoalVerdict.AIM,
        GoalVerdict.AIM,
    ]
    assert [verdicts[goal.title] for goal in (PURGATORY, READY_MADE, EVENT)] == [
        GoalVerdict.MET,  # 1.9 is within 2.5
        GoalVerdict.MISSED,  # and not within 1.8
        GoalVerdict.MET,
    ]
    assert verdicts[HELD.title] is GoalVerdict.NOT_MEASURED


def test_the_own_share_is_told_against_the_whole_of_kafka_and_has_no_bound() -> None:
    name = "purgatory, 3 keys, 10,000 operations"
    ours = Measurement(1_000, 1e6, None, None, {"own_ns": 300.0})
    kafka = Measurement(1_000, 5e5, None, None)
    file = results([setting(name)], {(name, "compiled"): [ours], (name, "kafka"): [kafka]})
    found = judged(OWN.title, file)
    assert found.verdict is GoalVerdict.NO_BOUND
    assert found.parts[0].measured is not None
    assert found.parts[0].measured.median == 0.6


def test_a_goal_is_met_where_every_machine_meets_it() -> None:
    fast = Column("fast", judge(Figures([expiring((80.0, 160.0))])))
    stated = {(EXPIRE.title, "100,000"): 2.54, (EXPIRE.title, "1,000,000"): 2.34}
    slow = Column("slow", judge(Figures([]), stated))
    text = goals_text([fast, slow])
    assert "| goal | reach | aim | fast | slow | verdict |" in text
    cells = "100,000: 0.80<br>1,000,000: 0.80 | 100,000: 2.54<br>1,000,000: 2.34 | **missed**"
    assert f"| {EXPIRE.title} | ≤ 1.3 | ≤ 0.8 | {cells} |" in text
    assert f"| {HOT.title} | ≤ 0.8 | ≤ 0.6 | - | - | **not measured** |" in text


def test_what_was_measured_is_not_replaced_by_what_is_stated() -> None:
    (found,) = (
        each
        for each in judge(Figures([expiring((80.0, 160.0))]), {(EXPIRE.title, "100,000"): 9.0})
        if each.goal is EXPIRE
    )
    assert found.verdict is GoalVerdict.AIM


@pytest.mark.parametrize(
    ("many", "verdict"), [(103.0, GoalVerdict.MET), (104.0, GoalVerdict.MISSED)]
)
def test_growth(many: float, verdict: GoalVerdict) -> None:
    file = in_rounds(
        {
            f"{pattern}/virtual, {size}": {"compiled": [cost]}
            for pattern in ("hot", "fifo")
            for size, cost in (("10,000", 100.0), ("1,000,000", many))
        }
    )
    found = judged(GROWTH.title, file)
    assert found.verdict is verdict
    assert f"hot: +{many - 100:.1f}%" in table_of(file)


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(160.0, GoalVerdict.AIM), (190.0, GoalVerdict.MET), (191.0, GoalVerdict.MISSED)],
)
def test_bytes(ours: float, verdict: GoalVerdict) -> None:
    name = "memory/purgatory, none"
    answers = {(name, "compiled"): [detailed(bytes=ours)], (name, "kafka"): [detailed(bytes=200.0)]}
    assert judged(BYTES.title, results([setting(name)], answers)).verdict is verdict


Points = Mapping[int, tuple[float, float, float]]
"""For each rate what was achieved, the lag in ms, the processor time in µs."""


def workload(points: Points, kafka_us: float = 4.0) -> Results:
    settings: list[Setting] = []
    answers: dict[tuple[str, str], list[Measurement]] = {}
    for rate, (achieved, lag, cpu) in points.items():
        name = f"workload, high, 3 keys, {rate:,}/s"
        settings.append(setting(name, "workload", case="high", keys=3, rate=rate))
        ours = detailed(achieved=achieved, lag_p99_ms=lag, cpu_us=cpu)
        answers[name, "compiled"] = [ours]
        answers[name, "kafka"] = [detailed(achieved=rate, lag_p99_ms=1.0, cpu_us=kafka_us)]
    return results(settings, answers, workload=True)


@pytest.mark.parametrize(
    ("points", "verdict", "held"),
    [
        ({105_000: (104_500, 19.0, 4.0)}, GoalVerdict.MET, 105_000),
        ({105_000: (103_000, 19.0, 4.0)}, GoalVerdict.MISSED, 0),
        ({105_000: (105_000, 21.0, 4.0)}, GoalVerdict.MISSED, 0),
        ({50_000: (50_000, 1.0, 4.0), 105_000: (90_000, 1.0, 4.0)}, GoalVerdict.MISSED, 50_000),
        ({105_000: (105_000, 5.0, 4.0), 150_000: (149_000, 9.0, 4.0)}, GoalVerdict.AIM, 150_000),
    ],
)
def test_the_rate_that_is_held(points: Points, verdict: GoalVerdict, held: float) -> None:
    found = judged(HELD.title, workload(points))
    assert found.verdict is verdict
    assert found.parts[0].measured is not None
    assert found.parts[0].measured.median == held


def test_the_goals_speak_of_the_usual_purge_interval() -> None:
    name = "workload, high, 3 keys, purge interval 100,000, 250,000/s"
    asked = setting(name, "workload", case="high", keys=3, rate=250_000, purge_interval=100_000)
    best = detailed(achieved=250_000, lag_p99_ms=1.0, cpu_us=1.0)
    other = results([asked], {(name, "compiled"): [best]}, workload=True)
    assert judged(HELD.title, other).verdict is GoalVerdict.NOT_MEASURED
    both = judge(Figures([other, workload({105_000: (105_000, 5.0, 4.0)})]))
    held = next(each for each in both if each.goal.title == HELD.title)
    assert held.parts[0].measured is not None
    assert held.parts[0].measured.median == 105_000


@pytest.mark.parametrize(
    ("cpu", "verdict"), [(4.0, GoalVerdict.AIM), (5.0, GoalVerdict.MET), (5.1, GoalVerdict.MISSED)]
)
def test_processor_time_of_a_request(cpu: float, verdict: GoalVerdict) -> None:
    file = workload({50_000: (1.0, 1.0, 99.0), 105_000: (105_000, 1.0, cpu)})
    assert judged(CPU.title, file).verdict is verdict


def test_two_files_are_judged_together() -> None:
    both = [expiring((1.0, 1.0)), workload({105_000: (105_000, 1.0, 4.0)})]
    verdicts = {each.goal.title: each.verdict for each in judge(Figures(both))}
    assert verdicts[EXPIRE.title] is GoalVerdict.AIM
    assert verdicts[HELD.title] is GoalVerdict.MET


def test_the_gate_is_closed_by_a_miss_and_by_nothing_measured() -> None:
    assert gate_problem([expiring((130.0, 260.0))]) == ""
    assert gate_problem([expiring((130.0, 261.0))]) == f"missed: {EXPIRE.title}"
    assert gate_problem([in_rounds({"pool, 100": {"compiled": [1.0]}})]) == "no goal was measured"
