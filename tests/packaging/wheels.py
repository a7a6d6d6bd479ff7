"""Wheels, and environments of their own for them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "spec/purgatory_spec": "purgatory_spec",
    "model/purgatory_model": "purgatory_model",
    "impl/purgatory_impl": "purgatory_impl",
    "tla/purgatory_tla": "purgatory_tla",
    "conformance/purgatory_conformance": "purgatory_conformance",
    "pipeline/purgatory_traces": "purgatory_traces",
    "lab/purgatory_lab/benchmarks": "purgatory_lab.benchmarks",
    "lab/purgatory_lab": "purgatory_lab",
}
"""By their folders: what there is in a wheel."""

NOT_COPIED = shutil.ignore_patterns(
    ".git",
    ".venv",
    ".nox",
    "purgatory-work",
    "site",
    "build",
    "dist",
    ".*_cache",
    ".hypothesis",
    "target",
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
        timeout=1800,
        check=False,
    )
    assert done.returncode == expected, f"{command}\n{done.stdout}"
    return done.stdout


def scripts(folder: Path) -> Path:
    return folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")


def environment(
    wheel: Path, folder: Path, *further: str, extra: str | None = "conformance"
) -> None:
    """Make an environment in a folder that has the wheel in it, with an extra."""
    run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], folder)
    install(folder, f"{wheel}[{extra}]" if extra else wheel, *further)


def install(folder: Path, *wanted: str | Path) -> None:
    """Install into the environment of a folder, by the pip of this Python: its own takes longer."""
    pip = _pip(folder)
    options: list[str | Path] = [
        "--quiet",
        "--no-compile",
        "--constraint",
        ROOT / "constraints.txt",
    ]
    run([*pip, "install", *options, *wanted], folder)


def installed(folder: Path) -> set[str]:
    """The names of the distributions in the environment of a folder, as ``pip list`` has them."""
    listed = run([*_pip(folder), "list", "--format", "freeze"], folder)
    return {line.partition("==")[0] for line in listed.split()}


def _pip(folder: Path) -> list[str | Path]:
    return [sys.executable, "-m", "pip", "--python", scripts(folder) / "python"]
