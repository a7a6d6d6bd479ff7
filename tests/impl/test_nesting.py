"""Nest completions that callbacks cause: beyond the bound nothing crashes or is lost."""

# A stack that is too small ends the whole process. So each chain runs in a process of its own.

import subprocess
import sys
import threading

import pytest

from purgatory_impl import DelayedOperation
from purgatory_impl.operation_locks import BYTES_BESIDE, BYTES_PER_LOCK, MOST_NESTED, NESTING
from purgatory_impl.stacks import stack_bytes

from .threads import LONG_S, in_threads

SMALL_STACK_BYTES = 256 * 1024
USUAL_STACK_BYTES = 8 * 1024 * 1024
USUAL_LIMIT = 1000
RAISED_LIMIT = 1_000_000
WAYS = ("force", "check", "cancel", "watch", "run", "time-out", "fan-out", "try")

PROGRAM = """
import sys
import threading

from purgatory_impl import DelayedOperation, InlineExecutor, Purgatory, Timer, VirtualClock

way, length, stack_bytes, limit = sys.argv[1], *map(int, sys.argv[2:])
clock = VirtualClock()
timer = Timer(clock=clock, executor=InlineExecutor())
purgatory = Purgatory(timer=timer)
refusals = []
depth = deepest = 0


class Link(DelayedOperation):
    def __init__(self, place):
        super().__init__(1 if way == "time-out" and place == 0 else 1000)
        self.place, self.ready, self.calls = place, False, 0

    def try_complete(self):
        if self.ready and way == "try":
            self.enter(self.try_following)
        return self.ready and self.force_complete()

    def on_complete(self):
        self.calls += 1
        if way != "try":
            self.enter(self.go_on)

    def enter(self, action):
        global depth, deepest
        depth += 1
        deepest = max(depth, deepest)
        try:
            if self.place + 1 < length:
                action()
        except RecursionError as refusal:
            refusals.append(str(refusal))
        finally:
            depth -= 1

    def try_following(self):
        links[self.place + 1].ready = True
        purgatory.check_and_complete(self.place + 1)

    def go_on(self):
        following = links[self.place + 1]
        following.ready = True
        if way == "check":
            purgatory.check_and_complete(following.place)
        elif way == "cancel":
            for operation in purgatory.cancel_for_key(following.place):
                operation.force_complete()
        elif way == "watch":
            purgatory.try_complete_else_watch(following, [following.place])
        elif way == "run":
            following.run()
        else:
            following.force_complete()
        if way == "fan-out":
            for further in links[self.place + 2 : self.place + 5]:
                further.force_complete()


links = [Link(place) for place in range(length)]
for link in links:
    if way != "watch" or link.place == 0:
        purgatory.try_complete_else_watch(link, [link.place])


def begin():
    links[0].ready = True
    if way == "time-out":
        clock.set_ms(1)
        timer.advance()
    elif way == "try":
        purgatory.check_and_complete(0)
    else:
        links[0].force_complete()


sys.setrecursionlimit(limit)
threading.stack_size(stack_bytes)
thread = threading.Thread(target=begin)
thread.start()
thread.join()

# What was refused has changed nothing: it can be completed now, once, with its time-out.
left = [link for link in links if not link.is_completed]
way = "nothing more"
for link in left:
    link.place = length
    assert link.force_complete()
assert [link.calls for link in links] == [1] * length
assert purgatory.pending == 0, purgatory.pending
print(deepest, len(left), *refusals[:1])
"""


def chain(way: str, length: int, stack_bytes: int, limit: int) -> tuple[int, int, str]:
    """Run a chain of completions in a process; how deep it went, what was left, and the refusal."""
    arguments = [way, *map(str, (length, stack_bytes, limit))]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=5 * LONG_S,
        check=False,
    )
    assert ended.returncode == 0, (ended.returncode, ended.stderr)
    deepest, left, *words = ended.stdout.strip().split(" ", 2)
    return int(deepest), int(left), "".join(words)


@pytest.mark.parametrize("way", WAYS)
def test_a_long_chain_on_a_small_stack_is_refused_at_the_bound(way: str) -> None:
    """One call is refused at the bound; what it left is completed later, once."""
    deepest, left, words = chain(way, 500, SMALL_STACK_BYTES, USUAL_LIMIT)
    assert deepest <= MOST_NESTED
    assert deepest >= MOST_NESTED // 2
    assert left > 0 or way == "fan-out"
    assert f"{MOST_NESTED} deep" in words


