"""The purgatory behind the Kafka adapter, driven line by line, in four releases."""

from collections.abc import Iterator

import pytest

from purgatory_conformance.subjects.kafka import KafkaMode

from .adapter_process import Adapter, Reply, started
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

SCRIPT_FAILURE = "purgatory.adapter.kafka.ScriptFailure"
REJECTED_EXECUTION = "java.util.concurrent.RejectedExecutionException"
ROOM = 1000
"""A purge interval that nothing here reaches."""


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
    """What is observed after a step; ``stale`` are entries and operations.

    ``callback`` is the timer's size as the last ``on_complete`` began.
    """
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


def rejected(operation: str, reason: str) -> Reply:
    return {"kind": "rejected", "task": operation, "reason": reason}


def watch(kafka: Adapter, operation: str, *keys: str, delay: int = 5, **script: object) -> Reply:
    return kafka.do("watch", operation=operation, keys=keys, delay_ms=delay, script=script)


def test_offers_timer_purgatory_and_pool(kafka: Adapter, release: str) -> None:
    """
    Given the adapter on a release of Kafka
    When it is asked what it offers
    Then it names the components, the purgatory with all that Kafka can do
    """
    reply = kafka.ask("hello", protocol=1, suite="0.1.0", schema="")
    timer = ["timer"] if release.startswith("4.") else []
    channels = [] if release.startswith("2.4.") else ["channel_muting"]
    assert list(reply["components"]) == [*timer, "purgatory", "memory_pool", *channels]
    assert reply["implementation"]["version"] == release
    profile = reply["components"]["purgatory"]
    assert profile.pop("features") == [
        "force",
        "cancel_for_key",
        "rewatch",
        "duplicate_keys",
        "elapse",
        "shutdown",
        "no_time_outs",
        "script_throw",
        "script_watch",
        "script_check",
        "script_cancel_for_key",
        "script_force",
        "script_try",
        "script_meanwhile",
    ]
    assert profile.pop("observables") == list(seen(0, 0, estimate=0))
    assert profile == {
        "accounting": "proposal",
        "check_drops": "as_passed",
        "throwing_try": "stop",
        "executor": "stepped",
        "rounding": "down",
        "same_tick_order": "none",
        "structure": "delay_queue_wheel",
    }


def test_a_mass_expiry_is_not_counted(kafka: Adapter) -> None:
    """
    Given three operations under one key and a purge interval of two
    When all of them expire in one advance, run afterwards, and time goes on
    Then three stale operations stay, the estimate is zero and no purge follows
    """
    kafka.new("purgatory", purge_interval=2)
    for number, operation in enumerate("abc", start=1):
        assert watch(kafka, operation, "k") == {
            "result": False,
            "events": events("tried tried", operation),
            "observed": seen(number, 1, timer=number, estimate=number),
        }
    assert kafka.do("advance", to_ms=5) == {
        "events": events("expired", "a", "b", "c"),
        "observed": seen(3, 1, queued=3, estimate=0),
    }
    for number, operation in enumerate("abc", start=1):
        assert kafka.do("run_one") == {
            "events": events("completed timed_out", operation),
            "observed": seen(3, 1, (number, number), queued=3 - number, estimate=0, callback=0),
        }
    for to_ms in (5, 6, 5000):
        assert kafka.do("advance", to_ms=to_ms) == {"observed": seen(3, 1, (3, 3), estimate=0)}


def test_a_purge_starts_above_the_interval(kafka: Adapter) -> None:
    """
    Given a purge interval of two
    When two completed operations are left in a list, and then a third
    Then the pass after the third one removes all of them, and none before
    """
    kafka.new("purgatory", purge_interval=2)
    for operation in "ab":
        watch(kafka, operation, "k")
        kafka.do("force", operation=operation)
    assert kafka.do("advance", to_ms=0) == {"observed": seen(2, 1, (2, 2), estimate=2)}
    watch(kafka, "c", "k")
    watch(kafka, "d", "l")
    kafka.do("force", operation="c")
    assert kafka.do("advance", to_ms=0) == {"observed": seen(1, 1, timer=1, estimate=1)}


