"""The panels of a memory pool: the bytes of its bound, who holds them, and the dry spells."""

from collections.abc import Iterator

from purgatory_conformance.describing.words import describe_task
from purgatory_conformance.drawing.panels import (
    Box,
    Boxes,
    Budget,
    Holder,
    PanelScene,
    Row,
    Words,
    panel_scene,
)
from purgatory_judge.components import narrowed
from purgatory_judge.retraced_case import RetracedCase
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_spec.operations import Allocate, Lose, Release
from purgatory_spec.profiles import MemoryPoolConfiguration


def memory_pool_scene(case: RetracedCase) -> PanelScene:
    """Return the scene of a failing case of a memory pool that was judged anew."""
    configuration = narrowed(case.configuration, MemoryPoolConfiguration)
    operation = case.divergence.operation
    about = operation.buffer if isinstance(operation, Allocate | Lose | Release) else ""

    def rows(state: object) -> tuple[Row, ...]:
        if not isinstance(state, MemoryPoolState):
            return ()
        return tuple(memory_pool_rows(configuration, state, about))

    return panel_scene(case, rows)


def memory_pool_rows(
    configuration: MemoryPoolConfiguration, state: MemoryPoolState, about: str = ""
) -> Iterator[Row]:
    """Yield the rows of a pool's state; ``about`` is the buffer that is to be seen first."""
    names = sorted(state.held, key=lambda name: (len(name), name))
    held = [(describe_task(name), state.held[name], name == about) for name in names]
    if configuration.unbounded:
        yield Words("bytes", f"{state.outstanding_bytes} held, no bound")
    else:
        yield Budget(
            "bytes",
            tuple(Holder(*each) for each in held),
            state.available_bytes,
            configuration.size_bytes,
        )
    yield Boxes(
        "held",
        tuple(Box(f"{name} {size_bytes}", focus=focus) for name, size_bytes, focus in held),
    )
    spells = f"dry: {state.depleted_spells} ended, {state.depleted_ms} ms"
    if state.spell_began_ms is not None:
        spells += f"; since {state.spell_began_ms}"
    yield Words("spells", spells)
    yield Words("clock", str(state.now_ms))
