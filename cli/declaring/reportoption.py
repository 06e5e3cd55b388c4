"""``--report FILE``, the same for all commands that make a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

HTML = "html"
"""The form of ``-o`` that is the page itself."""
_REPORT = click.option(
    "--report", metavar="FILE", help="Write a page of it there too, whole or not at all: one HTML file that needs no other."
)


def takes_report(command: F) -> F:
    """Give *command* ``--report``; it gets the name of the file, or None, as *report*."""
    return _REPORT(command)
