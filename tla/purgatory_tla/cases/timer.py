"""``Timer`` as cases of a timer; see ``timers`` for its steps.

====================  ======================================================================
observable            in a state of TLA+
====================  ======================================================================
``size``              how many tasks ``due`` has
``queued``            the length of ``queue``
====================  ======================================================================

The module is more liberal than any timer: a task that is due when it is added may expire at once or
wait for the next advance. A behaviour takes one way and a timer may take the other. Such a step is
predicted with its ``either``: if the timer takes the other way, the behaviour is no longer its own.
"""

from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import Observable, Structure
from purgatory_tla.cases.behaviours import Behaviour, Constants, Move, TlaState
from purgatory_tla.cases.predictions import Driven
from purgatory_tla.cases.timers import chosen_profile, configuration_of, drive_timer

_OBSERVABLES = frozenset({Observable.SIZE, Observable.QUEUED})


def drive(behaviour: Behaviour, constants: Constants) -> Driven:
    """Return a behaviour of ``TimerHistory`` as far as it can be driven."""
    features = constants.read("Features", frozenset[str])
    tick = constants.read("Tick", int)
    up = "rounds-up" in features

    def either(move: Move) -> str:
        if move.step.action not in ("AddPending", "AddExpires"):
            return ""
        now = move.before.read("now", int)
        expiry = now + move.integer(1)
        due = expiry - (expiry % tick) if not up else expiry + (-expiry % tick)
        return "the task is due when it is added: it may expire at once or wait" * (due <= now)

    return drive_timer(
        behaviour,
        configuration_of(behaviour, constants),
        chosen_profile(features, Structure.ANY, _OBSERVABLES),
        _observe,
        either=either,
    )


def _observe(state: TlaState) -> dict[str, Value]:
    return {"size": len(state.read("due", dict[str, int]))}
