"""The situations of the memory pool: sorts of asks with their weights, and a few scenes.

An ask is one operation whose arguments lie at the boundaries of the pool's state; ``asks`` yields
those that are worth asking next. A scene has several steps that asks meet too seldom: a pool that
is emptied, and one that has very many buffers at once or one after the other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from purgatory_conformance.generation.asks import memory_pool_asks
from purgatory_conformance.generation.draft import drawn_rows
from purgatory_conformance.generation.fields import name_of
from purgatory_conformance.generation.memory_pool.world import (
    MOST_GRANTED_BYTES,
    POWERS,
    MemoryPoolWorld,
    sorts_offered,
)
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import (
    LARGEST_INT,
    LARGEST_SAFE_INTEGER,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    ReleaseValidation,
)

_SIZES = (10, 1, 2, 7, 21, 100, 1000)
_KILOBYTES = (200_000, 2**20)
"""Sizes of pools whose buffers have the sizes of pages, of TLS records, of 16 bits and more."""

_HUGE = tuple(2**bits + more for bits in (24, 25, 31, 32, 53) for more in (-1, 10))
"""Sizes of pools about the limits of floats and of integers; few of their bytes are granted."""

_BEYOND_BYTES = (2**16 + 1, 1 - 2**16, 2**24 + 1, 2**31 - 1, -(2**31), 2**32 + 1, 1 - 2**32)
"""Sizes that are legal in their lower bits alone, bytes."""

_SPANS_MS = (1, 3, 20, 2**31 + 1)

_CONSTRUCTED = (
    *((1, 1), (10, 10), (10, 11), (10, 0), (0, 0), (0, 1), (10, -1), (-1, 1), (-1, -1)),
    *((LARGEST_INT, 10), (LARGEST_INT + 1, 10), (2**32 + 10, 10), (-(2**32) + 10, 1)),
    *((10, 2**32 + 5), (2**32 + 5, 2**32 + 5), (10, 5 - 2**32)),
)
"""Sizes of further pools, each with the largest buffer, bytes."""

_CROWDS = (9, 17, 33, 65, 101, 129, 257, 600)
_TURNS = (15, 63, 127, 255, 511, 1023)
"""The numbers of buffers that come and go between the first one and the last one."""

_MOST_FILLED_BYTES = 2**20
_MOST_PAIRED_BYTES = 2**17 + 1
_MOST_PAIRS = 6


@dataclass(frozen=True)
class MemoryPoolRow:
    """A situation: name, weight, rules put to the test, features needed, and its operations."""

    name: str
    weight: int
    rules: frozenset[str]
    needs: frozenset[MemoryPoolFeature]
    make: Callable[["MemoryPoolDraft", Source], Sequence[op.Operation]]

    def is_offered(self, profile: MemoryPoolProfile) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        return profile.features.issuperset(self.needs)


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
    def rows(self) -> list[MemoryPoolRow]:
        """Return the situations that a subject of this profile can be brought into now."""
        left_out = _OTHER_RELEASES if self.gives_back_its_own else frozenset()
        return [
            row
            for row in MEMORY_POOL_TABLE
            if row.is_offered(self.profile) and not row.needs & left_out
        ]

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation now."""
        return any(row.name == situation for row in self.rows)

    def draw(self, situation: str, source: Source) -> tuple[op.Operation, ...]:
        """Return the operations of a situation, as far as names mean what they should."""
        return self.followed(MEMORY_POOL_ROWS[situation].make(self, source))

    def asks(self) -> Iterator[op.Operation]:
        """Return the operations worth asking next, of the oldest and the newest buffers."""
        world, features = self.world, self.profile.features
        held, now_ms, fresh = world.held, world.state.now_ms, world.fresh_name
        most = min(world.most, _MOST_FILLED_BYTES)
        yield from memory_pool_asks(
            world.state,
            self.profile,
            fresh=fresh,
            sizes_bytes=[*world.legal_sizes(), *self.illegal_sizes()],
            foreign_bytes=(1, most, most + 1),
            readings_ms=[now_ms + span_ms for span_ms in _SPANS_MS],
            buffers={*_ends(held), *_ends(world.returned)},
        )
        if MemoryPoolFeature.FAIL in features:
            yield from (op.Allocate(fresh, each, fail=True) for each in world.legal_sizes())
        if MemoryPoolFeature.FILL in features:
            for name in sorted(_ends(held)):
                yield op.Read(name)
                if world.state.held[name] <= _MOST_FILLED_BYTES:
                    yield op.Fill(name, (len(held) + held.index(name)) % 255 + 1)
        if MemoryPoolFeature.CONSTRUCT in features:
            yield from (op.Construct(*sizes) for sizes in _CONSTRUCTED)

    def illegal_sizes(self) -> Iterator[int]:
        """Yield sizes below zero, and above the largest in a pool with a bound."""
        most = self.world.most
        yield from (-1, -2, -min(most, LARGEST_INT))
        if self.configuration.unbounded:
            return
        yield from (most + 1, most + 2, most * 2, -self.configuration.size_bytes)
        for size in _BEYOND_BYTES:
            # A pool that counts in 32 bits grants few bytes, and no other one so many.
            is_safe = abs(size) <= LARGEST_INT or self.configuration.strict
            if size < 0 or (is_safe and size > most):
                yield size

    @property
    def ways_to_leave(self) -> Sequence[Callable[[str], op.Operation]]:
        """Return the operations by which a buffer is outstanding no longer."""
        return (op.Release, op.Lose) if self.offers("lose a buffer") else (op.Release,)

    def followed(self, operations: Iterable[op.Operation]) -> tuple[op.Operation, ...]:
        """Follow the operations that can be asked, as far as names mean what they should."""
        followed: list[op.Operation] = []
        for operation in operations:
            is_safe = getattr(operation, "size_bytes", 0) <= LARGEST_SAFE_INTEGER
            if is_safe and self.world.can_be_asked(operation):
                self.world.apply(operation)
                followed.append(operation)
        return tuple(followed)

    def shutdown(self, source: Source, share: int = 9) -> tuple[op.Operation, ...]:
        """Return no operations: a pool cannot be shut down."""
        return ()


