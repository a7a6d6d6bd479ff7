"""The common ground of all tests: they ask whether Java is there, and for large tests or none."""

import gc
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import hypothesis
import pytest

import purgatory_impl
from tests.browsers import BROWSERS, browser_path
from tests.recorded import take_from_the_record

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pyspark.sql import SparkSession

# Neither an example nor drawing has a time limit: on a busy machine any of them may be slow. What
# fails is made smaller without being explained: that traces every line of it, which takes several
# times as long. Each run draws the same examples; ``--hypothesis-profile=exploring`` draws others.
hypothesis.settings.register_profile(
    "exploring",
    deadline=None,
    phases=set(hypothesis.Phase) - {hypothesis.Phase.explain},
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "tests", hypothesis.settings.get_profile("exploring"), derandomize=True
)
hypothesis.settings.load_profile("tests")

# The tests start hundreds of processes. Where the environment keeps Python from storing what it has
# compiled, each would compile every module that it imports, and so would each worker every test.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell has its background jobs ignore interrupts. Tests interrupt programs, and themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_LEFT_OUT = pytest.StashKey[dict[str, int]]()


_TOO_LATE = "the time that VERIFY_BEGINS_UNTIL gives is over"

_LEFT_OUT_IN_WORDS = {
    "record": "from the records: {} results; `make verify` establishes them anew",
    "verify": "left out: {} tests of other systems, clocks and packages; `make verify` runs them",
    "large": "left out: {} large; `make test-large` runs them",
}


class _Worker(Protocol):
    """A process of pytest-xdist, as far as it is looked at."""

    config: pytest.Config


@pytest.fixture(scope="module", autouse=True)
def _quick_collector() -> None:
    """Keep what all tests share out of the garbage collector's way.

    Every test that has garbage collected would pay for the modules and tests of the whole suite,
    half a second. Again after the stress run, which takes the freeze off.
    """
    if gc.get_freeze_count() == 0:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A session on two processors for all tests that bear the marker ``spark``."""
    from purgatory_spark.engine.session import spark_session

    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
    }
    with spark_session(master="local[2]", settings=settings) as session:
        yield session


@pytest.fixture(scope="module")
def browser_page() -> Iterator["Page"]:
    """A page for the tests of one file: while it is open no other event loop can run."""
    from tests.conformance.reporting.browser import open_page

    with open_page() as opened:
        yield opened


def _skip_without_apalache(items: list[pytest.Item]) -> None:
    """Skip tests that run Apalache where there is none; the summary names them."""
    if shutil.which("apalache-mc") is not None or "APALACHE_HOME" in os.environ:
        return
    for item in items:
        if item.get_closest_marker("apalache"):
            item.add_marker(pytest.mark.skip(reason="Apalache is not installed (apalache-mc)"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not asked for, and what cannot run here."""
    take_from_the_record(items)
    _leave_out(config, items)
    _skip_without_java(items)
    _skip_without_browser(items)
    _skip_without_apalache(items)
    _skip_if_compiled(items)
    # First, and so in one worker of pytest-xdist, which gives from its end alone: one session.
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test of `make verify` that begins too late; the summary counts such tests.

    ``VERIFY_BEGINS_UNTIL`` has the time, in seconds of the epoch. `.ci/run` sets it, since machines
    differ in speed and a run that is killed tells nothing of what has passed.
    """
    until = float(os.environ.get("VERIFY_BEGINS_UNTIL", "inf"))
    if item.get_closest_marker("verify") and time.time() > until:
        pytest.skip(_TOO_LATE)


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect large tests and those of `make verify`, unless the expression of `-m` names them."""
    left_out = {"large": 0, "verify": 0, "record": 0}
    gone: list[pytest.Item] = []
    for item in items:
        if item.get_closest_marker("large"):
            why = "large"
        elif marker := item.get_closest_marker("verify"):
            why = "record" if marker.kwargs.get("recorded") else "verify"
        else:
            continue
        # The long form of a test of `make verify` is large alone.
        if ("large" if why == "large" else "verify") not in config.option.markexpr:
            gone.append(item)
            left_out[why] += 1
    if gone:
        config.hook.pytest_deselected(items=gone)
        items[:] = [item for item in items if item not in set(gone)]
    config.stash[_LEFT_OUT] = left_out


