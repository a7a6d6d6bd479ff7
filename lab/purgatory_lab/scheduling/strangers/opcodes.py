"""Yield points at the attributes that threads share, found while the code runs.

Why single instructions, and not lines: ``self.free -= size`` is one line and two accesses, and the
race lies between them. So the instructions of the files under test are traced. Before each one that
reads or writes an attribute or an item, or writes a variable of a module or a closure, the thread
may give way.

Most of these places need no second schedule. While a thread runs whose accesses to an attribute all
threads make under one lock, nobody can notice where it is interrupted. So the locks are noted that
are held at each access, and a search interrupts only where an attribute was used by two threads
without a common lock, and may have been changed. Places that it passes over count all the same, so
that a schedule means the same run whatever is known by then.
"""

import dis
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import CodeType, FrameType, MemberDescriptorType
from typing import Final, NamedTuple, TypeAlias

from purgatory_lab.scheduling.errors import Abandoned
from purgatory_lab.scheduling.run import LogicalThread
from purgatory_lab.scheduling.scheduler import Scheduler

Tracer: TypeAlias = Callable[[FrameType, str, object], "Tracer | None"]


class Access(Enum):
    """The sort of an access."""

    READ = "reads"
    WRITE = "writes"
    ITEM = "uses an item"


class Point(NamedTuple):
    """An instruction before which a thread may give way.

    Attributes:
        access: What it does.
        name: The attribute or variable, or the method of a container that has no name there; empty
            for an item of one.
        path: The local variable and the attributes that lead to the object; empty where that is
            not known.
    """

    access: Access
    name: str = ""
    path: tuple[str, ...] = ()

    def words(self) -> str:
        """Return the point for the record of a run."""
        return f"{self.access.value} {self.name}".rstrip()


_READS: Final = {"LOAD_ATTR", "LOAD_METHOD"}
_WRITES: Final = {"STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL"}
_ITEMS: Final = {"BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR", "CONTAINS_OP", "FOR_ITER"}
_IN_A_LOCAL: Final = {"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"}


def points_of(code: CodeType) -> dict[int, Point]:
    """Return the points of a function by the offsets of their instructions."""
    found: dict[int, Point] = {}
    path: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    for each in dis.get_instructions(code):
        name = each.argval if isinstance(each.argval, str) else ""
        if each.opname in _READS:
            found[each.offset] = Point(Access.READ, name, path)
            path = (*path, name) if path else ()
            continue
        if each.opname == "COPY":
            # An attribute that is changed in place: its object is used once more behind a swap.
            copied = path
            continue
        if each.opname == "SWAP":
            path = copied
            continue
        if each.opname in _WRITES or (each.opname == "STORE_DEREF" and name in code.co_freevars):
            found[each.offset] = Point(Access.WRITE, name, path if "ATTR" in each.opname else ())
        elif each.opname in _ITEMS:
            found[each.offset] = Point(Access.ITEM)
        path = (name,) if each.opname in _IN_A_LOCAL else ()
    return found


@dataclass(slots=True)
class _Attribute:
    """The recorded uses of an attribute of one object in one run.

    Attributes:
        owner: The first thread that used it. What that does alone needs no lock, as long as no
            other thread uses it.
        locks: The locks that all have held since; None before.
        changes: Whether it may have been changed since.
    """

    owner: int
    locks: set[int] | None = None
    changes: bool = False


class SharedNames:
    """The recorded uses of attributes: the threads that used each attribute, and their locks.

    Attributes:
        suspects: The attributes that two threads have used without a common lock, at least one of
            them in a way that may change it. Nothing is ever taken out.
    """

    def __init__(self) -> None:
        self.suspects: set[str] = set()
        self._attributes: dict[tuple[int, str], _Attribute] = {}
        self._kept: list[object] = []

    def begin(self) -> None:
        """Begin a new run, whose objects are others."""
        self._attributes.clear()
        self._kept.clear()

    def use(self, thread: LogicalThread, point: Point, owner: object, value: object) -> None:
        """Note an access to an attribute of an object; None stands for an unknown object."""
        if isinstance(owner, threading.local):
            return
        known = self._attributes.get((id(owner), point.name))
        if known is None:
            self._kept.append(owner)
            self._attributes[id(owner), point.name] = _Attribute(thread.number)
            return
        if known.locks is None and known.owner == thread.number:
            return
        held = {id(lock) for lock in thread.held}
        known.locks = held if known.locks is None else known.locks & held
        known.changes |= point.access is Access.WRITE or _can_change(value)
        if known.changes and not known.locks:
            self.suspects.add(point.name)


def _can_change(value: object) -> bool:
    """Decide whether a value is a container, whose content changes without a write."""
    return value is not None and type(value).__hash__ is None


class Tracing:
    """Traces the files under test in the threads of a run.

    Attributes:
        files: The names of these files.
        shared: The recorded uses of the attributes of these files.
        noting: Whether accesses are noted; in the setup nobody else is there.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.files: frozenset[str] = frozenset()
        self.shared = SharedNames()
        self.noting = False
        self._scheduler = scheduler
        self._points: dict[CodeType, dict[int, Point]] = {}

    def enter(self) -> None:
        """Trace the present thread from now on."""
        sys.settrace(self._called)

    def _called(self, frame: FrameType, event: str, argument: object) -> Tracer | None:
        if frame.f_code.co_filename not in self.files:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if frame.f_code not in self._points:
            self._points[frame.f_code] = points_of(frame.f_code)
        return self._passes

    def _passes(self, frame: FrameType, event: str, argument: object) -> Tracer:
        if event == "opcode" and self.noting:
            point = self._points[frame.f_code].get(frame.f_lasti)
            if point is not None:
                self._reach(frame, point)
        return self._passes

    def _reach(self, frame: FrameType, point: Point) -> None:
        scheduler = self._scheduler
        thread = scheduler.running
        if thread is None:
            if scheduler.abandoned:
                raise Abandoned
            return
        owner: object = None
        if point.path:
            owner = frame.f_locals.get(point.path[0])
            for name in point.path[1:]:
                owner = _value(owner, name)
        is_method = point.access is Access.READ and callable(vars(type(owner)).get(point.name))
        words = f"calls {point.name}" if is_method else point.words()
        if point.access is Access.ITEM or (is_method and _can_change(owner)):
            may_switch = not thread.held
        elif is_method:
            return
        else:
            self.shared.use(thread, point, owner, _value(owner, point.name))
            may_switch = point.name in self.shared.suspects
        scheduler.reach(words, may_switch=may_switch)


def _value(owner: object, name: str) -> object:
    """Return what an attribute holds, without running any code of its class."""
    slot = vars(type(owner)).get(name)
    try:
        if isinstance(slot, MemberDescriptorType):
            return slot.__get__(owner)
        return object.__getattribute__(owner, "__dict__").get(name)
    except AttributeError:
        return None
