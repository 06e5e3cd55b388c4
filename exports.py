"""The public names of a module, each loaded at first use.

The table of them is the imports under the module's ``if TYPE_CHECKING:``. Type checkers read it there, and so
does :func:`homes`: a name is written nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


@cache
def homes(module: str) -> dict[str, str | None]:
    """Public name -> the module below this package that has it, in the order of the table; None for a name
    that is itself a module."""
    import ast
    from linecache import getlines

    names = vars(sys.modules[module])
    parts = ast.parse("".join(getlines(names["__file__"], names))).body
    table = next((part for part in parts if isinstance(part, ast.If)), None)
    if table is None:
        raise ImportError(
            f"{module}: expected the table of public names in it, got no source text of {names['__file__']}",
            name=module,
        )
    return {
        alias.name: found.module
        for found in table.body
        if isinstance(found, ast.ImportFrom)
        for alias in found.names
    }


def lazy(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` for *module*, which load the names of its table."""
    names = vars(sys.modules[module])

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(homes(module))
        if name not in homes(module):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = homes(module)[name]
        names[name] = found = (
            getattr(import_module(f".{home}", __package__), name)
            if home
            else import_module(f".{name}", __package__)
        )
        return found

    return get, lambda: sorted({*names, *homes(module)})
