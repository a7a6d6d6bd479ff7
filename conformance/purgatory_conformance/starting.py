"""The start of the command line, where the extra that the suite needs may be missing.

Whoever installs the implementation alone has the script ``purgatory``, too, and no package that
the suite needs. This module needs none.
"""

import os
import sys
from importlib.util import find_spec
from typing import Final

EXTRA: Final = "conformance"
NEEDED: Final = {
    "click": "click",
    "hypothesis": "hypothesis",
    "immutables": "immutables",
    "jinja2": "jinja2",
    "markdown-it-py": "markdown_it",
    "msgspec": "msgspec",
    "rich": "rich",
}
"""The distributions that the extra brings, with their modules."""

_EXIT_MISSING_TOOL: Final = 5


def what_is_missing() -> str | None:
    """Return a sentence with the missing packages and the command that adds them, or None."""
    missing = [name for name, module in NEEDED.items() if find_spec(module) is None]
    if not missing:
        return None
    from purgatory_spec.installing import command_for  # slow to import, and seldom needed

    return f"the suite needs {', '.join(missing)}, not installed here: {command_for(EXTRA)}"


def main() -> None:
    """Run the command line; without the extra say which command adds it, with exit code 5."""
    sentence = what_is_missing()
    if sentence is not None:
        print(f"Error: {sentence}", file=sys.stderr)
        sys.exit(_EXIT_MISSING_TOOL)
    from purgatory_conformance.command_line import main as command_line

    try:
        command_line()
    except SystemExit as ended:
        if not _is_kept():
            raise
        sys.stderr.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 1)


def _is_kept() -> bool:
    """Decide whether what a subject waits for, which has not returned, may keep this process."""
    known = sys.modules.get("purgatory_conformance.subjects.calling_thread")
    return known is not None and bool(known.LEFT_BEHIND)
