"""An exception between two turns of a loop meets the handlers of the block that the loop is in."""

# From Python 3.13 on, Ctrl-C is looked for before the jump to the next turn. The compiler copies
# the condition of a ``while`` to the end of the loop, and gives the jump behind that copy no
# handler: a ``with`` around the loop keeps its lock, a ``finally`` is passed over. Loops in such
# blocks are ``while True`` with a ``break``, whose jumps have the handler of the block.

import dis
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

import purgatory_impl

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(
        sys.version_info < (3, 13), reason="until Python 3.12 Ctrl-C is looked for behind the jump"
    ),
]

SOURCES = Path(purgatory_impl.__file__).parent


def functions_of(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a module's functions, without coroutines and generators."""
    # A coroutine jumps back where it awaits, and a generator is left at the jump by whoever drops
    # it.
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from functions_of(constant)
            if not constant.co_flags & (0x20 | 0x80):
                yield constant


def uncovered_jumps(code: CodeType) -> list[int]:
    """Return the lines of jumps to a next turn that lack the handler of both their ends."""
    bytecode = dis.Bytecode(code)
    entries = vars(bytecode)["exception_entries"]

    def handler(offset: int) -> int | None:
        return next((e.target for e in reversed(entries) if e.start <= offset < e.end), None)

    found = []
    line = before = 0
    for each in bytecode:
        line = (each.positions and each.positions.lineno) or line  # a copied jump may have none
        ends = {handler(before), handler(each.argval)} if each.opname == "JUMP_BACKWARD" else {None}
        if None not in ends and handler(each.offset) not in ends:
            found.append(line)
        before = each.offset
    return found


def compiled(source: str) -> list[int]:
    (function,) = functions_of(compile(source, "planted", "exec"))
    return uncovered_jumps(function)


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda path: path.stem)
def test_every_turn_of_a_loop_has_the_handlers_of_its_block(path: Path) -> None:
    module = compile(path.read_text(), str(path), "exec")
    found = {code.co_qualname: uncovered_jumps(code) for code in functions_of(module)}
    assert not {name: lines for name, lines in found.items() if lines}


def test_a_condition_that_the_compiler_copies_is_found() -> None:
    """The jump behind the copied condition is found, and none where the loop leaves by a break."""
    assert compiled("def run(lock, more):\n with lock:\n  while more():\n   pass\n") == [3]
    body = "   if not more():\n    break\n   more()\n"
    assert not compiled(f"def run(lock, more):\n with lock:\n  while True:\n{body}")
