"""The purgatory behind the Kafka adapter, driven line by line, in four releases."""

from collections.abc import Iterator

import pytest

from purgatory_conformance.subjects.kafka import KafkaMode

from .adapter_process import GREETINGS, Adapter, Reply, started
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]


@pytest.fixture(scope="module", params=releases("4.4.0", "4.0.0", "3.9.1", "2.4.1"))
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kafka(release: str) -> Iterator[Adapter]:
    yield from started(release, KafkaMode.VIRTUAL)


def seen(
    entries: int,
    keys: int,
    stale: tuple[int, int] = (0, 0),
    *,
    timer: int = 0,
    queued: int = 0,
    estimate: int,
    callback: int | None = None,
) -> Reply:
    """Return the observables after a step; ``stale`` are entries and operations."""
    # ``callback`` is the timer's size as the last ``on_complete`` began.
    return {
        "entries": entries,
        "keys": keys,
        "stale_entries": stale[0],
        "stale_operations": stale[1],
        "timer_size": timer,
        "queued": queued,
        "estimate": estimate,
        "callback_timer_size": callback,
    }


def events(kinds: str, *operations: str) -> list[Reply]:
    """For each operation the events of these kinds."""
    return [{"kind": kind, "task": operation} for operation in operations for kind in kinds.split()]


def watch(kafka: Adapter, operation: str, *keys: str, delay: int = 5, **script: object) -> Reply:
    return kafka.do("watch", operation=operation, keys=keys, delay_ms=delay, script=script)


def test_offers_timer_purgatory_and_pool(kafka: Adapter, release: str) -> None:
    """It names the components, the purgatory with all that Kafka can do."""
    reply = kafka.ask("hello", protocol=1, suite="0.1.0", schema="")
    timer = ["timer"] if release.startswith("4.") else []
    channels = [] if release.startswith("2.4.") else ["channel_muting"]
    assert list(reply["components"]) == [*timer, "purgatory", "memory_pool", *channels]
    assert reply["implementation"]["version"] == release
    assert reply["components"]["purgatory"] == GREETINGS["purgatory"]


@pytest.mark.parametrize("again", [False, True])
def test_watching_what_is_completed_differs_between_releases(
    kafka: Adapter, release: str, again: bool
) -> None:
    """3.9.1 adds it to the list and 4.x does not, though both count it; 2.4.1 does neither."""
    tries, counted, added = {"3.9.1": (2, 1, 1), "2.4.1": (1, 0, 0)}.get(release, (2, 1, 0))
    kafka.new("purgatory")
    before = 0
    if again:
        watch(kafka, "a", "k")
        before = 1
    assert kafka.do("force", operation="a")["result"] is True
    assert kafka.do("force", operation="a")["result"] is False
    entries = before + added
    assert watch(kafka, "a", "k") == {
        "result": False,
        "events": events("tried " * tries, "a"),
        "observed": seen(
            entries, min(entries, 1), (entries, min(entries, 1)), estimate=before + counted
        ),
    }


def test_no_key_is_an_error_of_the_kind_that_the_release_has(kafka: Adapter, release: str) -> None:
    """4.x takes it for an illegal argument; before, an assertion fails."""
    kafka.new("purgatory")
    answer = {"rejected": "internal", "detail": "java.lang.AssertionError"}
    if release.startswith("4."):
        answer = {"rejected": "invalid_argument", "detail": "java.lang.IllegalArgumentException"}
    assert watch(kafka, "a") == {**answer, "observed": seen(0, 0, estimate=0)}


def test_thousands_of_instances_leave_nothing_behind(kafka: Adapter) -> None:
    """The last one begins as empty as the first."""
    for number in range(2000):
        kafka.new(("purgatory", "memory_pool")[number % 2])
    kafka.new("purgatory")
    assert kafka.do("run_one") == {"observed": seen(0, 0, estimate=0)}