def test_cancel_for_one_of_two_keys_takes_the_time_out(kafka: Adapter) -> None:
    """
    Given an operation under two keys
    When one of them is cancelled and its delay passes
    Then it never expires, though it still waits under the other one
    """
    kafka.new("purgatory")
    watch(kafka, "a", "k", "l", "k")
    assert kafka.do("cancel_for_key", key="k") == {
        "result": ["a", "a"],
        "observed": seen(1, 1, estimate=1),
    }
    assert kafka.do("advance", to_ms=5000) == {"observed": seen(1, 1, estimate=1)}
    assert kafka.do("satisfy", operation="a") == {"observed": seen(1, 1, estimate=1)}
    assert kafka.do("check", key="l") == {
        "result": 1,
        "events": events("tried completed", "a"),
        "observed": seen(0, 0, estimate=1, callback=0),
    }
    assert kafka.do("cancel_for_key", key="k") == {"result": [], "observed": seen(0, 0, estimate=1)}


@pytest.mark.parametrize("again", [False, True])
def test_watching_what_is_completed_differs_between_releases(
    kafka: Adapter, release: str, again: bool
) -> None:
    """
    Given an operation that was completed, watched before or not
    When it is watched
    Then 3.9.1 adds it to the list and 4.x does not, though both count it; 2.4.1 does neither
    """
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


def test_a_throwing_second_try_leaves_it_watched_without_time_out(kafka: Adapter) -> None:
    """
    Given an operation whose second and third tries throw
    When it is watched, its delay passes and its key is checked
    Then the caller gets the exception each time; it waits, and does not expire
    """
    kafka.new("purgatory")
    thrown = {"rejected": "thrown", "detail": SCRIPT_FAILURE}
    assert watch(kafka, "a", "k", tries=["wait", "throw"]) == {
        **thrown,
        "events": events("tried tried", "a"),
        "observed": seen(1, 1, estimate=1),
    }
    assert kafka.do("advance", to_ms=5000) == {"observed": seen(1, 1, estimate=1)}
    watch(kafka, "b", "k", delay=9)
    assert kafka.do("check", key="k") == {
        **thrown,
        "events": events("tried", "a"),
        "observed": seen(2, 1, timer=1, estimate=2),
    }


def test_a_throwing_first_try_leaves_no_trace(kafka: Adapter) -> None:
    kafka.new("purgatory")
    assert watch(kafka, "a", "k", tries=["throw"]) == {
        "rejected": "thrown",
        "detail": SCRIPT_FAILURE,
        "events": events("tried", "a"),
        "observed": seen(0, 0, estimate=0),
    }


def test_no_key_is_an_error_of_the_kind_that_the_release_has(kafka: Adapter, release: str) -> None:
    """
    Given an operation without keys
    When it is watched
    Then 4.x takes it for an illegal argument; before, an assertion fails
    """
    kafka.new("purgatory")
    answer = {"rejected": "internal", "detail": "java.lang.AssertionError"}
    if release.startswith("4."):
        answer = {
            "rejected": "invalid_argument",
            "detail": "java.lang.IllegalArgumentException",
        }
    assert watch(kafka, "a") == {**answer, "observed": seen(0, 0, estimate=0)}


def test_a_name_stands_for_one_operation(kafka: Adapter) -> None:
    """
    Given an operation with a delay and a script, and another that was only forced
    When they are watched with other delays and scripts
    Then what they were introduced with holds
    """
    kafka.new("purgatory")
    watch(kafka, "a", "k", tries=["wait", "wait", "complete"])
    assert watch(kafka, "a", "l", delay=9, tries=["throw"]) == {
        "result": True,
        "events": events("tried completed", "a"),
        "observed": seen(1, 1, (1, 1), estimate=1, callback=0),
    }
    kafka.do("satisfy", operation="b")
    assert watch(kafka, "b", "k", tries=["throw"]) == {
        "result": True,
        "events": events("tried completed", "b"),
        "observed": seen(1, 1, (1, 1), estimate=1, callback=0),
    }


