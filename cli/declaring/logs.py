"""Log lines of live commands: where they go, and the option for their form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ...live.process.logs import FORMS, TEXT_LINES, Log, LogSettings
from ..console.output import note

F = TypeVar("F", bound=Callable[..., Any])


def log_option(function: F) -> F:
    """``--logging-format`` of a command that has not kube-scheduler's flags."""
    return click.option(
        "--logging-format",
        "log_form",
        type=click.Choice(FORMS),
        default=TEXT_LINES,
        show_default=True,
        help="The form of log lines on standard error: text as kube-scheduler's, or JSON.",
    )(function)


def log_of(settings: LogSettings) -> Log:
    """A log on standard error."""
    return Log(note, settings)