def _skip_if_compiled(items: list[pytest.Item]) -> None:
    """Skip tests that reach into the pure build, where the compiled one is installed."""
    if not purgatory_impl.COMPILED:
        return
    for item in items:
        if item.get_closest_marker("pure"):
            item.add_marker(pytest.mark.skip(reason="reaches into the pure build"))


def _skip_without_java(items: list[pytest.Item]) -> None:
    """Skip Java tests where there is no Java; under REQUIRE_JAVA=1 let them fail instead."""
    if os.environ.get("REQUIRE_JAVA") == "1":
        return
    for item in items:
        if item.get_closest_marker("java") or item.get_closest_marker("spark"):
            missing = [tool for tool in _tools_of(item) if shutil.which(tool) is None]
            if missing:
                reason = (
                    f"{' and '.join(missing)} not installed (Java 17, and Maven for Kafka's jars)"
                )
                item.add_marker(pytest.mark.skip(reason=reason))


def _skip_without_browser(items: list[pytest.Item]) -> None:
    """Skip tests of pages where there is no browser; under REQUIRE_BROWSER=1 let them fail."""
    if os.environ.get("REQUIRE_BROWSER") == "1" or browser_path() is not None:
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=f"not installed: {' or '.join(BROWSERS)}"))


def _tools_of(item: pytest.Item) -> tuple[str, ...]:
    """Kafka's jars come by Maven; the TLA+ checker and Spark come with Python packages."""
    if item.get_closest_marker("spark") or item.nodeid.startswith("tests/tla/"):
        return ("java",)
    return ("java", "mvn")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker of pytest-xdist, which alone collects: say how many were left out."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["left_out"] = session.config.stash.get(_LEFT_OUT, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: _Worker) -> None:
    """In the process that reports: all workers collect the same, so that any of them will do."""
    node.config.stash[_LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print tests and seconds of each leg: a leg that ran nothing is seen, and so is what costs."""
    legs: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for outcome in ("passed", "failed", ""):  # without a name: what comes before and after a test
        for report in terminalreporter.stats.get(outcome, []):
            leg = _leg_of(report)
            seconds[leg] = seconds.get(leg, 0.0) + report.duration
            if report.when == "call":
                legs[leg] = legs.get(leg, 0) + 1
    words = (f"{leg} {count} ({seconds[leg]:.0f} s)" for leg, count in sorted(legs.items()))
    terminalreporter.write_line(f"legs: {', '.join(words)}")
    skipped = terminalreporter.stats.get("skipped", [])
    if late := [each.nodeid for each in skipped if _TOO_LATE in str(each.longrepr)]:
        terminalreporter.write_line(f"not begun: {len(late)} tests, the first of them {late[0]}")
    without = [each.nodeid for each in skipped if "apalache" in each.keywords]
    if without:
        # The parameters are left away: a name stands for all tests of one function.
        names = sorted({each.partition("[")[0].rpartition("::")[2] for each in without})
        terminalreporter.write_line(
            f"not run: {len(without)} tests of Apalache, which is not installed: {', '.join(names)}"
        )
    left_out = config.stash.get(_LEFT_OUT, {})
    for why, said in _LEFT_OUT_IN_WORDS.items():
        if count := left_out.get(why, 0):
            terminalreporter.write_line(said.format(count))


def _leg_of(report: pytest.TestReport) -> str:
    """Return the leg that a test is counted under: by its need, or else by its folder."""
    for marker in ("java", "spark", "browser", "package", "documentation"):
        if marker in report.keywords:
            return marker
    file = report.nodeid.partition("::")[0]  # a parameter may have slashes
    folder, _, rest = file.removeprefix("tests/").partition("/")
    return folder if rest else "front door"
