"""The options for the size of the cache of answers; no decision depends on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ...exceptions import QuantityError

F = TypeVar("F", bound=Callable[..., Any])


def _bytes(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    from ...api.objects.quantity import Quantity

    try:
        size = Quantity.parse(value).value()
    except QuantityError as error:
        raise click.BadParameter(str(error)) from None
    if size < 0:
        raise click.BadParameter(f"got {value}, wanted 0 bytes or more")
    return size


def memory_options(command: F) -> F:
    """Give *command* ``--memory`` and ``--no-memory``; it gets them as *memory* (bytes or None) and *no_memory*."""
    size = click.option("--memory", callback=_bytes, metavar="BYTES", help="Cache answers up to this size, such as 64Mi.  [default: 1Gi]")
    off = click.option("--no-memory", is_flag=True, help="Cache no answers: compute everything in every cycle.")
    return size(off(command))


def engine_options(memory: int | None, no_memory: bool) -> dict[str, int]:
    """The fields of an Engine that the two options stand for."""
    if no_memory:
        return {"memory_bytes": 0}
    return {} if memory is None else {"memory_bytes": memory}
