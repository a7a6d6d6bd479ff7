"""The files beside the page: one for each machine and part, from which the page follows."""

import shutil
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.problems import Problem
from purgatory_lab.benchmarks.bench import kept, plots
from purgatory_lab.benchmarks.bench.page import PAGE, publish
from purgatory_lab.benchmarks.bench.report import report
from purgatory_lab.benchmarks.bench.results import Results, Sample

from .written import MACHINE, in_rounds, results, setting, timed

DOCS = Path(__file__).resolve().parents[4] / "docs"
HOT, MORE, EXPIRE = "hot/virtual, 100,000", "hot/virtual, 1,000,000", "expire/virtual, 100,000"


def both(ours: float) -> Results:
    return in_rounds({name: {"compiled": [ours], "kafka": [100.0]} for name in (HOT, MORE, EXPIRE)})


def test_every_part_is_a_file_and_together_they_tell_the_same(tmp_path: Path) -> None:
    warm = Sample(HOT, "kafka", 0, 1, timed(9e9))
    file = msgspec.structs.replace(both(50.0), samples=[warm, *both(50.0).samples])
    written = kept.keep(tmp_path, [file])
    folder = tmp_path / kept.KEPT / "a"
    assert written == [folder / "hot-virtual.json", folder / "expire-virtual.json"]
    (machine,) = kept.read_kept(tmp_path)
    assert (machine.name, len(machine.files), machine.stated) == ("a", 2, None)
    ordered = [machine.files[1], machine.files[0]]
    assert report(ordered) == report([both(50.0)])
    # A line for each sample, and none of warming up.
    lines = written[0].read_text(encoding="utf-8").splitlines()
    assert sum('"setting":' in line for line in lines) == 4


def test_a_part_that_is_measured_anew_replaces_itself_alone(tmp_path: Path) -> None:
    kept.keep(tmp_path, [both(50.0)])
    kept.keep(tmp_path, [in_rounds({EXPIRE: {"compiled": [70.0], "kafka": [100.0]}})])
    (machine,) = kept.read_kept(tmp_path)
    text = report(machine.files)
    assert "| compiled | 70 | 0.70 |" in text
    assert "| compiled | 50 | 0.50 | 50 | 0.50 |" in text


def test_a_series_of_the_workload_is_a_part(tmp_path: Path) -> None:
    points = [
        setting(f"workload, {case}, 3 keys, {rate:,}/s", "workload", case=case, keys=3, rate=rate)
        for case in ("low", "high")
        for rate in (10_000, 105_000)
    ]
    file = results(points, {(each.name, "kafka"): [timed(1)] for each in points}, workload=True)
    names = [path.name for path in kept.keep(tmp_path, [file])]
    assert names == ["workload-low-3-keys.json", "workload-high-3-keys.json"]


def test_the_page_has_a_column_for_each_machine(tmp_path: Path) -> None:
    marks = "".join(
        f"<!-- {each}: begin -->old<!-- {each}: end -->"
        for each in ("goals", "measures", "workload")
    )
    page = tmp_path / "reference" / "performance.md"
    page.parent.mkdir()
    page.write_text(marks, encoding="utf-8")
    kept.keep(tmp_path, [both(50.0)])
    figures = [kept.StatedFigure("add a timer and cancel it", "100,000", 1.01)]
    stated = kept.Stated("purgatory-bench-stated", 1, "slow", "as somebody says.", figures)
    other = tmp_path / kept.KEPT / "slow" / "stated.json"
    other.parent.mkdir()
    other.write_bytes(msgspec.json.encode(stated))
    publish(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "| goal | reach | aim | a | slow | verdict |" in text
    assert "100,000: 0.50<br>1,000,000: 0.50 | 100,000: 1.01<br>1 of 2 not measured" in text
    assert "slow: as somebody says." in text
    other.write_text("{}", encoding="utf-8")
    with pytest.raises(Problem, match="is no file of results"):
        kept.read_kept(tmp_path)


def test_the_page_of_the_site_follows_from_the_kept_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leave out the drawing: the page has the names of the plots."""
    monkeypatch.setattr(plots, "_draw", lambda *_: None)
    monkeypatch.setattr(plots, "draw", lambda *_: None)
    docs = tmp_path / "docs"
    shutil.copytree(DOCS / kept.KEPT, docs / kept.KEPT)
    page = docs / PAGE
    shutil.copy(DOCS / PAGE, page)
    publish(docs)
    assert page.read_text(encoding="utf-8") == (DOCS / PAGE).read_text(encoding="utf-8")
    stated = docs / kept.KEPT / "amd-epyc" / "stated.json"
    changed = stated.read_text(encoding="utf-8").replace("1.47", "1.48")
    stated.write_text(changed, encoding="utf-8")
    publish(docs)
    assert page.read_text(encoding="utf-8") != (DOCS / PAGE).read_text(encoding="utf-8")


def test_nothing_kept_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="has no files of results"):
        kept.read_kept(tmp_path)


@pytest.mark.parametrize(
    ("processor", "name"),
    [
        ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
        ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763"),
        ("Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz", "Intel Core i7-8550U"),
        ("", "unknown processor"),
    ],
)
def test_a_machine_is_called_by_its_processor(processor: str, name: str) -> None:
    assert kept.machine_name(msgspec.structs.replace(MACHINE, processor=processor)) == name
