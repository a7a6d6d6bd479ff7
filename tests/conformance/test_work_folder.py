"""The folder of a subject: inside the work folder whatever the name, and of one subject alone."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.problems import EXIT_USAGE
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.work_folder import ForeignFolder, own_folder, plain
from purgatory_spec.profiles import Component
from tests.conformance.command import purgatory

NAMES = [
    *("..", ".", "", " ", "/", "/etc/passwd", "../../x", "..\\..\\x", "a/../../b", "~", "a/b"),
    *("C:\\x", "\\\\host\\share", "nul", "NUL.txt", "com1", "LPT9.x", "con", "aux.", "x.", "x "),
    *("...", ".hidden", "a\0b", "\n", "x" * 5000, "é" * 300, "\u202ex", "\ud800", "--help"),
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_name_leaves_the_work_folder(tmp_path: Path, name: str) -> None:
    folder = own_folder(tmp_path / "work", OpenSubject(name, bundled_subject()))
    assert folder.resolve().parent == (tmp_path / "work").resolve()
    assert [each.name for each in (tmp_path / "work").iterdir()] == [folder.name]
    assert [each.name for each in tmp_path.iterdir()] == ["work"]


DEVICES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{each}{n}" for each in ("com", "lpt") for n in "123456789"),
}


@given(st.text(max_size=200) | st.sampled_from(sorted(DEVICES)).map(str.upper))
def test_the_name_of_a_folder_is_one_on_every_system(name: str) -> None:
    found = plain(name)
    assert found not in ("", ".", "..")
    assert found == found.strip(".")
    assert len(found.encode()) <= 110
    assert found.partition(".")[0].lower() not in DEVICES
    assert all(letter.isalnum() or letter in "-." for letter in found)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("my-timer", "my-timer"),
        ("mutant:zero-dropped", "mutant-zero-dropped"),
        ("subjects:right", "subjects-right"),
        ("go-1.2", "go-1.2"),
    ],
)
def test_a_usual_name_stays(name: str, kept: str) -> None:
    assert plain(name) == kept


def test_names_that_are_changed_stay_apart() -> None:
    assert len({plain(name) for name in ("..", ".", "", "con", "CON.", "x" * 200)}) == 6


def laid_out(folder: Path, name: str) -> None:
    write(project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "a-timer"), folder)
    declaration = folder / "purgatory.toml"
    text = declaration.read_text(encoding="utf-8")
    declaration.write_text(text.replace('"a-timer"', json.dumps(name)), encoding="utf-8")


def test_a_check_of_a_hostile_name_writes_into_the_work_folder(tmp_path: Path) -> None:
    laid_out(tmp_path / "in" / "mine", "..")
    ended = purgatory(tmp_path / "in", "check", "mine", "--suite", "quick")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert sorted(each.name for each in (tmp_path / "in").iterdir()) == ["mine", "purgatory-work"]
    (folder,) = (tmp_path / "in" / "purgatory-work").iterdir()
    assert (folder / "results.jsonl").is_file()


def test_two_projects_of_one_name_keep_their_results(tmp_path: Path) -> None:
    """It is refused before a case is run, and the results are as they were."""
    for folder in ("first", "second"):
        laid_out(tmp_path / folder, "one")
    words = ("--suite", "quick", "--component", "timer")
    assert purgatory(tmp_path, "check", "first", *words).returncode == 0
    results = tmp_path / "purgatory-work" / "one" / "results.jsonl"
    before = results.read_bytes()
    refused = purgatory(tmp_path, "check", "second", *words)
    assert refused.returncode == EXIT_USAGE
    assert "holds the results of another subject, 'one' of ../first" in refused.stderr
    assert results.read_bytes() == before
    for command in (("deviations", "propose", "second"), ("campaign", "second", "--runs", "20")):
        assert purgatory(tmp_path, *command).returncode == EXIT_USAGE
    assert purgatory(tmp_path, "check", "second", "--work", "elsewhere", *words).returncode == 0
    assert purgatory(tmp_path, "check", "first", *words).returncode == 0


def test_a_project_named_like_a_subject_of_the_suite_is_another(tmp_path: Path) -> None:
    laid_out(tmp_path / "mine", "bundled")
    bundled = ("check", "bundled", "--suite", "quick", "--component", "memory-pool")
    assert purgatory(tmp_path, *bundled).returncode == 0
    refused = purgatory(tmp_path, "check", "mine", "--suite", "quick")
    assert refused.returncode == EXIT_USAGE
    assert "'bundled', which comes with the suite" in refused.stderr


def test_a_tree_may_be_moved_with_its_results(tmp_path: Path) -> None:
    """The results are those of the same project."""
    laid_out(tmp_path / "here", "mine")
    opened = OpenSubject("mine", bundled_subject(), home=tmp_path / "here")
    own_folder(tmp_path / "here" / "purgatory-work", opened)
    (tmp_path / "here").rename(tmp_path / "there")
    moved = OpenSubject("mine", bundled_subject(), home=tmp_path / "there")
    assert own_folder(tmp_path / "there" / "purgatory-work", moved).is_dir()
    with pytest.raises(ForeignFolder, match="another subject"):
        own_folder(tmp_path / "there" / "purgatory-work", opened)


@pytest.mark.parametrize("link", ["mine", "mine/replays"])
def test_results_are_written_into_no_link(tmp_path: Path, link: str) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    place = tmp_path / "work" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(victim)
    with pytest.raises(ForeignFolder, match="is a link"):
        own_folder(tmp_path / "work", OpenSubject("mine", bundled_subject()))
    assert list(victim.iterdir()) == []


def test_a_link_in_the_place_of_a_results_file_is_replaced(tmp_path: Path) -> None:
    """The file is as it was."""
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    folder = tmp_path / "purgatory-work" / "bundled"
    folder.mkdir(parents=True)
    names = ("results.jsonl", "results.jsonl.unfinished", "results.unfinished", "report.html")
    for name in names:
        (folder / name).symlink_to(precious)
    words = ("check", "bundled", "--suite", "quick", "--component", "memory-pool")
    assert purgatory(tmp_path, *words).returncode == 0
    assert precious.read_text(encoding="utf-8") == "mine"
    assert not (folder / "report.html").is_symlink()


def claimed(work: Path, home: Path) -> bool:
    """Decide whether a subject may have its folder."""
    try:
        own_folder(work, OpenSubject("one", bundled_subject(), home=home))
    except ForeignFolder:
        return False
    return True


def test_of_many_at_once_one_project_has_the_folder(tmp_path: Path) -> None:
    homes = [tmp_path / name for name in ("a", "b") * 8]
    # Unlike a pool of multiprocessing, it ends its processes without killing them.
    with ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as executor:
        found = list(executor.map(claimed, [tmp_path / "work"] * len(homes), homes))
    assert {tuple(found[0::2]), tuple(found[1::2])} == {(True,) * 8, (False,) * 8}
