"""What becomes of a goal, from files that are written by hand."""

from collections.abc import Mapping, Sequence

import pytest

from purgatory_bench.bench.figures import Figures
from purgatory_bench.bench.goals import GOALS, GoalVerdict, Judged, judge
from purgatory_bench.bench.report import gate_problem, goals_text
from purgatory_bench.bench.results import Failure, Measurement, Results, Setting
from purgatory_bench.bench.statistics import ratios

from .written import detailed, in_rounds, results, setting, timed

SIZES = ("10,000", "100,000", "1,000,000")
EXPIRE, PURGATORY, HELD, CPU, GROWTH, BYTES, PURE = GOALS[2:]


def judged(title: str, *files: Results) -> Judged:
    (found,) = (each for each in judge(Figures(files)) if each.goal.title == title)
    return found


def expiring(ours: Sequence[float], kafka: Sequence[float] = (100.0, 200.0, 300.0)) -> Results:
    """`expire/virtual` at three sizes, each in one round."""
    return in_rounds(
        {
            f"expire/virtual, {size}": {"compiled": [mine], "kafka": [theirs]}
            for size, mine, theirs in zip(SIZES, ours, kafka, strict=True)
        }
    )


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ((60.0, 120.0, 180.0), GoalVerdict.AIM),
        ((60.0, 120.0, 183.0), GoalVerdict.MET),
        ((100.0, 200.0, 300.0), GoalVerdict.MET),
        ((10.0, 20.0, 303.0), GoalVerdict.MISSED),
    ],
)
def test_every_size_counts(ours: Sequence[float], verdict: GoalVerdict) -> None:
    assert judged(EXPIRE.title, expiring(ours)).verdict is verdict


def test_the_ratio_is_a_median_of_ratios_within_rounds() -> None:
    costs = {"compiled": [10.0, 100.0, 12.0], "kafka": [20.0, 200.0, 20.0]}
    found = judged(EXPIRE.title, in_rounds({f"expire/virtual, {size}": costs for size in SIZES}))
    (first, _, _) = found.parts
    assert first.measured is not None
    assert (first.measured.median, first.measured.least, first.measured.most) == (0.5, 0.5, 0.6)
    assert first.measured.rounds == 3


def test_a_round_that_lacks_one_value_has_no_ratio() -> None:
    assert ratios({1: 10.0, 2: 30.0, 4: 1.0}, {2: 10.0, 3: 10.0, 4: 0.0}) == [3.0]


def test_with_one_size_missing_nothing_is_decided_but_a_miss() -> None:
    def two(ours: float) -> Results:
        costs = {"compiled": [ours], "kafka": [100.0]}
        return in_rounds({f"expire/virtual, {size}": costs for size in SIZES[:2]})

    good, bad = judged(EXPIRE.title, two(50.0)), judged(EXPIRE.title, two(101.0))
    assert (good.verdict, bad.verdict) == (GoalVerdict.NOT_MEASURED, GoalVerdict.MISSED)
    assert [part.reason for part in good.parts] == ["", "", "compiled: left out of this run"]


def test_why_a_figure_is_missing_is_said() -> None:
    names = [f"expire/virtual, {size}" for size in SIZES]
    file = results(
        [setting(name) for name in names],
        {(names[0], "compiled"): [timed(1)], (names[1], "compiled"): [timed(1)]},
        offers={"kafka": ["expire/virtual"]},
        failures=[Failure(names[0], "kafka", "it hung")],
    )
    parts = judged(EXPIRE.title, file).parts
    reasons = [part.reason for part in parts]
    assert reasons == ["kafka: it hung", "kafka: no answer", "compiled: no answer"]
    without = results(
        [setting(name) for name in names],
        {(name, "compiled"): [timed(1)] for name in names},
        reasons={"kafka": "Maven is not installed"},
    )
    assert judged(EXPIRE.title, without).parts[0].reason == "kafka: Maven is not installed"
    assert "(kafka: Maven is not installed)" in goals_text([without])


