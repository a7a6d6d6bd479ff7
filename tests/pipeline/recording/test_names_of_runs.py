"""The names of recorded runs."""

from purgatory_traces.commands.record import name_of_run


def test_runs_of_one_second_have_different_names() -> None:
    """Given runs that begin at the same time, when they are named, no two have the same name."""
    names = {name_of_run("bundled", "timer") for _ in range(1000)}
    assert len(names) == 1000
