"""Changes of the memory pool's calls, each of which must be reported."""

from .seeded_changes import SeededChange

_BINDING = "memory_pool_calls.small_binding"
_UNBOUNDED = "memory_pool_calls.small_unbounded_binding"
_MODEL = "purgatory_model/memory_pool.py"

CHANGES = (
    SeededChange(
        name="a refusal begins the dry spell anew",
        binding=_BINDING,
        file="MemoryPoolCalls.tla",
        line='/\\ since\' = IF since = NoSpell \\/ "spell-begins-anew" \\in Defects '
        "THEN now ELSE since",
        instead="/\\ since' = now",
        action="Refuse",
    ),
    SeededChange(
        name="a lost buffer is not credited",
        binding=_BINDING,
        file="MemoryPoolCalls.tla",
        line="THEN available + held[buffer] ELSE available",
        instead="THEN available ELSE available",
        action="Lose",
    ),
    SeededChange(
        name="an unbounded pool refuses zero bytes",
        binding=_UNBOUNDED,
        file="MemoryPoolCalls.tla",
        line='IF Bounded THEN 1 <= size /\\ (size <= MaxSingle \\/ "grants-illegal" \\in Defects) '
        "ELSE size >= 0",
        instead="IF Bounded THEN 1 <= size /\\ size <= MaxSingle ELSE size >= 1",
        action="Grant",
    ),
    SeededChange(
        name="the label tells nothing of the answer to a second release",
        binding=_BINDING,
        file="MemoryPoolCallsHistory.tla",
        line='\\/ ReleaseAgain(buffer) /\\ step\' = <<"ReleaseAgain", buffer, Answer>>',
        instead='\\/ ReleaseAgain(buffer) /\\ step\' = <<"ReleaseAgain", buffer, "taken">>',
        action="ReleaseAgain",
    ),
    SeededChange(
        name="the model's grant forgets the time of a dry spell",
        binding=_BINDING,
        file=_MODEL,
        line="held=ended.held.set(buffer, size_bytes),",
        instead="held=ended.held.set(buffer, size_bytes), depleted_ms=state.depleted_ms,",
        action="Grant",
    ),
    SeededChange(
        name="the model forgets the time of a dry spell",
        binding=_BINDING,
        file=_MODEL,
        line="depleted_ms=state.depleted_ms + state.now_ms - state.spell_began_ms,",
        instead="depleted_ms=state.depleted_ms,",
        action="Lose",
    ),
    SeededChange(
        name="the model's unbounded pool rejects what is foreign",
        binding=_UNBOUNDED,
        file=_MODEL,
        line='return (self._way(state, state, "POOL-UNBOUNDED-RELEASE"),)',
        instead='return (self._rejected(state, "POOL-UNBOUNDED-RELEASE"),)',
        action="ReleaseForeign",
    ),
    SeededChange(
        name="the model makes pools whose largest buffer is larger than they are",
        binding=_BINDING,
        file="purgatory_model/memory_pool_arithmetic.py",
        line="return 1 <= max_single <= size",
        instead="return 1 <= max_single and 1 <= size",
        action="Construct",
    ),
)
