"""The table of the bundled implementation: complete, free when absent, every row reached."""

# What is in the table is written down by hand. What has to be in it is found here by looking at the
# source, for locks, and by watching every field of every class while scenarios run.

import ast
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from types import FunctionType, ModuleType

import pytest

import purgatory_impl
from purgatory_lab.scheduling.bundled.scenarios import SCENARIOS
from purgatory_lab.scheduling.bundled.table import BUNDLED
from purgatory_lab.scheduling.errors import NotUnderControl, UndeclaredLock
from purgatory_lab.scheduling.run import Mark, Record, Strategy
from purgatory_lab.scheduling.scenario import Runs
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_lab.scheduling.search import Prefix, exhaust
from purgatory_lab.scheduling.yield_points import Injection, Table, Where, YieldPoint

MODULES = {
    info.name: importlib.import_module(info.name)
    for info in pkgutil.iter_modules(purgatory_impl.__path__, "purgatory_impl.")
}
CLASSES = sorted(
    {
        kind
        for module in MODULES.values()
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    },
    key=lambda kind: (kind.__module__, kind.__name__),
)
COMPILED_ALONE = "purgatory_impl.exclusion"
"""The module that threads wait in, in the compiled build, which cannot be scheduled."""

MADE_UNDER_CONTROL = ("Lock", "RLock", "Condition", "Thread")


def everything() -> dict[tuple[str, str], object]:
    """All that an injection may touch: the contents of modules and classes, by identity."""
    found: dict[tuple[str, str], object] = {}
    owners: dict[str, object] = {**MODULES, **{kind.__name__: kind for kind in CLASSES}}
    for owner_name, owner in owners.items():
        for name, value in vars(owner).items():
            found[owner_name, name] = value
    return found


def changed(
    before: dict[tuple[str, str], object], after: dict[tuple[str, str], object]
) -> set[tuple[str, str]]:
    return {
        key
        for key in before.keys() | after.keys()
        if key not in before or key not in after or before[key] is not after[key]
    }


# Injection


def test_nothing_is_left_behind() -> None:
    before = everything()
    injection = Injection(BUNDLED, Scheduler())
    with injection.active():
        meanwhile = changed(before, everything())
        Runs(SCENARIOS["exact-watch-and-check"].scenario, injection)(Prefix())
    assert {
        ("purgatory_impl.timer", "threading"),
        ("purgatory_impl.timer", "_OWNER_CHANGE"),
        ("purgatory_impl.chunks", "CHUNK"),
        ("DelayedOperation", "_completed"),
        ("Purgatory", "_closed"),
    } <= meanwhile
    assert changed(before, everything()) == set()
    with pytest.raises(ValueError, match="planned"), injection.active():
        raise ValueError("planned")
    assert changed(before, everything()) == set()


def test_the_implementation_knows_nothing_of_it() -> None:
    for name, module in MODULES.items():
        source = inspect.getsource(module).lower()
        assert not any(word in source for word in ("schedul", "yield point", "yield_point")), name


def test_a_table_that_lacks_a_lock_is_an_error() -> None:
    others = tuple(point for point in BUNDLED.points if point.name != "Shard.lock")
    lacking = replace(BUNDLED, points=others)
    injection = Injection(lacking, Scheduler())
    with injection.active():
        record = Runs(SCENARIOS["exact-watch-and-check"].scenario, injection)(Prefix())
    assert isinstance(record.failure, UndeclaredLock)
    assert "watchers.Shard has a lock that the table" in str(record.failure)


# Completeness: locks


