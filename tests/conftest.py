"""What every test may rely on: whether Java is there, and what its absence means."""

import os
import shutil

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip Java tests where there is no Java; under REQUIRE_JAVA=1 let them fail instead."""
    if os.environ.get("REQUIRE_JAVA") == "1":
        return
    for item in items:
        if item.get_closest_marker("java"):
            missing = [tool for tool in _tools_of(item) if shutil.which(tool) is None]
            if missing:
                reason = f"{' and '.join(missing)} not installed (Java 17 and Maven)"
                item.add_marker(pytest.mark.skip(reason=reason))


def _tools_of(item: pytest.Item) -> tuple[str, ...]:
    """Kafka's jars come by Maven; the TLA+ checker comes with a Python package."""
    return ("java",) if item.nodeid.startswith("tests/tla/") else ("java", "mvn")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests ran in each leg, so that a leg that ran nothing is seen."""
    legs: dict[str, int] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            if report.when == "call":
                leg = report.nodeid.split("/")[1]
                for marker in ("java", "package", "documentation"):
                    if marker in report.keywords:
                        leg = marker
                legs[leg] = legs.get(leg, 0) + 1
    words = ", ".join(f"{leg} {count}" for leg, count in sorted(legs.items()))
    terminalreporter.write_line(f"legs: {words}")
