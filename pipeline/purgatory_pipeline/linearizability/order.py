"""In which order parts of calls took effect."""

from typing import NamedTuple

from purgatory_model.overlapping.parts import Part


class Taken(NamedTuple):
    """A part of a call that took effect; ``call`` is the call's number."""

    call: int
    part: Part


class Order(NamedTuple):
    """An order of effects: an earlier one, and what took effect after it."""

    before: "Order | None"
    taken: tuple[Taken, ...]


def in_order(order: Order | None) -> list[Taken]:
    """What took effect, first to last."""
    blocks: list[tuple[Taken, ...]] = []
    while order is not None:
        blocks.append(order.taken)
        order = order.before
    return [taken for block in reversed(blocks) for taken in block]
