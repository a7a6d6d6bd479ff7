"""The page that sets a counterpart beside each of Kafka's own tests: nothing is left out of it."""

import re
import subprocess
import zipfile
from pathlib import Path
from shutil import which

import pytest

from purgatory_spec.requirements import all_requirements
from purgatory_spec.resources import specification_folder

from .code_blocks import ROOT

pytestmark = [pytest.mark.verify, pytest.mark.documentation]

PAGE = ROOT / "docs" / "reference" / "kafkas-own-tests.md"
RELEASE = "4.3.0"
CLASSES = {
    "TimerTest": ("kafka-server-common", "org/apache/kafka/server/util/timer"),
    "TimerTaskListTest": ("kafka-server-common", "org/apache/kafka/server/util/timer"),
    "TimingWheelTest": ("kafka-server-common", "org/apache/kafka/server/util/timer"),
    "SystemTimerReaperTest": ("kafka-server-common", "org/apache/kafka/server/util/timer"),
    "DelayedOperationTest": ("kafka-server-common", "org/apache/kafka/server/purgatory"),
    "GarbageCollectedMemoryPoolTest": ("kafka-clients", "org/apache/kafka/common/memory"),
}
"""The places of the test classes: the artefact and the folder in its jar of tests."""

_ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<asserts>[^|]+) \| (?P<here>[^|]+) \|$")
_SECTION = re.compile(r"^## (?P<name>\w+)$")
_VECTOR = re.compile(r"`((?:timer|purgatory|memory-pool)/[a-z0-9-]+)`")
_RULE = re.compile(r"\[((?:TIMER|PURGATORY|POOL)(?:-[A-Z]+)+)\]")
_FILE = re.compile(r"`(tests/[\w/]+\.py)`")


def rows() -> dict[str, dict[str, str]]:
    """The last cell of each row, by class and test."""
    found: dict[str, dict[str, str]] = {}
    section = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := _SECTION.match(line):
            section = heading["name"]
        elif row := _ROW.match(line):
            found.setdefault(section, {})[row["name"]] = row["here"]
    return found


def counterparts(here: str) -> list[Path]:
    """The files that a cell names."""
    vectors = specification_folder() / "vectors"
    files = [vectors / f"{name}.jsonl" for name in _VECTOR.findall(here)]
    return files + [ROOT / name for name in _FILE.findall(here)]


@pytest.mark.parametrize(
    ("test", "here"),
    [(f"{name}.{test}", here) for name, table in rows().items() for test, here in table.items()],
)
def test_each_of_kafkas_tests_has_a_counterpart(test: str, here: str) -> None:
    rules = _RULE.findall(here)
    files = counterparts(here)
    assert rules or files, f"{test} has no counterpart"
    assert not [str(file) for file in files if not file.is_file()]
    assert not set(rules) - {rule.id for rule in all_requirements()}


def test_the_tests_of_a_class_are_told_from_its_other_methods() -> None:
    listing = "public void setUp();\n  public void testA();\n  void shouldB() throws X;\n"
    assert names_of_tests(listing) == {"testA", "shouldB"}


@pytest.mark.java
@pytest.mark.slow
def test_the_page_has_every_test_of_the_release(tmp_path: Path) -> None:
    for artefact in sorted({artefact for artefact, _ in CLASSES.values()}):
        coordinates = f"org.apache.kafka:{artefact}:{RELEASE}:jar:test"
        copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
        subprocess.run(
            [
                which("mvn") or "mvn",
                "-B",
                "-q",
                copy,
                f"-Dartifact={coordinates}",
                f"-DoutputDirectory={tmp_path}",
            ],
            cwd=tmp_path,
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=1800,
        )
    released = {
        name: names_in_jar(tmp_path / f"{artefact}-{RELEASE}-test.jar", f"{folder}/{name}")
        for name, (artefact, folder) in CLASSES.items()
    }
    assert {name: set(table) for name, table in rows().items()} == released


def names_in_jar(jar: Path, name: str) -> set[str]:
    """The test methods of a class in a jar."""
    with zipfile.ZipFile(jar) as archive:
        assert f"{name}.class" in archive.namelist()
    listing = subprocess.run(
        [which("javap") or "javap", "-p", "-cp", jar, name.replace("/", ".")],
        check=True,
        capture_output=True,
        encoding="utf-8",
        timeout=900,
    )
    return names_of_tests(listing.stdout)


def names_of_tests(listing: str) -> set[str]:
    """The tests among the methods that ``javap`` lists."""
    return set(re.findall(r"void ((?:test|should)\w*)\(\)", listing))
