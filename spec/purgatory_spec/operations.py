"""The operations of a step: what is asked of a component, with every argument named.

Times are integer milliseconds on the subject's clock, sizes are bytes. Tasks, delayed operations,
keys, buffers and channels have symbolic names, so that a shorter sequence of steps is still a
meaningful one.
An operation that several components have is one class with one name. See ``spec/protocol.md``.
"""

from enum import Enum
from typing import TypeAlias

import msgspec


class Throw(msgspec.Struct, frozen=True, tag_field="do", tag="throw", forbid_unknown_fields=True):
    """The running task or callback fails with an exception here; the rest is not reached."""


class AddInside(msgspec.Struct, frozen=True, tag_field="do", tag="add", forbid_unknown_fields=True):
    """The running task adds another task (or itself) to its timer."""

    task: str
    delay_ms: int


class CancelInside(
    msgspec.Struct, frozen=True, tag_field="do", tag="cancel", forbid_unknown_fields=True
):
    """The running task cancels a task of its timer."""

    task: str


class AdvanceInside(
    msgspec.Struct, frozen=True, tag_field="do", tag="advance", forbid_unknown_fields=True
):
    """The running task advances its timer to the clock's present reading."""


Action: TypeAlias = Throw | AddInside | CancelInside | AdvanceInside
"""An action of a running task: one entry of the task's script."""


class Add(msgspec.Struct, frozen=True, tag_field="op", tag="add", omit_defaults=True):
    """Arm a task: it is to run once, ``delay_ms`` after the clock's present reading.

    Adding a name again concerns the same task object; ``script`` replaces the task's script.
    """

    task: str
    delay_ms: int
    script: tuple[Action, ...] = ()


class Cancel(msgspec.Struct, frozen=True, tag_field="op", tag="cancel"):
    """Disarm a task; a name that was never added stands for a task object that never was."""

    task: str


class Elapse(msgspec.Struct, frozen=True, tag_field="op", tag="elapse"):
    """The clock moves on to ``to_ms`` and nobody advances anything."""

    to_ms: int


class Advance(msgspec.Struct, frozen=True, tag_field="op", tag="advance"):
    """The clock moves on to ``to_ms`` and the component is advanced once, without waiting.

    A purgatory advances its timer and then purges, if a purge is due.
    """

    to_ms: int


class RunOne(msgspec.Struct, frozen=True, tag_field="op", tag="run_one"):
    """The executor runs the task that has waited longest in its queue, if there is one."""


class Wait(msgspec.Struct, frozen=True, tag_field="op", tag="wait"):
    """Real clock only: let ``for_ms`` pass and report what ran meanwhile."""

    for_ms: int


class Shutdown(msgspec.Struct, frozen=True, tag_field="op", tag="shutdown"):
    """Shut the component down."""


TimerOperation: TypeAlias = Add | Cancel | Elapse | Advance | RunOne | Wait | Shutdown
"""One operation on a timer."""


class Answer(Enum):
    """What ``try_complete`` does when it is called."""

    WAIT = "wait"
    """It answers false."""
    COMPLETE = "complete"
    """It forces the operation and gives the answer of that."""
    THROW = "throw"
    """It fails with an exception."""


class WatchInside(
    msgspec.Struct, frozen=True, tag_field="do", tag="watch", forbid_unknown_fields=True
):
    """The callback has a delayed operation (another one, or its own) watched."""

    operation: str
    keys: tuple[str, ...]
    delay_ms: int


class CheckInside(
    msgspec.Struct, frozen=True, tag_field="do", tag="check", forbid_unknown_fields=True
):
    """The callback checks a key."""

    key: str


class CancelForKeyInside(
    msgspec.Struct, frozen=True, tag_field="do", tag="cancel_for_key", forbid_unknown_fields=True
):
    """The callback cancels what is watched under a key."""

    key: str


class ForceInside(
    msgspec.Struct, frozen=True, tag_field="do", tag="force", forbid_unknown_fields=True
):
    """The callback completes a delayed operation (another one, or its own) by force."""

    operation: str


class SatisfyInside(
    msgspec.Struct, frozen=True, tag_field="do", tag="satisfy", forbid_unknown_fields=True
):
    """From now on every try completes a delayed operation; the purgatory is not told."""

    operation: str


CallInside: TypeAlias = WatchInside | CheckInside | CancelForKeyInside | ForceInside
"""A call of the purgatory that a callback makes, or another thread meanwhile."""


class Meanwhile(
    msgspec.Struct, frozen=True, tag_field="do", tag="meanwhile", forbid_unknown_fields=True
):
    """Another thread makes a call, and the callback stands still.

    It stands until the call has returned, or cannot return before the callback does. A call that
    waits goes on as soon as it can, and the step ends when it has returned. The other thread is
    the same throughout the step: it makes its calls one after the other.
    """

    call: CallInside


CallbackAction: TypeAlias = Throw | SatisfyInside | CallInside | Meanwhile
"""An action of a try or of another callback: one entry of its script."""


