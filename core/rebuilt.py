"""Copies and pickles of state that can be computed again: from the few attributes that it is rebuilt from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

K = TypeVar("K", bound=type)


def rebuilt_from(*names: str) -> Callable[[K], K]:
    """Decorator for a class whose copies are made from these attributes alone, by its constructor; the rest
    begins empty.

    Its subclasses are copied as usual.

    >>> from copy import copy
    >>> @rebuilt_from("wanted")
    ... class Kept:
    ...     def __init__(self, wanted):
    ...         self.wanted, self.found = wanted, {}
    >>> kept = Kept(3)
    >>> kept.found["a"] = 1
    >>> copy(kept).wanted, copy(kept).found
    (3, {})
    """

    def decorated(kind: K) -> K:
        def reduced(self: Any, protocol: int) -> Any:
            if type(self) is not kind:
                return object.__reduce_ex__(self, protocol)
            return _rebuilt, (kind, {name.lstrip("_"): getattr(self, name) for name in names})

        setattr(kind, "__reduce_ex__", reduced)  # noqa: B010  # a type checker knows no assignment to a method
        return kind

    return decorated


def _rebuilt(kind: Callable[..., Any], values: dict[str, Any]) -> Any:
    return kind(**values)
