"""Changes of the memory pool, each of which must be reported."""

from .seeded_changes import SeededChange

HIDDEN_ARGUMENT = SeededChange(
    name="the model names another size for a foreign buffer",
    binding="memory_pool.small_identity_binding",
    file="purgatory_model/concurrent/memory_pool/model.py",
    line='yield Step("ReleaseForeign", (name, size_bytes)), given',
    instead='yield Step("ReleaseForeign", (name, min(size_bytes, 1))), given',
    action="ReleaseForeign",
)
"""A size that no state shows: only the history's label tells one from another."""

CHANGES = (
    HIDDEN_ARGUMENT,
    SeededChange(
        name="a release is credited with one byte",
        binding="memory_pool.small_binding",
        file="MemoryPool.tla",
        line="/\\ Change(t, available + held[t])",
        instead="/\\ Change(t, available + (IF held[t] > 1 THEN 1 ELSE held[t]))",
        action="Release",
    ),
    SeededChange(
        name="the largest size is illegal",
        binding="memory_pool.small_strict_binding",
        file="MemoryPool.tla",
        line="Legal(size) == 1 <= size /\\ size <= MaxSingle",
        instead="Legal(size) == 1 <= size /\\ size < MaxSingle",
        action="Ask",
    ),
    SeededChange(
        name="who fails to swap does not read again",
        binding="memory_pool.small_strict_binding",
        file="MemoryPool.tla",
        line='ELSE IF "never-reads-again" \\in Defects THEN "swap" ELSE "read")',
        instead='ELSE IF "never-reads-again" \\notin Defects THEN "swap" ELSE "read")',
        action="FailToSwap",
    ),
    SeededChange(
        name="one byte of a buffer is given back once more",
        binding="memory_pool.small_identity_binding",
        file="MemoryPool.tla",
        line="/\\ spent' = [spent EXCEPT ![t] = "
        'IF "double-release" \\in Defects THEN held[t] ELSE 0]',
        instead="/\\ spent' = [spent EXCEPT ![t] = "
        'IF "double-release" \\in Defects THEN 1 ELSE 0]',
        action="Release",
    ),
    SeededChange(
        name="the label of a foreign release leaves the size out",
        binding="memory_pool.small_identity_binding",
        file="MemoryPoolHistory.tla",
        line='ReleaseForeign(t, bytes) /\\ step\' = <<"ReleaseForeign", t, bytes>>',
        instead='ReleaseForeign(t, bytes) /\\ step\' = <<"ReleaseForeign", t>>',
        action="ReleaseForeign",
    ),
    SeededChange(
        name="the model tests a strict pool like one that is not",
        binding="memory_pool.small_strict_binding",
        file="purgatory_model/memory_pool_arithmetic.py",
        line="return available >= asked if strict else available >= 1",
        instead="return available >= 1",
        action="Ask",
    ),
    SeededChange(
        name="the model compares with less than what was read",
        binding="memory_pool.small_binding",
        file="purgatory_model/concurrent/memory_pool/model.py",
        line="if state.available_bytes == thread.seen_bytes:",
        instead="if state.available_bytes >= thread.seen_bytes:",
        action="Swap",
    ),
    SeededChange(
        name="the model watches over those alone who have read",
        binding="memory_pool.small_binding",
        file="purgatory_model/concurrent/memory_pool/model.py",
        line="if not thread.is_deciding or self._is_enough(available_bytes, thread.request_bytes):",
        instead="if thread.at is not At.SWAP or "
        "self._is_enough(available_bytes, thread.request_bytes):",
        action="Swap",
    ),
    SeededChange(
        name="the model lets a refused thread ask again at once",
        binding="memory_pool.small_strict_binding",
        file="purgatory_model/concurrent/memory_pool/model.py",
        line="at = At.SWAP if enough else At.REFUSE",
        instead="at = At.SWAP if enough else At.READ",
        action="Read",
    ),
)
