"""A generator's knowledge of a memory pool: the model's state, if all goes by the rules."""

from dataclasses import dataclass, field

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_spec.operations import (
    Allocate,
    Elapse,
    Fill,
    Lose,
    Operation,
    Read,
    Release,
    ReleaseForeign,
    ReleaseForm,
)
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    ZeroRequest,
)

MOST_GRANTED_BYTES = 2**25
"""The size of the largest buffer that is really granted: a subject allocates its memory."""

_MOST_KEPT_BYTES = 2 * MOST_GRANTED_BYTES
"""The size of all buffers together, above which no large one is asked for.

The returned ones count too: their holder may keep them, so that they can be released again.
"""

_SMALL_BYTES = 2**16
"""The size up to which a buffer may always be asked for."""

POWERS = tuple(2**bits for bits in (7, 8, 12, 13, 14, 15, 16, 17, 20, 24))


@dataclass(slots=True)
class MemoryPoolWorld:
    """The predicted state of a pool, and the names that are in play."""

    configuration: MemoryPoolConfiguration
    profile: MemoryPoolProfile
    model: MemoryPoolModel = field(init=False)
    state: MemoryPoolState = field(init=False)
    names: int = 0
    is_confused: bool = False
    """True once a pool that cannot tell was given a buffer that was not outstanding."""

    def __post_init__(self) -> None:
        """Begin with a fresh pool."""
        self.model = MemoryPoolModel(self.configuration, self.profile)
        self.state = self.model.initial()

    def apply(self, operation: Operation) -> None:
        """Follow an operation, taking the first of the ways in which it may go."""
        if not self.model.knows_its_own and self._is_other_release(operation):
            self.is_confused = True
        self.names += isinstance(operation, Allocate)
        _, self.state = next(iter(self.model.successors(self.state, operation)))

    def _is_other_release(self, operation: Operation) -> bool:
        """Decide whether something else is given back than an outstanding buffer."""
        if isinstance(operation, Release):
            is_itself = operation.form is ReleaseForm.ITSELF
            return not (is_itself and operation.buffer in self.state.held)
        return isinstance(operation, ReleaseForeign)

    def has(self, feature: MemoryPoolFeature) -> bool:
        """Decide whether the subject offers this."""
        return feature in self.profile.features

    @property
    def fresh_name(self) -> str:
        """Return the name of a buffer that was never asked for."""
        return f"b{self.names + 1}"

    @property
    def held(self) -> list[str]:
        """Return the outstanding buffers, the oldest name first."""
        return sorted(self.state.held, key=_number)

    @property
    def returned(self) -> list[str]:
        """Return the buffers that were given back, the oldest name first."""
        return sorted(self.state.returned, key=_number)

    @property
    def available(self) -> int:
        """Return the bytes that are available."""
        return self.state.available_bytes

    @property
    def most(self) -> int:
        """Return the largest buffer that may be asked for, bytes."""
        return self.configuration.max_single_bytes

    def legal_sizes(self) -> list[int]:
        """Return the sizes at which admission, or the memory of a request, may be another.

        With each request another power of two is among them, and a size between two powers.
        """
        left, most = self.available, self.most
        if self.configuration.unbounded:
            left, most = 10_000, MOST_GRANTED_BYTES
        gone = [self.state.returned[name] for name in self.returned[-2:]]
        sizes = {0, 1, 2, most // 4, most // 2, most - 1, most, left // 2, left - most}
        sizes |= {left - 1, left, left + 1, sum(gone), sum(gone) + 1, *gone}
        power = POWERS[self.names % len(POWERS)]
        sizes |= {power - 1, power, power + 1, power // 4 * 3}
        return sorted(size for size in sizes if 0 <= size <= most)

    def _is_too_much(self, size_bytes: int) -> bool:
        """Decide whether a grant would really take too much memory of the machine."""
        if size_bytes <= _SMALL_BYTES:
            return False
        if not self.configuration.unbounded:
            is_granted = not self.configuration.strict or size_bytes <= self.available
            if size_bytes > self.most or not is_granted:
                return False
        kept_bytes = self.state.outstanding_bytes + sum(self.state.returned.values())
        return size_bytes > MOST_GRANTED_BYTES or kept_bytes + size_bytes > _MOST_KEPT_BYTES

    def can_be_asked(self, operation: Operation) -> bool:
        """Decide whether a subject of this profile can be asked the operation now."""
        state = self.state
        if isinstance(operation, Allocate):
            offers_nothing = self.profile.zero_request is not ZeroRequest.NOT_OFFERED
            is_known = operation.buffer in state.held or operation.buffer in state.returned
            if is_known or (operation.fail and self.configuration.unbounded):
                return False
            if self._is_too_much(operation.size_bytes):
                return False
            return operation.size_bytes != 0 or offers_nothing
        if isinstance(operation, Fill | Read):
            return operation.buffer in state.held and not self.is_confused
        if isinstance(operation, Release):
            again = self.has(MemoryPoolFeature.RELEASE_AGAIN)
            return operation.buffer in state.held or (again and operation.buffer in state.returned)
        if isinstance(operation, Lose):
            return operation.buffer in state.held
        if isinstance(operation, ReleaseForeign):
            return 1 <= operation.size_bytes <= MOST_GRANTED_BYTES
        return not isinstance(operation, Elapse) or operation.to_ms >= state.now_ms


def is_offered(configuration: MemoryPoolConfiguration, profile: MemoryPoolProfile) -> bool:
    """Decide whether a subject of this profile offers such a pool; without sorts, any."""
    sorts = sorts_offered(profile)
    return not sorts or sort_of(configuration) in sorts


def sorts_offered(profile: MemoryPoolProfile) -> list[MemoryPoolFeature]:
    """Return the sorts of pools that a profile declares, the simplest first."""
    sorts = (
        MemoryPoolFeature.NON_STRICT,
        MemoryPoolFeature.STRICT,
        MemoryPoolFeature.UNBOUNDED,
    )
    return [sort for sort in sorts if sort in profile.features]


def sort_of(configuration: MemoryPoolConfiguration) -> MemoryPoolFeature:
    """Return the feature that declares pools of the configuration's sort."""
    if configuration.unbounded:
        return MemoryPoolFeature.UNBOUNDED
    return MemoryPoolFeature.STRICT if configuration.strict else MemoryPoolFeature.NON_STRICT


def _number(name: str) -> tuple[int, str]:
    return len(name), name
