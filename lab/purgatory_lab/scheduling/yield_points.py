"""The rows of a table of yield points, and what makes them so: the injection.

A table says which locks an implementation has, and which fields its threads share. A lock is a
yield point when it is taken. A field is one whenever a thread reads or writes it that holds none of
its *guards*, locks that whoever writes it holds: for correct code these are the places where the
protocol does without a lock, and for code that forgets a lock it is where that matters.
"""

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from types import ModuleType

from purgatory_lab.scheduling.controlled import ControlledLock
from purgatory_lab.scheduling.controlled_threading import ControlledThreading, GivingWay
from purgatory_lab.scheduling.errors import UndeclaredLock
from purgatory_lab.scheduling.run import LogicalThread
from purgatory_lab.scheduling.scheduler import Scheduler


class Where(Enum):
    """The places where a row of the table makes a yield point."""

    LOCK = "lock"
    """A lock, each time before it is taken."""
    CONDITION = "condition"
    """A condition, each time it is waited for."""
    UNLOCKED = "unlocked"
    """A field that the protocol uses without a lock: before each such use."""
    GUARDED = "guarded"
    """A field that is always used under a guard: never, unless a use forgets the guard."""
    CALL = "call"
    """A function that gives way, each time it is called."""


@dataclass(frozen=True, slots=True)
class YieldPoint:
    """A row of the table of yield points.

    Attributes:
        module: The full name of the module.
        name: ``Class.attribute``, or the name of something of the module itself.
        guards: For a field, the locks of which a holder uses it undisturbed: names of this table,
            such as ``Timer._lock``, where any lock of that name counts, or else paths of
            attributes from the object that has the field, such as ``owner.shard.lock``.
    """

    module: str
    name: str
    where: Where
    why: str
    guards: tuple[str, ...] = ()

    @property
    def class_name(self) -> str:
        """Return the class of the row, or an empty string."""
        return self.name.rpartition(".")[0]

    @property
    def attribute(self) -> str:
        """Return the last part of the name."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Size:
    """A constant of a module that is made small, so that small scenarios reach its bound."""

    module: str
    name: str
    value: int
    why: str


@dataclass(frozen=True, slots=True)
class Table:
    """All rows about one implementation, the modules of one package.

    Attributes:
        log: The name of its logger, which says nothing while runs are made by the thousand.
    """

    package: str
    points: tuple[YieldPoint, ...]
    sizes: tuple[Size, ...] = ()
    log: str = ""

    def of(self, *kinds: Where) -> tuple[YieldPoint, ...]:
        """Return the rows of these kinds."""
        return tuple(point for point in self.points if point.where in kinds)

    def modules(self) -> tuple[ModuleType, ...]:
        """Return the loaded modules of the package."""
        inside = f"{self.package}."
        return tuple(module for name, module in sys.modules.items() if name.startswith(inside))


class Injection:
    """The substitutes that a table puts in place of the implementation's own, while active.

    Attributes:
        scheduler: Whose yield points these are.
        visits: How often each row was reached by a thread of a run, under a guard or not.
    """

    def __init__(self, table: Table, scheduler: Scheduler) -> None:
        self.table = table
        self.scheduler = scheduler
        self.visits: Counter[str] = Counter()
        self.threading = ControlledThreading(scheduler, self)
        self._locks = {
            (point.class_name, point.attribute): point.name
            for point in table.of(Where.LOCK, Where.CONDITION)
        }
        self.lock_names = frozenset(self._locks.values())
        self._of_modules: dict[int, str] = {}

    def name_of(self, maker: object, made: object) -> str:
        """Return the name of a lock or condition in the table.

        Raises:
            UndeclaredLock: the table has no such lock.
        """
        if maker is None:
            return self._of_modules[id(made)]
        for kind in type(maker).__mro__:
            for (class_name, attribute), name in self._locks.items():
                if kind.__name__ == class_name and getattr(maker, attribute, None) is made:
                    return name
        raise UndeclaredLock(
            f"{type(maker).__module__}.{type(maker).__qualname__} has a lock that the table of "
            "yield points does not name; add a row"
        )

    def begin(self) -> None:
        """Begin a new run and forget the previous one."""
        self.scheduler.begin()
        self.threading.forget()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Substitute; and put everything back as it was."""
        undo: list[Callable[[], None]] = []
        try:
            for module in self.table.modules():
                if module.__dict__.get("threading") is sys.modules["threading"]:
                    _put(undo, module, "threading", self.threading)
            for size in self.table.sizes:
                _put(undo, sys.modules[size.module], size.name, size.value)
            for point in self.table.points:
                self._inject(point, undo)
            with self.quiet():
                yield
        finally:
            for step in reversed(undo):
                step()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Have the implementation's logger say nothing."""
        undo: list[Callable[[], None]] = []
        if self.table.log:
            _put(undo, logging.getLogger(self.table.log), "disabled", True)
        try:
            yield
        finally:
            for step in undo:
                step()

    def _inject(self, point: YieldPoint, undo: list[Callable[[], None]]) -> None:
        module = sys.modules[point.module]
        if point.where is Where.CALL:
            way = GivingWay(self.scheduler, point.name)
            _put(undo, module, point.class_name, way)
        elif point.where is Where.LOCK and not point.class_name:
            lock = ControlledLock(self.scheduler, self, None, reentrant=False)
            self._of_modules[id(lock)] = point.name
            _put(undo, module, point.name, lock)
        elif point.where in (Where.UNLOCKED, Where.GUARDED):
            owner = getattr(module, point.class_name)
            _put(undo, owner, point.attribute, _field(self, point, owner))


