"""Tests on every CPython that is found, each in an environment of its own: ``make test-pythons``.

The session ``pythons`` runs what judges and what is judged: rules, model, implementation, judges,
and the state machines of the front door. A free-threaded build also runs the stress of many
threads, with the global lock kept off. The last lines of nox name each version: success, failed,
or skipped because its interpreter was not found.
"""

import os
import re
from pathlib import Path
from shutil import which
from subprocess import run

import nox

VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.13t", "3.14t")
FRONT_DOOR = sorted(str(path) for path in Path("tests").glob("test_*.py"))
TESTED = [
    *FRONT_DOOR,
    *(f"tests/{part}" for part in ("spec", "model", "impl", "judge")),
]
ASKS = "import sys, sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0, sys.version)"

nox.needs_version = ">=2026.4"
nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"  # what is tested is what is here
nox.options.error_on_missing_interpreters = False  # nox says which are missing


def folders_of_pyenv() -> list[str]:
    """Return the folders of pyenv's interpreters: newest first, free-threaded builds last.

    A free-threaded build also has a ``python3.13``, which must not be found first.
    """
    if which("pyenv") is None:
        return []
    root = run(["pyenv", "root"], capture_output=True, text=True, check=True).stdout.strip()
    folders = list(Path(root, "versions").glob("3.*/bin"))
    folders.sort(key=lambda each: [int(part) for part in re.findall(r"\d+", each.parent.name)])
    folders.reverse()
    folders.sort(key=lambda each: each.parent.name.endswith("t"))
    return [str(each) for each in folders]


# Before the PATH: pyenv's own entries there exist for versions that they do not start.
os.environ["PATH"] = os.pathsep.join([*folders_of_pyenv(), os.environ["PATH"]])


@nox.session(python=VERSIONS, venv_params=["--seed"])  # with pip, as people have it
def pythons(session: nox.Session) -> None:
    """Run the core's tests; on a free-threaded build the stress of many threads, too."""
    is_free_threaded = str(session.python).endswith("t")
    session.install("--constraint", "constraints.txt", "--editable", ".[dev,tla,bench]")
    answer = session.run("python", "-c", ASKS, silent=True)
    disabled, _, version = str(answer).strip().partition(" ")
    if (disabled == "1") != is_free_threaded:
        session.skip(f"only a free-threaded build was found for {session.python}")
    session.log(f"CPython {version}")
    if is_free_threaded:
        session.env["PYTHON_GIL"] = "0"  # a C extension that asks for the lock does not get it
        session.run("python", "-m", "purgatory_lab.stress")
    workers = os.environ.get("WORKERS", "2")
    chosen = [
        "-m",
        "not java and (verify or not verify)",
        "-n",
        workers,
        "--dist",
        "worksteal",
        *session.posargs,
    ]
    session.run("python", "-m", "pytest", *chosen, *TESTED)
