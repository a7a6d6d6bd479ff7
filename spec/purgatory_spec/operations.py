"""The operations of a step: what is asked of a component, with every argument named.

Times are integer milliseconds on the subject's clock, sizes are bytes. Tasks, delayed operations,
keys, buffers and channels have symbolic names, so that a shorter sequence of steps is still a
meaningful one.
An operation that several components have is one class with one name. See ``spec/protocol.md``.
"""

from enum import Enum
from typing import ClassVar, TypeAlias

import msgspec

from purgatory_spec.choices import Choice


class Worded(msgspec.Struct, frozen=True):
    """An operation, or an action of a script, with the words for it.

    ``says`` is the operation in words: names of fields stand in braces, for their values.
    ``answers`` are the words for a result that is false or empty, and for every other one, which
    may stand in them as ``{}``; they are empty where the operation has no result. ``silence`` is
    said of an outcome in which nothing happened.
    """

    says: ClassVar[str]
    answers: ClassVar[tuple[str, str]] = ("", "")
    silence: ClassVar[str] = "no event"


class ThrowSort(Choice):
    """The sort of an exception: severe ones pass by a handler for ordinary exceptions."""

    ORDINARY = "ordinary", ""
    SEVERE = "severe", " a severe exception"


class Throw(
    Worded,
    frozen=True,
    tag_field="do",
    tag="throw",
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """The running task or callback fails with an exception here; the rest is not reached."""

    says: ClassVar[str] = "throws{sort}"
    sort: ThrowSort = ThrowSort.ORDINARY


class AddInside(Worded, frozen=True, tag_field="do", tag="add", forbid_unknown_fields=True):
    """The running task adds another task (or itself) to its timer."""

    says: ClassVar[str] = "adds {task}, delay {delay_ms} ms"
    task: str
    delay_ms: int


class CancelInside(Worded, frozen=True, tag_field="do", tag="cancel", forbid_unknown_fields=True):
    """The running task cancels a task of its timer."""

    says: ClassVar[str] = "cancels {task}"
    task: str


class AdvanceInside(Worded, frozen=True, tag_field="do", tag="advance", forbid_unknown_fields=True):
    """The running task advances its timer to the clock's present reading."""

    says: ClassVar[str] = "advances the timer"


Action: TypeAlias = Throw | AddInside | CancelInside | AdvanceInside
"""An action of a running task: one entry of the task's script."""


class Add(Worded, frozen=True, tag_field="op", tag="add", omit_defaults=True):
    """Arm a task: it is to run once, ``delay_ms`` after the clock's present reading.

    Adding a name again concerns the same task object; ``script`` replaces the task's script.
    """

    says: ClassVar[str] = "add {task}, delay {delay_ms} ms{script}"
    task: str
    delay_ms: int
    script: tuple[Action, ...] = ()


class Cancel(Worded, frozen=True, tag_field="op", tag="cancel"):
    """Disarm a task; a name that was never added stands for a task object that never was."""

    says: ClassVar[str] = "cancel {task}"
    task: str


class Elapse(Worded, frozen=True, tag_field="op", tag="elapse"):
    """The clock moves on to ``to_ms`` and nobody advances anything."""

    says: ClassVar[str] = "let the clock reach {to_ms}"
    to_ms: int


class Advance(
    Worded,
    frozen=True,
    tag_field="op",
    tag="advance",
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """The clock moves on to ``to_ms`` and the component is advanced once, without waiting.

    A purgatory advances its timer and then purges, if a purge is due. The executor may be made to
    refuse every task that it is handed during this step.
    """

    says: ClassVar[str] = "advance to {to_ms}{refuse}"
    answers: ClassVar[tuple[str, str]] = ("nothing popped", "popped")
    to_ms: int
    refuse: bool = False


class RunOne(Worded, frozen=True, tag_field="op", tag="run_one"):
    """The executor runs the task that has waited longest in its queue, if there is one."""

    says: ClassVar[str] = "run one task"


class Wait(Worded, frozen=True, tag_field="op", tag="wait"):
    """Real clock only: let ``for_ms`` pass and report what ran meanwhile."""

    says: ClassVar[str] = "wait {for_ms} ms"
    for_ms: int


class Shutdown(Worded, frozen=True, tag_field="op", tag="shutdown"):
    """Shut the component down."""

    says: ClassVar[str] = "shut down"


class Reachable(Worded, frozen=True, tag_field="op", tag="reachable"):
    """The user drops the object of a task or a delayed operation; does it still exist?

    From now on nobody but the component holds the object, and its name is asked about in this way
    alone. The answer comes when garbage has been collected.
    """

    says: ClassVar[str] = "drop {task} and look whether it is still held"
    answers: ClassVar[tuple[str, str]] = ("not held", "still held")
    task: str


TimerOperation: TypeAlias = Add | Cancel | Elapse | Advance | RunOne | Wait | Shutdown | Reachable
"""One operation on a timer."""


class Answer(Enum):
    """The behaviour of ``try_complete`` when it is called."""

    WAIT = "wait"
    """It answers false."""
    COMPLETE = "complete"
    """It forces the operation and gives the answer of that."""
    THROW = "throw"
    """It fails with an exception."""
    THROW_SEVERE = "throw_severe"
    """It fails with a severe exception."""

    @property
    def throws(self) -> bool:
        """Decide whether it fails with an exception of either sort."""
        return self in (Answer.THROW, Answer.THROW_SEVERE)

    @property
    def sort(self) -> ThrowSort:
        """Return the sort of the exception that it fails with, if it does."""
        return ThrowSort.SEVERE if self is Answer.THROW_SEVERE else ThrowSort.ORDINARY


class WatchInside(Worded, frozen=True, tag_field="do", tag="watch", forbid_unknown_fields=True):
    """The callback has a delayed operation (another one, or its own) watched."""

    says: ClassVar[str] = "watches {operation} under {keys}, time-out {delay_ms} ms"
    operation: str
    keys: tuple[str, ...]
    delay_ms: int


class CheckInside(Worded, frozen=True, tag_field="do", tag="check", forbid_unknown_fields=True):
    """The callback checks a key."""

    says: ClassVar[str] = "checks {key}"
    key: str


class CancelForKeyInside(
    Worded, frozen=True, tag_field="do", tag="cancel_for_key", forbid_unknown_fields=True
):
    """The callback cancels what is watched under a key."""

    says: ClassVar[str] = "cancels for {key}"
    key: str


class ForceInside(Worded, frozen=True, tag_field="do", tag="force", forbid_unknown_fields=True):
    """The callback completes a delayed operation (another one, or its own) by force."""

    says: ClassVar[str] = "forces {operation}"
    operation: str


class SatisfyInside(Worded, frozen=True, tag_field="do", tag="satisfy", forbid_unknown_fields=True):
    """From now on every try completes a delayed operation; the purgatory is not told."""

    says: ClassVar[str] = "satisfies {operation}"
    operation: str


CallInside: TypeAlias = WatchInside | CheckInside | CancelForKeyInside | ForceInside
"""A call of the purgatory that a callback makes, or another thread meanwhile."""


class Meanwhile(Worded, frozen=True, tag_field="do", tag="meanwhile", forbid_unknown_fields=True):
    """Another thread makes a call, and the callback stands still.

    It stands until the call has returned, or cannot return before the callback does. A call that
    waits goes on as soon as it can, and the step ends when it has returned. The other thread is
    the same throughout the step: it makes its calls one after the other.
    """

    says: ClassVar[str] = "stands still while another thread {call}"
    call: CallInside


CallbackAction: TypeAlias = Throw | SatisfyInside | CallInside | Meanwhile
"""An action of a try or of another callback: one entry of its script."""


class Script(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The behaviour of a delayed operation when it is called.

    ``tries`` are the answers of successive calls of ``try_complete``; the last one stands for all
    further calls, and without any the answer is to wait. ``satisfy`` goes before all of them.
    ``on_try`` are the actions of successive calls; further calls have none. The answer is settled
    when the call begins and given after its actions.
    """

    tries: tuple[Answer, ...] = ()
    on_complete: tuple[CallbackAction, ...] = ()
    on_expiration: tuple[CallbackAction, ...] = ()
    on_try: tuple[tuple[CallbackAction, ...], ...] = ()

    @property
    def different_tries(self) -> int:
        """Return the number of scripted tries; all further ones are like the last."""
        return max(len(self.tries), len(self.on_try))

    @property
    def callbacks(self) -> tuple[tuple[CallbackAction, ...], ...]:
        """Return the actions of every callback, tries first."""
        return (*self.on_try, self.on_complete, self.on_expiration)


class Watch(Worded, frozen=True, tag_field="op", tag="watch", omit_defaults=True):
    """Try to complete a delayed operation, else watch it under the keys.

    Watching a name again concerns the same object: its delay and script are those of the step that
    introduced it, whatever a later one says.
    """

    says: ClassVar[str] = "watch {operation} under {keys}, time-out {delay_ms} ms{script}"
    answers: ClassVar[tuple[str, str]] = ("not completed by this call", "completed by this call")
    operation: str
    keys: tuple[str, ...]
    delay_ms: int
    script: Script = Script()


class Check(Worded, frozen=True, tag_field="op", tag="check"):
    """Check what is watched under a key and complete what can be completed."""

    says: ClassVar[str] = "check {key}"
    answers: ClassVar[tuple[str, str]] = ("{} completed", "{} completed")
    key: str


class CancelForKey(Worded, frozen=True, tag_field="op", tag="cancel_for_key"):
    """Watch nothing under this key any longer."""

    says: ClassVar[str] = "cancel for {key}"
    answers: ClassVar[tuple[str, str]] = ("nothing there", "cancelled {}")
    key: str


class Force(Worded, frozen=True, tag_field="op", tag="force"):
    """Complete a delayed operation, whether or not it can be.

    A name that was never watched stands for an object without script that never was.
    """

    says: ClassVar[str] = "force {operation}"
    answers: ClassVar[tuple[str, str]] = ("was completed already", "completed by this call")
    operation: str


class Satisfy(Worded, frozen=True, tag_field="op", tag="satisfy"):
    """From now on every try completes the delayed operation; the purgatory is not told."""

    says: ClassVar[str] = "satisfy {operation}"
    operation: str


PurgatoryOperation: TypeAlias = (
    Watch
    | Check
    | CancelForKey
    | Force
    | Satisfy
    | Elapse
    | Advance
    | RunOne
    | Shutdown
    | Reachable
)
"""One operation on a purgatory."""


class ReleaseForm(Choice):
    """The object that is given to ``release`` for a buffer."""

    ITSELF = "itself", ""
    SLICE = "slice", "a slice of "
    COPY = "copy", "a copy of "


class Allocate(
    Worded,
    frozen=True,
    tag_field="op",
    tag="allocate",
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """Ask for a buffer of ``size_bytes``; where it is granted it goes by the name from then on.

    Where it is made to fail, the machine has no memory for a buffer during this step.
    """

    says: ClassVar[str] = "ask for {buffer}, {size_bytes}{fail}"
    answers: ClassVar[tuple[str, str]] = ("refused", "granted")
    silence: ClassVar[str] = "done"
    buffer: str
    size_bytes: int
    fail: bool = False


class Release(Worded, frozen=True, tag_field="op", tag="release", omit_defaults=True):
    """Give a buffer back, or something that looks like it.

    Only buffers that were granted are named; a buffer that was released before may be. The buffer
    of a request goes by the request's name.
    """

    says: ClassVar[str] = "release {form}{buffer}"
    silence: ClassVar[str] = "done"
    buffer: str
    form: ReleaseForm = ReleaseForm.ITSELF


class ReleaseForeign(Worded, frozen=True, tag_field="op", tag="release_foreign"):
    """Give back a buffer of ``size_bytes`` that the pool never granted."""

    says: ClassVar[str] = "release a foreign buffer of {size_bytes}"
    silence: ClassVar[str] = "done"
    size_bytes: int


class ReleaseNothing(Worded, frozen=True, tag_field="op", tag="release_nothing"):
    """Give back null, or whatever stands for the absence of a buffer."""

    says: ClassVar[str] = "release nothing"
    silence: ClassVar[str] = "done"


class Lose(Worded, frozen=True, tag_field="op", tag="lose"):
    """Its holder loses a buffer without releasing it; the subject waits until the pool knows."""

    says: ClassVar[str] = "lose {buffer}"
    silence: ClassVar[str] = "done"
    buffer: str


class Fill(Worded, frozen=True, tag_field="op", tag="fill"):
    """The holder of a buffer writes one byte, 0 to 255, all over it."""

    says: ClassVar[str] = "fill {buffer} with {value}"
    silence: ClassVar[str] = "done"
    buffer: str
    value: int


class Read(Worded, frozen=True, tag_field="op", tag="read"):
    """The holder of a buffer reads it: the byte that it has all over, or -1 if its bytes differ."""

    says: ClassVar[str] = "read {buffer}"
    answers: ClassVar[tuple[str, str]] = ("{} all over", "{} all over")
    silence: ClassVar[str] = "done"
    buffer: str


class Construct(Worded, frozen=True, tag_field="op", tag="construct"):
    """Try to make another pool, or another server, of these sizes, and drop it."""

    says: ClassVar[str] = "make another of {size_bytes}, at most {max_single_bytes} for one"
    silence: ClassVar[str] = "done"
    size_bytes: int
    max_single_bytes: int


MemoryPoolOperation: TypeAlias = (
    Allocate | Release | ReleaseForeign | ReleaseNothing | Lose | Fill | Read | Construct | Elapse
)
"""One operation on a memory pool."""


class Connect(Worded, frozen=True, tag_field="op", tag="connect"):
    """A client connects, and the server takes the connection; a handshake goes to its end."""

    says: ClassVar[str] = "{channel} connects"
    silence: ClassVar[str] = "done"
    channel: str


class Announce(Worded, frozen=True, tag_field="op", tag="announce"):
    """A client begins its next request of ``size_bytes``, in one write.

    The request is four bytes of size and the body. ``sent_bytes`` of both together are sent now;
    the step ends when the server's socket has them.
    """

    says: ClassVar[str] = "{channel} begins a request of {size_bytes}, {sent_bytes} sent"
    silence: ClassVar[str] = "done"
    channel: str
    size_bytes: int
    sent_bytes: int


class Send(Worded, frozen=True, tag_field="op", tag="send"):
    """A client sends so many further bytes of the request that it has begun, in one write."""

    says: ClassVar[str] = "{channel} sends {sent_bytes} more"
    silence: ClassVar[str] = "done"
    channel: str
    sent_bytes: int


class Poll(Worded, frozen=True, tag_field="op", tag="poll"):
    """The server polls its connections, without waiting, until a poll finds nothing to do."""

    says: ClassVar[str] = "poll"
    silence: ClassVar[str] = "nothing received"


class PollWhile(Worded, frozen=True, tag_field="op", tag="poll_while"):
    """The server polls, and the memory of a request is released while it waits for its sockets.

    It has looked at the pool before, and polls on as in ``poll`` after.
    """

    says: ClassVar[str] = "poll, and {request} is released while it waits"
    silence: ClassVar[str] = "nothing received"
    request: str


class PollBeside(Worded, frozen=True, tag_field="op", tag="poll_beside"):
    """The server polls, and a client sends without end what brings no byte of a request.

    Under TLS these are records without data: the server's socket is never empty. As ``poll``, until
    a poll finds nothing else to do. A server that has taken 10,000 such records is asked no more:
    what it has received by then is the outcome.
    """

    says: ClassVar[str] = "poll, and {channel} sends records without data and without end"
    silence: ClassVar[str] = "nothing received"
    channel: str


class Respond(Worded, frozen=True, tag_field="op", tag="respond"):
    """The response of the channel's last request is written to its end; nothing is read."""

    says: ClassVar[str] = "answer {channel}"
    silence: ClassVar[str] = "done"
    channel: str


class Throttle(Worded, frozen=True, tag_field="op", tag="throttle"):
    """The server slows down a channel whose request is being handled."""

    says: ClassVar[str] = "throttle {channel}"
    silence: ClassVar[str] = "done"
    channel: str


class Unthrottle(Worded, frozen=True, tag_field="op", tag="unthrottle"):
    """The time is over for which a channel was slowed down."""

    says: ClassVar[str] = "end the throttling of {channel}"
    silence: ClassVar[str] = "done"
    channel: str


class Close(Worded, frozen=True, tag_field="op", tag="close"):
    """The server closes a connection."""

    says: ClassVar[str] = "close {channel}"
    silence: ClassVar[str] = "done"
    channel: str


class Ending(Choice):
    """The way in which a client ends its connection."""

    CLOSE = "close", "hangs up"
    HALF_CLOSE = "half_close", "says that it sends no more"
    RESET = "reset", "breaks its connection"


class HangUp(Worded, frozen=True, tag_field="op", tag="hang_up"):
    """A client ends its connection; the step ends when the server's socket knows."""

    says: ClassVar[str] = "{channel}'s client {ending}"
    silence: ClassVar[str] = "done"
    channel: str
    ending: Ending = Ending.CLOSE


OnChannel: TypeAlias = Announce | Send | Respond | Throttle | Unthrottle | Close | HangUp
"""One operation on a connected channel."""

ChannelMutingOperation: TypeAlias = (
    Connect
    | Announce
    | Send
    | Poll
    | PollWhile
    | PollBeside
    | Release
    | Respond
    | Throttle
    | Unthrottle
    | Close
    | HangUp
    | Construct
    | Elapse
)
"""One operation on a server's channels, which wait for memory."""

Operation: TypeAlias = (
    TimerOperation | PurgatoryOperation | MemoryPoolOperation | ChannelMutingOperation
)
"""One operation on a component."""


def operation_name(operation: Operation) -> str:
    """Return the word that stands for the operation in JSON, for example ``run_one``."""
    return str(operation.__struct_config__.tag)


_FROM_OUTSIDE: dict[type[msgspec.Struct], type[Operation]] = {
    AddInside: Add,
    CancelInside: Cancel,
    WatchInside: Watch,
    CheckInside: Check,
    CancelForKeyInside: CancelForKey,
    ForceInside: Force,
    SatisfyInside: Satisfy,
}


def from_outside(action: Action | CallbackAction) -> Operation | None:
    """Return the operation that does from outside what an action does in a script.

    The call of another thread counts as that call. None if no operation corresponds.
    """
    call = action.call if isinstance(action, Meanwhile) else action
    kind = _FROM_OUTSIDE.get(type(call))
    return kind(*(getattr(call, name) for name in call.__struct_fields__)) if kind else None
