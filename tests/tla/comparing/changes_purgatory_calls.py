"""Changes of the purgatory's calls, each of which must be reported."""

from .seeded_changes import SeededChange

_BINDING = "purgatory.calls.small_binding"
_PUBLISHED = "purgatory.calls.small_published_binding"
_CALLS = "purgatory_model/kafka_purgatory.py"
_WATCHES = "purgatory_model/choices/watches.py"
_ACCOUNTING = "purgatory_model/choices/accounting.py"

CHANGES = (
    SeededChange(
        name="a cancel for a key keeps the time-out",
        binding=_BINDING,
        file="PurgatoryCalls.tla",
        line='IN IF "cancel-keeps" \\in Defects THEN due ELSE Without(due, Members(names) \\ kept)',
        instead="IN due",
        action="CancelForKey",
    ),
    SeededChange(
        name="the time-out is told before the completion",
        binding=_BINDING,
        file="PurgatoryCalls.tla",
        line='ELSE IF "expires-first" \\in Defects',
        instead='ELSE IF "expires-first" \\notin Defects',
        action="RunOne",
    ),
    SeededChange(
        name="the label of a check leaves its count out",
        binding=_BINDING,
        file="PurgatoryCallsHistory.tla",
        line='/\\ Labels(<<"Check", key, count>> \\o Checked(key))',
        instead='/\\ Labels(<<"Check", key, 0>> \\o Checked(key))',
        action="Check",
    ),
    SeededChange(
        name="the model's second try is left out",
        binding=_BINDING,
        file=_WATCHES,
        line="tried_after = and_then(armed_before, lambda armed: self._try_again(armed, name))",
        instead="tried_after = tuple(each.returns(False) for each in armed_before)",
        action="WatchExpires",
    ),
    SeededChange(
        name="the model tells nothing of a time-out",
        binding=_BINDING,
        file=_CALLS,
        line="return self._run_script(branch.tell(timed_out(name)), name, script)",
        instead="return self._run_script(branch, name, script)",
        action="RunOne",
    ),
    SeededChange(
        name="the model's published estimate is zero behind a purge",
        binding=_PUBLISHED,
        file=_CALLS,
        line="return replace(state, lists=left, estimate=state.timer_size)",
        instead="return replace(state, lists=left, estimate=0)",
        action="Advance",
    ),
    SeededChange(
        name="the model's exact estimate leaves out the time-outs that are owed",
        binding=_BINDING,
        file=_ACCOUNTING,
        line="return state.pending + state.stale_entries",
        instead="return state.timer_size + state.stale_entries",
        action="WatchExpires",
    ),
    SeededChange(
        name="a purge is made one entry too late",
        binding=_PUBLISHED,
        file="PurgatoryCalls.tla",
        line='> (IF "purge-is-late" \\in Defects THEN 2 * interval + 1 ELSE interval)',
        instead="> interval + 1",
        action="Advance",
    ),
)
