"""Bad input is set aside with file, line, text and reason, or makes a run incomplete; no more."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from purgatory_pipeline.commands.check import check
from purgatory_pipeline.engines.sinks import read_results
from purgatory_pipeline.traces.synthetic import run_lines
from purgatory_spec.profiles import Component

GOOD = list(run_lines("good", Component.TIMER, 60))
BAD = list(run_lines("bad", Component.TIMER, 60))
AT = next(number for number in range(30, 60) if b"advance" in BAD[number])
"""The number of the line that is spoilt; in the file it is one further."""
SEQ = b'"seq":%d' % AT

Spoil = Callable[[bytes], bytes]


def swapped(old: bytes, new: bytes) -> Spoil:
    """Replace something that is in the line."""

    def spoil(line: bytes) -> bytes:
        assert old in line, line
        return line.replace(old, new)

    return spoil


SPOILT: dict[str, tuple[Spoil, str]] = {
    "malformed": (lambda line: b"}" + line, "not JSON"),
    "truncated": (lambda line: line[:-20] + b"\n", "cut off"),
    "truncated early": (lambda line: line[:9] + b"\n", "cut off"),
    "no run": (swapped(b'"run":"bad",', b""), "missing required field `run`"),
    "no seq": (swapped(SEQ + b",", b""), "missing required field `seq`"),
    "no kind": (swapped(b'"kind":"step",', b""), "missing required field `kind`"),
    "no operation": (swapped(b'"operation":', b'"called_ns":1,"thread":"a","x":'), "unknown"),
    "a key of an operation missing": (swapped(b'"to_ms":', b'"x":'), "to_ms"),
    "unknown key": (swapped(b'"seq":', b'"hour":3,"seq":'), "unknown field `hour`"),
    "key twice": (swapped(b'"seq":', b'"thread":"a","thread":"b","seq":'), "key given twice"),
    "inner key twice": (swapped(b'"op":"advance"', b'"op":"add","op":"advance"'), "given twice"),
    "run twice": (swapped(b'"run":"bad"', b'"run":"good","run":"bad"'), "key given twice: run"),
    "two objects": (lambda line: line.strip() + line, "more than one object in the line"),
    "wrong type": (swapped(b'"to_ms":', b'"to_ms":"now","x":'), "Expected `int`"),
    "fraction": (swapped(b'"to_ms":', b'"to_ms":1.5,"x":'), "Expected `int`"),
    "fractional seq": (swapped(SEQ, SEQ + b".5"), "Expected `int`, got `float`"),
    "seq as a string": (swapped(SEQ, b'"seq":"%d"' % AT), "Expected `int`, got `str`"),
    "unknown operation": (swapped(b'"op":"advance"', b'"op":"rewind"'), "Invalid value 'rewind'"),
    "operation of another component": (
        swapped(b'{"op":"advance","to_ms":', b'{"op":"check","key":"a","x":'),
        "",
    ),
    "unknown kind": (swapped(b'"kind":"step"', b'"kind":"leap"'), "Invalid value 'leap'"),
    "not UTF-8": (swapped(b'"run":"bad"', b'"run":"bad","thread":"\xff"'), ""),
    "byte-order mark": (lambda line: b"\xef\xbb\xbf" + line, "write UTF-8 without one"),
    "empty": (lambda line: b"\n", "the line is empty"),
}


@pytest.fixture(params=["jsonl", "jsonl.gz"])
def trace(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[list[bytes]], Path]:
    """Writes lines into a file, plain or compressed."""

    def write(lines: list[bytes]) -> Path:
        path = tmp_path / f"trace.{request.param}"
        content = b"".join(lines)
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return write


Trace = Callable[[list[bytes]], Path]


def checked(path: Path, tmp_path: Path) -> tuple[int, dict[str, str], list[dict[str, object]]]:
    """Exit code, verdicts by run, rows of the quarantine."""
    out = tmp_path / "out"
    result = CliRunner().invoke(check, [str(path), "--out", str(out)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    found = read_results(out)
    verdicts = found.table("verdicts").to_pylist()
    assert found.manifest.exit_code == result.exit_code
    return (
        result.exit_code,
        {row["run"]: row["verdict"] for row in verdicts},
        found.table("quarantine").to_pylist(),
    )


def test_the_lines_are_right_as_they_are(trace: Trace, tmp_path: Path) -> None:
    """The control: nothing is set aside of what is not spoilt."""
    code, verdicts, aside = checked(trace([*BAD, *GOOD]), tmp_path)
    assert (code, verdicts, aside) == (0, {"bad": "conforms", "good": "conforms"}, [])


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_line_is_set_aside_and_its_run_incomplete(
    trace: Trace, tmp_path: Path, name: str
) -> None:
    spoil, reason = SPOILT[name]
    spoilt = spoil(BAD[AT])
    path = trace([*BAD[:AT], spoilt, *BAD[AT + 1 :], *GOOD])
    code, verdicts, aside = checked(path, tmp_path)
    assert (code, verdicts) == (4, {"bad": "incomplete", "good": "conforms"})
    (row,) = aside
    assert (row["file"], row["line"]) == (str(path), AT + 1)
    assert row["raw"] == spoilt.rstrip(b"\n").decode("utf-8", "backslashreplace")
    assert isinstance(row["reason"], str)
    assert reason in row["reason"]
    assert row["reason"]


def test_a_line_that_is_there_twice_is_set_aside_once(trace: Trace, tmp_path: Path) -> None:
    path = trace([*BAD[: AT + 1], *GOOD, *BAD[AT:]])
    code, verdicts, aside = checked(path, tmp_path)
    assert (code, verdicts) == (4, {"bad": "conforms", "good": "conforms"})
    (row,) = aside
    assert (row["run"], row["seq"], row["line"]) == ("bad", AT, AT + 62)
    assert row["raw"] == BAD[AT].decode().strip()
    assert row["reason"] == "it is a copy of the line before"


@pytest.mark.parametrize("first", [True, False])
def test_a_number_that_two_lines_have_makes_a_run_incomplete(
    trace: Trace, tmp_path: Path, first: bool
) -> None:
    """Also where the line that comes first would be a divergence: nobody knows which is right."""
    other = BAD[AT].replace(b'"to_ms":', b'"to_ms":10')
    assert other != BAD[AT]
    two = [other, BAD[AT]] if first else [BAD[AT], other]
    code, verdicts, aside = checked(trace([*BAD[:AT], *two, *BAD[AT + 1 :]]), tmp_path)
    assert (code, verdicts) == (4, {"bad": "incomplete"})
    assert (aside[0]["line"], aside[0]["seq"]) == (AT + 2, AT)
    assert aside[0]["reason"] == "this number was given to another line of the run"


@pytest.mark.parametrize("left_out", [0, AT, 59])
def test_a_gap_makes_a_run_incomplete(trace: Trace, tmp_path: Path, left_out: int) -> None:
    lines = [line for number, line in enumerate(BAD) if number != left_out]
    code, verdicts, aside = checked(trace([*lines, *GOOD]), tmp_path)
    assert (code, verdicts) == (4, {"bad": "incomplete", "good": "conforms"})
    assert aside == []


def test_a_gzip_file_that_breaks_off_makes_its_last_run_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    whole = gzip.compress(b"".join([*GOOD, *BAD]), compresslevel=0)
    path.write_bytes(whole[: len(whole) - len(b"".join(BAD)) // 2])
    code, verdicts, aside = checked(path, tmp_path)
    assert (code, verdicts) == (4, {"bad": "incomplete", "good": "conforms"})
    (row,) = aside
    assert (row["file"], row["reason"]) == (
        str(path),
        "the compressed data breaks off; nothing is read from here on",
    )
    assert isinstance(row["line"], int)
    assert 60 < row["line"] < 120
    assert isinstance(row["raw"], str)
    assert BAD[row["line"] - 61].startswith(row["raw"].encode())


def test_an_empty_file_alone_is_nothing_judged(trace: Trace, tmp_path: Path) -> None:
    path = trace([])
    code, verdicts, aside = checked(path, tmp_path)
    assert (code, verdicts) == (4, {})
    assert [(row["file"], row["line"], row["reason"]) for row in aside] == [
        (str(path), 0, "the file is empty")
    ]


def test_an_empty_file_beside_others_is_told(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces/a.jsonl").write_bytes(b"".join(GOOD))
    (tmp_path / "traces/b.jsonl").touch()
    code, verdicts, aside = checked(tmp_path / "traces", tmp_path)
    assert (code, verdicts, len(aside)) == (4, {"good": "conforms"}, 1)


def test_a_divergence_before_the_hole_is_told_all_the_same(trace: Trace, tmp_path: Path) -> None:
    wrong = [line.replace(b'"kind":"ran"', b'"kind":"expired"') for line in BAD[:20]]
    code, verdicts, aside = checked(trace([*wrong, *BAD[20:40], b"rubbish\n", *GOOD]), tmp_path)
    assert (code, verdicts) == (1, {"bad": "diverges", "good": "conforms"})
    assert len(aside) == 1


def test_an_unplaced_line_alone_is_told(trace: Trace, tmp_path: Path) -> None:
    code, verdicts, aside = checked(trace([b"rubbish\n", *GOOD]), tmp_path)
    assert (code, verdicts, len(aside)) == (4, {"good": "conforms"}, 1)
