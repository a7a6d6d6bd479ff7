"""The lines of a trace: what a running system wrote down of its calls, one JSON object per line.

A *run* is one instance of a component from a first line on. Its lines are numbered: ``seq`` grows
by one from line to line, over all threads, and is given out at the moment that the line tells of.
So the lines of a run have one order: a call has the place of its beginning, a return the place of
its end, and a callback the place of its call. A file may hold several runs, mixed, and a run may
lie in several files. See ``docs/reference/trace-format.md``.

Times are readings in nanoseconds of the clock that the instance itself goes by; its milliseconds
are ``at_ns // NS_PER_MS``. On a manual clock they may be left away, since ``elapse`` and
``advance`` say what time it is.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from purgatory_spec import profiles
from purgatory_spec.operations import Action, Operation, Script
from purgatory_spec.outcomes import Event, EventKind, Value
from purgatory_spec.reasons import Reason

TRACE_FORMAT = 1
"""Version of the format; a reader rejects any other."""

NS_PER_MS = 1_000_000
"""A reading in milliseconds is one in nanoseconds, divided by this and rounded down."""


class Located(NamedTuple):
    """A raw line with its place in its run and file; the unit that engines move about."""

    run: str
    seq: int
    file: str
    number: int
    """The number of the line, from 1; of a Parquet file, that of the row."""
    raw: bytes


class _Part(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of a line."""


class TimerInstance(_Part, frozen=True, tag_field="component", tag=profiles.Component.TIMER.value):
    """A run of a timer. The profile's clock and lateness mean nothing: the first line says them."""

    configuration: profiles.TimerConfiguration = profiles.TimerConfiguration()
    profile: profiles.TimerProfile = profiles.TimerProfile()


class PurgatoryInstance(
    _Part, frozen=True, tag_field="component", tag=profiles.Component.PURGATORY.value
):
    """A run of a purgatory."""

    configuration: profiles.PurgatoryConfiguration = profiles.PurgatoryConfiguration()
    profile: profiles.PurgatoryProfile = profiles.PurgatoryProfile()


class MemoryPoolInstance(
    _Part, frozen=True, tag_field="component", tag=profiles.Component.MEMORY_POOL.value
):
    """A run of a memory pool."""

    configuration: profiles.MemoryPoolConfiguration = profiles.MemoryPoolConfiguration()
    profile: profiles.MemoryPoolProfile = profiles.MemoryPoolProfile()


Instance: TypeAlias = TimerInstance | PurgatoryInstance | MemoryPoolInstance
"""The instance that a run is of."""

TRACED = (profiles.Component.TIMER, profiles.Component.PURGATORY, profiles.Component.MEMORY_POOL)
"""The components of which there are traces. What a server's channels do is asked one poll at a
time alone: when its sockets have something to read no line of a running system can tell."""


class ManualClock(_Part, frozen=True, tag_field="kind", tag="manual"):
    """The clock is moved by ``elapse`` and ``advance``."""


class WallClock(_Part, frozen=True, tag_field="kind", tag="wall"):
    """The clock moves by itself; ``lateness_ms`` is how late an expiry may be seen."""

    lateness_ms: int = 50


class DeclaredDeviation(_Part, frozen=True):
    """A rule that the traced system is known to break, and the variant of the model it follows."""

    rule: str
    variant: str


class _Line(_Part, frozen=True, tag_field="kind", kw_only=True):
    """The fields of every line: run, number in the run, and time."""

    run: str
    seq: int
    at_ns: int | None = None


class Begin(_Line, frozen=True, tag="begin", kw_only=True):
    """The first line of a run.

    With ``seq`` 0 the instance is fresh. With any other number the line begins a further file of
    the run, and a ``Snapshot`` follows; it says the same as the run's first line.

    A name stands for one object as long as that is live; a name that comes again after its object
    is finished stands for a new one. Where ``keeps_names`` is true, a name stands for the same
    object from the first line to the last, as in the suite's cases; nothing is forgotten then, so
    that this is for short runs, on a manual clock alone.
    """

    format: int = TRACE_FORMAT
    instance: Instance
    clock: ManualClock | WallClock = ManualClock()
    subject: str = ""
    """The subject that reports are about: name and version."""
    deviations: tuple[DeclaredDeviation, ...] = ()
    keeps_names: bool = False
    omitted: tuple[EventKind, ...] = ()
    """Kinds of events that the recorder leaves out, on a wall clock: ``tried`` may be left out of a
    purgatory's trace, and what a timer hands over (``expired``) need not be told anyway."""

    def says_the_same(self, other: "Begin") -> bool:
        """Decide whether two first lines may be of one run: at most their numbers differ."""
        return (
            msgspec.structs.replace(self, run=other.run, seq=other.seq, at_ns=other.at_ns) == other
        )


