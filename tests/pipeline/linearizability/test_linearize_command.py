"""``purgatory trace linearize``: what it prints, what it draws, how it ends."""

import gzip
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.problems import Problem
from purgatory_spec.operations import Allocate, Check, Satisfy, Watch
from purgatory_spec.outcomes import tried
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_traces.commands import linearize as linearize_command
from purgatory_traces.commands.linearize import linearize as command
from purgatory_traces.errors import PipelineError
from purgatory_traces.traces.lines import Located, MemoryPoolInstance

from .traces import EXACT, WAITS, W, back, call, located, step

ONE_BYTE = MemoryPoolInstance(configuration=MemoryPoolConfiguration(1, 1))
ASKS = (call("t", Allocate("a", 1)), call("u", Allocate("b<c>", 1)))
RIGHT = (*ASKS, back("t", False), back("u", True))
WRONG = (*ASKS, back("t", True), back("u", True), step("v", Allocate("d", 1), False))


def linearize(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(command, list(map(str, arguments)))


def written(path: Path, *runs: list[Located]) -> Path:
    """A file with the lines of these runs, mixed."""
    lines = sorted((line for run in runs for line in run), key=lambda line: (line.seq, line.run))
    data = b"".join(line.raw + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_a_run_that_is_linearizable(tmp_path: Path) -> None:
    result = linearize(written(tmp_path / "t.jsonl", located(ONE_BYTE, RIGHT)))
    assert result.exit_code == 0
    assert result.output == "✓ run r: linearizable (2 calls, 3 configurations)\n"


def test_a_run_that_is_not(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", located(ONE_BYTE, WRONG))
    result = linearize(path)
    assert result.exit_code == 1
    verdict, line, opened = result.output.splitlines()
    assert verdict.startswith("✗ run r: not linearizable (3 calls, ")
    assert line == (
        f"  seq 4, {path}:5, is the first that cannot be explained: "
        "u returns from “ask for 'b<c>', 1 byte”: granted"
    )
    assert opened == (
        "  open then: u in “ask for 'b<c>', 1 byte” since seq 2; could have answered refused"
    )


def test_the_worst_run_decides(tmp_path: Path) -> None:
    path = written(
        tmp_path / "t.jsonl.gz",
        located(ONE_BYTE, RIGHT, run="right"),
        located(ONE_BYTE, WRONG, run="wrong"),
        located(ONE_BYTE, RIGHT, run="open", ends=False),
    )
    assert linearize(path).exit_code == 1
    codes = {run: linearize(path, "--run", run) for run in ("right", "wrong", "open")}
    assert {run: result.exit_code for run, result in codes.items()} == {
        "right": 0,
        "wrong": 1,
        "open": 4,
    }
    assert "inconclusive: its last line is missing" in codes["open"].output


@pytest.mark.parametrize(
    ("spoil", "exit_code", "said"),
    [
        pytest.param(lambda lines: [*lines[:3], *lines[4:]], 4, ": seq 3 is missing", id="gap"),
        pytest.param(lambda lines: lines[1:], 4, "first line is missing", id="no beginning"),
        pytest.param(
            lambda lines: [*lines[:2], lines[2]._replace(raw=b'{"run":"r","seq":2}'), *lines[3:]],
            4,
            "t.jsonl:3, is unusable",
            id="no kind",
        ),
        pytest.param(lambda lines: [*lines, lines[3]], 4, "seq 3 is there twice", id="twice"),
        pytest.param(
            lambda lines: [*lines, lines[3]._replace(raw=b"{")], 4, "cannot be read", id="no line"
        ),
    ],
)
def test_what_is_missing_or_unusable_is_no_verdict(
    tmp_path: Path, spoil: object, exit_code: int, said: str
) -> None:
    assert callable(spoil)
    lines: list[Located] = spoil(located(ONE_BYTE, RIGHT))
    result = linearize(written(tmp_path / "t.jsonl", lines))
    assert result.exit_code == exit_code, result.output
    assert said in result.output


def test_a_run_without_a_call_is_drawn(tmp_path: Path) -> None:
    page = tmp_path / "t.html"
    result = linearize(written(tmp_path / "t.jsonl", located(ONE_BYTE, ())), "--html", page)
    assert result.exit_code == 0, result.exception
    assert "linearizable (0 calls" in page.read_text(encoding="utf-8")


def test_a_wrong_line_is_told_though_a_later_one_cannot_be_read_as_a_call(tmp_path: Path) -> None:
    lines = (
        step("t", W, False, *WAITS),
        step("t", Satisfy("a")),
        step("t", Check("k"), 0),
        step("t", Watch("b", ("j",), 10), False, tried("b"), tried("a")),
    )
    path, page = written(tmp_path / "t.jsonl", located(EXACT, lines)), tmp_path / "t.html"
    result = linearize(path, "--html", page)
    assert result.exit_code == 1, result.exception
    assert f"seq 3, {path}:4, is the first of what concerns a" in result.output
    assert "seq 3 cannot be explained" in page.read_text(encoding="utf-8")


def test_a_check_that_counts_what_was_not_completed_is_told_with_its_answer(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", located(EXACT, (step("t", Check("k"), 1),)))
    result = linearize(path)
    assert result.exit_code == 1
    assert result.output.splitlines()[1].endswith("t returns from “check k”: 1 completed")


def test_what_is_wrong_before_a_gap_is_wrong(tmp_path: Path) -> None:
    lines = located(ONE_BYTE, WRONG)
    result = linearize(written(tmp_path / "t.jsonl", [*lines[:5], *lines[6:]]))
    assert result.exit_code == 1


def test_what_cannot_be_asked_for_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", located(ONE_BYTE, RIGHT))
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    for arguments, code, said in (
        ((tmp_path / "none.jsonl",), 2, "none.jsonl: no such file or folder"),
        ((path, "--run", "x"), 2, "there is no run 'x'"),
        ((empty,), 4, "there is no run in what was read"),
    ):
        result = linearize(*arguments)
        assert isinstance(result.exception, Problem), result.output
        assert result.exception.exit_code == code
        assert said in str(result.exception)


def test_the_page_shows_threads_calls_effects_and_what_is_wrong(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", located(ONE_BYTE, WRONG))
    result = linearize(path, "--html", tmp_path / "pages" / "t.html")
    assert result.exit_code == 1
    page = (tmp_path / "pages" / "t.html").read_text(encoding="utf-8")
    assert "http" not in page.replace("http-equiv", "")
    assert "<script" not in page
    assert "b&lt;c&gt;" in page
    start = page.index("<svg")
    picture = ET.fromstring(page[start : page.index("</svg>") + len("</svg>")])
    classes = [each.get("class") for each in picture.iter() if each.get("class")]
    assert classes.count("row") == 2
    assert classes.count("call") == 1
    assert classes.count("call unexplained") == 1
    assert classes.count("effect") == 1
    texts = ["".join(each.itertext()) for each in picture.iter("text")]
    assert "✗ seq 4 cannot be explained" in texts
    assert "✗ granted" in texts
    assert "cannot be explained" in page[page.index("<table") :]


def test_of_a_long_history_a_window_is_drawn(tmp_path: Path) -> None:
    asked = [
        each
        for number in range(50)
        for each in (
            step("t", Allocate(f"{number}", 1), number == 0),
            step("u", Allocate(f"{number}u", 1), False),
        )
    ]
    path = written(
        tmp_path / "t.jsonl", located(ONE_BYTE, [*asked, step("v", Allocate("x", 1), True)])
    )
    result = linearize(path, "--html", tmp_path / "t.html")
    assert result.exit_code == 1
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert page.count('class="call') == 40
    assert "Left out: 61 calls before" in page
    assert ">101</text>" not in page
    assert ">100</text>" in page


def test_the_page_opens_at_the_line_that_cannot_be_explained(tmp_path: Path) -> None:
    pages = {}
    for name, lines in (("wrong", WRONG), ("right", RIGHT)):
        path = written(tmp_path / f"{name}.jsonl", located(ONE_BYTE, lines))
        linearize(path, "--html", tmp_path / f"{name}.html")
        pages[name] = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    assert 'href="#wall"' in pages["wrong"]
    assert 'id="wall"' in pages["wrong"]
    assert 'class="scroll picture from-right"' in pages["wrong"]
    assert 'href="#wall"' not in pages["right"]
    assert 'class="scroll picture"' in pages["right"]


TWELVE = [call(f"t{each}", Allocate(f"{each}", 1)) for each in range(12)]
TWELVE += [back(f"t{each}", True) for each in range(12)]  # type: ignore[misc]
ELEVEN_BYTES = MemoryPoolInstance(configuration=MemoryPoolConfiguration(11, 1))


def test_of_a_run_that_is_not_decided_what_is_explained_is_told_and_drawn(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", located(ELEVEN_BYTES, TWELVE))
    page = tmp_path / "t.html"
    result = linearize(path, "--configurations", "1000", "--html", page)
    assert result.exit_code == 4
    verdict, told, _ = result.output.splitlines()
    assert "inconclusive: 1,000 configurations are remembered" in verdict
    assert (
        told
        == f"  explained up to seq 23, {path}:24: t10 returns from “ask for 10, 1 byte”: granted"
    )
    text = page.read_text(encoding="utf-8")
    assert text.count('class="call') == 12
    assert text.count('class="effect"') == 11
    assert "… not decided from here on" in text
    assert "cannot be explained" not in text


def test_lines_are_named_as_the_check_names_them_also_in_a_second_file(tmp_path: Path) -> None:
    lines = located(ONE_BYTE, WRONG)
    written(tmp_path / "one.jsonl", lines[:3])
    last = [line._replace(number=number) for number, line in enumerate(lines[3:], 1)]
    written(tmp_path / "two.jsonl", last)
    result = linearize(tmp_path)
    assert result.exit_code == 1
    assert f"seq 4, {tmp_path / 'two.jsonl'}:2, is the first that" in result.output


def test_large_numbers_are_written_in_one_way(tmp_path: Path) -> None:
    asked = [step("t", Allocate(f"{number}", 1), number == 0) for number in range(1500)]
    result = linearize(written(tmp_path / "t.jsonl", located(ONE_BYTE, asked)))
    assert "(1,500 calls, 3,000 configurations)" in result.output


@pytest.mark.parametrize(
    "problem", [PipelineError("no list of x"), PermissionError(13, "no list of x")]
)
def test_what_cannot_be_read_ends_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    def fail(paths: object) -> None:
        raise problem

    monkeypatch.setattr(linearize_command, "files_of", fail)
    result = linearize("x")
    assert isinstance(result.exception, Problem), result.output
    assert result.exception.exit_code == 3
    assert "no list of x" in str(result.exception)


def test_a_page_that_cannot_be_written_ends_in_a_sentence(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", located(ONE_BYTE, RIGHT))
    result = linearize(path, "--html", path / "t.html")
    assert "linearizable (2 calls" in result.output
    assert isinstance(result.exception, Problem), result.output
    assert result.exception.exit_code == 3