@pytest.mark.parametrize("stack_kib", [32, 96, 128])
@pytest.mark.parametrize("way", WAYS)
def test_a_stack_that_is_smaller_has_room_for_fewer(way: str, stack_kib: int) -> None:
    """A call is refused with a word of the stack, and the process goes on."""
    room = (stack_kib * 1024 - BYTES_BESIDE) // BYTES_PER_LOCK
    deepest, left, words = chain(way, 500, stack_kib * 1024, RAISED_LIMIT)
    assert room // 2 <= deepest <= room < MOST_NESTED
    assert left > 0 or way == "fan-out"
    assert f"{room} deep in this thread; its stack has room for no more" in words


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no thread is asked")
def test_the_stack_is_the_threads_own_whatever_the_program_sets_later() -> None:
    """Each thread is told of its own stack."""
    told: list[int | None] = []
    reset = threading.Event()

    def ask() -> None:
        assert reset.wait(LONG_S)
        told.append(stack_bytes())

    before = threading.stack_size(96 * 1024)
    try:
        thread = threading.Thread(target=ask)
        thread.start()
    finally:
        threading.stack_size(before)
    reset.set()
    thread.join(LONG_S)
    in_threads(lambda: told.append(stack_bytes()))
    small, usual = told
    assert small is not None
    assert usual is not None
    assert 90 * 1024 <= small <= 96 * 1024 < usual


@pytest.mark.parametrize("stack", [SMALL_STACK_BYTES, USUAL_STACK_BYTES])
@pytest.mark.parametrize("way", ["force", "check"])
def test_a_raised_recursion_limit_changes_nothing(way: str, stack: int) -> None:
    """Given a chain of 12,000 operations, and a limit of a million."""
    deepest, left, words = chain(way, 12_000, stack, RAISED_LIMIT)
    assert MOST_NESTED // 2 <= deepest <= MOST_NESTED
    assert left == 12_000 - deepest
    assert f"{MOST_NESTED} deep" in words


@pytest.mark.parametrize("way", WAYS)
def test_a_chain_within_the_bound_is_completed_inside(way: str) -> None:
    """The control: what is short is nested as ever, and refused nowhere."""
    assert chain(way, MOST_NESTED // 3, SMALL_STACK_BYTES, USUAL_LIMIT) == (MOST_NESTED // 3, 0, "")


class Meets(DelayedOperation):
    """Waits in its callback until all others of its crowd are in theirs."""

    def __init__(self, crowd: threading.Barrier) -> None:
        super().__init__(1000)
        self.crowd = crowd

    def try_complete(self) -> bool:
        return False

    def on_complete(self) -> None:
        self.crowd.wait(timeout=LONG_S)
        Ends(MOST_NESTED // 4).force_complete()
        self.crowd.wait(timeout=LONG_S)


class Ends(DelayedOperation):
    """Completes some more of its kind, one inside another."""

    def __init__(self, more: int) -> None:
        super().__init__(1000)
        self.more = more

    def try_complete(self) -> bool:
        return False

    def on_complete(self) -> None:
        if self.more:
            assert Ends(self.more - 1).force_complete()


def test_a_crowd_of_threads_refuses_nobody_who_is_not_deep() -> None:
    """None is refused, and nothing is counted once all have ended."""
    threads = MOST_NESTED + 20
    crowd = threading.Barrier(threads)
    failures: list[BaseException] = []

    def complete() -> None:
        try:
            Meets(crowd).force_complete()
        except BaseException as failure:
            failures.append(failure)

    before = (NESTING.held, dict(NESTING.of_threads))
    running = [threading.Thread(target=complete) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert failures == []
    assert (NESTING.held, NESTING.of_threads) == before


def test_a_refused_thread_is_free_again() -> None:
    """Given a chain that was refused: it has the whole bound again, and neither one more."""
    Ends(MOST_NESTED - 1).force_complete()
    with pytest.raises(RecursionError, match=f"{MOST_NESTED} deep"):
        Ends(MOST_NESTED).force_complete()
    Ends(MOST_NESTED - 1).force_complete()
