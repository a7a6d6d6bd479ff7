"""The model's rules for a memory pool that threads share, as far as its future depends on them.

Theory of operation. What the future of a pool depends on is one number, the bytes that are
available. What a call does at an instant is asked of the model, ``MemoryPoolModel``, with a state
that holds the call's own buffer and no other. Calls that differ only in the buffer's name have the
same effects, so the model is asked once for each kind of call and each number of bytes.

The *ways* in which an open call may stand are the bits of a small number: it has ``BEGUN``, or it
has taken effect and will give one of ``ANSWERS``.
"""

from collections.abc import Hashable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from immutables import Map

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.memory_pool_arithmetic import is_granted, is_legal
from purgatory_model.replacing import replace
from purgatory_model.step import result_matches
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Value
from purgatory_spec.reasons import Reason

_NO_BUFFERS: Map[str, int] = Map()
_MOST_KINDS = 256
_MOST_BYTES_OF_KIND = 512
"""The most that is kept of what the model said: kinds of calls, and numbers of bytes for each."""

Ways: TypeAlias = int
"""The ways in which an open call may stand: ``BEGUN``, and a bit for each of ``ANSWERS``."""


class Answer(NamedTuple):
    """The end of a call: its result, or the reason why it is rejected."""

    result: Value = None
    raised: Reason | None = None


ANSWERS: Final = (
    Answer(),
    Answer(True),
    Answer(False),
    Answer(raised=Reason.INVALID_ARGUMENT),
    Answer(raised=Reason.UNKNOWN_NAME),
    Answer(raised=Reason.NO_MEMORY),
)
BEGUN: Final[Ways] = 1
WAY_OF: Final = {answer: 2 << place for place, answer in enumerate(ANSWERS)}
BITS_OF_CALL: Final = 8
ANY_WAY: Final[Ways] = 2**BITS_OF_CALL - 1


def ways_that_give(result: Value, raised: Reason | None) -> Ways:
    """Return the ways in which a call may return so."""
    return sum(
        way
        for answer, way in WAY_OF.items()
        if answer.raised is raised and result_matches(answer.result, result)
    )


class Change(NamedTuple):
    """An effect of a call that changes the pool.

    Attributes:
        available_bytes: The bytes that are available after it.
        way: The way of the call after it.
        credits_wrongly: Whether bytes were credited that were not outstanding.
    """

    available_bytes: int
    way: Ways
    credits_wrongly: bool


class Effects(NamedTuple):
    """The effects of a call at some number of bytes.

    Attributes:
        idle: The ways of the call after the effects that change nothing.
        changes: The other effects.
    """

    idle: Ways
    changes: tuple[Change, ...]


class EffectsByBytes(dict[int, Effects]):
    """The effects of one kind of call, by the bytes that are available; the model is asked once."""

    def __init__(self, model: MemoryPoolModel, call: "PoolCall") -> None:
        """Note what is asked for; ``call`` may be contested later on."""
        super().__init__()
        self._model = model
        self._call = copy(call)

    def __reduce__(self) -> tuple[object, ...]:
        """Return the question without the model's answers."""
        return EffectsByBytes, (self._model, self._call)

    def __missing__(self, available_bytes: int) -> Effects:
        """Return the effects, and keep them."""
        if len(self) >= _MOST_BYTES_OF_KIND:
            self.clear()
        idle: Ways = 0
        changes = list[Change]()
        is_held = self._call.is_held
        for held in (is_held, not is_held) if self._call.is_contested else (is_held,):
            for each in self._asked(available_bytes, is_held=held):
                if each.available_bytes == available_bytes:
                    idle |= each.way
                else:
                    changes.append(each)
        effects = self[available_bytes] = Effects(idle, tuple(changes))
        return effects

    def _asked(self, available_bytes: int, *, is_held: bool) -> Iterator[Change]:
        """Yield what the model says of a call whose buffer is outstanding, or was returned."""
        operation, held, returned = self._call.operation, _NO_BUFFERS, _NO_BUFFERS
        if isinstance(operation, op.Release | op.Lose) and self._call.size_bytes is not None:
            if is_held or not gives_back_itself(operation):
                held = held.set(operation.buffer, self._call.size_bytes)
            else:
                returned = returned.set(operation.buffer, self._call.size_bytes)
        before = MemoryPoolState(available_bytes, held, returned)
        own = isinstance(operation, op.Allocate) or is_held
        for expectation in self._model.expectations(before, operation):
            after = expectation.complete(()).available_bytes
            way = WAY_OF[Answer(expectation.result, expectation.rejected)]
            yield Change(after, way, not own and after != available_bytes)


