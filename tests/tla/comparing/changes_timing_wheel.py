"""Changes of the timing wheel, each of which the comparison must report."""

from .seeded_changes import SeededChange

HIDDEN_ARGUMENT = SeededChange(
    name="a delay of one is refused where rounding hides it",
    binding="timing_wheel.rounding_binding",
    file="TimingWheel.tla",
    line="/\\ ~dueAlready",
    instead="/\\ ~dueAlready /\\ (delay = 1 => now % 2 = 1)",
    action="Insert",
)
"""It takes away only steps that have a companion with another delay and the same two states."""

CHANGES = (
    HIDDEN_ARGUMENT,
    SeededChange(
        name="a level takes a delay of exactly its interval",
        binding="timing_wheel.rounding_binding",
        file="TimingWheel.tla",
        line='IF "interval-inclusive" \\in Defects THEN tick <= LevelEnd(level)'
        " ELSE tick < LevelEnd(level)",
        instead="tick <= LevelEnd(level)",
        action="Insert",
    ),
    SeededChange(
        name="a bucket leaves the delay queue with its last task",
        binding="timing_wheel.rounding_binding",
        file="TimingWheel.tla",
        line="ELSE buckets",
        instead="ELSE {b \\in buckets : Held(b) \\ {task} # {}}",
        action="Cancel",
    ),
    SeededChange(
        name="the own clock does not reach the reading itself",
        binding="timing_wheel.rounding_binding",
        file="TimingWheel.tla",
        line="expiry <= to}",
        instead="expiry < to}",
        action="Advance",
    ),
    SeededChange(
        name="a task stays one level higher on its way down",
        binding="timing_wheel.small_binding",
        file="TimingWheel.tla",
        line="ELSE Bucket(due[task], Cardinality(waiting))",
        instead="ELSE Bucket(due[task], Cardinality(waiting) + (IF to = 2 THEN 1 ELSE 0))",
        action="Advance",
    ),
    SeededChange(
        name="the model's level takes a delay of exactly its interval",
        binding="timing_wheel.rounding_binding",
        file="purgatory_model/arithmetic.py",
        line="return due_tick < level_end(own_clock, tick, wheel_size)",
        instead="return due_tick <= level_end(own_clock, tick, wheel_size)",
        action="Insert",
    ),
    SeededChange(
        name="the model forgets a level when a task goes lower",
        binding="timing_wheel.small_binding",
        file="purgatory_model/timing_wheel.py",
        line="levels=max(self.levels, level),",
        instead="levels=level,",
        action="Advance",
    ),
    SeededChange(
        name="the model's own clock follows the reading",
        binding="timing_wheel.small_binding",
        file="purgatory_model/timing_wheel.py",
        line="return Popped(wheel, tuple(ticks.values()), wheel is not self)",
        instead="return Popped(replace(wheel, own_clock_ms=now_ms), tuple(ticks.values()), True)",
        action="Advance",
    ),
    SeededChange(
        name="the model's advance tells whether a task has expired",
        binding="timing_wheel.small_binding",
        file="purgatory_model/timing_wheel.py",
        line="return Popped(wheel, tuple(ticks.values()), wheel is not self)",
        instead="return Popped(wheel, tuple(ticks.values()), bool(ticks))",
        action="Advance",
    ),
    SeededChange(
        name="the model's shutdown takes the levels away",
        binding="timing_wheel.small_binding",
        file="purgatory_model/timing_wheel.py",
        line="return replace(self, due_ticks=Map(), places=Map(), buckets=Map())",
        instead="return replace(self, levels=1, due_ticks=Map(), places=Map(), buckets=Map())",
        action="Shutdown",
    ),
    SeededChange(
        name="the model's executor takes the last task first",
        binding="timing_wheel.rounding_binding",
        file="purgatory_model/kafka_timer.py",
        line="task = state.queue[0]",
        instead="task, state = state.queue[0], replace(state, queue=state.queue[::-1])",
        action="RunOne",
    ),
)