def made_in(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield where a module makes something of ``threading``: what, and the name that it gets."""
    tree = ast.parse(inspect.getsource(module))
    named: dict[ast.Call, str] = {}
    for owner in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        for node in ast.walk(owner):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            # Also where the compiled build has something else: ``A() if COMPILED else B()``.
            calls = [each for each in ast.walk(node.value) if isinstance(each, ast.Call)]
            if isinstance(target, ast.Attribute) and isinstance(owner, ast.ClassDef):
                named |= dict.fromkeys(calls, f"{owner.name}.{target.attr}")
            elif isinstance(target, ast.Name) and node in tree.body:
                named |= dict.fromkeys(calls, target.id)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        of_threading = isinstance(node.func.value, ast.Name) and node.func.value.id == "threading"
        if of_threading and node.func.attr in MADE_UNDER_CONTROL:
            assert node in named, f"{module.__name__}:{node.lineno} makes it and names it not"
            yield node.func.attr, named[node]


def test_every_lock_of_the_implementation_has_a_row() -> None:
    made = {
        (module.__name__, name, Where.CONDITION if what == "Condition" else Where.LOCK)
        for name_of_module, module in MODULES.items()
        if name_of_module != COMPILED_ALONE
        for what, name in made_in(module)
        if what != "Thread"
    }
    rows = {
        (point.module, point.name, point.where) for point in BUNDLED.of(Where.LOCK, Where.CONDITION)
    }
    assert len(made) > 10
    assert made == rows


def test_nothing_of_threading_comes_in_by_another_way() -> None:
    """Find no import of what makes a lock, but for types."""
    for module in MODULES.values():
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.ImportFrom):
                assert node.module not in ("_thread", "queue", "concurrent.futures", "asyncio")
                names = {alias.name for alias in node.names}
                assert node.module != "threading" or names == {"Condition"}, module.__name__
    injection = Injection(BUNDLED, Scheduler())
    with pytest.raises(NotUnderControl):
        injection.threading.Event  # noqa: B018


# Completeness: fields


class Watched:
    """A field of which it is noted which threads use it; in the place of its slot."""

    def __init__(self, fields: "Fields", name: str, slot: object) -> None:
        self._fields = fields
        self._name = name
        self._slot = slot

    def __get__(self, owner: object, kind: type | None = None) -> object:
        if owner is None:
            return self
        value: object = self._slot.__get__(owner, kind)  # type: ignore[attr-defined]
        self._fields.used(self._name, owner, value, writes=False)
        return value

    def __set__(self, owner: object, value: object) -> None:
        self._slot.__set__(owner, value)  # type: ignore[attr-defined]
        self._fields.used(self._name, owner, value, writes=True)


class InDictionary:
    """An attribute of an object that has no slots."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, kind: type | None = None) -> object:
        try:
            return vars(owner)[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, owner: object, value: object) -> None:
        vars(owner)[self._name] = value


class Kept:
    """The known values and threads of one field of one object in one run."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.contents: object = None


def contents(value: object) -> object:
    """Return what is in a container; of anything else nothing."""
    if isinstance(value, dict):
        return sorted((id(key), id(each)) for key, each in value.items())
    if isinstance(value, list | set | frozenset | tuple) or type(value).__name__ == "deque":
        return [id(each) for each in value]  # type: ignore[attr-defined]
    return None


class Fields:
    """Looks for fields that are changed while more than one thread uses them."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.shared: set[str] = set()
        self.seen: set[str] = set()
        self._scheduler = scheduler
        self._kept: dict[tuple[int, str], tuple[object, Kept]] = {}

    def begin(self) -> None:
        self._kept = {}

    def used(self, name: str, owner: object, value: object, *, writes: bool) -> None:
        running = self._scheduler.running
        if running is None:
            return
        self.seen.add(name)
        _, kept = self._kept.setdefault((id(owner), name), (owner, Kept()))
        others = kept.threads - {running.number}
        changed_since = contents(value) != kept.contents and len(kept.threads) > 1
        if (others and writes) or changed_since:
            self.shared.add(name)
        kept.threads.add(running.number)
        kept.contents = contents(value)

    @contextmanager
    def watched(self, names: Sequence[str]) -> Iterator[None]:
        """Watch these fields of all classes, ``Class.field`` each."""
        before: list[tuple[type, str, object]] = []
        try:
            for kind in CLASSES:
                for name in names:
                    class_name, _, field = name.partition(".")
                    if class_name == kind.__name__:
                        slot = vars(kind).get(field)
                        before.append((kind, field, slot))
                        watched = Watched(self, name, slot or InDictionary(field))
                        setattr(kind, field, watched)
            yield
        finally:
            for kind, field, slot in before:
                if slot is None:
                    delattr(kind, field)
                else:
                    setattr(kind, field, slot)


def fields_of(kind: type) -> list[str]:
    """The fields that a class has in slots; where it has none, those that its methods set."""
    slots = vars(kind).get("__slots__")
    if slots is not None:
        return [slots] if isinstance(slots, str) else list(slots)
    found: list[str] = []
    for method in vars(kind).values():
        if isinstance(method, FunctionType):
            tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
            stored = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            ]
            found += [
                node.attr
                for node in stored
                if isinstance(node.value, ast.Name) and node.value.id == "self"
            ]
    inherited = {name for base in kind.__mro__[1:-1] for name in fields_of(base)}
    return [name for name in dict.fromkeys(found) if name not in inherited]


