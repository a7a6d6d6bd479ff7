"""Runs the page's scripts in Node, without a browser."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from purgatory_course.playing.page import timer_scripts

needs_node = pytest.mark.skipif(
    shutil.which("node") is None and os.environ.get("REQUIRE_NODE") != "1",
    reason="node is not installed (for conformance/adapters/javascript)",
)
"""Under REQUIRE_NODE=1 the tests fail instead."""


def in_node(expression: str, given: object) -> Any:
    """The value of a JavaScript expression in which ``given`` stands for a value."""
    program = "".join(timer_scripts())
    program += "const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
    program += f"process.stdout.write(JSON.stringify({expression}));\n"
    done = subprocess.run(
        ["node", "-e", program],
        input=json.dumps(given),
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
