"""Build hook: what belongs into a wheel besides the packages.

Always the TLA+ modules, configurations and manifest, as ``purgatory_tla/data``. They lie beside the
package, so that any TLA+ tool opens them where they are; a list of them in ``pyproject.toml`` would
be out of date whenever one is added.

With the environment variable ``PURGATORY_COMPILED=1`` also the implementation compiled by mypyc.
That is done in a folder of its own: nothing compiled ever lies in the checkout. The sources are in
the wheel all the same. With ``PURGATORY_LAB=1`` also the lab, which measures and stresses a wheel,
and compiled alike the old design that the implementation is measured against.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = {
    "impl/purgatory_impl": (
        "__init__.py",
        "errors.py",
        "compiler.py",
        "event_loops.py",
        "reasons.py",
        "stacks.py",
    ),
}
"""Folders whose modules are compiled, and names of modules that are not.

They do nothing hot. A coroutine that the compiler has made is not closed when it is dropped, and
an enumeration has lost its docstring.
"""

COMPILED_IN_THE_LAB = {"lab/purgatory_lab/benchmarks/baselines": ("__init__.py",)}
"""The same, where the wheel has the lab in it."""

TYPES = ("spec/purgatory_spec",)
"""The packages that the compiled modules import, for their types."""

REQUIREMENTS = ("mypy[mypyc]==2.4.1", "setuptools>=68")
"""The compiler: pinned, since what it makes is what was tested and measured."""

_SETUP = "wheel_setup.py"
"""Runs the compiler; beside this file."""


class WheelContents(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the files that belong into a wheel; an editable install reads them where they are."""

    def dependencies(self) -> list[str]:
        """Return the requirements that hatchling installs before it builds."""
        return list(REQUIREMENTS) if _is_compiled() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds."""
        if version == "editable":
            return
        self._add_tla(build_data)
        if _has_lab():
            lab = Path(self.root) / "lab" / "purgatory_lab"
            build_data["force_include"][str(lab)] = "purgatory_lab"
        if _is_compiled():
            self._add_compiled(build_data)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called by hatchling after it has built."""
        if folder := build_data.get("compiled_in"):
            shutil.rmtree(folder, ignore_errors=True)

    def _add_tla(self, build_data: dict[str, Any]) -> None:
        folder = Path(self.root) / "tla"
        for pattern in ("*.tla", "models/*.cfg", "manifest.json"):
            for path in folder.glob(pattern):
                inside = path.relative_to(folder).as_posix()
                build_data["force_include"][str(path)] = f"purgatory_tla/data/{inside}"

    def _add_compiled(self, build_data: dict[str, Any]) -> None:
        folder = Path(tempfile.mkdtemp(prefix="purgatory-compiled-"))
        build_data["compiled_in"] = str(folder)
        modules = self._copied(folder)
        output = folder / "output"
        shutil.copy(Path(self.root) / _SETUP, folder)
        command = [sys.executable, _SETUP, "build_ext", "--build-lib", str(output)]
        done = subprocess.run(
            [*command, " ".join(modules)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"mypyc has failed:\n{done.stdout}")
        for path in output.rglob("*"):
            if path.is_file():
                inside = path.relative_to(output).as_posix()
                build_data["force_include"][str(path)] = inside
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def _copied(self, folder: Path) -> list[str]:
        """Copy what the compiler reads; the modules to be compiled, as paths in the folder."""
        modules = []
        compiled = COMPILED | COMPILED_IN_THE_LAB if _has_lab() else COMPILED
        for name in (*compiled, *TYPES):
            source = Path(self.root) / name
            inside = Path(*Path(name).parts[1:])
            shutil.copytree(source, folder / inside, ignore=shutil.ignore_patterns("__pycache__"))
            for package in inside.parents[:-1]:
                (folder / package / "__init__.py").touch()
            left_out = compiled.get(name)
            if left_out is not None:
                found = sorted(path.relative_to(source) for path in source.rglob("*.py"))
                modules += [str(inside / each) for each in found if each.name not in left_out]
        return modules


def _is_compiled() -> bool:
    return os.environ.get("PURGATORY_COMPILED") == "1"


def _has_lab() -> bool:
    return os.environ.get("PURGATORY_LAB") == "1"