def test_callbacks_act_and_only_a_throw_ends_their_script(kafka: Adapter) -> None:
    """
    Given callbacks that watch, check, cancel and force, some in vain
    When their operation expires and runs
    Then each action has its effect, refused ones are reported, and a throw ends the callback
    """
    kafka.new("purgatory")
    watch(kafka, "other", "o", delay=99, on_complete=[{"do": "throw"}])
    on_complete = [
        {"do": "force", "operation": "other"},
        {"do": "watch", "operation": "later", "keys": ["m"], "delay_ms": 7},
        {"do": "check", "key": "o"},
        {"do": "force", "operation": "a"},
    ]
    on_expiration = [
        {"do": "cancel_for_key", "key": "m"},
        {"do": "throw"},
        {"do": "force", "operation": "later"},
    ]
    watch(kafka, "a", "k", on_complete=on_complete, on_expiration=on_expiration)
    watch(kafka, "b", "l")
    assert kafka.do("advance", to_ms=5)["observed"] == seen(3, 3, timer=1, queued=2, estimate=3)
    assert kafka.do("run_one") == {
        "events": [
            *events("completed", "a", "other"),
            rejected("a", "thrown"),
            *events("tried tried", "later"),
            *events("timed_out", "a"),
        ],
        "observed": seen(2, 2, (1, 1), queued=1, estimate=4, callback=0),
    }
    assert kafka.do("run_one")["events"] == events("completed timed_out", "b")


def test_an_exception_in_the_executor_skips_on_expiration_and_nothing_else(kafka: Adapter) -> None:
    kafka.new("purgatory")
    watch(kafka, "a", "k", on_complete=[{"do": "throw"}])
    watch(kafka, "b", "k")
    kafka.do("advance", to_ms=5)
    assert kafka.do("run_one") == {
        "events": events("completed", "a"),
        "observed": seen(2, 1, (1, 1), queued=1, estimate=2, callback=0),
    }
    assert kafka.do("run_one")["events"] == events("completed timed_out", "b")


def test_a_purgatory_without_time_outs_arms_nothing(kafka: Adapter) -> None:
    kafka.new("purgatory", time_outs=False, purge_interval=1)
    watch(kafka, "a", "k", delay=0)
    assert kafka.do("advance", to_ms=9) == {"observed": seen(1, 1, estimate=1)}
    watch(kafka, "b", "k", delay=0)
    assert kafka.do("advance", to_ms=9) == {"observed": seen(2, 1, estimate=0)}


def test_shutdown_closes_the_executor_alone(kafka: Adapter) -> None:
    """
    Given a purgatory that is shut down, twice
    When operations are watched, due at once and later, and time goes on
    Then all are taken; their expiry is refused by the executor; checks go on working
    """
    kafka.new("purgatory", start_ms=100)
    watch(kafka, "a", "k")
    for _ in range(2):
        assert kafka.do("shutdown") == {"observed": seen(1, 1, timer=1, estimate=1)}
    assert watch(kafka, "b", "k", delay=0) == {
        "rejected": "closed",
        "detail": REJECTED_EXECUTION,
        "events": events("tried tried", "b"),
        "observed": seen(2, 1, timer=1, estimate=2),
    }
    assert watch(kafka, "c", "k", delay=1)["observed"] == seen(3, 1, timer=2, estimate=3)
    assert kafka.do("advance", to_ms=101)["rejected"] == "closed"
    kafka.do("satisfy", operation="c")
    assert kafka.do("check", key="k") == {
        "result": 1,
        "events": [*events("tried", "a", "b"), *events("tried completed", "c")],
        "observed": seen(2, 1, timer=1, estimate=3, callback=1),
    }


def test_thousands_of_instances_leave_nothing_behind(kafka: Adapter) -> None:
    """
    Given purgatories made one after the other, each of which registers its gauges
    When two thousand were made, among timers and pools
    Then the last one begins as empty as the first
    """
    for number in range(2000):
        kafka.new(("purgatory", "memory_pool")[number % 2])
    kafka.new("purgatory")
    assert kafka.do("run_one") == {"observed": seen(0, 0, estimate=0)}
