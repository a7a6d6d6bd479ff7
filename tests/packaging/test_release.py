"""The parts of a release: metadata, a source distribution that can be made again, workflows."""

import hashlib
import os
import re
import shutil
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from tests.packaging.wheels import NOT_COPIED, ROOT, run

pytestmark = [pytest.mark.verify, pytest.mark.package, pytest.mark.slow]

UVX = Path(sys.prefix) / "bin" / "uvx"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SCHEMA = ["check-jsonschema==0.39.0", "--builtin-schema", "vendor.github-workflows"]
ZIZMOR = ["zizmor==1.32.0", "--offline", "--config", ROOT / ".github/zizmor.yml"]


def checkout(folder: Path, changed: float) -> Path:
    """A copy of the sources whose files were all changed at one time, in seconds."""
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
    for path in copy.rglob("*"):
        os.utime(path, (changed, changed))
    return copy


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, and the wheel that is built of it."""
    folder = tmp_path_factory.mktemp("release")
    run([sys.executable, "-m", "build", "--outdir", folder / "dist", checkout(folder, 1e9)], folder)
    return folder / "dist"


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


@pytest.fixture(scope="module")
def metadata(dist: Path) -> Message:
    with zipfile.ZipFile(only(dist, "*.whl")) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def test_it_says_who_made_it_and_for_which_versions(metadata: Message) -> None:
    assert metadata["Author"] == "The purgatory-spec project"
    assert metadata["Requires-Python"] == ">=3.11"
    versions = [f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 15)]
    assert set(versions) < set(metadata.get_all("Classifier", []))
    assert metadata.get_all("Project-URL") is None  # none is known yet


def test_the_long_description_has_no_link_that_leads_nowhere(metadata: Message) -> None:
    description = metadata.get_payload()
    assert isinstance(description, str)
    targets = re.findall(r"\]\(([^)]+)\)", description)
    assert [each for each in targets if not each.startswith("https://")] == []
    assert "Other ways to install." in description
    assert "](docs/how-to/install.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_an_index_would_take_it(dist: Path) -> None:
    files = sorted(dist.iterdir())
    assert len(files) == 2
    assert "PASSED" in run([UVX, "twine==7.0.0", "check", "--strict", *files], dist)


def test_the_source_distribution_is_the_same_from_any_checkout(dist: Path, tmp_path: Path) -> None:
    output = tmp_path / "dist"
    sources = checkout(tmp_path, 1.5e9)
    run([sys.executable, "-m", "build", "--sdist", "--outdir", output, sources], tmp_path)
    first, second = (
        hashlib.sha256(only(folder, "*.tar.gz").read_bytes()).hexdigest()
        for folder in (dist, tmp_path / "dist")
    )
    assert first == second


def test_the_wheel_of_the_source_distribution_is_the_wheel_of_the_checkout(
    dist: Path, tmp_path: Path
) -> None:
    run([sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, ROOT], tmp_path)
    contents = []
    for folder in (dist, tmp_path):
        with zipfile.ZipFile(only(folder, "*.whl")) as archive:
            contents.append({each.filename: each.CRC for each in archive.infolist()})
    assert contents[0] == contents[1]


@pytest.mark.parametrize("linter", [SCHEMA, ZIZMOR], ids=["schema", "zizmor"])
def test_workflows_are_sound(linter: list[str | Path], tmp_path: Path) -> None:
    assert WORKFLOWS != []
    run([UVX, *linter, *WORKFLOWS], tmp_path)


@pytest.mark.parametrize(
    ("linter", "wrong", "code"),
    [(SCHEMA, ("runs-on:", "runs-at:"), 1), (ZIZMOR, ("actions/checkout@v5", "a/b@v1"), 14)],
    ids=["schema", "zizmor"],
)
def test_a_workflow_that_is_not_sound_is_noticed(
    linter: list[str | Path], wrong: tuple[str, str], code: int, tmp_path: Path
) -> None:
    workflow = tmp_path / "wrong.yml"
    workflow.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace(*wrong), encoding="utf-8")
    run([UVX, *linter, workflow], tmp_path, code)


def test_the_citation_is_valid_and_of_this_version(metadata: Message, tmp_path: Path) -> None:
    citation = ROOT / "CITATION.cff"
    run([UVX, "cffconvert==2.0.0", "--validate", "-i", citation], tmp_path)
    assert f"version: {metadata['Version']}\n" in citation.read_text(encoding="utf-8")
