"""The memory pool shared by threads: a count of available bytes, changed by compare-and-swap.

Theory of operation. The threads share one number, the bytes that are available. A thread that asks
for a buffer *reads* it. Where too few bytes are available the request is *refused*; otherwise the
thread *swaps* the number read for the remainder. The swap fails where another thread has changed
the number meanwhile: then the thread reads again. Giving a buffer back adds to the number in one
step. Nothing waits.

A thread has one buffer at a time, and the buffer goes by the name of its thread. A pool that tells
its own buffers from others (``identity``) finds out a release of anything else. Without
``identity`` the pool credits every buffer that it is given.

What is written down besides is not the pool's: how often a thread's buffer was credited, and
whether there was enough for a request all the time while it was being decided. A refusal is right
if there was not, at some instant of the call; when it returns there may be plenty.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from purgatory_model.memory_pool_arithmetic import is_granted, is_legal
from purgatory_model.overlapping.interleaving import Called, HistoryEvent, Returned, Step
from purgatory_spec.operations import Allocate, Release, ReleaseForeign
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_spec.reasons import Reason


class At(Enum):
    """The place of a thread: between calls, with or without a buffer, or inside a call."""

    IDLE = "idle"
    REJECT = "reject"
    READ = "read"
    SWAP = "swap"
    REFUSE = "refuse"
    HOLDS = "holds"
    DISOWN = "disown"


@dataclass(frozen=True, slots=True)
class PoolThread:
    """A thread: its local variables, and two notes about its latest buffer and request.

    Attributes:
        at: The thread's place in its program.
        request_bytes: The bytes requested; 0 outside a request.
        seen_bytes: The count of available bytes as last read; 0 outside a request.
        held_bytes: The size of its buffer; 0 for none.
        spent_bytes: The size of a buffer that it has given back and will give back again.
        credited: How often its latest buffer was credited.
        enough: Whether there was enough for its latest request from when it asked until it was
            decided; true after a request that came to nothing.
    """

    at: At = At.IDLE
    request_bytes: int = 0
    seen_bytes: int = 0
    held_bytes: int = 0
    spent_bytes: int = 0
    credited: int = 0
    enough: bool = True

    @property
    def is_inside(self) -> bool:
        """Decide whether the thread is inside a call."""
        return self.at not in (At.IDLE, At.HOLDS)

    @property
    def is_deciding(self) -> bool:
        """Decide whether the thread's request is neither granted nor refused yet."""
        return self.at in (At.READ, At.SWAP)


@dataclass(frozen=True, slots=True)
class ConcurrentPoolState:
    """The shared count, and the threads by name."""

    available_bytes: int
    threads: tuple[tuple[str, PoolThread], ...]

    @property
    def outstanding_bytes(self) -> int:
        """Return the bytes of all buffers in the threads' hands."""
        return sum(thread.held_bytes for _, thread in self.threads)

    @property
    def inside(self) -> frozenset[str]:
        """Return the threads that are inside a call."""
        return frozenset(name for name, thread in self.threads if thread.is_inside)

    def thread(self, name: str) -> PoolThread:
        """Return the thread of this name."""
        return dict(self.threads)[name]

    def with_thread(self, name: str, changed: PoolThread) -> "ConcurrentPoolState":
        """Return this state with a thread changed."""
        threads = tuple(
            (each, changed if each == name else thread) for each, thread in self.threads
        )
        return ConcurrentPoolState(self.available_bytes, threads)


__all__ = ["VARIANTS", "At", "ConcurrentMemoryPool", "ConcurrentPoolState", "PoolThread"]

VARIANTS: Mapping[str, str] = {
    "split-test-and-subtract": "subtracts without comparing with what the test has read",
    "blind-store": "stores what was read less the size, whatever the count is by then",
    "swap-gives-up": "refuses where the compare-and-swap fails",
    "double-release": "callers give a buffer back twice",
    "foreign-release": "callers give back what is not the pool's",
}
"""Faults that may be followed, each with a sentence; the last two are faults of callers."""

PoolSteps = Iterator[tuple[Step, ConcurrentPoolState]]


