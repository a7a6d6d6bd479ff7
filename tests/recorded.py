"""The record of tests whose results follow from Python sources alone.

A test that bears the marker ``recorded`` reads nothing but Python modules, the specification with
its vectors, and the pinned packages: no clock, no file of its own, no other process. Where none of
what its module imports, or finds in folders below it, has changed since it passed, ``make test``
takes its result from ``recorded.jsonl``; ``make verify`` establishes all of them anew, and ``make
record`` writes the record. Comments and docstrings are no input.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import purgatory_impl
from purgatory_spec.resources import specification_folder
from tests.sources import folders_of, python_texts

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_name("recorded.jsonl")
PACKAGES = (
    "purgatory_spec",
    "purgatory_model",
    "purgatory_impl",
    "purgatory_judge",
    "purgatory_conformance",
    "purgatory_traces",
    "purgatory_course",
    "purgatory_lab",
)
"""The packages that recorded tests import; those that only commands load are no input."""


@dataclass(frozen=True)
class Inputs:
    """The folders of the inputs: of each package and of the specification, and the pins' file."""

    packages: Mapping[str, Path]
    specification: Path
    pins: Path


@cache
def installed() -> Inputs:
    """Return the inputs as they are in this checkout."""
    packages = {**folders_of(PACKAGES), "tests": ROOT / "tests"}
    return Inputs(packages, specification_folder(), ROOT / "constraints.txt")


def digest_of(test_file: str, inputs: Inputs) -> str:
    """Return the SHA-256 of what the tests of a file follow from; the file is named from here."""
    module = ".".join(Path(test_file).with_suffix("").parts)
    tests = inputs.packages["tests"]
    folders = [*Path(test_file).relative_to("tests").parents]
    fixtures = [tests / folder / "conftest.py" for folder in folders]
    specification = {
        path.name: path.read_text(encoding="utf-8")
        for kind in ("*.md", "*.jsonl")
        for path in sorted(inputs.specification.rglob(kind))
        if path.name != "protocol.md"  # adapters alone go by it
    }
    texts: dict[str, str] = {}
    for each in (module, *_found_by_name(test_file)):
        texts |= python_texts(inputs.packages, each)
    text = json.dumps(
        [
            sys.version_info[:2],
            inputs.pins.read_text(encoding="utf-8"),
            specification,
            texts,
            [path.read_text(encoding="utf-8") for path in fixtures if path.is_file()],
        ],
        sort_keys=True,
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _found_by_name(test_file: str) -> Iterator[str]:
    """Yield the modules in folders below that of a file which hold no tests: it may glob them."""
    folder = (ROOT / test_file).parent
    for below in sorted(path for path in folder.iterdir() if path.is_dir()):
        if not any(below.rglob("test_*.py")):
            for path in sorted(below.rglob("*.py")):
                yield ".".join(path.relative_to(ROOT).with_suffix("").parts)


def read_record(path: Path = RECORD) -> dict[str, str]:
    """Return the digests of the record, by file of tests; nothing where there is no record."""
    if not path.is_file():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["tests"]: line["digest"] for line in lines}


@cache
def is_fresh(test_file: str) -> bool:
    """Decide whether the tests of a file have passed with the inputs as they are."""
    if purgatory_impl.COMPILED:  # the record is of the pure build
        return False
    return read_record().get(test_file) == digest_of(test_file, installed())


def take_from_the_record(items: Iterable[pytest.Item]) -> None:
    """Leave tests to ``make verify`` that passed with the inputs as they are."""
    for item in items:
        if item.get_closest_marker("recorded") and is_fresh(item.nodeid.partition("::")[0]):
            item.add_marker(pytest.mark.verify(recorded=True))


@dataclass
class Passed:
    """A plugin of pytest that notes which files have recorded tests, and which of them failed."""

    seen: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the file of a report."""
        file = report.nodeid.partition("::")[0]
        self.seen.add(file)
        if not report.passed:
            self.failed.add(file)


def write_record() -> int:
    """Run the recorded tests that are out of date; write what passed; return pytest's exit code."""
    passed = Passed()
    options = ["-q", "-n", "2", "--dist", "worksteal", "-p", "tests.only_inputs"]
    options += ["-m", "recorded and not verify", "tests"]
    code = pytest.main(options, plugins=[passed])
    record = {file: digest for file, digest in read_record().items() if is_fresh(file)}
    for file in passed.seen - passed.failed:
        record[file] = digest_of(file, installed())
    lines = (json.dumps({"tests": file, "digest": record[file]}) for file in sorted(record))
    RECORD.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0 if code is pytest.ExitCode.NO_TESTS_COLLECTED else int(code)


if __name__ == "__main__":
    sys.exit(write_record())
