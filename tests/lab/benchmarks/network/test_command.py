"""``purgatory bench network``, as it is used; and the page, which follows from the file."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.problems import Problem
from purgatory_conformance.reporting.marked_pages import between_marks
from purgatory_lab.benchmarks.bench.bench_command import bench
from purgatory_lab.benchmarks.network import plan
from purgatory_lab.benchmarks.network.messages import Load
from purgatory_lab.benchmarks.network.results import NetworkResults
from purgatory_lab.benchmarks.network.tables import regions
from purgatory_lab.documents import filled_page, read_document

pytestmark = pytest.mark.verify

REFERENCE = Path(__file__).parents[4] / "docs" / "reference"
FILE = REFERENCE / "results" / "network.json"


def said(*words: str | Path) -> Result:
    return CliRunner().invoke(bench, ["network", *map(str, words)])


def test_the_page_follows_from_the_file_of_the_last_run() -> None:
    results = read_document(FILE, NetworkResults)
    page = (REFERENCE / "network.md").read_text(encoding="utf-8")
    text = page
    for region, inside in regions(results).items():
        text = between_marks(text, region, inside)
    assert text == page
    assert set(regions(results)) == {"aims", "spikes", "fairness", "idle", "loads"}

    first, *others = results.fairness
    more = msgspec.structs.replace(first, longest_wait=first.longest_wait + 1)
    changed = msgspec.structs.replace(results, fairness=(more, *others))
    assert between_marks(page, "fairness", regions(changed)["fairness"]) != page


def test_the_command_writes_page_and_file_again(tmp_path: Path) -> None:
    page = tmp_path / "network.md"
    page.write_text((REFERENCE / "network.md").read_text(encoding="utf-8"), encoding="utf-8")
    result = said("--from", FILE, "--write", page)
    assert result.exit_code == 0, result.output
    assert page.read_bytes() == (REFERENCE / "network.md").read_bytes()
    assert (tmp_path / "results" / "network.json").read_bytes() == FILE.read_bytes()


@pytest.mark.slow
@pytest.mark.pure
def test_it_measures_quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = replace(
        plan.QUICK,
        spike_bytes=100_000,
        spike_connections=(8,),
        loads={plan.SMALL: Load(2, 10, 1, 100)},
    )
    monkeypatch.setattr(plan, "QUICK", tiny)
    out = tmp_path / "network.json"
    parts = ("--part", "spikes", "--part", "fairness", "--part", "loads")
    result = said("--quick", "--no-compiled", *parts, "--out", out)
    assert result.exit_code == 0, result.output
    line = "| byte bound, TLS: never more out than limit + largest - 1 | 400,000 of 400,000 bytes"
    assert f"{line} | met |" in result.stdout
    assert "| queue bound alone, plain: never more out than" in result.stdout
    assert " of 400,000 bytes | found |" in result.stdout
    file = read_document(out, NetworkResults)
    assert len(file.spikes) == 2 * 3
    assert all(each.served.left_bytes == 0 for each in file.spikes)
    assert len(file.loads) == 2 * 2
    assert all(each.served.cpu_s > 0 for each in file.loads)
    assert said("--from", out).stdout == result.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--from", "nothing.json"), "nothing.json: No such file"),
        (("--from", FILE, "--write", "nowhere.md"), "nowhere.md: No such file"),
        (("--from", REFERENCE / "network.md"), "is no file of results"),
    ],
)
def test_a_wrong_word_is_a_problem(
    words: tuple[str | Path, ...], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = said(*words)
    assert isinstance(result.exception, Problem)
    assert problem in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_page_without_marks_is_a_problem(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing", encoding="utf-8")
    with pytest.raises(Problem, match="lacks the marks"):
        filled_page(page, regions(read_document(FILE, NetworkResults)))
    assert page.read_text(encoding="utf-8") == "nothing"