@dataclass(frozen=True, slots=True)
class ConcurrentMemoryPool:
    """A memory pool and the threads that use it; a ``ConcurrentModel``.

    Attributes:
        configuration: Size and largest single buffer in bytes, and whether admission is strict.
        threads: The names of the threads.
        identity: Whether the pool tells its own buffers from others.
        variants: Faults that are followed, see ``VARIANTS``.
    """

    configuration: MemoryPoolConfiguration
    threads: tuple[str, ...] = ("t1", "t2")
    identity: bool = False
    variants: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Reject a variant that there is not, and a pool that needs no threads."""
        unknown = self.variants - VARIANTS.keys()
        if unknown:
            raise ValueError(f"there is no variant {min(unknown)!r}")
        if self.configuration.unbounded:
            raise ValueError("an unbounded pool has no count that threads could share")

    @property
    def sizes(self) -> range:
        """Return the sizes that threads ask for: the legal ones, and some on either side."""
        return range(-1, self.configuration.max_single_bytes + 2)

    def initial(self) -> ConcurrentPoolState:
        """Return the state before any call, with all bytes available."""
        threads = tuple((name, PoolThread()) for name in self.threads)
        return ConcurrentPoolState(self.configuration.size_bytes, threads)

    def steps(self, state: ConcurrentPoolState) -> PoolSteps:
        """Yield the labelled steps that leave a state."""
        for name, thread in state.threads:
            match thread.at:
                case At.IDLE:
                    yield from self._ask(state, name, thread)
                    yield from self._misuse(state, name, thread)
                case At.REJECT:
                    yield Step("Reject", (name,)), self._over(state, name, thread)
                case At.READ:
                    yield Step("Read", (name,)), self._read(state, name, thread)
                case At.SWAP:
                    yield self._swap(state, name, thread)
                case At.REFUSE:
                    yield Step("Refuse", (name,)), self._over(state, name, thread)
                case At.HOLDS:
                    yield Step("Release", (name,)), self._release(state, name, thread)
                case At.DISOWN:
                    idle = replace(thread, at=At.IDLE, spent_bytes=0)
                    yield Step("Disown", (name,)), state.with_thread(name, idle)

    def history(
        self, before: ConcurrentPoolState, step: Step, after: ConcurrentPoolState
    ) -> tuple[HistoryEvent, ...]:
        """Return the visible events of a step: a request, its answer, a release.

        Reading the count, and failing to swap it, cannot be seen.
        """
        name = str(step.arguments[0])
        match step:
            case Step("Ask", (_, int(size_bytes))):
                return (Called(name, Allocate(name, size_bytes)),)
            case Step("Reject" | "Disown"):
                return (Returned(name, raised=Reason.INVALID_ARGUMENT),)
            case Step("Refuse"):
                return (Returned(name, False),)
            case Step("Swap" | "Subtract" | "Store"):
                return (Returned(name, True),)
            case Step("Release"):
                return (Called(name, Release(name)), Returned(name))
            case Step("ReleaseAgain"):
                return (Called(name, Release(name)), *self._at_once(name))
            case Step("ReleaseForeign", (_, int(size_bytes))):
                return (Called(name, ReleaseForeign(size_bytes)), *self._at_once(name))
            case _:
                return ()

    def _at_once(self, name: str) -> tuple[HistoryEvent, ...]:
        """Return the return of a release without a look at its buffer."""
        return () if self.identity else (Returned(name),)

    def _is_enough(self, available_bytes: int, size_bytes: int) -> bool:
        """Decide whether a request is granted. Rules: POOL-STRICT, POOL-NON-STRICT."""
        return is_granted(available_bytes, size_bytes, self.configuration.strict)

    def _ask(self, state: ConcurrentPoolState, name: str, thread: PoolThread) -> PoolSteps:
        """Begin a request; an illegal size is found out without a look at the count.

        Rules: POOL-ZERO-REQUEST, POOL-NEGATIVE-REQUEST, POOL-OVERSIZE-REQUEST.
        """
        for size_bytes in self.sizes:
            legal = is_legal(size_bytes, self.configuration.max_single_bytes)
            asking = PoolThread(
                At.READ if legal else At.REJECT,
                request_bytes=size_bytes,
                enough=self._is_enough(state.available_bytes, size_bytes),
            )
            yield Step("Ask", (name, size_bytes)), state.with_thread(name, asking)

    def _read(
        self, state: ConcurrentPoolState, name: str, thread: PoolThread
    ) -> ConcurrentPoolState:
        """Read the count, and test it. Rules: POOL-REFUSAL, POOL-STRICT, POOL-NON-STRICT."""
        enough = self._is_enough(state.available_bytes, thread.request_bytes)
        at = At.SWAP if enough else At.REFUSE
        return state.with_thread(name, replace(thread, at=at, seen_bytes=state.available_bytes))

    def _swap(
        self, state: ConcurrentPoolState, name: str, thread: PoolThread
    ) -> tuple[Step, ConcurrentPoolState]:
        """Subtract the size, if the count still is what was read.

        Rules: POOL-CONSERVATION, POOL-EXACT-BUFFER.
        """
        left = state.available_bytes - thread.request_bytes
        if "split-test-and-subtract" in self.variants:
            return Step("Subtract", (name,)), self._granted(state, name, thread, left)
        if "blind-store" in self.variants:
            left = thread.seen_bytes - thread.request_bytes
            return Step("Store", (name,)), self._granted(state, name, thread, left)
        if state.available_bytes == thread.seen_bytes:
            return Step("Swap", (name,)), self._granted(state, name, thread, left)
        at = At.REFUSE if "swap-gives-up" in self.variants else At.READ
        return Step("FailToSwap", (name,)), state.with_thread(name, replace(thread, at=at))

    def _granted(
        self, state: ConcurrentPoolState, name: str, thread: PoolThread, left: int
    ) -> ConcurrentPoolState:
        """Return the state after a grant: the count is lowered, and the thread has its buffer."""
        has = replace(
            thread,
            at=At.HOLDS,
            request_bytes=0,
            seen_bytes=0,
            held_bytes=thread.request_bytes,
        )
        return self._counted(state, name, left).with_thread(name, has)

    def _over(
        self, state: ConcurrentPoolState, name: str, thread: PoolThread
    ) -> ConcurrentPoolState:
        """Return the state after a request has ended without a buffer."""
        idle = replace(thread, at=At.IDLE, request_bytes=0, seen_bytes=0, enough=True)
        return state.with_thread(name, idle)

    def _release(
        self, state: ConcurrentPoolState, name: str, thread: PoolThread
    ) -> ConcurrentPoolState:
        """Give the buffer back. Rules: POOL-RELEASE."""
        spent = thread.held_bytes if "double-release" in self.variants else 0
        without = replace(
            thread,
            at=At.IDLE,
            held_bytes=0,
            spent_bytes=spent,
            credited=thread.credited + 1,
        )
        more = state.available_bytes + thread.held_bytes
        return self._counted(state, name, more).with_thread(name, without)

    def _misuse(self, state: ConcurrentPoolState, name: str, thread: PoolThread) -> PoolSteps:
        """Yield the misuses of callers: a buffer given back again, or another thread's."""
        if "double-release" in self.variants and thread.spent_bytes:
            again = self._given(state, name, thread, thread.spent_bytes)
            yield Step("ReleaseAgain", (name,)), again
        if "foreign-release" in self.variants:
            for size_bytes in range(1, self.configuration.max_single_bytes + 1):
                given = self._given(state, name, thread, size_bytes)
                yield Step("ReleaseForeign", (name, size_bytes)), given

    def _given(
        self, state: ConcurrentPoolState, name: str, thread: PoolThread, size_bytes: int
    ) -> ConcurrentPoolState:
        """Return the state after a wrong release: found out, or credited.

        Rules: POOL-RELEASE-AGAIN, POOL-RELEASE-FOREIGN.
        """
        if self.identity:
            return state.with_thread(name, replace(thread, at=At.DISOWN))
        credited = replace(thread, credited=thread.credited + 1)
        more = state.available_bytes + size_bytes
        return self._counted(state, name, more).with_thread(name, credited)

    def _counted(
        self, state: ConcurrentPoolState, by: str, available_bytes: int
    ) -> ConcurrentPoolState:
        """Return the state with another count; undecided requests note whether it is enough.

        ``by`` is the thread that changes the count.
        """
        threads = tuple(
            (name, self._noted(thread, available_bytes) if name != by else thread)
            for name, thread in state.threads
        )
        return ConcurrentPoolState(available_bytes, threads)

    def _noted(self, thread: PoolThread, available_bytes: int) -> PoolThread:
        if not thread.is_deciding or self._is_enough(available_bytes, thread.request_bytes):
            return thread
        return replace(thread, enough=False)
