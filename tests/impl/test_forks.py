"""A forked child: what it makes itself works, what it has inherited refuses, and nothing hangs."""

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from .threads import LONG_S

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")

PROGRAM = """
    import os, sys, threading, time, warnings
    from purgatory_impl import (
        CallableTask, DelayedOperation, InlineExecutor, LeakDetectingMemoryPool, Purgatory,
        SimpleMemoryPool, Timer, VirtualClock,
    )

    sys.setswitchinterval(1e-5)
    warnings.simplefilter("ignore")

    class Request(DelayedOperation):
        def try_complete(self):
            return False

    timer = Timer()
    purgatory = Purgatory()
    pool = SimpleMemoryPool(1000, 100)
    leaky = LeakDetectingMemoryPool(1000, 100)
    stop = threading.Event()

    def keep_busy():
        while not stop.is_set():
            task = timer.add(int, 100)
            timer.cancel(task)
            moved = CallableTask(int)
            timer.add(moved, 100)
            timer.cancel(moved)
            request = Request(100)
            purgatory.try_complete_else_watch(request, ("a", "b"))
            purgatory.check_and_complete("a")
            request.force_complete()
            pool.release(pool.try_allocate(10))

    def use_new():
        ran, ended = threading.Event(), threading.Event()

        class Late(Request):
            def on_expiration(self):
                ended.set()

        with Timer() as own:
            own.add(ran.set, 1)
            assert ran.wait(LONG_S)
        with Purgatory() as own:
            own.try_complete_else_watch(Late(1), ("a", "b"))
            assert ended.wait(LONG_S)
        own = SimpleMemoryPool(10, 10)
        own.release(own.try_allocate(10))

    def refusals():
        for call in (
            lambda: timer.add(int, 1), lambda: timer.cancel(CallableTask(int)),
            lambda: timer.size, lambda: timer.advance(), lambda: timer.close(),
            lambda: purgatory.try_complete_else_watch(Request(1), ("a",)),
            lambda: purgatory.check_and_complete("a"), lambda: purgatory.cancel_for_key("a"),
            lambda: purgatory.pending, lambda: purgatory.close(),
            lambda: pool.try_allocate(1), lambda: pool.available_bytes,
            lambda: leaky.try_allocate(1),
        ):
            try:
                call()
            except RuntimeError as error:
                assert type(error).__name__ == "UsedAfterFork", repr(error)
                assert "Make a new one in the child" in str(error)
            else:
                raise AssertionError("not refused")
        assert "inherited by a fork" in repr(purgatory)
        assert repr(timer) and repr(pool)

    purgatory.try_complete_else_watch(Request(100_000), ("a",))
    threads = [threading.Thread(target=keep_busy, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(FORKS):
        child = os.fork()
        if child == 0:
            try:
                use_new()
                refusals()
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        for _ in range(LONG_S * 200):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            time.sleep(0.005)
        else:
            os.kill(child, 9)
            raise SystemExit("the child hangs")
        if status:
            raise SystemExit(f"the child ended with {status}")
    stop.set()
    for thread in threads:
        thread.join()
    ran = threading.Event()
    timer.add(ran.set, 1)
    assert ran.wait(LONG_S)
    print("the parent goes on")
"""


@pytest.mark.slow
def test_a_child_makes_its_own_and_is_refused_its_parents() -> None:
    """Each child can make its own and use them, is refused what it has inherited."""
    program = textwrap.dedent(PROGRAM).replace("FORKS", "30").replace("LONG_S", str(LONG_S))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.stderr == ""
    assert done.stdout == "the parent goes on\n"


def test_a_lock_that_is_taken_when_a_process_forks_stays_taken_in_the_child() -> None:
    """The child waits for ever: so the test above can fail."""
    lock = threading.Lock()
    lock.acquire()
    child = os.fork()
    if child == 0:
        os._exit(0 if lock.acquire(timeout=0.05) else 3)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3
