"""The command that adds an extra to the running installation.

This module imports the standard library alone, since its caller may have found a package missing.
"""

import importlib.util
import json
import shlex
import sys
from importlib import metadata
from urllib.parse import urlsplit
from urllib.request import url2pathname

DISTRIBUTION = "purgatory-spec"


def command_for(extra: str) -> str:
    """Return the command that adds an extra from the source of the installation.

    A distribution that was installed from a checkout or from a wheel on this machine may be in no
    index. An index is named to the installer only where the distribution came from one.

    Args:
        extra: Its name, for example ``tla``.
    """
    return shlex.join([*_installer(), *_wanted(extra, _recorded())])


def _installer() -> list[str]:
    """Return the installer's command: pip of this Python; uv where pip is not installed for it."""
    if importlib.util.find_spec("pip") is None:
        return ["uv", "pip", "install", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install"]


def _wanted(extra: str, recorded: str | None) -> list[str]:
    """Return the installer's arguments, given what was recorded of the installation."""
    named = f"{DISTRIBUTION}[{extra}]"
    if recorded is None:
        return [named]
    # As PEP 610 has it.
    origin = json.loads(recorded)
    if origin.get("dir_info", {}).get("editable", False):
        return ["--editable", f"{url2pathname(urlsplit(origin['url']).path)}[{extra}]"]
    return [f"{named} @ {origin['url']}"]


def _recorded() -> str | None:
    """Return the text of ``direct_url.json``; None where an index was the source."""
    return metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
