"""Operations whose tries and callbacks call each other's: nobody waits inside, nothing is lost."""

import logging
import threading
from collections.abc import Callable, Iterator
from random import Random

import pytest

from purgatory_impl import DelayedOperation, InlineExecutor, Purgatory, Timer, VirtualClock
from purgatory_impl.left_operations import ASKS, LEFT

from .purgatory_bench import Planned, nothing
from .threads import LONG_S, in_threads

PLACES = ("try", "callback")
PATIENCE_S = 0.02
"""The time that a try waits for another one beside it, s; no result of a test depends on it."""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Check before and after each test that nothing is left to others, and no thread serves."""
    assert (ASKS, list(LEFT.ready), LEFT.server) == ({}, [], 0)
    yield
    assert (ASKS, list(LEFT.ready), LEFT.server) == ({}, [], 0)


class Settled(DelayedOperation):
    """An operation whose answer is settled when a try begins, and given after what it does."""

    def __init__(self, name: str, log: list[str], delay_ms: int = 1000) -> None:
        super().__init__(delay_ms)
        self.name = name
        self.log = log
        self.ready = False
        self.during_try: Callable[[], object] = nothing
        self.during_complete: Callable[[], object] = nothing

    def try_complete(self) -> bool:
        self.log.append(f"try {self.name}")
        ready = self.ready
        self.during_try()
        return ready and self.force_complete()

    def on_complete(self) -> None:
        self.log.append(f"complete {self.name}")
        self.during_complete()

    def on_expiration(self) -> None:
        self.log.append(f"expire {self.name}")

    def _left(self) -> None:
        self.log.append(f"left {self.name}")


class Pair:
    """Two operations, ``a`` under the key a and ``b`` under b."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.clock = VirtualClock()
        timer = Timer(clock=self.clock, executor=InlineExecutor())
        self.purgatory = Purgatory[str](timer=timer, purge_interval=100)
        self.a = Settled("a", self.log)
        self.b = Settled("b", self.log, delay_ms=10)
        for operation in (self.a, self.b):
            self.purgatory.try_complete_else_watch(operation, [operation.name])
        self.log.clear()
        # Of the thread that stands in the try of b; none where its check has raised.
        self.checked: int | None = None

    def call(self, way: str) -> object:
        """Call what needs the own lock of b."""
        if way in ("check", "watch"):
            self.b.ready = True
        match way:
            case "check":
                return self.purgatory.check_and_complete("b")
            case "watch":
                return self.purgatory.try_complete_else_watch(self.b, ["c"])
            case "force":
                return self.b.force_complete()
            case "abandon":
                return self.purgatory.abandon(self.b)
            case "expire":
                self.clock.set_ms(20)
                self.purgatory.advance()
            case _:
                self.b.run()
        return None

    def inside_a(self, place: str, call: Callable[[], object]) -> object:
        """Make a call in the try, or in the callback, of a; what it returns."""
        returned: list[object] = []
        if place == "try":
            self.a.during_try = lambda: returned.append(call())
        else:
            self.a.ready = True
            self.a.during_complete = lambda: returned.append(call())
        assert self.purgatory.check_and_complete("a") == (place == "callback")
        return returned[0]

    def while_b_is_tried(
        self, call: Callable[[], object], then: Callable[[], object] = nothing
    ) -> object:
        """Return the result of a call beside another thread in the try of b, which then goes on."""
        inside, go_on = threading.Event(), threading.Event()
        returned: list[object] = []

        def stand() -> None:
            self.b.during_try = nothing
            inside.set()
            assert go_on.wait(LONG_S)
            then()

        def check_b() -> None:
            try:
                self.checked = self.purgatory.check_and_complete("b")
            except Planned:
                self.log.append("thrown")

        self.b.during_try = stand
        standing = threading.Thread(target=check_b, daemon=True)
        calling = threading.Thread(target=lambda: returned.append(call()), daemon=True)
        standing.start()
        assert inside.wait(LONG_S)
        calling.start()
        calling.join(LONG_S)
        stands = not calling.is_alive()
        go_on.set()
        for thread in (standing, calling):
            thread.join(LONG_S)
            assert not thread.is_alive()
        assert stands, "the call has waited for the try of b"
        return returned[0]

    def of_b(self) -> list[str]:
        """Return the events of b so far."""
        return [words for words in self.log if words.endswith("b") or words == "thrown"]

    def settle(self) -> None:
        """Let every time-out come and every stale entry go: then every count is zero."""
        self.clock.set_ms(10_000)
        self.purgatory.advance()
        self.purgatory._lists.sweep(self.purgatory._accounting.post)
        counts = (self.purgatory.entries, self.purgatory.stale, self.purgatory.pending)
        assert (*counts, self.purgatory.timer_size) == (0, 0, 0, 0)