def _ends(names: Sequence[str]) -> set[str]:
    """Return the two oldest names and the two newest ones."""
    return {*names[:2], *names[-2:]}


# The situations


Make = Callable[[MemoryPoolDraft, Source], list[op.Operation]]


def _asked(is_so: Callable[[MemoryPoolDraft, op.Operation], bool]) -> Make:
    """Return the maker of an ask of some sort."""

    def make(draft: MemoryPoolDraft, source: Source) -> list[op.Operation]:
        can_be_asked = draft.world.can_be_asked
        asks = [each for each in draft.asks() if is_so(draft, each) and can_be_asked(each)]
        return [source.item(asks)] if asks else []

    return make


def _of(kind: type[op.Operation]) -> Make:
    return _asked(lambda _, each: isinstance(each, kind))


def _is_legal(draft: MemoryPoolDraft, each: op.Operation) -> bool:
    if not isinstance(each, op.Allocate) or each.fail or each.size_bytes < 0:
        return False
    return draft.configuration.unbounded or each.size_bytes <= draft.world.most


def _is_illegal(draft: MemoryPoolDraft, each: op.Operation) -> bool:
    return isinstance(each, op.Allocate) and not each.fail and not _is_legal(draft, each)


def _in_vain(_: MemoryPoolDraft, each: op.Operation) -> bool:
    return isinstance(each, op.Allocate) and each.fail


def _is_itself(each: op.Operation) -> bool:
    return isinstance(each, op.Release) and each.form is op.ReleaseForm.ITSELF


def _is_release(draft: MemoryPoolDraft, each: op.Operation) -> bool:
    return _is_itself(each) and name_of(each) in draft.world.state.held


def _is_again(draft: MemoryPoolDraft, each: op.Operation) -> bool:
    return _is_itself(each) and name_of(each) in draft.world.state.returned


def _is_slice(_: MemoryPoolDraft, each: op.Operation) -> bool:
    return isinstance(each, op.Release) and each.form is op.ReleaseForm.SLICE


