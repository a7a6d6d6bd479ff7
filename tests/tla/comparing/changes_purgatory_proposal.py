"""Changes of the purgatory with the proposal's accounting, each of which must be reported."""

from .seeded_changes import SeededChange

CHANGES = (
    SeededChange(
        name="the model's amortised purges wait for a third of the timer",
        binding="purgatory.proposal.amortised_binding",
        file="purgatory_model/concurrent/proposal/state.py",
        line="return max(self.purge_interval, timer_size // 2 if amortised else 0)",
        instead="return max(self.purge_interval, timer_size // 3 if amortised else 0)",
        action="Purge",
    ),
    SeededChange(
        name="the reset takes the timer's size as it is then",
        binding="purgatory.proposal.small_binding",
        file="PurgatoryProposal.tla",
        line="ELSE sizeRead",
        instead="ELSE Size",
        action="Reset",
    ),
    SeededChange(
        name="the second look leaves the timer alone",
        binding="purgatory.proposal.small_binding",
        file="PurgatoryProposal.tla",
        line="/\\ timer' = IF operation[c] \\in completed THEN timer \\ {operation[c]} ELSE timer",
        instead="/\\ timer' = timer",
        action="LookAgain",
    ),
    SeededChange(
        name="the label of a sweep names a key of its own choice",
        binding="purgatory.proposal.small_cancelling_binding",
        file="PurgatoryProposalHistory.tla",
        line='\\/ Sweep /\\ step\' = <<"Sweep", "reaper", KeyDone("reaper")>>',
        instead='\\/ Sweep /\\ step\' = <<"Sweep", "reaper", OneOf(Keys)>>',
        action="Sweep",
    ),
    SeededChange(
        name="the model's second look leaves the timer alone",
        binding="purgatory.proposal.small_binding",
        file="purgatory_model/concurrent/proposal/calls.py",
        line="state = replace(state, timer=state.timer - {caller.operation})",
        instead="state = replace(state, timer=state.timer)",
        action="LookAgain",
    ),
    SeededChange(
        name="the model's walk does not wait for the lock",
        binding="purgatory.proposal.small_binding",
        file="purgatory_model/concurrent/proposal/calls.py",
        line="if operation in state.holders:",
        instead="if operation in state.completed.intersection(state.holders):",
        action="TryCompletes",
    ),
    SeededChange(
        name="the model sweeps the first list twice",
        binding="purgatory.proposal.small_cancelling_binding",
        file="purgatory_model/concurrent/proposal/calls.py",
        line="swept = replace(state, lists=state.lists.set(key, entries))",
        instead="swept = replace(state, lists=state.lists.set(instance.keys[0], entries))",
        action="Sweep",
    ),
    SeededChange(
        name="the model's reset takes the timer's size as it is then",
        binding="purgatory.proposal.small_binding",
        file="purgatory_model/concurrent/proposal/calls.py",
        line="after = replace(state, estimate=reaper.size_read)",
        instead="after = replace(state, estimate=len(state.timer))",
        action="Reset",
    ),
    SeededChange(
        name="the model's label of a cancelled time-out names the last operation",
        binding="purgatory.proposal.small_cancelling_binding",
        file="purgatory_model/concurrent/proposal/calls.py",
        line='return Step("Withdraw", (name, operation)), cancelled.to(name, further)',
        instead='return Step("Withdraw", (name, completer.to_meet[-1])), '
        "cancelled.to(name, further)",
        action="Withdraw",
    ),
)
