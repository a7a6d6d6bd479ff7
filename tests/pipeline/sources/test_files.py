"""Which files paths stand for."""

import os
from pathlib import Path

import pytest

from purgatory_traces.errors import PipelineError
from purgatory_traces.traces.sources import NothingThere, Sources, files_of, sources_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "b.jsonl",
        "a.jsonl.gz",
        "deep/er/c.parquet",
        "deep/d.jsonl",
        "deep/notes.txt",
        "deep/_SUCCESS",
        "deep/.e.jsonl",
        "_temporary/f.jsonl",
    ):
        path = tmp_path / "traces" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


FOUND = ["traces/a.jsonl.gz", "traces/b.jsonl", "traces/deep/d.jsonl", "traces/deep/er/c.parquet"]
IGNORED = (
    "traces/_temporary/f.jsonl",
    "traces/deep/.e.jsonl",
    "traces/deep/_SUCCESS",
    "traces/deep/notes.txt",
)


def test_a_folder_stands_for_its_traces_and_says_what_it_leaves_out(folder: Path) -> None:
    assert sources_of(["traces"]) == Sources(tuple(FOUND), IGNORED)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["traces/*.jsonl"], ["traces/b.jsonl"]),
        (["traces/**/*.jsonl"], ["traces/_temporary/f.jsonl", "traces/b.jsonl", FOUND[2]]),
        (["traces/deep/[cd].jsonl", "traces/b.jsonl"], ["traces/b.jsonl", FOUND[2]]),
        (["traces/deep/notes.txt"], ["traces/deep/notes.txt"]),
        (["traces/de?p"], ["traces/deep/d.jsonl", "traces/deep/er/c.parquet"]),
    ],
)
def test_patterns_and_files_stand_for_what_they_name(
    folder: Path, paths: list[str], expected: list[str]
) -> None:
    assert files_of(paths) == expected


def test_no_file_is_read_twice_whichever_way_it_is_named(folder: Path) -> None:
    (folder / "again").symlink_to(folder / "traces")
    many = ["traces/b.jsonl", "traces", "./traces", "again", str(folder / "traces"), "traces/b.*"]
    found = sources_of(many)
    assert len(found.files) == len(FOUND)
    assert list(found.files) == sorted(found.files)
    assert {Path(name).resolve() for name in found.files} == {Path(n).resolve() for n in FOUND}


def test_a_file_that_is_named_is_not_among_those_ignored(folder: Path) -> None:
    found = sources_of(["traces", "traces/deep/notes.txt"])
    assert "traces/deep/notes.txt" in found.files
    assert "traces/deep/notes.txt" not in found.ignored


def test_the_order_of_paths_does_not_matter(folder: Path) -> None:
    assert files_of(["traces/deep", "traces/b.jsonl"]) == files_of(
        ["traces/b.jsonl", "traces/deep"]
    )


@pytest.mark.parametrize("path", ["nowhere", "traces/x.jsonl", "traces/*.csv"])
def test_a_path_that_stands_for_nothing_is_an_error(folder: Path, path: str) -> None:
    with pytest.raises(NothingThere, match=r"no such file or folder|no file or folder matches"):
        files_of([path])


def test_a_name_with_the_letters_of_a_pattern_is_a_name_where_there_is_such_a_file(
    folder: Path,
) -> None:
    (folder / "[x].jsonl").touch()
    assert files_of(["[x].jsonl"]) == ["[x].jsonl"]


def test_links_to_folders_are_followed_and_not_in_circles(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/z.jsonl").touch()
    (folder / "traces/link").symlink_to(folder / "elsewhere")
    (folder / "elsewhere/back").symlink_to(folder / "traces")
    assert files_of(["traces"]) == sorted([*FOUND, "traces/link/z.jsonl"])


RESULTS, STAGING = "results-0123456789abcdef", "staging-fedcba9876543210"


def test_results_of_a_check_are_no_traces(folder: Path) -> None:
    for name in (
        f"{RESULTS}/verdicts.parquet",
        f"{STAGING}/whole/coverage.parquet",
        "manifest.json",
    ):
        path = folder / "traces/out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = sources_of(["traces"])
    assert list(found.files) == FOUND
    assert f"traces/out/{RESULTS}/verdicts.parquet" in found.ignored
    (folder / "traces/out/results-mine").mkdir()
    (folder / "traces/out/results-mine/a.jsonl").touch()
    assert "traces/out/results-mine/a.jsonl" in files_of(["traces"]), "no check gives this name"
    (folder / "traces/out/results-mine/a.jsonl").unlink()
    (folder / "traces/out/manifest.json").unlink()
    assert len(files_of(["traces"])) == len(FOUND) + 2, "the control: by the name alone they are"


def test_a_folder_that_cannot_be_listed_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(PipelineError, match="traces cannot be listed: Permission denied"):
        files_of(["traces"])


def test_a_name_that_is_not_utf_8_is_an_error(folder: Path) -> None:
    (folder / "traces" / os.fsdecode(b"\xff.jsonl")).touch()
    with pytest.raises(PipelineError, match="is not UTF-8"):
        files_of(["traces"])
