"""A program that is interrupted at any line, again and again, and must never hang."""

# python tests/impl/interrupted_program.py --interrupts 10000 --threads 3
#
# One thread uses timers, purgatories and a pool until an exception reaches it: a
# ``KeyboardInterrupt`` by a signal, or an exception that another thread sends it. Then it uses each
# of them once more, undisturbed. Other threads use the same objects all the while. Where nothing
# goes on for ``--patience`` seconds, a watchdog ends the program and prints all stacks.
# ``--planted`` takes a lock as it must not be taken: the control.

import argparse
import ctypes
import faulthandler
import logging
import signal
import sys
import threading
from collections.abc import Callable
from random import Random

import purgatory_impl as impl

KEYS = "abcdefgh"


class Interrupted(BaseException):
    """Is sent from one thread to another."""


class Request(impl.DelayedOperation):
    """Is completed by the third try, or by force, and then completes a further one now and then."""

    def __init__(self, delay_ms: int, following: "Request | None" = None) -> None:
        super().__init__(delay_ms)
        self.tries = 0
        self.following = following

    def try_complete(self) -> bool:
        self.tries += 1
        return self.tries > 2 and self.force_complete()

    def on_complete(self) -> None:
        if self.following is not None:
            self.following.force_complete()


class Planted:
    """A counter whose lock is taken before the block that lets go of it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0

    def use(self) -> None:
        self.lock.acquire()
        try:
            self.count += 1
        finally:
            self.lock.release()


class Work:
    """Timer, purgatories and pool, and the calls that use them."""

    def __init__(self, planted: bool) -> None:
        self.clock = impl.VirtualClock()
        self.stepped = impl.SteppedExecutor()
        self.thread = impl.ThreadExecutor()
        self.inline = impl.Timer(clock=self.clock, executor=impl.InlineExecutor(), reaper=False)
        self.threaded = impl.Timer(executor=self.thread)
        self.exact: impl.Purgatory[str] = impl.Purgatory(purge_interval=10)
        self.proposal: impl.Purgatory[str] = impl.Purgatory(
            purge_interval=10, accounting="proposal", timer=self.inline, reaper=False
        )
        self.pool = impl.SimpleMemoryPool(10_000, 1_000)
        self.planted = Planted()
        self.calls: list[Callable[[Random], object]] = [
            self.add_and_cancel,
            self.advance,
            self.expire,
            self.watch_and_force,
            self.watch_and_check,
            self.cancel_for_key,
            self.allocate,
            self.look,
        ]
        if planted:
            self.calls = [lambda _: self.planted.use()]

    def add_and_cancel(self, random: Random) -> None:
        task = impl.CallableTask(int)
        timer = random.choice((self.inline, self.threaded))
        timer.add(task, random.randrange(0, 300))
        timer.cancel(task)

    def advance(self, random: Random) -> None:
        self.inline.add(impl.CallableTask(int), random.randrange(0, 3))
        self.clock.set_ms(self.clock.now_ms() + 1)
        self.inline.advance()

    def expire(self, random: Random) -> None:
        self.threaded.add(impl.CallableTask(int), random.randrange(-1, 2))
        if random.random() < 0.05:
            self.thread.wait_until_idle(50)

    def watch_and_force(self, random: Random) -> None:
        request = Request(random.randrange(0, 500), Request(5))
        purgatory = random.choice((self.exact, self.proposal))
        purgatory.try_complete_else_watch(request, random.sample(KEYS, 2))
        request.force_complete()

    def watch_and_check(self, random: Random) -> None:
        purgatory = random.choice((self.exact, self.proposal))
        key = random.choice(KEYS)
        purgatory.try_complete_else_watch(Request(random.randrange(0, 500)), (key,))
        purgatory.check_and_complete(key)

    def cancel_for_key(self, random: Random) -> None:
        random.choice((self.exact, self.proposal)).cancel_for_key(random.choice(KEYS))

    def allocate(self, random: Random) -> None:
        buffer = self.pool.try_allocate(random.randrange(1, 500))
        if buffer is not None:
            self.pool.release(buffer)

    def look(self, random: Random) -> None:
        del random
        assert self.inline.size >= 0
        assert self.pool.available_bytes <= self.pool.size_bytes
        assert self.exact.pending >= 0

    def use_each(self, random: Random) -> None:
        """Every call once: none may wait for a lock that nobody has."""
        for call in self.calls:
            call(random)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--interrupts", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--by", choices=("signal", "exception"), default="signal")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--patience", type=int, default=120)
    options = parser.parse_args()
    sys.setswitchinterval(1e-5)
    random = Random(options.seed)
    work = Work(options.planted)
    stop = threading.Event()

    def keep_busy(seed: int) -> None:
        own = Random(seed)
        while not stop.is_set():
            own.choice(work.calls)(own)

    others = [
        threading.Thread(target=keep_busy, args=(seed,), daemon=True)
        for seed in range(options.threads - 1)
    ]
    for thread in others:
        thread.start()
    interrupt = by_signal if options.by == "signal" else by_exception
    for _ in range(options.interrupts):
        faulthandler.dump_traceback_later(options.patience, exit=True)
        interrupt(work, random)
        work.use_each(random)
    faulthandler.dump_traceback_later(options.patience, exit=True)
    stop.set()
    for thread in others:
        thread.join()
    expires_in_time(work, options.patience / 2)
    faulthandler.cancel_dump_traceback_later()
    build = "compiled" if impl.COMPILED else "pure"
    print(f"{options.interrupts} interrupts, {options.threads} threads, {build}: goes on")


def by_signal(work: Work, random: Random) -> None:
    """Use things until a signal raises, as SIGINT does; a finaliser may swallow the first ones."""
    reached = False

    def interrupted(number: int, frame: object) -> None:
        del number, frame
        if not reached:
            raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupted)
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(20e-6, 600e-6), 0.01)
        while True:
            random.choice(work.calls)(random)
    except KeyboardInterrupt:
        reached = True
        signal.setitimer(signal.ITIMER_REAL, 0)


def by_exception(work: Work, random: Random) -> None:
    """Let a thread use things until another sends it an exception."""
    begun = threading.Event()

    def use() -> None:
        begun.set()
        while True:
            random.choice(work.calls)(random)

    thread = threading.Thread(target=use)
    thread.start()
    begun.wait()
    thread.join(Random().uniform(20e-6, 600e-6))
    # A task that is interrupted is a task that fails: the thread goes on, and is told again.
    while thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Interrupted)
        )
        thread.join(0.01)


def expires_in_time(work: Work, within_s: float) -> None:
    """Check that a task added now runs: no thread of the implementation sleeps on."""
    ran = threading.Event()
    work.threaded.add(impl.CallableTask(ran.set), 5)
    assert ran.wait(within_s), "the timer does not run what is due"
    timed_out = threading.Event()

    class Late(impl.DelayedOperation):
        def try_complete(self) -> bool:
            return False

        def on_expiration(self) -> None:
            timed_out.set()

    work.exact.try_complete_else_watch(Late(5), ("a",))
    assert timed_out.wait(within_s), "the purgatory does not expire what is due"


if __name__ == "__main__":
    logging.getLogger("purgatory").addHandler(logging.NullHandler())
    threading.excepthook = lambda _: None
    main()
