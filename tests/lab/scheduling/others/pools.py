"""Memory pools that somebody has written with plain ``threading``: one is right, the others not."""

import socket
import threading
from typing import ClassVar

from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Configuration,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolObservable,
    MemoryPoolProfile,
    ReleaseValidation,
)
from purgatory_spec.reasons import Reason

ASKED = threading.Lock()
"""A lock of the module; it guards a count that nobody needs."""

asked = 0


class Pool:
    """A count of free bytes, under a lock."""

    def __init__(self, size_bytes: int, strict: bool) -> None:
        self.size_bytes = size_bytes
        self.strict = strict
        self.free_bytes = size_bytes
        self.lock = threading.Lock()

    def take(self, size_bytes: int) -> bool:
        global asked
        with ASKED:
            asked += 1
        with self.lock:
            if not self.has(size_bytes):
                return False
            self.free_bytes -= size_bytes
            return True

    def give(self, size_bytes: int) -> None:
        with self.lock:
            self.free_bytes += size_bytes

    def has(self, size_bytes: int) -> bool:
        return self.free_bytes >= (size_bytes if self.strict else 1)


class LooksFirst(Pool):
    """Looks what is free, and takes the lock when that is known: check, then act."""

    def take(self, size_bytes: int) -> bool:
        if not self.has(size_bytes):
            return False
        with self.lock:
            self.free_bytes -= size_bytes
        return True


class CreditsInTwoSteps(Pool):
    """Gives back without the lock: of two credits at once one is lost."""

    def give(self, size_bytes: int) -> None:
        self.free_bytes += size_bytes


class CountsUnderASecondLock(Pool):
    """Takes two locks in one order here and in the other there."""

    def __init__(self, size_bytes: int, strict: bool) -> None:
        super().__init__(size_bytes, strict)
        self.statistics = threading.Lock()
        self.out = 0

    def take(self, size_bytes: int) -> bool:
        with self.lock:
            if not self.has(size_bytes):
                return False
            self.free_bytes -= size_bytes
            with self.statistics:
                self.out += 1
            return True

    def give(self, size_bytes: int) -> None:
        with self.statistics:
            self.out -= 1
            super().give(size_bytes)


class ForgetsItsLock(Pool):
    """Does not release its lock where it refuses."""

    def take(self, size_bytes: int) -> bool:
        self.lock.acquire()
        if not self.has(size_bytes):
            return False
        self.free_bytes -= size_bytes
        self.lock.release()
        return True


class SpinsForEver(Pool):
    """Waits in a loop for a flag that nobody takes back."""

    busy = False

    def take(self, size_bytes: int) -> bool:
        while self.busy:
            pass
        self.busy = True
        return super().take(size_bytes)


class SpinsInTurn(Pool):
    """Waits in a loop for a flag that is taken back: slow, and right."""

    busy = False

    def take(self, size_bytes: int) -> bool:
        self.enter()
        taken = self.has(size_bytes)
        if taken:
            self.free_bytes -= size_bytes
        self.busy = False
        return taken

    def give(self, size_bytes: int) -> None:
        self.enter()
        self.free_bytes += size_bytes
        self.busy = False

    def enter(self) -> None:
        while True:
            with self.lock:
                if not self.busy:
                    self.busy = True
                    return


class Raises(Pool):
    """Fails where it is about to refuse."""

    def take(self, size_bytes: int) -> bool:
        if not super().take(size_bytes):
            raise KeyError(size_bytes)
        return True


class WaitsForASocket(Pool):
    """Waits for what nobody schedules."""

    def take(self, size_bytes: int) -> bool:
        end, other = socket.socketpair()
        with end, other:
            end.settimeout(2)
            return end.recv(1) != b""


class UnderSemaphore(Pool):
    """Has a semaphore for a lock, and waits for it with a time limit."""

    def __init__(self, size_bytes: int, strict: bool) -> None:
        super().__init__(size_bytes, strict)
        self.turn = threading.Semaphore(1)

    def take(self, size_bytes: int) -> bool:
        while not self.turn.acquire(timeout=0.5):
            pass
        try:
            return super().take(size_bytes)
        finally:
            self.turn.release()