class Script(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a delayed operation does when it is called.

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
        """How many tries differ from those that follow: all further ones are alike."""
        return max(len(self.tries), len(self.on_try))

    @property
    def callbacks(self) -> tuple[tuple[CallbackAction, ...], ...]:
        """The actions of every callback, tries first."""
        return (*self.on_try, self.on_complete, self.on_expiration)


class Watch(msgspec.Struct, frozen=True, tag_field="op", tag="watch", omit_defaults=True):
    """Try to complete a delayed operation, else watch it under the keys.

    Watching a name again concerns the same object: its delay and script are those of the step that
    introduced it, whatever a later one says.
    """

    operation: str
    keys: tuple[str, ...]
    delay_ms: int
    script: Script = Script()


class Check(msgspec.Struct, frozen=True, tag_field="op", tag="check"):
    """Check what is watched under a key and complete what can be completed."""

    key: str


class CancelForKey(msgspec.Struct, frozen=True, tag_field="op", tag="cancel_for_key"):
    """Watch nothing under this key any longer."""

    key: str


class Force(msgspec.Struct, frozen=True, tag_field="op", tag="force"):
    """Complete a delayed operation, whether or not it can be.

    A name that was never watched stands for an object without script that never was.
    """

    operation: str


class Satisfy(msgspec.Struct, frozen=True, tag_field="op", tag="satisfy"):
    """From now on every try completes the delayed operation; the purgatory is not told."""

    operation: str


PurgatoryOperation: TypeAlias = (
    Watch | Check | CancelForKey | Force | Satisfy | Elapse | Advance | RunOne | Shutdown
)
"""One operation on a purgatory."""


class ReleaseForm(Enum):
    """What is given to ``release`` for a buffer."""

    ITSELF = "itself"
    """The buffer that was granted."""
    SLICE = "slice"
    """Another view of the same memory, of its whole length."""
    COPY = "copy"
    """Another buffer of the same size."""


class Allocate(msgspec.Struct, frozen=True, tag_field="op", tag="allocate"):
    """Ask for a buffer of ``size_bytes``; where it is granted it goes by the name from then on."""

    buffer: str
    size_bytes: int


class Release(msgspec.Struct, frozen=True, tag_field="op", tag="release", omit_defaults=True):
    """Give a buffer back, or something that looks like it.

    Only buffers that were granted are named; a buffer that was released before may be. The buffer
    of a request goes by the request's name.
    """

    buffer: str
    form: ReleaseForm = ReleaseForm.ITSELF


class ReleaseForeign(msgspec.Struct, frozen=True, tag_field="op", tag="release_foreign"):
    """Give back a buffer of ``size_bytes`` that the pool never granted."""

    size_bytes: int


class ReleaseNothing(msgspec.Struct, frozen=True, tag_field="op", tag="release_nothing"):
    """Give back null, or whatever stands for the absence of a buffer."""


class Lose(msgspec.Struct, frozen=True, tag_field="op", tag="lose"):
    """Its holder loses a buffer without releasing it; the subject waits until the pool knows."""

    buffer: str


class Construct(msgspec.Struct, frozen=True, tag_field="op", tag="construct"):
    """Try to make another pool, or another server, of these sizes, and drop it."""

    size_bytes: int
    max_single_bytes: int


MemoryPoolOperation: TypeAlias = (
    Allocate | Release | ReleaseForeign | ReleaseNothing | Lose | Construct | Elapse
)
"""One operation on a memory pool."""


class Connect(msgspec.Struct, frozen=True, tag_field="op", tag="connect"):
    """A client connects, and the server takes the connection; a handshake goes to its end."""

    channel: str


class Announce(msgspec.Struct, frozen=True, tag_field="op", tag="announce"):
    """A client begins its next request of ``size_bytes``, in one write.

    The request is four bytes of size and the body. ``sent_bytes`` of both together are sent now;
    the step ends when the server's socket has them.
    """

    channel: str
    size_bytes: int
    sent_bytes: int


class Send(msgspec.Struct, frozen=True, tag_field="op", tag="send"):
    """A client sends so many further bytes of the request that it has begun, in one write."""

    channel: str
    sent_bytes: int


class Poll(msgspec.Struct, frozen=True, tag_field="op", tag="poll"):
    """The server polls its connections, without waiting, until a poll finds nothing to do."""


class PollWhile(msgspec.Struct, frozen=True, tag_field="op", tag="poll_while"):
    """The server polls, and the memory of a request is released while it waits for its sockets.

    It has looked at the pool before, and polls on as in ``poll`` after.
    """

    request: str


class PollBeside(msgspec.Struct, frozen=True, tag_field="op", tag="poll_beside"):
    """The server polls, and a client sends without end what brings no byte of a request.

    Under TLS these are records without data: the server's socket is never empty. As ``poll``, until
    a poll finds nothing else to do. A server that has taken 10,000 such records is asked no more:
    what it has received by then is the outcome.
    """

    channel: str


class Respond(msgspec.Struct, frozen=True, tag_field="op", tag="respond"):
    """The response of the channel's last request is written to its end; nothing is read."""

    channel: str


class Throttle(msgspec.Struct, frozen=True, tag_field="op", tag="throttle"):
    """The server slows down a channel whose request is being handled."""

    channel: str


class Unthrottle(msgspec.Struct, frozen=True, tag_field="op", tag="unthrottle"):
    """The time is over for which a channel was slowed down."""

    channel: str


class Close(msgspec.Struct, frozen=True, tag_field="op", tag="close"):
    """The server closes a connection."""

    channel: str


class Ending(Enum):
    """How a client ends its connection."""

    CLOSE = "close"
    """It closes its socket."""
    HALF_CLOSE = "half_close"
    """It sends nothing more, and reads on."""
    RESET = "reset"
    """It breaks the connection."""


class HangUp(msgspec.Struct, frozen=True, tag_field="op", tag="hang_up"):
    """A client ends its connection; the step ends when the server's socket knows."""

    channel: str
    ending: Ending = Ending.CLOSE


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
    """The word that stands for the operation in JSON, for example ``run_one``."""
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

    The call of another thread counts as that call. None where there is no such operation.
    """
    call = action.call if isinstance(action, Meanwhile) else action
    kind = _FROM_OUTSIDE.get(type(call))
    return kind(*(getattr(call, name) for name in call.__struct_fields__)) if kind else None
