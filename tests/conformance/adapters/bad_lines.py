"""Lines that no runner sends, and whether an adapter answers each of them and goes on."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from purgatory_spec.profiles import Component

_NO_REQUESTS: Final = (
    *(b"null", b"5", b"[]", b'"x"', b"{}", b'{"request":"hello","id":1', b"[" * 100_000),
    *(b'{"request":null,"id":1}', b'{"request":"what","id":1}', b'{"request":"do","id":1}'),
    *(b'{"request":"new","id":1}', b'{"request":"new","id":1,"component":"none"}'),
    *(b'\xff\xfe{"request":"hello","id":1}', b'{"a":' * 3000 + b"1" + b"}" * 3000),
    *(b'{"request":"hello","id":%s}' % each for each in (b"1e400", b"NaN", b'"x"', b"9" * 5000)),
)
_LARGE: Final = 2**63 - 1
_CONFIGURATIONS: Final[tuple[dict[str, int | str | None], ...]] = (
    {},
    {"tick_ms": 0},
    {"start_ms": _LARGE},
    {"size_bytes": 2**50, "max_single_bytes": 2**50},
    {"size_bytes": -5, "max_single_bytes": 2**64},
    {"tick_ms": "x", "size_bytes": None},
)
_OPERATIONS: Final[tuple[dict[str, Any], ...]] = (
    *({}, {"op": "what"}, {"op": 5}, {"op": "add"}, {"op": "add", "task": 7, "delay_ms": 1}),
    *({"op": "add", "task": "a", "delay_ms": delay_ms} for delay_ms in (_LARGE, -(2**63), 1e300)),
    *({"op": "cancel"}, {"op": "advance"}, {"op": "advance", "to_ms": None}),
    {"op": "watch", "operation": "o", "keys": None, "delay_ms": 5},
    {"op": "watch", "operation": "p", "keys": ["k"], "delay_ms": _LARGE, "script": {"tries": [5]}},
    *({"op": "allocate", "buffer": "b", "size_bytes": each} for each in (2**47, 2**49, _LARGE, -1)),
    *({"op": "allocate"}, {"op": "release", "buffer": "nobody"}, {"op": "construct"}),
    *({"op": "release_foreign", "size_bytes": each} for each in (2**49, _LARGE, -1)),
)


def bad_lines(component: Component) -> list[bytes]:
    """Return the lines for an adapter that has the component, each without its end."""
    lines = list(_NO_REQUESTS)
    for configuration in _CONFIGURATIONS:
        new = {"component": component.value, "configuration": configuration}
        lines.append(json.dumps({"request": "new", "id": 2, **new}).encode())
        for operation in _OPERATIONS:
            asked = {"request": "do", "id": 3, "operation": operation}
            lines.append(json.dumps(asked).encode())
    return lines


def assert_each_is_answered(
    command: Sequence[str], folder: Path, components: Sequence[Component]
) -> None:
    """Assert that each line has one reply with an id, and that input may end within a line."""
    lines = [line for component in components for line in bad_lines(component)]
    asked = [*lines, b'{"request":"hello","id":99}', b'{"request":"he']
    done = subprocess.run(
        command,
        cwd=folder,
        input=b"\n".join([*asked[:1], b"", b" \t", *asked[1:]]),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    replies = [json.loads(reply, parse_constant=_refuse) for reply in done.stdout.splitlines()]
    unanswered = dict(zip(asked, replies, strict=False))
    assert len(replies) == len(asked), list(unanswered)[-1][:200]
    assert [reply for reply in replies if type(reply["id"]) is not int] == []
    assert (replies[-2]["id"], replies[-2]["protocol"]) == (99, 1)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
