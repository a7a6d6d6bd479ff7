"""The operations of a step: what is asked of a component, with every argument named.

Times are integer milliseconds on the subject's clock. Tasks have symbolic names, so that a
shorter sequence of steps is still a meaningful one. See ``spec/protocol.md``.
"""

from typing import TypeAlias

import msgspec


class Throw(msgspec.Struct, frozen=True, tag_field="do", tag="throw", forbid_unknown_fields=True):
    """The running task fails with an exception here; the rest of its script is not reached."""


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
"""What a task does when it runs, one entry of its script."""


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
    """The clock moves on to ``to_ms`` and nobody advances the timer."""

    to_ms: int


class Advance(msgspec.Struct, frozen=True, tag_field="op", tag="advance"):
    """The clock moves on to ``to_ms`` and the timer is advanced once, without waiting."""

    to_ms: int


class RunOne(msgspec.Struct, frozen=True, tag_field="op", tag="run_one"):
    """The executor runs the task that has waited longest in its queue, if there is one."""


class Wait(msgspec.Struct, frozen=True, tag_field="op", tag="wait"):
    """Real clock only: let ``for_ms`` pass and report what ran meanwhile."""

    for_ms: int


class Shutdown(msgspec.Struct, frozen=True, tag_field="op", tag="shutdown"):
    """Shut the timer down."""


Operation: TypeAlias = Add | Cancel | Elapse | Advance | RunOne | Wait | Shutdown
"""One operation on a timer."""


def operation_name(operation: Operation) -> str:
    """The word that stands for the operation in JSON, for example ``run_one``."""
    return str(operation.__struct_config__.tag)
