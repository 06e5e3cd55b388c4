"""Notes: what rules and plugins have worked out for a template or a cycle, in typed slots."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import attrs

T = TypeVar("T")
D = TypeVar("D")


# Without ``unsafe_hash`` a type checker does not take a slot for Hashable: it checks the value's type. The hash is that of ``object``.
@attrs.frozen(eq=False, unsafe_hash=False)
class StateKey(Generic[T]):
    """A key of notes whose values are of type T. Two slots of one name are different keys; the name is only for ``repr``.

    A slot that is pickled together with its owner stays the same key. One of a module does not: what a plugin keeps for a
    waiting pod, which checkpoints hold, needs a slot of the plugin's own or a plain key.
    """

    name: str


class CycleState(dict[Any, Any]):
    """A dict in which each :class:`StateKey` has a value of the slot's own type; a user's own rule or plugin may have any other key.

    The types are for type checkers alone: at run time the methods are those of ``dict``.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<CycleState: {len(self)}>"

    if TYPE_CHECKING:

        @overload
        def get(self, key: StateKey[T], default: None = None, /) -> T | None: ...
        @overload
        def get(self, key: StateKey[T], default: T, /) -> T: ...
        @overload
        def get(self, key: StateKey[T], default: D, /) -> T | D: ...
        @overload
        def get(self, key: Hashable, default: Any = None, /) -> Any: ...
        def get(self, key: Any, default: Any = None, /) -> Any: ...

        @overload
        def __getitem__(self, key: StateKey[T], /) -> T: ...
        @overload
        def __getitem__(self, key: Hashable, /) -> Any: ...
        def __getitem__(self, key: Any, /) -> Any: ...

        @overload
        def __setitem__(self, key: StateKey[T], value: T, /) -> None: ...
        @overload
        def __setitem__(self, key: Hashable, value: Any, /) -> None: ...
        def __setitem__(self, key: Any, value: Any, /) -> None: ...

        @overload
        def setdefault(self, key: StateKey[T | None], default: None = None, /) -> T | None: ...
        @overload
        def setdefault(self, key: StateKey[T], default: T, /) -> T: ...
        @overload
        def setdefault(self, key: Hashable, default: Any = None, /) -> Any: ...
        def setdefault(self, key: Any, default: Any = None, /) -> Any: ...

        def __contains__(self, key: object, /) -> bool: ...