WAYS = {
    "check": (0, 1, ["try b", "try b", "complete b"]),
    "watch": (False, 1, ["try b", "try b", "complete b"]),
    "force": (False, 1, ["try b", "complete b"]),
    "abandon": (False, 0, ["try b", "left b"]),
    "expire": (None, 0, ["try b", "complete b", "expire b"]),
    "run": (None, 0, ["try b", "complete b", "expire b"]),
}
"""The result of each call, that of the check of b under way, and the events of b."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_who_is_inside_leaves_an_operation_to_the_thread_that_tries_it(
    way: str, place: str
) -> None:
    """That returns at once and claims nothing."""
    pair = Pair()
    returned, claimed, happened = WAYS[way]
    assert pair.while_b_is_tried(lambda: pair.inside_a(place, lambda: pair.call(way))) == returned
    assert pair.checked == claimed
    assert pair.of_b() == happened
    assert (pair.b.is_completed, pair.b.is_abandoned) == (way != "abandon", way == "abandon")
    pair.settle()


@pytest.mark.parametrize("way", WAYS)
def test_what_the_present_try_completes_nobody_completes_again(way: str) -> None:
    """The try completes b, and what was left comes too late."""
    pair = Pair()
    pair.b.ready = True
    pair.while_b_is_tried(lambda: pair.inside_a("try", lambda: pair.call(way)))
    assert (pair.checked, pair.of_b()) == (1, ["try b", "complete b"])
    assert pair.b.is_completed
    pair.settle()


@pytest.mark.parametrize("way", WAYS)
def test_a_try_that_throws_loses_nothing_that_was_left_to_it(way: str) -> None:
    """Do the calls that were left to b, and raise the exception in the caller of the check."""

    def throw() -> None:
        raise Planned

    pair = Pair()
    pair.while_b_is_tried(lambda: pair.inside_a("try", lambda: pair.call(way)), then=throw)
    *happened, last = pair.of_b()
    assert (happened, last) == (WAYS[way][2], "thrown")
    pair.settle()


def test_everything_at_once_is_left_and_done_in_an_order() -> None:
    """B is tried, completed by that, and nothing else happens to it."""
    pair = Pair()

    def call_all() -> None:
        for way in (*WAYS, *WAYS):
            assert not pair.call(way)

    pair.while_b_is_tried(lambda: pair.inside_a("try", call_all))
    assert (pair.checked, pair.of_b()) == (1, ["try b", "try b", "complete b"])
    pair.settle()


def test_two_time_outs_that_were_left_are_one_and_both_are_counted_out() -> None:
    """It expires once, and no time-out is owed."""
    pair = Pair()

    def expire_twice() -> None:
        pair.purgatory._accounting.begin_time_out(pair.b)
        for _ in range(2):
            pair.call("expire")
            pair.b.run()

    pair.while_b_is_tried(lambda: pair.inside_a("try", expire_twice))
    assert pair.of_b() == ["try b", "complete b", "expire b"]
    pair.settle()


def test_a_time_out_that_was_left_throws_where_the_executor_logs_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The check of that thread returns, and the executor logs the exception."""

    def throw() -> None:
        raise Planned

    pair = Pair()
    pair.b.during_complete = throw
    with caplog.at_level(logging.ERROR, "purgatory"):
        pair.while_b_is_tried(lambda: pair.inside_a("try", lambda: pair.call("expire")))
    assert (pair.checked, pair.of_b()) == (0, ["try b", "complete b"])
    assert [record.exc_info and record.exc_info[0] for record in caplog.records] == [Planned]
    pair.settle()


def test_a_thread_that_is_inside_nothing_waits() -> None:
    """That waits, tries b itself, and claims it: what has returned has been done."""
    pair = Pair()
    waits = threading.Event()
    counts: list[object] = []

    def check() -> None:
        waits.set()
        counts.append(pair.call("check"))

    calling = threading.Thread(target=check)

    def stand() -> None:
        pair.b.during_try = nothing
        calling.start()
        assert waits.wait(LONG_S)

    pair.b.during_try = stand
    assert pair.purgatory.check_and_complete("b") == 0
    calling.join(LONG_S)
    assert counts == [1]
    pair.settle()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", ["check", "force"])
