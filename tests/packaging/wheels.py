"""Wheels, and environments of their own for them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "purgatory-work", "site", "build", "dist", ".*_cache", ".hypothesis", "target"
)


def run(command: list[str | Path], folder: Path, expected: int = 0, **variables: str) -> str:
    """Run a command as somebody would who has no checkout; its output, if it ended as expected."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONWARNINGS")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**environment, "NO_COLOR": "1", "PYTHONUTF8": "1", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == expected, f"{command}\n{done.stdout}"
    return done.stdout


def scripts(folder: Path) -> Path:
    return folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")


def environment(wheel: Path, folder: Path, *further: str) -> Path:
    """Make an environment in a folder that has the wheel in it; its Python."""
    run([sys.executable, "-m", "venv", folder / "venv"], folder)
    python = scripts(folder) / "python"
    constraints = ROOT / "constraints.txt"
    install: list[str | Path] = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        constraints,
    ]
    run([*install, wheel, *further], folder)
    return python
