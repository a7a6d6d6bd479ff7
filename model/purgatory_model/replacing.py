"""``replace`` for the states of models, which are frozen Structs.

A model makes several new states in a step, nearly all of them by changing one field of another.
Type checkers see the function of ``dataclasses``, with its checks of names and types.
"""

from typing import TYPE_CHECKING

__all__ = ["replace"]

if TYPE_CHECKING:
    from dataclasses import replace
else:
    from msgspec.structs import replace
