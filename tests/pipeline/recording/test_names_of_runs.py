"""The names of recorded runs."""

from purgatory_traces.commands.record import name_of_run


def test_runs_of_one_second_have_different_names() -> None:
    names = {name_of_run("bundled", "timer") for _ in range(1000)}
    assert len(names) == 1000