APART = {"Nesting.of_threads"}
"""Dictionaries in which each thread reads and sets an entry of its own alone."""

ALL_FIELDS = [
    name
    for kind in CLASSES
    for field in fields_of(kind)
    if (name := f"{kind.__name__}.{field}") not in APART
]
IN_TABLE = {point.name for point in BUNDLED.of(Where.UNLOCKED, Where.GUARDED)}
DIFFERENT = [
    prepared.scenario
    for name, prepared in SCENARIOS.items()
    if not (name.startswith("model-") or name.endswith("-explained"))
]
"""The scenarios without those that have the same programs as another one."""

SCHEDULES = 40
"""Of each scenario, while fields are watched: all with no preemption, most with one."""


def watch_fields(table: Table, names: Sequence[str]) -> Fields:
    """Run all scenarios, and see how the threads use some fields."""
    injection = Injection(table, Scheduler())
    fields = Fields(injection.scheduler)
    with injection.active(), fields.watched(names):
        for scenario in DIFFERENT:
            runs = Runs(scenario, injection)

            def run(strategy: Strategy, runs: Runs = runs) -> Record:
                fields.begin()
                return runs(strategy)

            assert exhaust(run, 1, limit=SCHEDULES).failure is None
    return fields


@pytest.mark.slow
def test_every_field_that_threads_change_has_a_row() -> None:
    """Find no other field that is changed once a second thread has used it."""
    others = [name for name in ALL_FIELDS if name not in IN_TABLE]
    fields = watch_fields(BUNDLED, others)
    assert len(fields.seen) > 40
    assert fields.shared == set()


@pytest.mark.slow
def test_a_field_without_its_row_is_missed() -> None:
    locks = BUNDLED.of(Where.LOCK, Where.CONDITION, Where.CALL)
    fields = watch_fields(replace(BUNDLED, points=locks), ALL_FIELDS)
    assert fields.shared <= IN_TABLE
    assert len(fields.shared) > 0.8 * len(IN_TABLE)


# Every row is reached


@cache
def reached() -> tuple[frozenset[str], frozenset[str]]:
    """Rows that are yield points in some run of correct code, and rows that were visited at all."""
    injection = Injection(BUNDLED, Scheduler())
    names: set[str] = set()
    with injection.active():
        for scenario in DIFFERENT:
            runs = Runs(scenario, injection)

            def run(strategy: Strategy, runs: Runs = runs) -> Record:
                record = runs(strategy)
                names.update(row_of(mark) for mark in record.marks)
                return record

            assert exhaust(run, 1, limit=SCHEDULES).failure is None
    return frozenset(names), frozenset(injection.visits)


def row_of(mark: Mark) -> str:
    return mark.what.removeprefix("reads ").removeprefix("writes ")


@pytest.mark.parametrize("point", BUNDLED.points, ids=lambda point: point.name)
def test_every_row_is_reached(point: YieldPoint) -> None:
    """Reach each row by some thread, and a guarded field only ever under its guard."""
    yielding, visited = reached()
    if point.where is Where.GUARDED:
        assert point.name in visited
        assert point.name not in yielding
    else:
        assert point.name in yielding


def test_every_row_says_why_and_names_something() -> None:
    names = [(point.module, point.name, point.where) for point in BUNDLED.points]
    assert len(names) == len(set(names))
    for point in BUNDLED.points:
        assert point.why
        assert point.module in MODULES
        assert bool(point.guards) is (
            point.where in (Where.UNLOCKED, Where.GUARDED) and point.name != "Purgatory._closed"
        )
    for size in BUNDLED.sizes:
        assert vars(MODULES[size.module])[size.name] > size.value
