"""The counts of the timer and of the timing wheel."""

from collections.abc import Mapping

from purgatory_tla.views.parts import entries, members, number
from purgatory_tla.views.sayings import State


def timer(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the clock, the pending tasks with their due ticks, the executor's queue."""
    return {"clock": number(state, "now"), "pending": state["due"], "queue": state["queue"]}


def timing_wheel(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the clocks, the pending tasks' number, the levels, both queues.

    A bucket is shown as level, expiry and tasks.
    """
    places = entries(state["places"])
    tasks = {
        bucket: sorted(str(task) for task, place in places.items() if place == bucket)
        for bucket in members(state["buckets"])
    }
    shown = sorted(
        f"level {bucket[1]} at {bucket[0]}: {' '.join(inside) or 'empty'}"
        for bucket, inside in tasks.items()
        if isinstance(bucket, tuple)
    )
    return {
        "clock": number(state, "now"),
        "own clock": number(state, "ownClock"),
        "pending": len(places),
        "levels": number(state, "levels"),
        "buckets": "; ".join(shown) or "none",
        "queue": state["queue"],
    }


def timing_wheel_steps(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the clock, the timer's size, the levels, the buckets in use, the executor's queue.

    A bucket is in use while tasks are in it or it is in the delay queue.
    """
    stamps, queued = entries(state["stamp"]), entries(state["queued"])
    shown = sorted(
        f"level {bucket[0]} at {stamps[bucket]}: {' '.join(map(str, tasks)) or 'empty'}"
        f"{'' if queued[bucket] else ', not queued'}"
        for bucket, tasks in entries(state["line"]).items()
        if isinstance(bucket, tuple) and isinstance(tasks, list) and (tasks or queued[bucket])
    )
    return {
        "clock": number(state, "now"),
        "size": number(state, "size"),
        "levels": number(state, "levels"),
        "buckets": "; ".join(shown) or "none",
        "queue": state["queue"],
    }
