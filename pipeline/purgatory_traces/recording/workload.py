"""The recorded workload: threads that use a shared instance at random until told to stop."""

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from random import Random
from typing import Final

import msgspec

_MEAN_DELAY_MS: Final = 40.0
_LONGEST_MS: Final = 3000
_PAUSE_SECONDS: Final = 0.001
_LOOK_SECONDS: Final = 0.1


class Wish(msgspec.Struct, frozen=True):
    """The request for a run.

    Attributes:
        threads: How many threads use the instance.
        lines: After how many lines of the trace they stop; of turns, where nothing is recorded.
        keys: How many keys there are.
        seed: Of all random choices; the threads' timing is nobody's choice.
        rate: Lines a second at most; 0 for as many as possible.
    """

    threads: int = 4
    lines: int = 1_000_000
    keys: int = 16
    seed: int = 1
    rate: int = 0


class Workload(ABC):
    """A workload on one instance."""

    def __init__(self, wish: Wish, lines: Callable[[], int] | None) -> None:
        """Prepare the workload; no thread runs yet.

        Args:
            wish: What is asked for.
            lines: How many lines have been written so far; None where nothing is recorded.
        """
        self.wish: Final = wish
        self._lines = lines
        self._turns = [0] * wish.threads
        self._stopped = threading.Event()
        self._failures: list[BaseException] = []

    @abstractmethod
    def turn(self, random: Random) -> None:
        """Make one or a few calls, in any of the threads."""

    @abstractmethod
    def is_crowded(self) -> bool:
        """Decide whether so much waits in the instance that it is left alone for a moment."""

    @abstractmethod
    def close(self) -> None:
        """Close the workload's instance."""

    @property
    def turns(self) -> int:
        """Return the number of turns taken."""
        return sum(self._turns)

    def run(self) -> None:
        """Let all threads work until there are enough lines, or until ``KeyboardInterrupt``.

        Each thread takes a turn at least, also one that a busy machine starts late.

        Raises:
            KeyboardInterrupt: it came; the threads have ended all the same.
            RuntimeError: a thread has failed.
        """
        began = time.monotonic()
        seeds = Random(self.wish.seed)
        workers = [
            threading.Thread(
                target=self._work,
                args=(number, Random(seeds.getrandbits(64)), began),
                name=f"worker-{number + 1}",
            )
            for number in range(self.wish.threads)
        ]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(_LOOK_SECONDS)
        finally:
            self._stopped.set()
            for worker in workers:
                worker.join()
        if self._failures:
            raise RuntimeError("a thread of the workload has failed") from self._failures[0]

    def _work(self, number: int, random: Random, began: float) -> None:
        wish, turns = self.wish, self._turns
        try:
            while not self._stopped.is_set():
                done = self._done()
                if done >= wish.lines and turns[number]:
                    break
                ahead = wish.rate and done > (time.monotonic() - began) * wish.rate
                if ahead or self.is_crowded():
                    time.sleep(_PAUSE_SECONDS)
                else:
                    turns[number] += 1
                    self.turn(random)
        except BaseException as failure:
            self._failures.append(failure)
            self._stopped.set()

    def _done(self) -> int:
        return self.turns if self._lines is None else self._lines()


def random_delay_ms(random: Random) -> int:
    """Return a random delay: mostly some tens of ms; now and then already due, or far away."""
    choice = random.randrange(20)
    if choice == 0:
        return random.randrange(-5, 1)
    if choice == 1:
        return random.randrange(_LONGEST_MS)
    return int(-math.log(1 - random.random()) * _MEAN_DELAY_MS)
