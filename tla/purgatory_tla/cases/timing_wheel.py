"""``TimingWheel`` as cases of a timer; see ``timers`` for its steps.

====================  ======================================================================
observable            in a state of TLA+
====================  ======================================================================
``size``              how many tasks ``due`` has
``queued``            the length of ``queue``
``wheel_clock_ms``    ``ownClock``
``queued_buckets``    how many ``buckets`` there are
``next_expiry_ms``    the smallest expiry of ``buckets``
``levels``            ``levels``
``advance_result``    an advance answers true if a bucket was due that waited before it
====================  ======================================================================
"""

from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import Observable, Structure
from purgatory_tla.cases.behaviours import Behaviour, Constants, Move, TlaState
from purgatory_tla.cases.predictions import Driven
from purgatory_tla.cases.timers import chosen_profile, configuration_of, drive_timer


def drive(behaviour: Behaviour, constants: Constants) -> Driven:
    """Return a behaviour of ``TimingWheelHistory`` as far as it can be driven: all of it."""
    features = constants.read("Features", frozenset[str])
    return drive_timer(
        behaviour,
        configuration_of(behaviour, constants, constants.read("WheelSize", int)),
        chosen_profile(features, Structure.DELAY_QUEUE_WHEEL, frozenset(Observable)),
        _observe,
        _popped,
    )


def _buckets(state: TlaState) -> frozenset[tuple[int, int]]:
    return state.read("buckets", frozenset[tuple[int, int]])


def _observe(state: TlaState) -> dict[str, Value]:
    expiries = [expiry for expiry, _ in _buckets(state)]
    return {
        "size": len(state.read("due", dict[str, int])),
        "wheel_clock_ms": state.read("ownClock", int),
        "queued_buckets": len(expiries),
        "next_expiry_ms": min(expiries, default=None),
        "levels": state.read("levels", int),
    }


def _popped(move: Move) -> bool:
    return any(expiry <= move.integer(0) for expiry, _ in _buckets(move.before))
