"""A case while it is drawn: what is predicted of the subject, and the situations that come next."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import Close, Connect, Elapse, HangUp, Operation, Shutdown

_STEERING = 6
"""The weight of a situation in which rules show that are tested too seldom, times its own."""

_SWARM = (1, 0, 4)
"""The weights of situations in a swarm, times their own: as before, left out, or often."""

_ENDS = frozenset({Shutdown, Close, HangUp, Elapse, Connect})
"""The kinds of operations after which less can be asked, or that only prepare others."""

_OFTEN = 6
"""The weight of every other kind in a walk."""

_STEPS_AFTER_SHUTDOWN = 6

_MOST_VAIN = 20
"""The most situations that are tried for each operation of a case: some cannot arise at present."""


class Row(Protocol):
    """A situation with its weight, and the rules that show in it."""

    @property
    def weight(self) -> int:
        """Return how often it is drawn, beside others."""

    @property
    def rules(self) -> frozenset[str]:
        """Return the rules that it puts to the test."""


RowT = TypeVar("RowT", bound=Row)


class Draft(Protocol):
    """A case while it is drawn, situation after situation of the component's table.

    Whatever is drawn is followed by the prediction at once, so that the next situation fits.
    """

    def opening(self, source: Source) -> tuple[Operation, ...]:
        """Return the operations that the case begins with: seldom any."""

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation now."""

    def draw(self, situation: str, source: Source) -> tuple[Operation, ...]:
        """Return the operations of a situation, none where it cannot arise at present."""

    def asks(self) -> Iterable[Operation]:
        """Return the operations worth asking next, on a small scale; see ``asks``."""

    def followed(self, operations: Iterable[Operation]) -> tuple[Operation, ...]:
        """Follow the operations that a subject of this profile can be asked, and return them."""

    def shutdown(self, source: Source, share: int = 9) -> tuple[Operation, ...]:
        """Return the operations of a shutdown, in one of ``share + 1`` cases; otherwise none."""


def drawn_rows(
    rows: Sequence[RowT],
    wanted: frozenset[str],
    source: Source,
    operations: Sequence[Operation],
    most: int,
) -> Iterator[RowT]:
    """Yield the situations of a case, until ``operations`` has grown to about ``most``.

    Every second case is one of a *swarm*: it leaves some situations out and has others often, so
    that rare ones meet (Groce and others, Swarm Testing, 2012). The first row is never left out.
    """
    weights = [row.weight * (_STEERING if row.rules & wanted else 1) for row in rows]
    if source.integer(0, 1):
        swarm = [1, *(source.item(_SWARM) for _ in rows[1:])]
        weights = [weight * times for weight, times in zip(weights, swarm, strict=True)]
    for _ in range(_MOST_VAIN * most):
        if not source.more(len(operations), most):
            return
        yield rows[source.weighted(weights)]


def walked(draft: Draft, source: Source, most: int) -> tuple[Operation, ...]:
    """Return the operations of a walk: each is one of those worth asking after those before.

    The kinds of operations are as likely as each other, however many of a kind may be asked, but
    for those that end something. In every second walk they are those of a swarm, as for situations.
    After a shutdown the walk goes on for a few steps.
    """
    swarm = source.integer(0, 1)
    weights: dict[type[Operation], int] = {}
    operations: list[Operation] = []
    for _ in range(_MOST_VAIN * most):
        if not source.more(len(operations), most):
            break
        asks: dict[type[Operation], list[Operation]] = {}
        for operation in draft.asks():
            asks.setdefault(type(operation), []).append(operation)
        for kind in asks:
            if kind not in weights:
                usual = 1 if kind in _ENDS else _OFTEN
                weights[kind] = usual * (source.item(_SWARM) if swarm else 1)
        kinds = [kind for kind in asks if weights[kind]]
        if not kinds:
            break
        kind = kinds[source.weighted([weights[kind] for kind in kinds])]
        operations.extend(draft.followed((source.item(asks[kind]),)))
        if kind is Shutdown:
            most = min(most, len(operations) + _STEPS_AFTER_SHUTDOWN)
    return tuple(operations)
