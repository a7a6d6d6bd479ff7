"""The programs for somebody else's class: what each thread calls, by what the profile offers.

They are short, since the races that people write show with two threads and a few calls, and since
the number of schedules grows with every call. Each has at most one thread that moves the clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from purgatory_spec import operations as op
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import (
    Clock,
    Component,
    Configuration,
    Executor,
    Feature,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    Profile,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryProfile,
    TimerConfiguration,
    TimerProfile,
)

Calls = tuple[Operation, ...]

SIZE_BYTES: Final = 10
LOOK: Final = op.Check("a key that nobody has")
"""A call that does nothing but show the counts while operations still wait."""

_FAR_MS: Final = 1_000
"""A time at which everything in a program has been due."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A program of several threads that share one instance.

    Attributes:
        name: For the command line.
        about: What is interleaved.
        threads: The calls of each thread, by its name.
        setup: Calls before, with nothing beside them.
        configuration: Of the instance.
        afterwards: Calls behind all threads, before what is left is run to its end.
    """

    name: str
    about: str
    threads: dict[str, Calls]
    setup: Calls
    configuration: Configuration
    afterwards: Calls = ()

    def operations(self) -> Iterator[Operation]:
        """Yield every operation of the setup and of the threads."""
        yield from self.setup
        for calls in self.threads.values():
            yield from calls


def programs_for(profile: Profile) -> list[Shared]:
    """Return the programs for a profile; none for a component that no threads share here."""
    match profile:
        case TimerProfile():
            return list(_of_timer(profile))
        case PurgatoryProfile():
            return list(_of_purgatory(profile))
        case MemoryPoolProfile():
            return list(_of_memory_pool(profile))
        case _:
            return []


def closing_calls(program: Shared, profile: Profile) -> Calls:
    """Return the calls that leave nothing pending, when every thread has made its calls."""
    match profile:
        case TimerProfile(clock=Clock.WALL):
            return (op.Wait(_FAR_MS + profile.lateness_ms),)
        case TimerProfile() | PurgatoryProfile():
            look: Calls = ()
            checks: Calls = ()
            if isinstance(profile, PurgatoryProfile):
                # What waits for the executor is in no timer, and nobody knows how much that is.
                look = (LOOK,) if profile.executor is Executor.INLINE else ()
                watches = [each for each in program.operations() if isinstance(each, op.Watch)]
                keys = dict.fromkeys(key for watch in watches for key in watch.keys)
                checks = tuple(op.Check(key) for key in keys)
            expiry = (op.Advance(_FAR_MS), *_run_all(profile, program))
            return (*program.afterwards, *look, *expiry, *checks)
        case _:
            # Refused ones are left out when it comes to that.
            asked = (each for each in program.operations() if isinstance(each, op.Allocate))
            released = tuple(op.Release(each.buffer) for each in asked)
            return (*released, op.Allocate("all", SIZE_BYTES), op.Release("all"))


AT_REST: Final[dict[Component, dict[str, tuple[object, str]]]] = {
    Component.TIMER: {"size": (0, "TIMER-SIZE"), "queued": (0, "TIMER-SIZE")},
    Component.PURGATORY: {
        "entries": (0, "PURGATORY-ENTRIES"),
        "keys": (0, "PURGATORY-EMPTY-LISTS"),
        "timer_size": (0, "PURGATORY-TIMER-SIZE"),
        "queued": (0, "PURGATORY-PENDING"),
        "pending": (0, "PURGATORY-PENDING"),
    },
    Component.MEMORY_POOL: {
        "available_bytes": (SIZE_BYTES, "POOL-CONSERVATION"),
        "used_bytes": (0, "POOL-USED"),
        "size_bytes": (SIZE_BYTES, "POOL-SIZE"),
        "out_of_memory": (False, "POOL-OUT-OF-MEMORY"),
    },
}
"""The observables after the closing calls, each with its value and the rule that demands it."""


def _run_all(profile: TimerProfile | PurgatoryProfile, program: Shared) -> Calls:
    if profile.executor is not Executor.STEPPED:
        return ()
    armed = [each for each in program.operations() if isinstance(each, op.Add | op.Watch)]
    return (op.RunOne(),) * len(armed)


def _of_timer(profile: TimerProfile) -> Iterator[Shared]:
    offers = profile.features
    wall = profile.clock is Clock.WALL
    configuration = TimerConfiguration()

    def later(to_ms: int) -> Calls:
        if wall:
            return (op.Wait(to_ms),)
        run = (op.RunOne(),) if profile.executor is Executor.STEPPED else ()
        return (op.Advance(to_ms), *run)

    def program(name: str, about: str, setup: Calls = (), **threads: Calls) -> Shared:
        return Shared(name, about, threads, setup, configuration)

    b = op.Add("b", 1)
    # What runs by itself is met where it is due: nothing is, before the clock has moved.
    when_due: Calls = (op.Wait(1),) if wall else ()
    yield program(
        "add-and-add",
        "two threads add tasks",
        first=(op.Add("a", 20),),
        second=(b,),
    )
    yield program(
        "add-and-add-together",
        "two threads add tasks that are due together",
        first=(op.Add("a", 2),),
        second=(op.Add("b", 2),),
    )
    yield program(
        "add-and-time",
        "a task is added while another one expires",
        (b,),
        add=(*when_due, op.Add("a", 1)),
        time=(*later(1), *later(2)),
    )
    if {Feature.READD, Feature.CHANGE_DELAY} <= offers:
        yield program(
            "add-and-move",
            "two threads add the same task, for two different times",
            first=(op.Add("a", 1),),
            second=(op.Add("a", 5),),
        )
    if Feature.CANCEL in offers:
        both = (op.Add("a", 1), b)
        yield program(
            "cancel-and-time",
            "a task is cancelled while it expires, and another one is due later",
            (op.Add("a", 1), op.Add("b", 5)),
            cancel=(*when_due, op.Cancel("a")),
            time=later(1),
        )
        yield program(
            "cancel-and-cancel",
            "two threads cancel the same task",
            both,
            first=(op.Cancel("a"),),
            second=(op.Cancel("a"), op.Cancel("b")),
        )
        yield program(
            "add-and-cancel",
            "a task is added while another one is cancelled",
            (b,),
            add=(op.Add("a", 5),),
            cancel=(op.Cancel("b"),),
        )
    if Feature.SHUTDOWN in offers:
        yield program(
            "add-and-shutdown",
            "a task is added while the timer is shut down",
            add=(op.Add("a", 1),),
            close=(op.Shutdown(),),
        )


def _of_purgatory(profile: PurgatoryProfile) -> Iterator[Shared]:
    offers = profile.features
    k, kl, lk = ("k",), ("k", "l"), ("l", "k")
    run = (op.RunOne(),) if profile.executor is Executor.STEPPED else ()

    def program(
        name: str, about: str, setup: Calls = (), afterwards: Calls = (), **threads: Calls
    ) -> Shared:
        return Shared(name, about, threads, setup, PurgatoryConfiguration(), afterwards)

    yield program(
        "watch-and-check",
        "an event comes while its operation is put into its lists",
        watch=(op.Watch("1", kl, 5),),
        check=(op.Satisfy("1"), op.Check("l")),
    )
    yield program(
        "watch-and-watch",
        "two threads watch under one key",
        first=(op.Watch("1", k, 5),),
        second=(op.Watch("2", k, 5),),
    )
    yield program(
        "watch-and-drop",
        "an operation is put into a list that a check empties",
        (op.Watch("2", k, 5), op.Satisfy("2")),
        (op.Satisfy("1"), op.Check("k")),
        watch=(op.Watch("1", k, 5),),
        check=(op.Check("k"),),
    )
    yield program(
        "check-and-check",
        "two threads check the lists of the same operations",
        (op.Watch("1", kl, 5), op.Watch("2", lk, 5)),
        first=(op.Satisfy("1"), op.Check("k")),
        second=(op.Satisfy("2"), op.Check("l")),
    )
    yield program(
        "check-and-time-out",
        "an operation is completed while its time-out comes",
        (op.Watch("1", kl, 1),),
        check=(op.Satisfy("1"), op.Check("k")),
        time=(op.Advance(1), *run),
    )
    yield program(
        "watch-and-time-out",
        "an operation is watched while another one times out",
        (op.Watch("2", k, 1),),
        watch=(op.Watch("1", k, 1),),
        time=(op.Advance(1), *run),
    )
    if PurgatoryFeature.FORCE in offers:
        yield program(
            "check-and-force",
            "an operation is forced while an event completes it",
            (op.Watch("1", kl, 5),),
            check=(op.Satisfy("1"), op.Check("k")),
            force=(op.Force("1"),),
        )
    if PurgatoryFeature.CANCEL_FOR_KEY in offers:
        yield program(
            "watch-and-cancel",
            "a key is cancelled while an operation is put into its list",
            (op.Watch("2", k, 5),),
            watch=(op.Watch("1", kl, 5),),
            cancel=(op.CancelForKey("k"),),
        )
        yield program(
            "check-and-cancel",
            "a key is cancelled while it is checked",
            (op.Watch("1", kl, 5),),
            check=(op.Satisfy("1"), op.Check("k")),
            cancel=(op.CancelForKey("k"),),
        )


def _of_memory_pool(profile: MemoryPoolProfile) -> Iterator[Shared]:
    sorts = [
        strict
        for strict, feature in (
            (True, MemoryPoolFeature.STRICT),
            (False, MemoryPoolFeature.NON_STRICT),
        )
        if feature in profile.features
    ]
    for strict in sorts:
        configuration = MemoryPoolConfiguration(SIZE_BYTES, SIZE_BYTES, strict=strict)
        sort = "strict" if strict else "non-strict"

        def program(
            name: str,
            about: str,
            setup: Calls = (),
            *,
            of: tuple[str, MemoryPoolConfiguration] = (sort, configuration),
            **threads: Calls,
        ) -> Shared:
            return Shared(f"{of[0]}-{name}", about, threads, setup, of[1])

        def ask(buffer: str, size_bytes: int = SIZE_BYTES) -> Operation:
            return op.Allocate(buffer, size_bytes)

        yield program(
            "allocate-and-allocate",
            "two threads ask for all that there is",
            first=(ask("a"),),
            second=(ask("b"),),
        )
        yield program(
            "allocate-and-release",
            "a buffer comes back while another thread asks for one",
            (ask("a", 6),),
            allocate=(ask("b", 6), op.Release("b")),
            release=(op.Release("a"), ask("c", 4)),
        )
        yield program(
            "release-and-release",
            "two buffers come back at once",
            (ask("a", 4), ask("b", 6)),
            first=(op.Release("a"),),
            second=(op.Release("b"),),
        )
        if MemoryPoolFeature.RELEASE_AGAIN in profile.features:
            yield program(
                "release-again",
                "two threads give the same buffer back",
                (ask("a", 4),),
                first=(op.Release("a"),),
                second=(op.Release("a"),),
            )
