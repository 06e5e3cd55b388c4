"""Refusals in tests: the text of the error that a call has to end with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def refusal_text(
    kind: type[BaseException] | tuple[type[BaseException], ...],
    ask: Callable[..., object],
    *given: Any,
    **options: Any,
) -> str:
    """The text of the error of *kind* that ``ask(*given, **options)`` ends with."""
    with pytest.raises(kind) as caught:
        ask(*given, **options)
    return str(caught.value)
