"""Memory pools that somebody has written with plain ``threading``, besides those of the museum."""

import socket
import threading
from functools import partial

from purgatory_lab.museum.threads.pools import Pool, pool_subject

ASKED = threading.Lock()
"""A lock of the module; it guards a count that nobody needs."""

asked = 0


class CountsRequests(Pool):
    """Counts under a lock of the module, besides its own: right."""

    def take(self, buffer: str, size_bytes: int) -> bool:
        global asked
        with ASKED:
            asked += 1
        return super().take(buffer, size_bytes)


class CountsUnderASecondLock(Pool):
    """Takes two locks in one order here and in the other there."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(size_bytes)
        self.statistics = threading.Lock()
        self.count = 0

    def take(self, buffer: str, size_bytes: int) -> bool:
        with self.lock, self.statistics:
            self.count += 1
        return super().take(buffer, size_bytes)

    def give(self, buffer: str) -> bool:
        with self.statistics:
            self.count -= 1
            return super().give(buffer)


class ForgetsItsLock(Pool):
    """Does not release its lock where it refuses."""

    def take(self, buffer: str, size_bytes: int) -> bool:
        self.lock.acquire()
        if size_bytes > self.free_bytes:
            return False
        self.free_bytes -= size_bytes
        self.out[buffer] = size_bytes
        self.lock.release()
        return True


class SpinsForEver(Pool):
    """Waits in a loop for a flag that nobody takes back."""

    busy = False

    def take(self, buffer: str, size_bytes: int) -> bool:
        while self.busy:
            pass
        self.busy = True
        return super().take(buffer, size_bytes)


class SpinsInTurn(Pool):
    """Waits in a loop for a flag that is taken back: slow, and right."""

    busy = False

    def take(self, buffer: str, size_bytes: int) -> bool:
        self.enter()
        taken = super().take(buffer, size_bytes)
        self.busy = False
        return taken

    def give(self, buffer: str) -> bool:
        self.enter()
        given = super().give(buffer)
        self.busy = False
        return given

    def enter(self) -> None:
        while True:
            with self.lock:
                if not self.busy:
                    self.busy = True
                    return


class Raises(Pool):
    """Fails where it is about to refuse."""

    def take(self, buffer: str, size_bytes: int) -> bool:
        if not super().take(buffer, size_bytes):
            raise KeyError(size_bytes)
        return True


class WaitsForASocket(Pool):
    """Waits for what nobody schedules."""

    def take(self, buffer: str, size_bytes: int) -> bool:
        end, other = socket.socketpair()
        with end, other:
            end.settimeout(2)
            return end.recv(1) != b""


class UnderSemaphore(Pool):
    """Has a semaphore for a lock, and waits for it with a time limit."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(size_bytes)
        self.turn = threading.Semaphore(1)

    def take(self, buffer: str, size_bytes: int) -> bool:
        while not self.turn.acquire(timeout=0.5):
            pass
        try:
            return super().take(buffer, size_bytes)
        finally:
            self.turn.release()


right = partial(pool_subject, CountsRequests)
counts_under_a_second_lock = partial(pool_subject, CountsUnderASecondLock)
forgets_its_lock = partial(pool_subject, ForgetsItsLock)
spins_for_ever = partial(pool_subject, SpinsForEver)
spins_in_turn = partial(pool_subject, SpinsInTurn)
raises = partial(pool_subject, Raises)
waits_for_a_socket = partial(pool_subject, WaitsForASocket)
under_semaphore = partial(pool_subject, UnderSemaphore)
