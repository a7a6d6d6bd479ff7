"""The compiled wheel, in an environment of its own: it does what the pure sources do."""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packaging.wheels import NOT_COPIED, ROOT, environment, run, scripts

pytestmark = [pytest.mark.verify, pytest.mark.package, pytest.mark.slow]

STRESS = ("-m", "purgatory_lab.stress")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled wheel; built from a copy, in which nothing compiled lies afterwards."""
    # It does what it does however far the C is optimised, which takes the compiler most of its
    # time; releases, which are optimised, are judged where they are built.
    folder = tmp_path_factory.mktemp("compiled")
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
    output = folder / "dist"
    command: list[str | Path] = [sys.executable, "-m", "build", "--wheel", "--outdir", output, copy]
    before = _native(copy)  # the kit for C is written in it
    run(command, folder, PURGATORY_COMPILED="1", PURGATORY_LAB="1", MYPYC_OPT_LEVEL="0")
    assert _native(copy) == before
    (built,) = output.glob("*.whl")
    return built


def _native(folder: Path) -> set[Path]:
    return {path for kind in ("*.so", "*.pyd", "*.c", "*.o") for path in folder.rglob(kind)}


@pytest.fixture(scope="module")
def folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment that has the wheel, and what its tests need."""
    folder = tmp_path_factory.mktemp("elsewhere")
    environment(wheel, folder, "pytest", "trustme")
    return folder


@pytest.fixture(scope="module")
def python(folder: Path) -> Path:
    return scripts(folder) / "python"


def test_modules_of_the_implementation_are_compiled_and_readable(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    compiled = {Path(name).name.split(".")[0] for name in names if Path(name).suffix != ".py"}
    folder = ROOT / "impl" / "purgatory_impl"
    for path in folder.rglob("*.py"):
        assert f"purgatory_impl/{path.relative_to(folder).as_posix()}" in names
        interpreted = path.stem in (
            "__init__",
            "errors",
            "compiler",
            "event_loops",
            "reasons",
            "stacks",
        )
        assert (path.stem in compiled) != interpreted, path.stem
    assert "none-any" not in wheel.name


def test_it_is_compiled(folder: Path, python: Path) -> None:
    code = "import purgatory_impl as p; print(p.COMPILED, p.Timer.add.__class__.__name__)"
    assert run([python, "-c", code], folder).split() == ["True", "method_descriptor"]


def test_the_sources_are_not() -> None:
    """Control the tests above: here the answer is another."""
    code = "import purgatory_impl as p; print(p.COMPILED, p.Timer.add.__class__.__name__)"
    assert run([sys.executable, "-c", code], ROOT).split() == ["False", "function"]


def test_it_conforms(folder: Path) -> None:
    output = run([scripts(folder) / "purgatory", "check", "bundled", "--seed", "1"], folder)
    assert output.count("✓ conformant:") == 4


@pytest.mark.large
def test_with_the_accounting_of_the_proposal_it_forgets_what_that_forgets(folder: Path) -> None:
    command: list[str | Path] = [
        scripts(folder) / "purgatory",
        "check",
        "bundled-proposal",
        "--suite",
        "quick",
    ]
    output = run([*command, "--seed", "1"], folder, expected=1)
    assert "PURGATORY-STALE-OPERATIONS" in output
    assert "1 cause of failure" in output


def test_it_passes_the_tests_of_the_implementation(python: Path) -> None:
    """Skip and count the tests that put something in the place of a compiled part."""
    command: list[str | Path] = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    output = run([*command, "-m", "verify or not verify", "tests/impl"], ROOT)
    passed = int(output.rpartition(" passed")[0].split()[-1])
    assert passed > 300


@pytest.mark.large
def test_no_schedule_breaks_it(folder: Path) -> None:
    command: list[str | Path] = [scripts(folder) / "purgatory", "schedule", "run", "all"]
    output = run([*command, "--preemptions", "1"], folder)
    schedules = int(
        output.rpartition(" schedules: nothing is wrong")[0].split()[-1].replace(",", "")
    )
    assert schedules > 2000


@pytest.mark.large
def test_races_that_can_be_planted_in_it_are_found(folder: Path) -> None:
    """Control the test before: with a planted race some schedule breaks it."""
    command: list[str | Path] = [scripts(folder) / "purgatory", "schedule", "races"]
    output = run([*command, "--random", "200"], folder)
    assert "not in" not in output
    assert sum("timer-" in line or "model-" in line for line in output.splitlines()) >= 3
    assert "9 others cannot be planted in the compiled build" in output


@pytest.mark.large
@pytest.mark.parametrize("component", ["timer", "purgatory", "memory_pool"])
def test_many_threads_do_not_break_it(folder: Path, python: Path, component: str) -> None:
    output = run([python, *STRESS, "--component", component, "--rounds", "20"], folder)
    assert f"{component}: 20 rounds" in output
    assert "findings" not in output


def test_users_may_subclass_what_is_theirs_to_subclass(folder: Path, python: Path) -> None:
    program = """
from purgatory_impl import DelayedOperation, Purgatory, SteppedExecutor, Timer, TimerTask
from purgatory_impl import VirtualClock

class Answer(DelayedOperation):
    def __init__(self, delay_ms):
        super().__init__(delay_ms)
        self.ready, self.said = False, []
    def try_complete(self):
        return self.ready and self.force_complete()
    def on_complete(self):
        self.said.append("completed")
    def on_expiration(self):
        self.said.append("expired")

class Greeting(TimerTask):
    def run(self):
        print("hello")

class Loud(SteppedExecutor):
    def wake(self):
        print("woken")

class Ticking(VirtualClock):
    pass

clock, executor = Ticking(), Loud()
timer = Timer(clock=clock, executor=executor)
timer.add(Greeting(), 5)
with Purgatory(timer=timer) as purgatory:
    early, late = Answer(9), Answer(10)
    for each in (early, late):
        purgatory.try_complete_else_watch(each, ["k"])
    early.ready = True
    print(purgatory.check_and_complete("k"))
    clock.set_ms(20)
    timer.advance()
    while executor.run_one():
        pass
    print(early.said, late.said)
"""
    output = run([python, "-c", program], folder)
    assert output.split() == ["1", "woken", "hello", "['completed']", "['completed',", "'expired']"]
