"""An attribute that is worked out when it is first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class Lazy(Generic[T]):
    """As :func:`functools.cached_property`, without the lock that it has before Python 3.12: one thread reads the batches of a decision."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make: Callable[[Any], T] = make
        self.name: str = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Lazy[T]: ...
    @overload
    def __get__(self, owner: object, kind: type) -> T: ...
    def __get__(self, owner: Any, kind: type) -> Lazy[T] | T:
        if owner is None:
            return self
        found = owner.__dict__[self.name] = self.make(owner)
        return found
