"""A recorded test runs again when something that it follows from has changed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import recorded
from tests.recorded import Inputs, digest_of, installed, read_record

MUTANTS = "tests/conformance/specimens/test_mutants.py"


@pytest.fixture
def copied(tmp_path: Path) -> Inputs:
    here = installed()
    packages = {name: tmp_path / name for name in here.packages}
    for name, folder in here.packages.items():
        ignored = shutil.ignore_patterns("__pycache__", "data", "*.jsonl", "*.md", "*.json")
        shutil.copytree(folder, packages[name], ignore=ignored)
    specification = tmp_path / "spec"
    shutil.copytree(here.specification, specification)
    pins = tmp_path / here.pins.name
    shutil.copy(here.pins, pins)
    return Inputs(packages, specification, pins)


def put(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_copy_has_the_same_digest(copied: Inputs) -> None:
    assert digest_of(MUTANTS, copied) == digest_of(MUTANTS, installed())


def test_comments_docstrings_and_the_protocol_are_no_input(copied: Inputs) -> None:
    put(copied.specification / "protocol.md", "JSON", "JSONS")
    put(copied.packages["tests"] / "conformance/generated.py", "\n\n", "  # a comment\n\n")
    assert digest_of(MUTANTS, copied) == digest_of(MUTANTS, installed())


@pytest.mark.parametrize(
    ("package", "file", "old", "new"),
    [
        ("tests", "conformance/specimens/test_mutants.py", "cases=40", "cases=41"),
        ("tests", "conformance/generated.py", "return ", "return 1 and "),
        ("tests", "conformance/conftest.py", "yield", "yield 1"),
        ("purgatory_judge", "components.py", "import ", "import os\nimport "),
        ("purgatory_model", "arithmetic.py", "return ", "return 1 and "),
        ("purgatory_conformance", "specimens/wrong/expiry.py", "return ", "return 1 and "),
    ],
)
def test_a_changed_line_of_a_module_is_an_input(
    copied: Inputs, package: str, file: str, old: str, new: str
) -> None:
    put(copied.packages[package] / file, old, new)
    assert digest_of(MUTANTS, copied) != digest_of(MUTANTS, installed())


def test_a_module_that_is_found_by_name_is_an_input(copied: Inputs) -> None:
    """Given strangers, which their tests find in folders."""
    strangers = "tests/strangers/test_strangers.py"
    assert digest_of(strangers, copied) == digest_of(strangers, installed())
    put(copied.packages["tests"] / "strangers/timers/sorted_list.py", "return ", "return 1 and ")
    assert digest_of(strangers, copied) != digest_of(strangers, installed())


def test_a_module_that_is_not_imported_is_no_input(copied: Inputs) -> None:
    put(copied.packages["purgatory_conformance"] / "commands/check.py", "return ", "return 1 and ")
    assert digest_of(MUTANTS, copied) == digest_of(MUTANTS, installed())


def test_a_rule_a_pin_and_a_vector_are_inputs(copied: Inputs) -> None:
    put(copied.specification / "timer.md", "TIMER-", "TIMER_")
    changed = digest_of(MUTANTS, copied)
    assert changed != digest_of(MUTANTS, installed())
    put(copied.pins, "==", "==9")
    changed_again = digest_of(MUTANTS, copied)
    assert changed_again != changed
    vector = next((copied.specification / "vectors").rglob("*.jsonl"))
    put(vector, "{", " {")
    assert digest_of(MUTANTS, copied) != changed_again


def test_a_test_is_taken_from_the_record_only_if_its_digest_is_in_it(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = "tests/test_recorded.py"
    path = tmp_path / "recorded.jsonl"
    monkeypatch.setattr(recorded, "RECORD", path)

    def left_to_verify(digest: str) -> bool:
        path.write_text(f'{{"tests": "{mine}", "digest": "{digest}"}}\n', encoding="utf-8")
        monkeypatch.setattr(recorded, "read_record", lambda: read_record(path))
        recorded.is_fresh.cache_clear()
        item = pytest.Function.from_parent(
            request.node.parent, name="test_a_rule_a_pin_and_a_vector_are_inputs"
        )
        recorded.take_from_the_record([item])
        assert item.get_closest_marker("verify") is None  # it is not marked as recorded
        item.add_marker(pytest.mark.recorded)
        recorded.take_from_the_record([item])
        return item.get_closest_marker("verify") is not None

    try:
        assert left_to_verify(digest_of(mine, installed()))
        assert not left_to_verify("0" * 64)
    finally:
        recorded.is_fresh.cache_clear()


def test_the_record_names_files_that_have_recorded_tests() -> None:
    root = Path(__file__).parents[1]
    for file in read_record():
        assert "pytest.mark.recorded" in (root / file).read_text(encoding="utf-8"), file


@pytest.mark.parametrize(
    ("marker", "read", "code"),
    [
        ("recorded", "README.md", 1),
        ("recorded", "spec/timer.md", 0),
        ("slow", "README.md", 0),
    ],
)
def test_a_recorded_test_reads_no_further_file(
    tmp_path: Path, marker: str, read: str, code: int
) -> None:
    root = Path(__file__).parents[1]
    (tmp_path / "test_reads.py").write_text(
        f"import pathlib, pytest\n\n@pytest.mark.{marker}\ndef test_it():\n"
        f"    pathlib.Path({str(root / read)!r}).read_bytes()\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-p", "tests.only_inputs", "-c", str(root / "pyproject.toml"), str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("README.md is no input of the record" in done.stdout) == bool(code)
