"""Reported bugs that threads alone show: plain ``threading`` classes, and the table of them.

They live here and not among the wrong subjects of the suite, since what finds them does: a schedule
(``purgatory schedule``). A module stands alone, because that imports it anew for each run.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Threaded:
    """A reported bug that a schedule shows.

    Attributes:
        report: The public report, ``project#number``; several are divided by commas.
        mechanism: A sentence of how threads come to harm.
        rule: The rule that is broken.
        name: The wrong class, ``module:factory`` in this package.
        right: A class without the bug, in the same form.
    """

    report: str
    mechanism: str
    rule: str
    name: str
    right: str

    @property
    def word(self) -> str:
        """Return the word that ``purgatory schedule`` takes."""
        return f"{__name__}.{self.name}"


THREADED = (
    Threaded(
        "hutool#2712",
        "Two threads make the bucket of one tick, and the task in the first is lost.",
        "TIMER-EXACTLY-ONCE",
        "timers:lost_bucket",
        "timers:buckets",
    ),
    Threaded(
        "xxl-job#3527",
        "An add appends to the bucket that it has found, which the timer has emptied since.",
        "TIMER-EXACTLY-ONCE",
        "timers:emptied_bucket",
        "timers:buckets",
    ),
    Threaded(
        "loongcollector#2399, ntf-core#395",
        "The thread looks how long it may wait, and misses a wake-up before it waits.",
        "TIMER-EXACTLY-ONCE",
        "timers:loses_a_wake_up",
        "timers:reaper",
    ),
    Threaded(
        "hertzbeat#3173",
        "A task that is cancelled as it expires is counted off twice.",
        "TIMER-SIZE",
        "timers:counted_twice",
        "timers:buckets",
    ),
    Threaded(
        "zio#1468",
        "An add looks whether the timer is open, which is then shut down, and adds all the same.",
        "TIMER-SHUTDOWN-DROPS",
        "timers:closed_between",
        "timers:buckets",
    ),
    Threaded(
        "llvm-project#86888",
        "Callbacks run under the timer's lock, and their user adds under a lock that they take.",
        "TIMER-NOT-LATE",
        "timers:runs_under_its_lock",
        "timers:buckets_of_a_user",
    ),
    Threaded(
        "osv#287",
        "A task's lock is taken under the timer's as it expires, and the other way elsewhere.",
        "TIMER-NOT-LATE",
        "timers:in_both_orders",
        "timers:lock_of_each_task",
    ),
    Threaded(
        "KAFKA-6653",
        "A check passes over an operation that another thread is trying in vain.",
        "PURGATORY-WATCH-WAITS",
        "purgatories:passed_over",
        "purgatories:waits_for_the_operation",
    ),
    Threaded(
        "resgate#114",
        "An event and a time-out, or two events, complete one operation.",
        "PURGATORY-EXACTLY-ONCE",
        "purgatories:completed_by_both",
        "purgatories:waits_for_the_operation",
    ),
    Threaded(
        "reactor-netty#4073",
        "A time-out is armed although its operation was completed just before.",
        "PURGATORY-TIMER-LEFT",
        "purgatories:armed_too_late",
        "purgatories:waits_for_the_operation",
    ),
    Threaded(
        "FEX#3881",
        "A pool looks before it takes its lock, and not again under it.",
        "POOL-BOUND",
        "pools:looks_outside",
        "pools:under_one_lock",
    ),
    Threaded(
        "DitchOoM/buffer#384",
        "Two threads see that a buffer was not released, and both release it.",
        "POOL-RELEASE-AGAIN",
        "pools:released_twice",
        "pools:under_one_lock",
    ),
    Threaded(
        "DitchOoM/buffer#374",
        "A count is changed in two steps without a lock, and one of two changes is lost.",
        "POOL-STRICT",
        "pools:counts_without_a_lock",
        "pools:under_one_lock",
    ),
)
"""The bugs, in the order of the components."""
