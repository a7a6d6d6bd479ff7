"""Marks for mypyc, at run time without the package that names them.

mypyc reads the names of ``mypy_extensions`` and ``typing_extensions``. Nothing of them is needed
when the program runs, so that the implementation needs no other package. Not compiled itself:
the compiler would leave out the branch below that runs.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i32 as i32
    from mypy_extensions import i64 as i64
    from mypy_extensions import mypyc_attr as mypyc_attr
    from typing_extensions import TypeVar as TypeVar
else:
    i32 = i64 = int

    def mypyc_attr(*_names: str, **_values: object) -> object:
        """Return a decorator that returns the class unchanged."""
        return lambda decorated: decorated

    def _without_default(name: str, **settings: object) -> object:
        """Return a type variable without its default, which Python before 3.13 cannot express."""
        del settings["default"]
        return typing.TypeVar(name, **settings)

    TypeVar = _without_default
