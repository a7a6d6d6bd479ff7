# SPDX-License-Identifier: CC0-1.0
"""The suite as a test: ``python -m unittest``, or pytest."""

import os
import shutil
import subprocess
import sysconfig
import unittest
from pathlib import Path


class ConformanceTest(unittest.TestCase):
    """The verdict is that of ``purgatory check``; a failure shows its report."""

    def test_every_rule_holds(self) -> None:
        # Beside this Python first: its environment need not be activated.
        path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
        suite = shutil.which("purgatory", path=path)
        assert suite, "there is no command 'purgatory' here: README.md says how to install it"
        done = subprocess.run(
            [suite, "check", "--suite", "quick", "--seed", "1"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    unittest.main()
