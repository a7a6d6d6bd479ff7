"""What is drawn for the measures that cancel one pending timer and add another."""

from array import array

from purgatory_lab.benchmarks.python_peer.draws import Delays, Draws
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Request


def drawn_replacements(
    request: Request, delays: Delays, *, oldest: bool
) -> "tuple[array[int], array[int], array[int]]":
    """Draw the timers that are pending, and for each operation its victim and its fresh delay.

    Args:
        request: What is asked.
        delays: Where delays are drawn from, ms.
        oldest: Whether the victim is the timer that was added first of all; else it is drawn.

    Returns:
        The delays of the pending ones, ms; the places of the victims among them; the delays of the
        fresh ones, ms.

    Raises:
        CannotMeasure: nothing is pending.
    """
    pending = request.pending
    if pending == 0:
        raise CannotMeasure(f"{request.measure} needs pending to be at least 1")
    draws = Draws(request.seed)
    first = delays.draw(draws, pending)
    victims, fresh = array("q"), array("q")
    for number in range(request.operations):
        victims.append(number % pending if oldest else draws.below(pending))
        fresh.append(delays.draw_one(draws))
    return first, victims, fresh
