"""Findings of a type checker on programs that use the library."""

from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = '''
from purgatory_impl import CallableOperation, DelayedOperation, Purgatory
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation

class Fetch(DelayedOperation):
    """An operation of a user's."""

fetches = Purgatory[str, Fetch]("fetches")
reveal_type(fetches.cancel_for_key("k"))
reveal_type(fetches.watched())
fetches.cancel_for_key(1)
fetches.try_complete_else_watch(CallableOperation(bool, 5), ["k"])

anything = Purgatory[int]()
reveal_type(anything.cancel_for_key(1))
anything.try_complete_else_watch(Fetch(5), [1])

async def wait(place: AsyncioPurgatory[str]) -> None:
    reveal_type(await place.watch(AwaitedOperation(lambda: 5, 10), ["k"]))
'''


@pytest.mark.slow
def test_operations_are_typed_from_watch_to_cancel(tmp_path: Path) -> None:
    """Operations that come out are of the class that may go in."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    settings = ["--config-file", str(ROOT / "pyproject.toml"), "--no-incremental"]
    said, failed, _ = api.run([*settings, "--no-error-summary", str(program)])
    lines = [line.partition("program.py:")[2] for line in said.splitlines() if "program.py" in line]
    assert failed == ""
    assert lines == [
        '9: note: Revealed type is "list[program.Fetch]"',
        '10: note: Revealed type is "dict[str, list[program.Fetch]]"',
        '11: error: Argument 1 to "cancel_for_key" of "Purgatory" has incompatible type "int"; '
        'expected "str"  [arg-type]',
        '12: error: Argument 1 to "try_complete_else_watch" of "Purgatory" has incompatible type '
        '"CallableOperation"; expected "Fetch"  [arg-type]',
        '15: note: Revealed type is "list[purgatory_impl.delayed_operation.DelayedOperation]"',
        '19: note: Revealed type is "int | None"',
    ]
