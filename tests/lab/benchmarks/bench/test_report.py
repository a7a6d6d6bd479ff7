"""The report: tables, reasons, noise; and the page that it is written into."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from purgatory_conformance.problems import Problem
from purgatory_lab.benchmarks.bench.bench_command import bench
from purgatory_lab.benchmarks.bench.kept import keep
from purgatory_lab.benchmarks.bench.page import caption, publish
from purgatory_lab.benchmarks.bench.plots import draw_plots
from purgatory_lab.benchmarks.bench.report import noise_of, report
from purgatory_lab.benchmarks.bench.results import (
    Curve,
    Failure,
    Results,
    Sample,
    read_results,
)
from purgatory_lab.documents import write_document

from .written import MACHINE, detailed, in_rounds, results, setting, timed

HOT = "hot/virtual, 10,000"


def measured() -> Results:
    """Kafka and ours answer; netty offers nothing of it, go was not built, pure hung."""
    return results(
        [setting(HOT)],
        {
            (HOT, "kafka"): [timed(100), timed(200), timed(150)],
            (HOT, "compiled"): [timed(80), timed(180), timed(90)],
        },
        offers={"netty": ["hot/system"], "pure": ["hot/virtual"]},
        reasons={"go": "Go is not installed (no `go` on the path)"},
        failures=[Failure(HOT, "pure", "no answer within 3 s; ended")],
    )


def swept() -> Results:
    rates = (10_000, 105_000)
    settings, answers = [], {}
    for rate in rates:
        name = f"workload, low, 3 keys, {rate:,}/s"
        settings.append(setting(name, "workload", case="low", keys=3, rate=rate))
        settings[-1] = msgspec.structs.replace(
            settings[-1], request={**settings[-1].request, "measure": "workload"}
        )
        answers[name, "compiled"] = [
            detailed(achieved=rate, cpu_us=5.25, lag_p99_ms=2.5, pause_max_ms=7.0, resident_mib=40)
        ]
    answers[settings[0].name, "old-design"] = [detailed(achieved=9000, cpu_us=9.0)]
    tight = setting(
        "memory-tight, low, 3 keys, 105,000/s", "memory-tight", case="low", keys=3, rate=105_000
    )
    curves = [
        Curve(tight.name, "compiled", 48.0, False, [0.0, 0.5, 1.0], [30.0, 41.5, 41.0]),
        Curve(tight.name, "old-design", 48.0, True, [0.0, 0.7], [30.0, 48.6]),
    ]
    answers[tight.name, "compiled"] = [detailed(achieved=105_000)]
    saturated = "saturated: 9,000/s at a target of 10,000/s"
    return results(
        [*settings, tight],
        answers,
        failures=[
            Failure(settings[1].name, "old-design", saturated),
            Failure(tight.name, "old-design", "resident memory beyond 48.0 MiB"),
        ],
        curves=curves,
        workload=True,
    )


def test_a_table_has_medians_ratios_and_what_is_missing() -> None:
    text = report([measured()])
    assert "| peer | 10,000 | to kafka |" in text
    assert "| kafka | 150 [100 to 200]; process 300 | - |" in text
    assert "| compiled | 90 [80 to 180] | 0.80 [0.60 to 0.90] |" in text
    assert "| pure | not measured | - |" in text
    assert "- not measured: pure, 10,000: no answer within 3 s; ended" in text
    assert "- not measured: go, 10,000: Go is not installed (no `go` on the path)" in text
    assert "- not offered by netty" in text
    assert "median [least to most] of 3 rounds" in text
    assert "| go | not measured: Go is not installed (no `go` on the path) | - |" in text


def test_a_peer_of_several_files_is_told_once_unless_it_differs() -> None:
    without_go = "| go | not measured: Go is not installed (no `go` on the path) | - |"
    text = report([measured(), swept()])
    assert text.count("| compiled | 1 | script |") == 1
    assert text.count("| peer | version | runs on |") == 1
    built = results([setting(HOT)], {(HOT, "go"): [timed(100)]})
    assert f"{without_go}\n| go | 1 | script |" in report([measured(), built])


def test_rounds_of_warming_up_count_for_nothing() -> None:
    file = in_rounds({HOT: {"kafka": [100.0], "compiled": [50.0]}})
    warm = [Sample(HOT, "kafka", number, 1, timed(9e9)) for number in (0, -1)]
    with_warm_up = msgspec.structs.replace(file, samples=[*warm, *file.samples])
    assert report([with_warm_up]) == report([file])


def test_the_workload_has_a_summary_every_point_and_its_limit() -> None:
    text = report([swept()])
    assert "### Case low (few time out), 3 keys" in text
    assert "| compiled | 105,000 | 105,000 | 5.25 | 2.5 | 7.0 | 40 |" in text
    assert "| old-design | none | 9,000 | - | - | - | - |" in text
    saturated = "saturated: 9,000/s at a target of 10,000/s"
    assert f"- not measured: old-design, from 105,000/s on: {saturated}" in text
    assert "| 10,000 | old-design | 9,000 | 9.00 | - | - | - |" in text
    assert "The limit: 48.0 MiB." in text
    assert "| 105,000 | 41.5 | **beyond the limit after 0.7 s** |" in text


def test_another_purge_interval_has_a_section_and_plots_of_its_own(tmp_path: Path) -> None:
    name = "workload, low, 3 keys, purge interval 25,000, 105,000/s"
    asked = setting(name, "workload", case="low", keys=3, rate=105_000, purge_interval=25_000)
    answer = detailed(achieved=104_999, cpu_us=7.0)
    other = results([asked], {(name, "compiled"): [answer]}, workload=True)
    text = report([swept(), other])
    usual, _, own = text.partition("### Case low (few time out), 3 keys, purge interval 25,000\n")
    assert "| compiled | 105,000 | 105,000 | 5.25 |" in usual
    assert "| compiled | 105,000 | 104,999 | 7.00 |" in own
    assert "5.25" not in own
    drawn = {path.name for path in draw_plots([swept(), other], tmp_path)["workload"]}
    assert {"workload-rate-3-keys.svg", "workload-rate-3-keys-purge-interval-25000.svg"} <= drawn


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    for file in (measured(), swept()):
        write_document(tmp_path / "deep" / "bench.json", file)
        again = read_results(tmp_path / "deep" / "bench.json")
        assert report([again]) == report([file])
        assert again.options == {"quick": True, "only": ("hot",)}
    assert [each.name for each in (tmp_path / "deep").iterdir()] == ["bench.json"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"{", "is no file of results"),
        (b"{}", "missing required field"),
        (b'{"format":"another"}', "Invalid enum value"),
        (b'{"format":"purgatory-bench","version":2}', r"Invalid enum value 2 - at `\$.version`"),
    ],
)
def test_another_file_is_a_problem(text: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    path.write_bytes(text)
    with pytest.raises(Problem, match=problem):
        read_results(path)
    with pytest.raises(Problem, match="No such file"):
        read_results(tmp_path / "nothing.json")


def test_the_schema_names_what_a_file_has() -> None:
    definitions = json.loads(CliRunner().invoke(bench, ["schema"]).stdout)["$defs"]
    assert set(definitions["Results"]["required"]) >= {"machine", "peers", "samples"}


def test_a_quiet_run_is_not_noisy_and_a_busy_one_is() -> None:
    quiet = in_rounds({HOT: {"kafka": [100.0, 110.0, 120.0]}})
    assert noise_of(quiet) == []
    assert "**Noisy:**" not in report([quiet])
    busy = msgspec.structs.replace(
        quiet, machine=msgspec.structs.replace(MACHINE, load_begin=(2.1, 0.0, 0.0))
    )
    assert noise_of(busy) == ["the load average was 2.1 at the begin, with 2 processors"]
    wide = in_rounds({HOT: {"kafka": [100.0, 110.0, 140.0], "go": [10.0, 10.0]}})
    (spread,) = noise_of(wide)
    assert spread.startswith("1 of 2 figures of processor time are spread over more than 25%")
    assert spread.endswith("the widest is kafka, hot/virtual, 10,000: 36%")
    assert f"**Noisy:** {spread}." in report([wide])


MARKS = "\n".join(
    f"<!-- {each}: begin -->old<!-- {each}: end -->" for each in ("goals", "measures", "workload")
)


def test_the_page_is_filled_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "reference" / "performance.md"
    page.parent.mkdir()
    page.write_text(f"# Words\n{MARKS}\nMore words.\n", encoding="utf-8")
    assert [each.name for each in keep(tmp_path, [measured()])] == ["hot-virtual.json"]
    written = publish(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Words\n<!-- goals: begin -->\n\n| goal |")
    assert text.endswith("<!-- workload: begin -->old<!-- workload: end -->\nMore words.\n")
    assert f"![{caption('timer-virtual')}](../assets/performance/timer-virtual.svg)" in text
    plot = tmp_path / "assets" / "performance" / "timer-virtual.svg"
    assert written == [page, plot]
    drawn = plot.read_text(encoding="utf-8")
    assert ">compiled</text>" in drawn
    assert ">pure</text>" not in drawn
    keep(tmp_path, [swept()])
    publish(tmp_path)
    assert ">old<" not in page.read_text(encoding="utf-8")
    names = {each.name for each in plot.parent.iterdir()}
    assert {"workload-rate-3-keys.svg", "workload-memory-over-time.svg"} <= names


def test_a_page_without_marks_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"performance\.md: No such file"):
        publish(tmp_path)
    page = tmp_path / "reference" / "performance.md"
    page.parent.mkdir()
    page.write_text("<!-- goals: begin --> and no end", encoding="utf-8")
    keep(tmp_path, [measured()])
    with pytest.raises(Problem, match=r"performance\.md lacks the marks <!-- goals: begin -->"):
        publish(tmp_path)