def test_add_and_cancel_and_the_pure_build() -> None:
    sizes = {
        f"{pattern}/{clock}, {size}": {"compiled": [90.0], "kafka": [100.0], "pure": [500.0]}
        for pattern in ("hot", "fifo", "random", "expire")
        for clock in ("virtual", "system")
        for size in SIZES
    }
    more = {
        f"purgatory, 3 keys, {size} operations": {
            "compiled": [140.0],
            "kafka": [100.0],
            "pure": [800.0],
        }
        for size in SIZES[:2]
    }
    verdicts = {
        each.goal.title: each.verdict for each in judge(Figures([in_rounds({**sizes, **more})]))
    }
    assert [verdicts[goal.title] for goal in GOALS] == [
        GoalVerdict.MET,  # 0.9 is within 1.0, not within 0.7
        GoalVerdict.AIM,  # 0.9 is within 1.0
        GoalVerdict.MET,
        GoalVerdict.MET,  # 1.4 is within 1.5
        GoalVerdict.NOT_MEASURED,
        GoalVerdict.NOT_MEASURED,
        GoalVerdict.AIM,  # nothing grows
        GoalVerdict.NOT_MEASURED,
        GoalVerdict.MET,  # 5.7 at most
    ]
    more["purgatory, 3 keys, 10,000 operations"] = {
        "compiled": [140.0],
        "kafka": [90.0],
        "pure": [850.0],
    }
    worse = Figures([in_rounds({**sizes, **more})])
    missed = [each.goal.title for each in judge(worse) if each.verdict is GoalVerdict.MISSED]
    assert missed == [PURGATORY.title, PURE.title]


@pytest.mark.parametrize(
    ("many", "verdict"),
    [(104.0, GoalVerdict.AIM), (109.0, GoalVerdict.MET), (112.0, GoalVerdict.MISSED)],
)
def test_growth(many: float, verdict: GoalVerdict) -> None:
    file = in_rounds(
        {
            f"{pattern}/virtual, {size}": {"compiled": [cost]}
            for pattern in ("hot", "fifo")
            for size, cost in ((SIZES[0], 100.0), (SIZES[2], many))
        }
    )
    found = judged(GROWTH.title, file)
    assert found.verdict is verdict
    assert f"hot: +{many - 100:.1f}%" in goals_text([file])


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(140.0, GoalVerdict.AIM), (200.0, GoalVerdict.MET), (201.0, GoalVerdict.MISSED)],
)
def test_bytes(ours: float, verdict: GoalVerdict) -> None:
    name = "memory/purgatory, none"
    answers = {
        (name, "compiled"): [detailed(bytes=ours)],
        (name, "kafka"): [detailed(bytes=200.0)],
    }
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
        ({105_000: (105_000, 5.0, 4.0), 250_000: (249_000, 9.0, 4.0)}, GoalVerdict.AIM, 250_000),
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
    ("cpu", "verdict"), [(4.0, GoalVerdict.AIM), (5.4, GoalVerdict.MET), (5.5, GoalVerdict.MISSED)]
)
def test_processor_time_of_a_request(cpu: float, verdict: GoalVerdict) -> None:
    file = workload({50_000: (1.0, 1.0, 99.0), 105_000: (105_000, 1.0, cpu)})
    assert judged(CPU.title, file).verdict is verdict


def test_two_files_are_judged_together() -> None:
    both = [expiring((1.0, 1.0, 1.0)), workload({105_000: (105_000, 1.0, 4.0)})]
    verdicts = {each.goal.title: each.verdict for each in judge(Figures(both))}
    assert verdicts[EXPIRE.title] is GoalVerdict.AIM
    assert verdicts[HELD.title] is GoalVerdict.MET


def test_the_gate_is_closed_by_a_miss_and_by_nothing_measured() -> None:
    assert gate_problem([expiring((100.0, 200.0, 300.0))]) == ""
    assert gate_problem([expiring((100.0, 200.0, 301.0))]) == f"missed: {EXPIRE.title}"
    assert gate_problem([in_rounds({"pool, 100": {"compiled": [1.0]}})]) == "no goal was measured"