class PendingTask(_Part, frozen=True):
    """A task that is armed when a snapshot is taken.

    ``early_ms`` and ``late_ms``: its expiry, before rounding, lies between the two; on a manual
    clock they are equal.
    """

    task: str
    early_ms: int
    late_ms: int


class WaitingOperation(_Part, frozen=True):
    """A delayed operation that has an entry or an owed time-out when a snapshot is taken.

    ``entries`` names a key once for each entry in its list. ``early_ms``
    and ``late_ms``: as in ``PendingTask``, absent where its time-out is not armed. ``queued``: how
    often it waits in the executor's queue.
    """

    operation: str
    entries: tuple[str, ...] = ()
    delay_ms: int = 0
    completed: bool = False
    satisfied: bool = False
    early_ms: int | None = None
    late_ms: int | None = None
    queued: int = 0
    tried: int = 0
    """The number of the script's tries that are used up."""
    script: Script = Script()


class HeldBuffer(_Part, frozen=True):
    """A buffer that is outstanding when a snapshot is taken."""

    buffer: str
    size_bytes: int


class OpenCall(_Part, frozen=True):
    """A call that is under way when a snapshot is taken, with when it began."""

    thread: str
    operation: Operation
    at_ns: int


class Snapshot(_Line, frozen=True, tag="snapshot", kw_only=True):
    """The live objects of an instance: a run may be judged from here on.

    ``now_ms`` is the clock's reading (of a manual clock; otherwise ``at_ns`` is). Of a timer it
    holds ``tasks``, as they were armed, and the executor's queue, first to run first, in
    ``queued``; of a purgatory ``operations``, in the order of their first entries, and ``queued``;
    of a pool ``buffers``. Where a run begins with it, the insides of a timing wheel are unknown,
    and so are a pool's dry spells: what shows them is not compared.
    """

    now_ms: int | None = None
    tasks: tuple[PendingTask, ...] = ()
    queued: tuple[str, ...] = ()
    operations: tuple[WaitingOperation, ...] = ()
    buffers: tuple[HeldBuffer, ...] = ()
    calls: tuple[OpenCall, ...] = ()
    closed: bool = False
    scripts: Mapping[str, tuple[Action, ...]] = {}
    """The scripts of pending or queued tasks, for tasks that act on their timer."""
    lists: Mapping[str, tuple[str, ...]] = {}
    """The operations under a key, oldest entry first, where ``operations`` has another order."""
    estimate: int | None = None
    """The estimated total of operations; needed under the accounting ``proposal``."""
    available_bytes: int | None = None
    """The bytes that a pool has available; else its size less the outstanding bytes."""


class Step(_Line, frozen=True, tag="step", kw_only=True):
    """A whole call at once: nothing else was written between its beginning and its return.

    ``at_ns`` is when it returned, ``called_ns`` when it began. The outcome is as in the protocol.
    """

    thread: str = "main"
    called_ns: int | None = None
    operation: Operation
    result: Value = None
    rejected: Reason | None = None
    events: tuple[Event, ...] = ()
    observed: Mapping[str, Value] = {}


class Call(_Line, frozen=True, tag="call", kw_only=True):
    """A thread begins a call. Where no ``Return`` follows, its outcome is unknown."""

    thread: str
    operation: Operation


class Happened(_Line, frozen=True, tag="event", kw_only=True):
    """A callback begins, in a thread: inside a call of it, or in a thread of the instance."""

    thread: str
    event: EventKind
    task: str
    reason: Reason | None = None


class Return(_Line, frozen=True, tag="return", kw_only=True):
    """The latest open call of a thread returns."""

    thread: str
    result: Value = None
    rejected: Reason | None = None


class End(_Line, frozen=True, tag="end", kw_only=True):
    """The last line: the recorder was closed, no line is missing after this one."""


TraceLine: TypeAlias = Begin | Snapshot | Step | Call | Happened | Return | End
"""One line of a trace."""
