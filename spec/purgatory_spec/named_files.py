"""Files that are read because somebody has named them.

To open a pipe that nobody writes never ends, nor does reading ``/dev/zero``; and to open a device
may do something. So every reader of a file that a command line, a declaration, a manifest or
another file names asks ``named_file`` first.
"""

import errno
import stat
from pathlib import Path
from typing import Final

_ADVICE: Final = "write what it gives to a file, and name that"


class NotAFile(OSError):
    """A named path that is a pipe, a socket or a device, or that cannot be a file's name."""


def named_file(name: str | Path) -> Path:
    """Return the path of a name, once it is seen to lead to no pipe, socket or device.

    What is not there, and a folder, pass: to open them fails at once and says why.

    Raises:
        NotAFile: it is a pipe, a socket or a device; ``strerror`` says which.
    """
    path = Path(name)
    try:
        mode = path.stat().st_mode
    except OSError:
        return path
    except ValueError as error:
        raise NotAFile(errno.EINVAL, f"no file has such a name: {error}", str(path)) from error
    if stat.S_ISFIFO(mode):
        raise NotAFile(errno.EINVAL, f"it is a pipe and no file: {_ADVICE}", str(path))
    if stat.S_ISSOCK(mode):
        raise NotAFile(errno.EINVAL, f"it is a socket and no file: {_ADVICE}", str(path))
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise NotAFile(errno.EINVAL, f"it is a device and no file: {_ADVICE}", str(path))
    return path
