"""The table of situations for the memory pool: what to do next, and which rules it is good for.

Each row makes the operations of one situation, in which certain rules show. A generator takes rows
by weight; where a rule has not been put to the test often enough, its rows weigh more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from purgatory_conformance.generation.draft import drawn_rows
from purgatory_conformance.generation.memory_pool.world import (
    MOST_BUFFERS,
    MemoryPoolWorld,
    sorts_offered,
)
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import (
    LARGEST_INT,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    ReleaseValidation,
)

Make = Callable[[MemoryPoolWorld, Source], Sequence[op.Operation]]

_SIZES = (10, 1, 2, 7, 21, 100, 1000)
_KILOBYTES = (200_000, 2**20)
"""Sizes of pools whose buffers have the sizes of pages, of TLS records, of 16 bits and more."""

_POWERS = (2**7, 2**8, 2**12, 2**14, 2**15, 2**16, 2**17)

_LARGE_POOL_BYTES = 2**32 + 10
_LARGEST_OF_LARGE_POOL_BYTES = 10
"""Of a pool whose size 32 bits cannot hold; its buffers are small all the same."""

_BEYOND_INT = MemoryPoolConfiguration(2**31 + 10, 2**31, strict=True)
"""A pool whose largest buffer no int can say, so that requests beyond an int can be made of it.

It is strict and has less than such requests ask for, so that even a pool that takes them for legal
grants no such buffer. A subject whose sizes are ints answers that it does not support it.
"""

_MOST_LARGE_BUFFERS = 5

_MOST_FILLED = 6

_MOST_BEYOND = 1000
"""How far ordinary requests go beyond the largest buffer, and below zero, bytes."""


@dataclass(frozen=True)
class MemoryPoolRow:
    """A situation: name, weight, rules put to the test, features needed, and its generator.

    ``make`` may return nothing where the situation cannot arise at present.
    """

    name: str
    weight: int
    rules: frozenset[str]
    needs: frozenset[MemoryPoolFeature]
    make: Make

    def is_offered(self, profile: MemoryPoolProfile) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        return profile.features.issuperset(self.needs)


def _ask(world: MemoryPoolWorld, size_bytes: int) -> op.Allocate:
    return op.Allocate(world.fresh_name(), size_bytes)


def _small(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [_ask(world, source.integer(1, max(1, world.most // 4)))]


def _some(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [_ask(world, source.integer(1, world.most))]


def _about_a_power(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw a request for a power of two, or a byte more or less, and sometimes its release."""
    usable = [power for power in _POWERS if power < world.most]
    if not usable:
        return []
    asked = _ask(world, source.item(usable) + source.item((0, -1, 1)))
    return [asked, op.Release(asked.buffer)] if source.integer(0, 1) else [asked]


