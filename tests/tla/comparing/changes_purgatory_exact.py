"""Changes of the purgatory with the exact accounting, each of which must be reported."""

from .seeded_changes import SeededChange

CHANGES = (
    SeededChange(
        name="an entry less is promised than will be inserted",
        binding="purgatory.exact.small_cancelling_binding",
        file="PurgatoryExact.tla",
        line="/\\ entries' = [entries EXCEPT ![o] = @ + EntriesPerCall]",
        instead="/\\ entries' = [entries EXCEPT ![o] = @ + EntriesPerCall - 1]",
        action="Arm",
    ),
    SeededChange(
        name="a walk does not drop its own entry before it posts",
        binding="purgatory.exact.small_binding",
        file="PurgatoryExact.tla",
        line='/\\ Goto(t, IF InWalk(t) THEN "drop-own" ELSE TowardsCallback(balance[t] + taken))',
        instead="/\\ Goto(t, TowardsCallback(balance[t] + taken))",
        action="Walk",
    ),
    SeededChange(
        name="the label of an insert names a key of its own choice",
        binding="purgatory.exact.small_cancelling_binding",
        file="PurgatoryExactHistory.tla",
        line='\\/ \\E k \\in Keys : Insert(c, k) /\\ step\' = <<"Insert", c, k>>',
        instead="\\/ \\E k \\in Keys : Insert(c, k) /\\ step' = "
        '<<"Insert", c, CHOOSE j \\in Keys : TRUE>>',
        action="Insert",
    ),
    SeededChange(
        name="the model takes the time-out with any key",
        binding="purgatory.exact.small_cancelling_binding",
        file="purgatory_model/concurrent/exact/calls.py",
        line='is_last = left.entries == 0 or turn.is_variant("cancel-takes-time-out")',
        instead="is_last = True",
        action="CancelOne",
    ),
    SeededChange(
        name="the model forgets what it had promised when it stops inserting",
        binding="purgatory.exact.small_cancelling_binding",
        file="purgatory_model/concurrent/exact/calls.py",
        line="yield (), turn.after(ended(replace(me, promised=(), balance=me.balance - rest)))",
        instead="yield (), turn.after(ended(replace(me, promised=())))",
        action="StopInserting",
    ),
    SeededChange(
        name="the model purges at the interval, not above it",
        binding="purgatory.exact.small_binding",
        file="purgatory_model/concurrent/exact/calls.py",
        line="return state.stale > instance.interval(state.entries - state.stale)",
        instead="return state.stale >= instance.interval(state.entries - state.stale)",
        action="BeginPurge",
    ),
    SeededChange(
        name="the model's amortised purges wait for all that lives",
        binding="purgatory.exact.amortised_binding",
        file="purgatory_model/concurrent/exact/instance.py",
        line='return max(self.purge_interval, live // 2 if "amortised" in self.features else 0)',
        instead='return max(self.purge_interval, live if "amortised" in self.features else 0)',
        action="BeginPurge",
    ),
)
