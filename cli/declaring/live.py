"""Options that live commands share: the API server, the form of log lines, and flags that kube-scheduler has,
too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ...exceptions import KubeclassicError
from ...live.process.logs import FORMS, TEXT_LINES
from ...live.settings.flagtable import BOOL, FLAGS, REFUSED
from .commands import SECTIONS
from .flags import options_of

F = TypeVar("F", bound=Callable[..., Any])
SECTIONS.update({f"--{name}": "Leader election options" for name in FLAGS if name.startswith("leader-elect")})


def access_options(
    text: str, of_context: str = "The context of the kubeconfig.  [default: its current context]"
) -> Callable[[F], F]:
    """The options that say which API server is meant; *text*: the help of ``--kubeconfig``."""
    return options_of(f"""
--kubeconfig | file | common | {text}
--context | NAME | | {of_context}
""")


LOG = (
    f"--logging-format log_form | {','.join(FORMS)} {TEXT_LINES} | | The form of log lines on standard error: \
text as kube-scheduler's, or JSON."
)
"""The form of log lines, for commands that have not kube-scheduler's flags."""


def kube_scheduler_flags(function: F) -> F:
    """Give *function* the flags of the table as options that keep the text that was typed; it gets them by
    their names."""

    def refused(context: click.Context, option: click.Parameter, value: str | None) -> None:
        if value is not None:
            name = str(option.name).replace("_", "-")
            raise KubeclassicError(
                f"--{name}: got a flag of kube-scheduler that kubeclassic does not have; {REFUSED[name]}"
            )

    def plain(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
        return None if value is None else value.removeprefix("=")  # ``-v=4``, as Go's flags are written

    for name in REFUSED:
        function = click.option(
            f"--{name}", is_flag=False, flag_value="", hidden=True, expose_value=False, callback=refused
        )(function)
    for flag in reversed(tuple(FLAGS.values())):
        more = ("-v",) if flag.name == "v" else (f"--{flag.other_name}",) if flag.other_name else ()
        switch: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if flag.kind == BOOL else {}
        function = click.option(
            f"--{flag.name}",
            *more,
            f"flag_{flag.name}".replace("-", "_"),
            metavar=flag.kind,
            help=flag.help,
            callback=plain,
            **switch,
        )(function)
    return function
