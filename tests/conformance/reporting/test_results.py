"""The results file: what was written is read again, and what is no results file is rejected."""

from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.reporting.results import DeviationLine, FailureLine, Results
from purgatory_conformance.reporting.results_file import read_results, write_results
from purgatory_spec.jsonlines import InvalidDocument
from purgatory_spec.profiles import LARGEST_LONG, Rounding


def _rejected(path: Path) -> InvalidDocument:
    with pytest.raises(InvalidDocument) as caught:
        read_results(path)
    assert caught.value.source == str(path)
    return caught.value


def test_results_of_a_conformant_subject_are_read_as_they_were_written(
    good_results: Results, tmp_path: Path
) -> None:
    path = tmp_path / "deep" / "results.jsonl"

    write_results([good_results], path)

    assert read_results(path) == (good_results,)
    assert good_results.footer.exit_code == 0
    assert {rule.state for rule in good_results.rules} == {"held"}
    assert [file.name for file in path.parent.iterdir()] == ["results.jsonl"]


def test_causes_deviations_and_failures_are_read_as_they_were_written(
    broken_results: Results, tmp_path: Path
) -> None:
    written = msgspec.structs.replace(
        broken_results,
        header=msgspec.structs.replace(
            broken_results.header,
            profile=msgspec.structs.replace(
                broken_results.header.profile, rounding=Rounding.UP, largest_delay_ms=LARGEST_LONG
            ),
        ),
        causes=tuple(
            msgspec.structs.replace(cause, answers=(2, 5)) for cause in broken_results.causes
        ),
        deviations=(DeviationLine("TIMER-SIZE", "variant", "replay.jsonl", "why", "issue", 3),),
        failures=(FailureLine("hung", "no reply within 10 s", "{}", "", "line 1\nline 2\n"),),
    )
    path = tmp_path / "results.jsonl"

    write_results([written], path)

    assert written.causes
    assert read_results(path) == (written,)


def test_line_separators_of_unicode_do_not_tear_a_line(
    good_results: Results, tmp_path: Path
) -> None:
    odd = FailureLine("crashed", "next\x85line", "", "line\u2028paragraph\u2029", "\x0b\x0c\x1c")
    written = msgspec.structs.replace(good_results, failures=(odd,))
    path = tmp_path / "results.jsonl"

    write_results([written], path)

    assert read_results(path) == (written,)


def test_a_file_that_lost_its_end_says_that_the_run_did_not_end(
    good_results: Results, tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    write_results([good_results], path)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")

    error = _rejected(path)

    assert error.line == len(lines) - 1
    assert "the run did not end" in error.problem


def test_a_line_that_lost_its_end_is_named(good_results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write_results([good_results], path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-20], encoding="utf-8")

    assert _rejected(path).line == text.count("\n")


def test_another_format_is_rejected(good_results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write_results([good_results], path)
    text = path.read_text(encoding="utf-8")
    assert text.count('"format":2') == 1
    path.write_text(text.replace('"format":2', '"format":3'), encoding="utf-8")

    error = _rejected(path)

    assert (error.line, error.problem) == (1, "format 3 is not 2")


def test_a_line_of_an_unknown_kind_is_rejected(good_results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write_results([good_results], path)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines.insert(3, '{"line":"surprise"}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    error = _rejected(path)

    assert (error.line, error.problem) == (4, "there is no line of the kind 'surprise'")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON\n",
        "[]\n",
        '{"line":"footer"}\n',
        '{"line":"header","line":"header"}\n',
        '{"case":"a-replay-file","format":2}\n',
    ],
)
def test_what_is_no_results_file_is_rejected_at_its_first_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text, encoding="utf-8")

    assert _rejected(path).line == 1


def test_a_file_without_its_header_is_rejected(good_results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write_results([good_results], path)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")

    assert _rejected(path).problem == "the first line is not a results header"


def test_a_file_that_cannot_be_read_is_rejected(tmp_path: Path) -> None:
    assert _rejected(tmp_path / "missing.jsonl").problem == "no such file"
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in _rejected(tmp_path / "binary.jsonl").problem
