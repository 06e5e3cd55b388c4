"""The widths of the API's integers: an ``int`` attribute has 64 bits there, an :data:`Int32` has 32."""

from __future__ import annotations

from typing import Annotated, TypeAlias

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)

Int32: TypeAlias = Annotated[int, INT32]
