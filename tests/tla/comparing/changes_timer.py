"""Changes of the timer, each of which the comparison must report."""

from .seeded_changes import SeededChange

CHANGES = (
    SeededChange(
        name="an expiry on a tick is rounded up to the next one",
        binding="timer.small_rounding_up_binding",
        file="Timer.tla",
        line='ELSE IF "rounds-up" \\in Features THEN Floor(expiry + Tick - 1, Tick)',
        instead='ELSE IF "rounds-up" \\in Features THEN Floor(expiry + Tick, Tick)',
        action="AddExpires",
    ),
    SeededChange(
        name="an advance leaves what is due at its reading",
        binding="timer.small_binding",
        file="Timer.tla",
        line='ELSE due[t] <= (IF "one-tick-early" \\in Defects THEN to + Tick ELSE to)}',
        instead="ELSE due[t] < to}",
        action="Advance",
    ),
    SeededChange(
        name="a shutdown keeps what is pending",
        binding="timer.small_binding",
        file="Timer.tla",
        line='/\\ due\' = IF "close-forgets" \\in Defects THEN due ELSE Without(due, Pending)',
        instead="/\\ due' = due",
        action="Shutdown",
    ),
    SeededChange(
        name="the model's timer rounds up what lies on a tick",
        binding="timer.small_rounding_up_binding",
        file="purgatory_model/arithmetic.py",
        line="return floor_to(time + tick - 1, tick)",
        instead="return floor_to(time + tick, tick)",
        action="AddPending",
    ),
    SeededChange(
        name="the model's timer cancels nothing once the clock has moved",
        binding="timer.small_binding",
        file="purgatory_model/kafka_timer.py",
        line="branches = [TimerBranch(self._disarm(state, task))]",
        instead="branches = [TimerBranch(state if state.now_ms else self._disarm(state, task))]",
        action="Cancel",
    ),
    SeededChange(
        name="the model's timer keeps what is pending when it is shut down",
        binding="timer.small_binding",
        file="purgatory_model/kafka_timer.py",
        line="return replace(state, closed=True, store=state.store.emptied(), order=())",
        instead="return replace(state, closed=True, order=())",
        action="Shutdown",
    ),
)