@pytest.mark.parametrize("ring", [2, 3])
def test_a_ring_of_operations_ends(ring: int, way: str, place: str) -> None:
    """Every check returns, each operation is completed once."""
    log: list[str] = []
    timer = Timer(clock=VirtualClock(), executor=InlineExecutor())
    purgatory = Purgatory[int](timer=timer)
    operations = [Settled(str(number), log) for number in range(ring)]
    for number, operation in enumerate(operations):
        purgatory.try_complete_else_watch(operation, [number])
    together = threading.Barrier(ring)
    claims: list[int] = []

    def call_next(number: int) -> None:
        mine, following = operations[number], operations[(number + 1) % ring]
        mine.during_try = mine.during_complete = nothing
        together.wait(LONG_S)
        following.ready = True
        if way == "check":
            claims.append(purgatory.check_and_complete((number + 1) % ring))
        else:
            claims.append(following.force_complete())

    def act(number: int) -> Callable[[], None]:
        return lambda: call_next(number)

    for number, operation in enumerate(operations):
        if place == "try":
            operation.during_try = act(number)
        else:
            operation.ready = True
            operation.during_complete = act(number)

    def check(number: int) -> Callable[[], None]:
        return lambda: claims.append(purgatory.check_and_complete(number))

    in_threads(*map(check, range(ring)))
    assert [operation.is_completed for operation in operations] == [True] * ring
    assert sum(words.startswith("complete") for words in log) == ring
    assert sum(claims) == ring
    purgatory._lists.sweep(purgatory._accounting.post)
    assert (purgatory.entries, purgatory.stale, purgatory.pending) == (0, 0, 0)


def test_two_operations_that_always_check_each_other_do_not_go_on_for_ever() -> None:
    """Both checks return after a few tries: those that are made for the other do not overlap."""
    pair = Pair()
    inside = {"a": threading.Event(), "b": threading.Event()}

    def check_other(mine: str, other: str) -> None:
        if inside[mine].is_set():
            return
        inside[mine].set()
        inside[other].wait(PATIENCE_S)
        pair.purgatory.check_and_complete(other)
        inside[mine].clear()

    counts: list[int] = []
    pair.a.during_try = lambda: check_other("a", "b")
    pair.b.during_try = lambda: check_other("b", "a")
    in_threads(
        lambda: counts.append(pair.purgatory.check_and_complete("a")),
        lambda: counts.append(pair.purgatory.check_and_complete("b")),
    )
    assert counts == [0, 0]
    assert 2 <= len(pair.log) <= 20
    pair.settle()


def test_crowds_of_operations_that_check_and_force_each_other(eager_switching: None) -> None:
    """Every call returns; each operation is completed once, and in the end nothing is counted."""
    for seed in range(40):
        log: list[str] = []
        timer = Timer(clock=VirtualClock(), executor=InlineExecutor())
        purgatory = Purgatory[int](timer=timer, purge_interval=3)
        operations = [Settled(str(number), log) for number in range(8)]
        random = Random(seed)

        def call(own: Random, operations: list[Settled], purgatory: Purgatory[int]) -> None:
            number = own.randrange(8)
            match own.randrange(6):
                case 0:
                    operations[number].force_complete()
                case 1:
                    operations[number].ready = True
                    purgatory.check_and_complete(number)
                case 2:
                    purgatory.try_complete_else_watch(operations[number], [8])
                case 3:
                    purgatory.cancel_for_key(8)
                case _:
                    purgatory.check_and_complete(number)

        for number, operation in enumerate(operations):
            purgatory.try_complete_else_watch(operation, [number])
            others = [random.random() for _ in range(4)]

            def act(
                others: list[float] = others,
                operations: list[Settled] = operations,
                purgatory: Purgatory[int] = purgatory,
            ) -> None:
                if others:
                    call(Random(others.pop()), operations, purgatory)

            operation.during_try = operation.during_complete = act

        def use(
            own: Random,
            operations: list[Settled] = operations,
            purgatory: Purgatory[int] = purgatory,
        ) -> Callable[[], None]:
            def body() -> None:
                for _ in range(20):
                    call(own, operations, purgatory)

            return body

        in_threads(*(use(Random(f"{seed} {thread}")) for thread in range(4)))
        for operation in operations:
            operation.force_complete()
        assert sorted(w for w in log if w.startswith("complete")) == [
            f"complete {number}" for number in range(8)
        ]
        purgatory._lists.sweep(purgatory._accounting.post)
        assert (purgatory.entries, purgatory.stale, purgatory.pending) == (0, 0, 0)