def _put(undo: list[Callable[[], None]], owner: object, name: str, value: object) -> None:
    """Set an attribute and note how to restore it, or how to delete a new attribute."""
    there = name in vars(owner)
    before = vars(owner).get(name)
    setattr(owner, name, value)
    if there:
        undo.append(lambda: setattr(owner, name, before))
    else:
        undo.append(lambda: delattr(owner, name))


class _Guards:
    """The guards of a field that the running thread holds."""

    def __init__(self, guards: Sequence[str], locks: frozenset[str]) -> None:
        self._paths = [attrgetter(guard) for guard in guards if guard not in locks]
        self._names = locks.intersection(guards)

    def protect(self, owner: object, thread: LogicalThread) -> bool:
        """Decide whether the thread holds a guard; also where the object is not complete yet."""
        for lock in thread.held:
            if isinstance(lock, ControlledLock) and lock.name in self._names:
                return True
        for path in self._paths:
            try:
                lock = path(owner)
            except AttributeError:
                # Still being made, and so known to nobody else.
                return True
            if isinstance(lock, ControlledLock) and lock.is_held_by(thread):
                return True
        return False


class _SlotField:
    """A field that is a slot: a yield point where it is used without a guard."""

    def __init__(self, injection: Injection, point: YieldPoint, slot: object) -> None:
        self._scheduler = injection.scheduler
        self._visits = injection.visits
        self._name = point.name
        self._guards = _Guards(point.guards, injection.lock_names)
        self._read = slot.__get__  # type: ignore[attr-defined]
        self._write = slot.__set__  # type: ignore[attr-defined]

    def __get__(self, owner: object, kind: type | None = None) -> object:
        if owner is None:
            return self
        self._visit(owner, "reads")
        return self._read(owner, kind)

    def __set__(self, owner: object, value: object) -> None:
        self._visit(owner, "writes")
        self._write(owner, value)

    def _visit(self, owner: object, how: str) -> None:
        scheduler = self._scheduler
        thread = scheduler.running
        if thread is None:
            return
        self._visits[self._name] += 1
        # What is read for finding the guards is no visit.
        scheduler.running = None
        protected = self._guards.protect(owner, thread)
        scheduler.running = thread
        if not protected:
            scheduler.reach(f"{how} {self._name}", owner)


class _DictionarySlot:
    """Reads and writes an attribute in the dictionary of its object, as a slot does."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, kind: type | None = None) -> object:
        if owner is None:
            return self
        try:
            return vars(owner)[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, owner: object, value: object) -> None:
        vars(owner)[self._name] = value


def _field(injection: Injection, point: YieldPoint, owner: type) -> _SlotField:
    slot = vars(owner).get(point.attribute)
    if slot is None:
        slot = _DictionarySlot(point.attribute)
    return _SlotField(injection, point, slot)