def _is_copy(_: MemoryPoolDraft, each: op.Operation) -> bool:
    return isinstance(each, op.Release) and each.form is op.ReleaseForm.COPY


def _requests(draft: MemoryPoolDraft, sizes: Iterable[int]) -> list[op.Operation]:
    """Return requests for fresh buffers of these sizes."""
    first = draft.world.names + 1
    return [op.Allocate(f"b{number}", size) for number, size in enumerate(sizes, first)]


def _emptied(draft: MemoryPoolDraft, source: Source) -> list[op.Operation]:
    """Draw a pool that is empty, or nearly, what it refuses, and what ends the spell, or not."""
    world, most = draft.world, draft.world.most
    left = source.item((0, most if draft.configuration.strict else 1))
    rest = world.available - left
    if draft.configuration.unbounded or not 0 <= rest <= 24 * most:
        return []
    sizes = [most] * (rest // most) + [rest % most] * (rest % most > 0)
    further = [most] * (left > 0) + [source.integer(1, most) for _ in range(source.integer(1, 2))]
    asked = _requests(draft, [*sizes, *further])
    names = [*world.held, *map(name_of, asked)]
    fresh = [f"b{world.names + len(asked) + more}" for more in (1, 2)]
    if MemoryPoolFeature.ELAPSE in draft.profile.features:
        now_ms = world.state.now_ms
        asked.insert(-1, op.Elapse(now_ms + source.integer(1, 20)))
        if source.integer(0, 1):
            asked += map(op.Allocate, fresh[1:], [source.item(list(draft.illegal_sizes()))])
        asked.append(op.Elapse(now_ms + 20 + source.item(_SPANS_MS)))
    leaves = source.item(draft.ways_to_leave)
    gone = leaves(source.item(names[: len(world.held) + max(1, len(sizes))]))
    return [*asked, gone, op.Allocate(fresh[0], 1)]


def _crowd(draft: MemoryPoolDraft, source: Source) -> list[op.Operation]:
    """Draw many buffers of one size at once, of which some or all are given back, or lost."""
    room = 10**6 if draft.configuration.unbounded else draft.world.available
    count = source.item(_CROWDS)
    if room < _CROWDS[0]:
        return []
    size = max(1, min(source.item((1, 1, 2, 64)), draft.world.most, room // count))
    asked = _requests(draft, [size] * min(count, room))
    names = [name_of(each) for each in asked]
    ends = names[:1] + names[-1:]
    contents: list[op.Operation] = []
    if draft.offers("fill a buffer"):
        filled = source.item((ends, ends, names[:129]))
        contents += [op.Fill(name, number) for number, name in enumerate(filled, 1)]
        contents += [op.Read(name) for name in filled]
    leaves = source.item(draft.ways_to_leave)
    given = source.item((names, names[::-1], names[-1:], names[::2]))
    return [*asked, *contents, *map(leaves, given)]


def _turns(draft: MemoryPoolDraft, source: Source) -> list[op.Operation]:
    """Draw a buffer that is given back, many that come and go, and that one once more."""
    if draft.world.available < 1 and not draft.configuration.unbounded:
        return []
    first, *others, last = _requests(draft, [1] * (source.item(_TURNS) + 2))
    names = [each.buffer for each in (first, *others, last) if isinstance(each, op.Allocate)]
    turns = [(each, op.Release(name)) for each, name in zip(others, names[1:-1], strict=True)]
    again = [op.Release(names[0])] if draft.offers("release again") else []
    return [first, op.Release(names[0]), *chain(*turns), last, *again, op.Release(names[-1])]


def _joined(draft: MemoryPoolDraft, source: Source) -> list[op.Operation]:
    """Draw buffers of which some make room for one, and for two more of the size of one of them.

    All are filled before, and read then. So a later buffer is written over an earlier one if they
    share memory: where free neighbours are joined, or a buffer is free twice, or by a release that
    is rejected.
    """
    room = 2**20 if draft.configuration.unbounded else draft.world.available
    longest = max(1, min(draft.world.most // 3, room // 7, _MOST_FILLED_BYTES))
    sizes = [source.integer(1, longest) for _ in range(5)]
    if source.integer(0, 2) == 0:
        equal = [each for each in draft.world.legal_sizes() if 0 < each <= longest]
        sizes = [source.item(equal or sizes)] * 5
    first = source.integer(0, 2)
    places = source.item(((0, 1), (0, 2), (0, 2, 1)))
    left = [sizes[first + place] for place in places]
    joined = sum(left) + source.item((0, 1, -1))
    requests = _requests(draft, [*sizes, joined, left[0], left[0]])
    before, after = requests[:5], requests[5:]
    names = [name_of(each) for each in requests]
    leaves = source.item(draft.ways_to_leave)
    gone = [leaves(names[first + place]) for place in places]
    if draft.offers("release a slice") and source.integer(0, 1):
        staying = names[0 if first else 4]
        gone.append(op.Release(staying, op.ReleaseForm.SLICE))
    if not draft.offers("fill a buffer"):
        return [*before, *gone, *after]
    fills = [op.Fill(name, number) for number, name in enumerate(names, 1)]
    reads = [op.Read(name) for name in (*sorted(_ends(draft.world.held)), *names)]
    return [*before, *fills[:5], *gone, *after, *fills[5:], *reads]


def _pairs(draft: MemoryPoolDraft, source: Source) -> list[op.Operation]:
    """Draw pairs of buffers of one size, for some sizes: each is filled, read, and given back."""
    room = 2**20 if draft.configuration.unbounded else draft.world.available
    longest = min(draft.world.most, room // 2, _MOST_PAIRED_BYTES)
    possible = [power + more for power in POWERS for more in (0, 1, -1, power // 4 * 3)]
    possible = [size for size in possible if size <= longest]
    sizes = [source.item(possible or [1]) for _ in range(_MOST_PAIRS if longest >= 1 else 0)]
    # Each second one is a little smaller than the one before, whose memory it may be given.
    sizes[1::2] = [size - source.integer(0, size // 4) for size in sizes[::2]]
    requests = _requests(draft, [size for size in sizes for _ in range(2)])
    operations: list[op.Operation] = []
    for first, second in zip(requests[::2], requests[1::2], strict=True):
        names = name_of(first), name_of(second)
        fills = [op.Fill(name, number) for number, name in enumerate(names, 1)]
        reads, releases = map(op.Read, names), map(op.Release, names)
        operations += [first, second, *fills, *reads, *releases]
    return operations


def _row(
    name: str,
    weight: int,
    rules: str,
    make: Make,
    *needs: MemoryPoolFeature,
) -> MemoryPoolRow:
    return MemoryPoolRow(name, weight, frozenset(rules.split()), frozenset(needs), make)


_ADMISSION = "POOL-STRICT POOL-NON-STRICT POOL-EXACT-BUFFER POOL-BOUND POOL-UNBOUNDED-GRANTS"
_ILLEGAL = "POOL-ZERO-REQUEST POOL-NEGATIVE-REQUEST POOL-OVERSIZE-REQUEST POOL-UNBOUNDED-NEGATIVE"
_SPELLS = "POOL-SPELL-BEGINS POOL-SPELL-ENDS POOL-REFUSAL POOL-DEPLETED-TIME POOL-OUT-OF-MEMORY"
_RELEASE = "POOL-RELEASE POOL-CONSERVATION POOL-USED POOL-SIZE POOL-UNBOUNDED-RELEASE"
_Has = MemoryPoolFeature

MEMORY_POOL_TABLE: tuple[MemoryPoolRow, ...] = (
    _row("ask for a buffer", 28, _ADMISSION, _asked(_is_legal)),
    _row("release a buffer", 14, _RELEASE, _asked(_is_release)),
    _row("ask for an illegal buffer", 8, _ILLEGAL, _asked(_is_illegal)),
    _row("empty the pool", 9, _SPELLS, _emptied),
    _row("release again", 3, "POOL-RELEASE-AGAIN", _asked(_is_again), _Has.RELEASE_AGAIN),
    _row("release a slice", 4, "POOL-RELEASE-SLICE", _asked(_is_slice), _Has.RELEASE_SLICE),
    _row("release a copy", 4, "POOL-RELEASE-COPY", _asked(_is_copy), _Has.RELEASE_COPY),
    _row(
        "release a foreign buffer",
        3,
        "POOL-RELEASE-FOREIGN",
        _of(op.ReleaseForeign),
        _Has.RELEASE_FOREIGN,
    ),
    _row(
        "release nothing", 2, "POOL-RELEASE-NOTHING", _of(op.ReleaseNothing), _Has.RELEASE_NOTHING
    ),
    _row("lose a buffer", 3, "POOL-LEAK", _of(op.Lose), _Has.LEAK_DETECTION),
    _row("make another pool", 2, "POOL-CONSTRUCT", _of(op.Construct), _Has.CONSTRUCT),
    _row("let time pass", 2, "POOL-DEPLETED-TIME", _of(op.Elapse), _Has.ELAPSE),
    _row("fill a buffer", 1, "POOL-OWN-MEMORY", _of(op.Fill), _Has.FILL),
    _row("read a buffer", 3, "POOL-OWN-MEMORY", _of(op.Read), _Has.FILL),
    _row("join buffers", 3, "POOL-OWN-MEMORY POOL-STRICT POOL-RELEASE", _joined),
    _row("have pairs of one size", 2, "POOL-OWN-MEMORY POOL-RELEASE", _pairs, _Has.FILL),
    _row("ask in vain", 2, "POOL-ALLOCATION-FAILS", _asked(_in_vain), _Has.FAIL),
    _row("have a crowd", 3, _RELEASE, _crowd),
    _row("have many in turn", 2, _RELEASE, _turns),
)
"""The situations of the memory pool, the simplest first: shrinking goes towards the top."""

MEMORY_POOL_ROWS = {row.name: row for row in MEMORY_POOL_TABLE}
"""Every situation by its name."""

_OTHER_RELEASES = frozenset(
    {_Has.RELEASE_AGAIN, _Has.RELEASE_SLICE, _Has.RELEASE_COPY, _Has.RELEASE_FOREIGN}
)
"""The features of a subject that can be given buffers that are not its own, or no longer."""

_RULES_OF_SORTS = (
    (frozenset({"POOL-STRICT"}), _Has.STRICT),
    (frozenset({"POOL-NON-STRICT"}), _Has.NON_STRICT),
    (
        frozenset({"POOL-UNBOUNDED-GRANTS", "POOL-UNBOUNDED-NEGATIVE", "POOL-UNBOUNDED-RELEASE"}),
        _Has.UNBOUNDED,
    ),
)
"""The sort of pool that shows these rules alone."""


def draw_configuration(
    profile: MemoryPoolProfile, source: Source, wanted: frozenset[str]
) -> MemoryPoolConfiguration:
    """Draw a configuration of an offered sort, preferably one that the wanted rules need."""
    sorts = sorts_offered(profile) or [_Has.NON_STRICT]
    for rules, sort in _RULES_OF_SORTS:
        if wanted and wanted <= rules and sort in sorts:
            sorts = [sort]
    sort = sorts[source.weighted([1 if sort is _Has.UNBOUNDED else 3 for sort in sorts])]
    kind = source.integer(0, 15)
    size = source.item(_SIZES if kind < 10 else _KILOBYTES if kind < 14 else _HUGE)
    size = min(size, LARGEST_SAFE_INTEGER)
    parts = (size, max(1, size // 2), max(1, size * 2 // 5), max(1, size // 9), 1)
    # Of a huge pool the largest buffer is one that is really made, or one beyond an int.
    most = source.item((min(size, MOST_GRANTED_BYTES), 10, 1000, size) if kind >= 14 else parts)
    return MemoryPoolConfiguration(size, most, sort is _Has.STRICT, sort is _Has.UNBOUNDED)


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
        operations.extend(draft.draw(row.name, source))
    return tuple(operations)
