"""Kafka's and Fluss's own tests, run on our timer and purgatory."""

from pathlib import Path
from typing import Any

import pytest

from purgatory_impl import Purgatory
from purgatory_lab.their_tests import DIFFERENT, SYSTEMS, run_theirs

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

WORK = Path(__file__).resolve().parents[2] / "purgatory-work"


class BlindToKeys(Purgatory[Any, Any]):
    """A purgatory whose checks look at nothing."""

    def check_and_complete(self, key: object) -> int:
        return 0


def failed(system: str, purgatory_class: type[Purgatory[Any, Any]]) -> set[str]:
    found = run_theirs(SYSTEMS[system], WORK, purgatory_class)
    assert len(found) == 10
    return {test for test, wrong in found.items() if wrong}


@pytest.mark.parametrize("system", SYSTEMS)
def test_ours_passes_their_tests_but_for_those_that_are_named(system: str) -> None:
    assert failed(system, Purgatory) == set(DIFFERENT)


def test_a_purgatory_that_completes_nothing_fails_some() -> None:
    assert failed("Apache Fluss", BlindToKeys) == {
        "testRequestPurge()",
        "testRequestSatisfaction()",
        "testTryCompleteWithMultipleThreads()",
        *DIFFERENT,
    }
