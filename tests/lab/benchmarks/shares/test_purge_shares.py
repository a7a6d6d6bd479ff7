"""The processor time of purges is measured in a purgatory that purges, and loses nothing."""

import pytest
from click.testing import CliRunner

from purgatory_impl import Purgatory
from purgatory_lab.benchmarks.purge_shares import Share, main, measured, table_of
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure


@pytest.mark.parametrize("purge_due", ["amortised", "fixed"])
@pytest.mark.parametrize("keys", ["1,000", "each"])
def test_both_threads_have_taken_time(purge_due: str, keys: str) -> None:
    share = measured(100, keys, purge_due, 4000)
    assert (share.live, share.keys, share.purge_due) == (100, keys, purge_due)
    assert min(share.caller_ns, share.purge_ns, share.longest_stop_ms) > 0
    assert 0 < share.percent < 100
    assert 0 < share.most_stale <= 4000


def test_a_purge_that_takes_what_lives_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Purgatory, "entries", property(lambda _: 0))
    with pytest.raises(CannotMeasure, match="entries that live"):
        measured(5, "each", "fixed", 10)


def test_a_share_is_of_both_threads() -> None:
    share = Share(20_000, "each", "amortised", 750.0, 250.0, 4.25, 10_000)
    assert share.percent == 25
    assert table_of([share]).splitlines()[-1] == (
        "| 20,000 | each | amortised | 750 | 250 | 25 % | 4.2 | 10,000 |"
    )


def test_the_command_shows_a_row_for_each_setting() -> None:
    arguments = ["--live", "10", "--keys", "each", "--operations", "1500"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("interpreted, processor time for each operation")
    assert result.output.count("| 10 | each |") == 2