def _largest(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [_ask(world, world.most - source.item((0, 0, 1) if world.most > 1 else (0,)))]


def _what_is_left(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw a request for exactly what is left, or a byte more or less."""
    asked = world.available + source.item((0, 1, -1))
    return [_ask(world, asked)] if 1 <= asked <= world.most else []


def _taken_but(world: MemoryPoolWorld, left: int) -> list[op.Operation]:
    """Return requests that leave this many bytes available; none where too many are needed."""
    rest = world.available - left
    if world.configuration.unbounded or not 0 <= rest <= world.most * MOST_BUFFERS:
        return []
    sizes = [world.most] * (rest // world.most)
    if rest % world.most:
        sizes.append(rest % world.most)
    return [_ask(world, size) for size in sizes]


def _to_the_bound(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw steps in which all but a byte is taken, then the largest request is made, then any."""
    left = world.most if world.configuration.strict else 1
    if world.available < left:
        return []
    further = _ask(world, source.integer(1, world.most))
    return [*_taken_but(world, left), _ask(world, world.most), further]


def _spell(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw an empty pool, a request that is refused, and a step that ends the spell."""
    operations = _taken_but(world, 0)
    taken = [operation.buffer for operation in operations if isinstance(operation, op.Allocate)]
    held = world.held + taken
    if not held:
        return []
    waits = world.has(MemoryPoolFeature.ELAPSE)
    operations.append(_ask(world, source.integer(1, world.most)))
    if waits:
        operations.append(op.Elapse(world.state.now_ms + source.integer(1, 20)))
    if source.integer(0, 2) == 0:
        operations.append(_ask(world, source.item((0, -1, world.most + 1))))
    if source.integer(0, 1) == 0:
        operations.append(_ask(world, source.integer(1, world.most)))
    operations.append(op.Release(source.item(held)))
    return operations


def _zero(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [_ask(world, 0)]


def _negative(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [
        _ask(
            world,
            -source.item((1, 2, world.most, min(world.configuration.size_bytes, _MOST_BEYOND))),
        )
    ]


def _oversize(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    more = source.item((1, 1, 2, world.most, min(world.configuration.size_bytes, _MOST_BEYOND)))
    return [_ask(world, world.most + more)]


def _beyond_short(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw a request that is legal in its lower 16 bits alone, behind an illegal one."""
    configuration = world.configuration
    if configuration.unbounded or configuration.size_bytes > LARGEST_INT:
        return []
    return [_ask(world, world.most + 1), _ask(world, source.item((2**16 + 1, 1 - 2**16)))]


def _beyond_int(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw a request that is legal if only its lower 32 bits are looked at."""
    return [_ask(world, source.item((2**32 + 1, 1 - 2**32)))]


def _few(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [_ask(world, source.integer(1, _LARGEST_OF_LARGE_POOL_BYTES))]


def _some_kilobytes(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw a request for some kilobytes: a bounded pool has less, an unbounded one grants it."""
    if not world.configuration.unbounded or len(world.held) > _MOST_LARGE_BUFFERS:
        return []
    asked = _ask(world, source.integer(9_000, 11_000))
    return [asked, op.Release(asked.buffer)] if source.integer(0, 1) else [asked]


def _fail(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw a request that would be granted if the machine had memory, and sometimes another."""
    most = min(world.most, world.available) if world.configuration.strict else world.most
    if world.available < 1:
        return []
    failing = structs.replace(_ask(world, source.integer(1, most)), fail=True)
    return [failing, _ask(world, source.integer(1, most))] if source.integer(0, 1) else [failing]


def _fill_and_read(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw a few buffers: those that were not filled are, each with its number, then all are read.

    So the last buffers are written over the first ones if they share memory with them.
    """
    first = source.integer(0, max(0, len(world.held) - _MOST_FILLED))
    some = world.held[first : first + _MOST_FILLED]
    fills = [op.Fill(name, int(name[1:]) % 256) for name in some if name not in world.state.filled]
    return [*fills, *(op.Read(name) for name in some)]


def _release(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [op.Release(source.item(world.held))] if world.held else []


def _release_all(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [op.Release(buffer) for buffer in world.held]


def _release_and_ask(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    """Draw a release, and a request for the released bytes."""
    if not world.held:
        return []
    buffer = source.item(world.held)
    return [op.Release(buffer), _ask(world, max(1, min(world.state.held[buffer], world.most)))]


def _release_again(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [op.Release(source.item(world.returned))] if world.returned else []


def _other_form(form: op.ReleaseForm) -> Make:
    def make(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
        """Draw a release of an object that looks like the buffer, and sometimes of the buffer."""
        if not world.held:
            return []
        buffer = source.item(world.held)
        then = [op.Release(buffer)] if source.integer(0, 1) else []
        return [op.Release(buffer, form), *then]

    return make


def _foreign(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [op.ReleaseForeign(source.integer(1, world.most))]


def _nothing(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [op.ReleaseNothing()]


def _lose(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [op.Lose(source.item(world.held))] if world.held else []


def _construct(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    small = ((1, 1), (10, 10), (10, 11), (10, 0), (0, 0), (0, 1), (10, -1), (-1, 1), (-1, -1))
    large = ((LARGEST_INT, 10), (LARGEST_INT + 1, 10), (_LARGE_POOL_BYTES, 10), (-(2**32) + 10, 1))
    size, most = source.item((*small, *large))
    return [op.Construct(size, most)]


def _elapse(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [op.Elapse(world.state.now_ms + source.integer(0, 20))]


def _release_every_other(world: MemoryPoolWorld, source: Source) -> list[op.Operation]:
    return [op.Release(buffer) for buffer in world.held[::2]]


def _row(
    name: str, weight: int, rules: str, make: Make, *needs: MemoryPoolFeature
) -> MemoryPoolRow:
    return MemoryPoolRow(name, weight, frozenset(rules.split()), frozenset(needs), make)


_ADMISSION = "POOL-STRICT POOL-NON-STRICT"

MEMORY_POOL_TABLE: tuple[MemoryPoolRow, ...] = (
    _row("ask for a small buffer", 4, "POOL-EXACT-BUFFER POOL-USED POOL-UNBOUNDED-GRANTS", _small),
    _row(
        "ask for some buffer",
        8,
        f"{_ADMISSION} POOL-EXACT-BUFFER POOL-CONSERVATION POOL-SIZE",
        _some,
    ),
    _row("release a buffer", 8, "POOL-RELEASE POOL-CONSERVATION POOL-UNBOUNDED-RELEASE", _release),
    _row("ask for the largest buffer", 4, f"{_ADMISSION} POOL-OVERSIZE-REQUEST", _largest),
    _row("ask for what is left", 4, _ADMISSION, _what_is_left),
    _row("ask for about a power of two", 3, "POOL-EXACT-BUFFER POOL-CONSERVATION", _about_a_power),
    _row(
        "go to the bound",
        3,
        f"{_ADMISSION} POOL-BOUND POOL-REFUSAL POOL-OUT-OF-MEMORY",
        _to_the_bound,
    ),
    _row(
        "refuse, then release",
        4,
        "POOL-SPELL-BEGINS POOL-SPELL-ENDS POOL-REFUSAL POOL-DEPLETED-TIME",
        _spell,
    ),
    _row("ask for nothing", 2, "POOL-ZERO-REQUEST POOL-UNBOUNDED-GRANTS", _zero),
    _row(
        "ask for less than nothing", 2, "POOL-NEGATIVE-REQUEST POOL-UNBOUNDED-NEGATIVE", _negative
    ),
    _row("ask for too much", 2, "POOL-OVERSIZE-REQUEST POOL-UNBOUNDED-GRANTS", _oversize),
    _row("ask for far too much", 2, "POOL-OVERSIZE-REQUEST POOL-NEGATIVE-REQUEST", _beyond_short),
    _row("ask for some kilobytes", 1, "POOL-UNBOUNDED-GRANTS", _some_kilobytes),
    _row("release and ask for as much", 3, "POOL-RELEASE", _release_and_ask),
    _row("release all", 1, "POOL-RELEASE", _release_all),
    _row(
        "release a buffer again",
        3,
        "POOL-RELEASE-AGAIN POOL-UNBOUNDED-RELEASE",
        _release_again,
        MemoryPoolFeature.RELEASE_AGAIN,
    ),
    _row(
        "release a slice",
        3,
        "POOL-RELEASE-SLICE POOL-UNBOUNDED-RELEASE",
        _other_form(op.ReleaseForm.SLICE),
        MemoryPoolFeature.RELEASE_SLICE,
    ),
    _row(
        "release a copy",
        3,
        "POOL-RELEASE-COPY POOL-UNBOUNDED-RELEASE",
        _other_form(op.ReleaseForm.COPY),
        MemoryPoolFeature.RELEASE_COPY,
    ),
    _row(
        "release a foreign buffer",
        2,
        "POOL-RELEASE-FOREIGN POOL-UNBOUNDED-RELEASE",
        _foreign,
        MemoryPoolFeature.RELEASE_FOREIGN,
    ),
    _row(
        "release nothing",
        2,
        "POOL-RELEASE-NOTHING POOL-UNBOUNDED-RELEASE",
        _nothing,
        MemoryPoolFeature.RELEASE_NOTHING,
    ),
    _row("lose a buffer", 2, "POOL-LEAK", _lose, MemoryPoolFeature.LEAK_DETECTION),
    _row("make another pool", 1, "POOL-CONSTRUCT", _construct, MemoryPoolFeature.CONSTRUCT),
    _row("let time pass", 2, "POOL-DEPLETED-TIME", _elapse, MemoryPoolFeature.ELAPSE),
    _row("fill and read", 3, "POOL-OWN-MEMORY", _fill_and_read, MemoryPoolFeature.FILL),
    _row("ask in vain", 2, "POOL-ALLOCATION-FAILS", _fail, MemoryPoolFeature.FAIL),
)
"""The rows for the memory pool, the simplest first: shrinking goes towards the top."""

_BEYOND_INT_TABLE = (
    _row("ask for few bytes", 3, f"{_ADMISSION} POOL-EXACT-BUFFER", _few),
    _row("release a buffer", 3, "POOL-RELEASE", _release),
    _row("ask beyond an int", 2, "POOL-OVERSIZE-REQUEST POOL-NEGATIVE-REQUEST", _beyond_int),
)
"""The rows where the largest buffer is larger than an int can say: it is not asked for."""

_RELIEF = _row("release every other buffer", 1, "POOL-RELEASE", _release_every_other)
"""What is done as soon as too many buffers are held, and nothing else then."""

MEMORY_POOL_ROWS = {row.name: row for row in (*MEMORY_POOL_TABLE, *_BEYOND_INT_TABLE, _RELIEF)}
"""Every situation by its name."""


@dataclass(slots=True)
class MemoryPoolDraft:
    """A case of a memory pool while it is drawn; see ``Draft``.

    Where a pool may credit what it never granted, half of the cases give it nothing of the kind:
    once it has done so, what it believes is of no further interest.
    """

    configuration: MemoryPoolConfiguration
    profile: MemoryPoolProfile
    world: MemoryPoolWorld = field(init=False)
    gives_back_its_own: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Begin with a fresh pool."""
        self.world = MemoryPoolWorld(self.configuration, self.profile)

    def opening(self, source: Source) -> tuple[op.Operation, ...]:
        """Return no operations; decide whether the case gives back the pool's own buffers only."""
        if self.profile.release_validation is ReleaseValidation.NONE:
            self.gives_back_its_own = source.integer(0, 1) == 0
        return ()

    @property
    def is_full(self) -> bool:
        """Decide whether so many buffers are held that some must be given back first."""
        return len(self.world.held) > MOST_BUFFERS

    @property
    def rows(self) -> list[MemoryPoolRow]:
        """Return the situations that a subject of this profile can be brought into now."""
        if self.is_full:
            return [_RELIEF]
        table = _BEYOND_INT_TABLE if self.configuration == _BEYOND_INT else MEMORY_POOL_TABLE
        left_out = _OTHER_RELEASES if self.gives_back_its_own else frozenset()
        return [row for row in table if row.is_offered(self.profile) and not row.needs & left_out]

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation now."""
        return any(row.name == situation for row in self.rows)

    def draw(self, situation: str, source: Source) -> tuple[op.Operation, ...]:
        """Return the operations of a situation, as far as names mean what they should."""
        operations: list[op.Operation] = []
        for operation in MEMORY_POOL_ROWS[situation].make(self.world, source):
            if self.world.can_be_asked(operation):
                self.world.apply(operation)
                operations.append(operation)
        return tuple(operations)

    def shutdown(self, source: Source, share: int = 9) -> tuple[op.Operation, ...]:
        """Return no operations: a pool cannot be shut down."""
        return ()


def draw_configuration(
    profile: MemoryPoolProfile, source: Source, wanted: frozenset[str]
) -> MemoryPoolConfiguration:
    """Draw a configuration of an offered sort, preferably one that the wanted rules need."""
    sorts = sorts_offered(profile) or [MemoryPoolFeature.NON_STRICT]
    for rules, sort in _RULES_OF_SORTS:
        if wanted and wanted <= rules and sort in sorts:
            sorts = [sort]
    weights = [1 if sort is MemoryPoolFeature.UNBOUNDED else 3 for sort in sorts]
    sort = sorts[source.weighted(weights)]
    size = source.item(_SIZES if source.integer(0, 6) else _KILOBYTES)
    most = source.item((size, max(1, size // 2), max(1, size * 2 // 5), max(1, size // 9), 1))
    most = max(most, size // MOST_BUFFERS)
    strict = sort is MemoryPoolFeature.STRICT
    rare = source.integer(0, 49)
    if rare >= 48 and sort is not MemoryPoolFeature.UNBOUNDED:
        if strict and rare == 49:
            return _BEYOND_INT
        return MemoryPoolConfiguration(_LARGE_POOL_BYTES, _LARGEST_OF_LARGE_POOL_BYTES, strict)
    return MemoryPoolConfiguration(size, most, strict, sort is MemoryPoolFeature.UNBOUNDED)


_OTHER_RELEASES = frozenset(
    {
        MemoryPoolFeature.RELEASE_AGAIN,
        MemoryPoolFeature.RELEASE_SLICE,
        MemoryPoolFeature.RELEASE_COPY,
        MemoryPoolFeature.RELEASE_FOREIGN,
    }
)
"""What a subject offers if it can be given buffers that are not its own, or no longer."""

_RULES_OF_SORTS = (
    (frozenset({"POOL-STRICT"}), MemoryPoolFeature.STRICT),
    (frozenset({"POOL-NON-STRICT"}), MemoryPoolFeature.NON_STRICT),
    (
        frozenset({"POOL-UNBOUNDED-GRANTS", "POOL-UNBOUNDED-NEGATIVE", "POOL-UNBOUNDED-RELEASE"}),
        MemoryPoolFeature.UNBOUNDED,
    ),
)
"""The sort of pool that shows these rules alone."""


def draw_operations(
    configuration: MemoryPoolConfiguration,
    profile: MemoryPoolProfile,
    source: Source,
    most: int,
    wanted: frozenset[str] = frozenset(),
) -> tuple[op.Operation, ...]:
    """Return the operations of one case, at most about ``most``.

    ``wanted`` are the rules that have not been put to the test often enough.
    """
    draft = MemoryPoolDraft(configuration, profile)
    operations = list(draft.opening(source))
    for row in drawn_rows(draft.rows, wanted, source, operations, most):
        operations.extend(draft.draw((_RELIEF if draft.is_full else row).name, source))
    return tuple(operations)
