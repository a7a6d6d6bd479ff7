"""The memory pool's model says why: each rule that it names is the reason of some part."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from purgatory_conformance.generation.memory_pool.table import draw_configuration, draw_operations
from purgatory_conformance.generation.source import SeededSource
from purgatory_model import memory_pool, memory_pool_arithmetic
from purgatory_model.claims.memory_pool import INVARIANTS
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation
from purgatory_spec import profiles
from purgatory_spec.operations import Lose
from purgatory_spec.requirements import requirements

PROFILE = profiles.MemoryPoolProfile(
    release_validation=profiles.ReleaseValidation.IDENTITY,
    features=frozenset(profiles.MemoryPoolFeature),
    observables=frozenset(profiles.MemoryPoolObservable),
)
NAIVE = msgspec.structs.replace(PROFILE, release_validation=profiles.ReleaseValidation.NONE)
SOURCES = tuple(Path(str(each.__file__)) for each in (memory_pool, memory_pool_arithmetic))

Way = Expectation[MemoryPoolState]


def named(sources: Iterable[str]) -> set[str]:
    """The rules that docstrings of sources name."""
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    stating = (ast.FunctionDef, ast.ClassDef, ast.Module)
    texts = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, stating)]
    words = " ".join(texts).replace(",", " ").replace(".", " ").split()
    return {word for word in words if word.startswith("POOL-")}


def read(paths: Iterable[Path]) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in paths]


@cache
def ways() -> tuple[tuple[MemoryPoolModel, Way], ...]:
    """Whatever is expected in generated cases, each going its first way."""

    def drawn() -> Iterator[tuple[MemoryPoolModel, Way]]:
        for seed in range(60):
            profile = NAIVE if seed % 3 == 0 else PROFILE
            source = SeededSource(seed)
            model = MemoryPoolModel(draw_configuration(profile, source, frozenset()), profile)
            state = model.initial()
            for operation in draw_operations(model.configuration, profile, source, most=40):
                expected = model.expectations(state, operation)
                yield from ((model, way) for way in expected)
                state = expected[0].complete(())

    return tuple(drawn())


def emitted(expectations: Iterable[Way]) -> set[str]:
    """The rules of all parts, and of the invariants, which are judged in every state."""
    parts = {rule for way in expectations for rules in way.rules.values() for rule in rules}
    return parts | {invariant.rule for invariant in INVARIANTS.values()}


def test_each_rule_that_is_named_is_a_reason() -> None:
    """Each of them is the reason of some part, and no part has another reason."""
    reasons = emitted(way for _, way in ways())
    assert (
        named(read(SOURCES))
        == reasons
        == {r.id for r in requirements(profiles.Component.MEMORY_POOL)}
    )


def test_control_a_rule_that_is_no_reason_is_noticed() -> None:
    """The one, and the other, is missing."""
    more = '"""States nothing."""\ndef states() -> None:\n    """Rules: POOL-NEVER."""\n'
    reasons = emitted(way for _, way in ways())
    assert named([*read(SOURCES), more]) - reasons == {"POOL-NEVER"}
    silent = (
        replace(way, rules={part: r for part, r in way.rules.items() if "POOL-LEAK" not in r})
        for _, way in ways()
    )
    assert named(read(SOURCES)) - emitted(silent) == {"POOL-LEAK"}


def test_each_part_has_a_reason() -> None:
    """There is one, and what the step does to the pool comes before what always holds."""
    for model, way in ways():
        parts = ("rejected", "result", "effect", *model.observe(way.complete(())))
        assert all(way.rules_of(part) for part in parts)
    model = MemoryPoolModel(profiles.MemoryPoolConfiguration(10, 10), PROFILE)
    state = replace(model.initial(), available_bytes=9, held=model.initial().held.set("a", 1))
    (way,) = model.expectations(state, Lose("a"))
    reasons = way.rules_of("effect"), way.rules["always"]
    assert reasons == (("POOL-LEAK",), ("POOL-CONSERVATION",))
