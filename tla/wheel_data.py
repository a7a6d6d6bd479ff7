"""Build hook: puts modules, configurations and manifest into the wheel, as ``purgatory_tla/data``.

The modules lie beside the package, so that any TLA+ tool opens them where they are; a list of them
in ``pyproject.toml`` would be out of date whenever one is added.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TlaData(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the files that belong into a wheel; an editable install reads them where they are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds."""
        if version == "editable":
            return
        folder = Path(self.root) / "tla"
        for pattern in ("*.tla", "models/*.cfg", "manifest.json"):
            for path in folder.glob(pattern):
                inside = path.relative_to(folder).as_posix()
                build_data["force_include"][str(path)] = f"purgatory_tla/data/{inside}"
