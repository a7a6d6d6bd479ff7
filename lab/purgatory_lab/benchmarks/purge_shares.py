"""Shares of purges in the processor's time, and the length of their stops.

    python -m purgatory_lab.benchmarks.purge_shares
    python -m purgatory_lab.benchmarks.purge_shares --live 20000 --keys each --purge-due fixed

Operations wait, 1,000 keys or a key each. Beside them one thread watches others and forces them at
once, so that each leaves a stale entry to the purges, which another thread makes. Both threads'
processor time is read, so that the figures hold beside other programs; the longest stop is by the
clock, and holds on a quiet machine alone. Python's collector is off: it would look at all that
lives, and stop the thread that makes objects.
"""

import gc
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import click

from purgatory_impl import COMPILED, DelayedOperation, Purgatory
from purgatory_lab.benchmarks.python_peer.costs import expect
from purgatory_lab.documents import number, table

TIME_OUT_MS = 3_600_000
KEYS = 1000
_CYCLES = 4
"""The number of amortised purges that are waited for."""


class _Waits(DelayedOperation):
    """An operation that nothing but force completes."""

    __slots__ = ()

    def try_complete(self) -> bool:
        """Return false: only force completes the operation."""
        return False


@dataclass(frozen=True)
class Share:
    """The figures beside so many live operations.

    Attributes:
        live: How many operations waited.
        keys: ``1,000`` or ``each``.
        purge_due: ``amortised`` or ``fixed``.
        caller_ns: Thread time of the thread that watches and forces, for each operation.
        purge_ns: Thread time of the thread that purges, for each operation.
        longest_stop_ms: The longest time between two operations of the caller.
        most_stale: The most stale entries that the caller has seen.
    """

    live: int
    keys: str
    purge_due: str
    caller_ns: float
    purge_ns: float
    longest_stop_ms: float
    most_stale: int

    @property
    def percent(self) -> float:
        """Return the purges' share of the processor, percent."""
        return 100 * self.purge_ns / (self.purge_ns + self.caller_ns)


def measured(live: int, keys: str, purge_due: str, operations: int) -> Share:
    """Measure one setting with so many operations that come and go, or more.

    Raises:
        CannotMeasure: an entry was lost.
    """
    key_of: Callable[[int], int] = (lambda serial: serial % KEYS) if keys != "each" else int
    amortised = purge_due == "amortised"
    purgatory: Purgatory[int] = Purgatory(purge_due="amortised" if amortised else "fixed")
    with purgatory:
        for serial in range(live):
            purgatory.try_complete_else_watch(_Waits(TIME_OUT_MS), (key_of(serial),))
        collects = gc.isenabled()
        gc.collect()
        gc.disable()
        try:
            count = max(operations, _CYCLES * live // 2) if amortised else operations
            share = _churned(purgatory, key_of, live, count)
        finally:
            if collects:
                gc.enable()
    # No other thread purges any longer.
    purgatory._lists.sweep(purgatory._accounting.post)
    expect("entries that live", live, purgatory.entries)
    caller_ns, purge_ns, longest_stop_ms, most_stale = share
    return Share(live, keys, purge_due, caller_ns, purge_ns, longest_stop_ms, most_stale)


def _churned(
    purgatory: Purgatory[int], key_of: Callable[[int], int], live: int, count: int
) -> tuple[float, float, float, int]:
    """Watch and force so many operations; the figures of ``Share`` in their order."""
    reaper = purgatory._reaper
    assert reaper is not None
    purge_before, caller_before = _thread_ns(reaper), time.thread_time_ns()
    last = time.perf_counter()
    longest, most_stale = 0.0, 0
    for serial in range(live, live + count):
        operation = _Waits(TIME_OUT_MS)
        purgatory.try_complete_else_watch(operation, (key_of(serial),))
        operation.force_complete()
        now = time.perf_counter()
        longest = max(longest, now - last)
        last = now
        if serial % 1000 == 0:
            most_stale = max(most_stale, purgatory.stale)
    caller_ns = time.thread_time_ns() - caller_before
    # A purge that is under way is paid for in full.
    while purgatory.stale > purgatory._accounting.threshold(live):
        time.sleep(0.01)
    purge_ns = _thread_ns(reaper) - purge_before
    return caller_ns / count, purge_ns / count, longest * 1000, most_stale


def _thread_ns(thread: threading.Thread) -> int:
    """Return the processor time of a thread that is alive, ns."""
    assert thread.ident is not None
    return time.clock_gettime_ns(time.pthread_getcpuclockid(thread.ident))


_HEAD = (
    *("live", "keys", "purge due", "caller, ns", "purges, ns", "share", "longest stop, ms"),
    "most stale",
)


def table_of(shares: list[Share]) -> str:
    """Return the shares as Markdown."""
    rows = (
        (
            *(number(each.live), each.keys, each.purge_due),
            *(number(each.caller_ns), number(each.purge_ns), f"{each.percent:.0f} %"),
            *(number(each.longest_stop_ms, 1), number(each.most_stale)),
        )
        for each in shares
    )
    return table(_HEAD, rows, left=("keys", "purge due"))


@click.command()
@click.option(
    "--live",
    type=click.IntRange(min=0),
    multiple=True,
    default=(20_000, 200_000, 1_000_000),
    show_default=True,
    help="How many operations wait.",
)
@click.option(
    "--keys", type=click.Choice(["1,000", "each"]), multiple=True, default=("1,000", "each")
)
@click.option(
    "--purge-due",
    type=click.Choice(["amortised", "fixed"]),
    multiple=True,
    default=("amortised", "fixed"),
)
@click.option(
    "--operations",
    type=click.IntRange(min=1),
    default=400_000,
    show_default=True,
    help="How many come and go, at least.",
)
def main(
    live: tuple[int, ...], keys: tuple[str, ...], purge_due: tuple[str, ...], operations: int
) -> None:
    """Measure what purges cost each operation, in the build that is installed."""
    build = "compiled" if COMPILED else "interpreted"
    click.echo(f"{build}, processor time for each operation that is watched and forced\n")
    shares = [
        measured(each, under, due, operations)
        for due in purge_due
        for under in keys
        for each in live
    ]
    click.echo(table_of(shares))


if __name__ == "__main__":
    main()