@dataclass(slots=True, eq=False)
class PoolCall:
    """An open call.

    Attributes:
        operation: What is asked for.
        size_bytes: The size of the buffer that the call gives back; None if unknown.
        is_held: Whether the buffer was outstanding when the call began.
        is_contested: Whether another open call gives the same buffer back: either may be first.
        shift: The place of its ways among those of all open calls; see ``PoolExplainer``.
        begun: The bit ``BEGUN`` at that place.
        any_way: The bits of all its ways at that place.
        effects: Its effects; the pool's rules know them.
        takes_bytes: The bytes that a grant takes.
        needs_bytes: The bytes that must be available so that it is granted.
        gives_bytes: The bytes that it gives back whenever it takes effect.
        change_way: The way in which it stands once it has taken or given bytes.
        is_odd: Whether it may do something else to the pool.
    """

    operation: op.Operation
    size_bytes: int | None = None
    is_held: bool = False
    is_contested: bool = False
    shift: int = 0
    begun: int = 0
    any_way: int = 0
    effects: EffectsByBytes = field(init=False)
    takes_bytes: int = 0
    needs_bytes: int = 0
    gives_bytes: int = 0
    change_way: Ways = 0
    is_odd: bool = False

    def gives_back(self, buffer: str) -> bool:
        """Decide whether the call gives a buffer back, or leaks it."""
        return isinstance(self.operation, op.Release | op.Lose) and self.operation.buffer == buffer


def gives_back_itself(operation: op.Operation) -> bool:
    """Decide whether an operation ends a buffer's being out: not one of a copy or a slice."""
    if isinstance(operation, op.Release):
        return operation.form is op.ReleaseForm.ITSELF
    return isinstance(operation, op.Lose)


@dataclass(slots=True)
class SharedPoolRules:
    """The rules of one pool, by a model of it."""

    model: MemoryPoolModel
    _known: dict[Hashable, EffectsByBytes] = field(default_factory=dict)

    def __reduce__(self) -> tuple[object, ...]:
        """Return the rules without the model's answers."""
        return SharedPoolRules, (self.model,)

    def take_up(self, call: PoolCall) -> None:
        """Note the bytes that a call may move; a contested call may move others."""
        call.takes_bytes, call.gives_bytes, call.is_odd = self._moves(call)
        # A pool grants with a single byte, or with all that are asked for.
        is_enough = is_granted(1, call.takes_bytes, self.model.configuration.strict)
        call.needs_bytes = min(1, call.takes_bytes) if is_enough else call.takes_bytes
        if call.takes_bytes or call.gives_bytes:
            call.change_way = WAY_OF[Answer(True if call.takes_bytes else None)]
        operation = call.operation
        if isinstance(operation, op.Allocate | op.Release | op.Lose):
            operation = replace(operation, buffer="")
        kind = operation, call.size_bytes, call.is_held, call.is_contested
        if len(self._known) >= _MOST_KINDS:
            self._known.clear()
        effects = self._known.get(kind)
        if effects is None:
            effects = self._known[kind] = EffectsByBytes(self.model, call)
        call.effects = effects

    def _moves(self, call: PoolCall) -> tuple[int, int, bool]:
        """Return the bytes that a call takes, the bytes that a call gives, and if it is odd."""
        operation, configuration = call.operation, self.model.configuration
        if configuration.unbounded or isinstance(operation, op.ReleaseNothing | op.Construct):
            return 0, 0, False
        if isinstance(operation, op.Allocate):
            legal = is_legal(operation.size_bytes, configuration.max_single_bytes)
            return operation.size_bytes if legal else 0, 0, False
        if call.is_held and not call.is_contested:
            return 0, call.size_bytes or 0, False
        return 0, 0, True
