"""Addresses of Hadoop's file systems, such as ``s3a://bucket/traces``, beside paths.

What exists as a path is a path, whatever it looks like; so is all that has no ``scheme://``.
"""

import os
import re

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_address(path: str) -> bool:
    """Decide whether this is an address, and no path of this machine."""
    return _ADDRESS.match(path) is not None and not os.path.lexists(path)