class Buffers(Pool):
    """Knows its buffers, and forgets each as it comes back."""

    def __init__(self, size_bytes: int, strict: bool) -> None:
        super().__init__(size_bytes, strict)
        self.out: dict[str, int] = {}

    def hand_out(self, buffer: str, size_bytes: int) -> bool:
        if not self.take(size_bytes):
            return False
        with self.lock:
            self.out[buffer] = size_bytes
        return True

    def take_back(self, buffer: str) -> bool:
        with self.lock:
            size_bytes = self.out.pop(buffer, None)
        if size_bytes is None:
            return False
        self.give(size_bytes)
        return True


class CreditsTwice(Buffers):
    """Looks whether a buffer is out, and takes it back then: check, then act."""

    def take_back(self, buffer: str) -> bool:
        size_bytes = self.out.get(buffer)
        if size_bytes is None:
            return False
        self.give(size_bytes)
        with self.lock:
            self.out.pop(buffer, None)
        return True


class Instance:
    """A pool behind the steps; a call may come from any thread."""

    kind: ClassVar[type[Pool]] = Pool

    def __init__(self, configuration: Configuration) -> None:
        assert isinstance(configuration, MemoryPoolConfiguration)
        self.pool = self.kind(configuration.size_bytes, configuration.strict)
        self.sizes: dict[str, int] = {}

    def do(self, operation: Operation) -> Outcome:
        result: bool | None = None
        match operation:
            case Allocate(buffer, size_bytes):
                result = self.pool.take(size_bytes)
                if result:
                    self.sizes[buffer] = size_bytes
            case Release(buffer):
                self.pool.give(self.sizes.pop(buffer))
            case _:
                return Outcome(rejected=Reason.UNSUPPORTED)
        return Outcome(result, observed={"available_bytes": self.pool.free_bytes})

    def close(self) -> None:
        pass


class KnowsBuffers:
    """A pool behind the steps that refuses what it has not handed out."""

    kind: ClassVar[type[Buffers]] = Buffers

    def __init__(self, configuration: Configuration) -> None:
        assert isinstance(configuration, MemoryPoolConfiguration)
        self.pool = self.kind(configuration.size_bytes, configuration.strict)

    def do(self, operation: Operation) -> Outcome:
        match operation:
            case Allocate(buffer, size_bytes):
                return Outcome(self.pool.hand_out(buffer, size_bytes))
            case Release(buffer) if self.pool.take_back(buffer):
                return Outcome()
            case Release():
                return Outcome(rejected=Reason.INVALID_ARGUMENT)
            case _:
                return Outcome(rejected=Reason.UNSUPPORTED)

    def close(self) -> None:
        pass


def _of_buffers(pool: type[Buffers]) -> InProcessSubject:
    offers = frozenset({MemoryPoolFeature.STRICT, MemoryPoolFeature.RELEASE_AGAIN})
    profile = MemoryPoolProfile(release_validation=ReleaseValidation.IDENTITY, features=offers)
    return subject_of(type(pool.__name__, (KnowsBuffers,), {"kind": pool}), profile)


def buffers() -> InProcessSubject:
    return _of_buffers(Buffers)


def credits_twice() -> InProcessSubject:
    return _of_buffers(CreditsTwice)


def _subject(pool: type[Pool]) -> InProcessSubject:
    sorts = frozenset({MemoryPoolFeature.STRICT, MemoryPoolFeature.NON_STRICT})
    shown = frozenset({MemoryPoolObservable.AVAILABLE})
    profile = MemoryPoolProfile(features=sorts, observables=shown)
    return subject_of(type(pool.__name__, (Instance,), {"kind": pool}), profile)


def right() -> InProcessSubject:
    return _subject(Pool)


def looks_first() -> InProcessSubject:
    return _subject(LooksFirst)


def credits_in_two_steps() -> InProcessSubject:
    return _subject(CreditsInTwoSteps)


def counts_under_a_second_lock() -> InProcessSubject:
    return _subject(CountsUnderASecondLock)


def forgets_its_lock() -> InProcessSubject:
    return _subject(ForgetsItsLock)


def spins_for_ever() -> InProcessSubject:
    return _subject(SpinsForEver)


def spins_in_turn() -> InProcessSubject:
    return _subject(SpinsInTurn)


def raises() -> InProcessSubject:
    return _subject(Raises)


def waits_for_a_socket() -> InProcessSubject:
    return _subject(WaitsForASocket)


def under_semaphore() -> InProcessSubject:
    return _subject(UnderSemaphore)
