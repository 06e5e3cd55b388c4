"""What live commands share: where they find the API server, the form of their log lines, and flags that
kube-scheduler has, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ...exceptions import KubeclassicError
from ...live.process.logs import FORMS, TEXT_LINES, Log, LogSettings
from ...live.settings.flagtable import BOOL, FLAGS, REFUSED
from ..console.output import note
from .commands import SECTIONS, CommonOption
from .flags import FILE, Whole

F = TypeVar("F", bound=Callable[..., Any])
SECTIONS.update({f"--{name}": "Leader election options" for name in FLAGS if name.startswith("leader-elect")})


def access_options(
    text: str, of_context: str = "The context of the kubeconfig.  [default: its current context]"
) -> Callable[[F], F]:
    """The options that say which API server is meant; *text*: the help of ``--kubeconfig``."""
    kubeconfig = click.option("--kubeconfig", cls=CommonOption, type=FILE, help=text)
    context = click.option("--context", metavar="NAME", help=of_context)
    return lambda function: kubeconfig(context(function))


def options_of(table: str) -> Callable[[F], F]:
    """Give a command the options of *table*, a line each: names; what it takes and its default; ``common``; help.

    It takes nothing (``switch``), a ``file``, a whole number such as ``1..9``, one of words (``text,json``), or a
    text, of which there is the metavar; ``NAME...`` may be given several times.
    """
    made = []
    for names, takes, common, text in (
        map(str.strip, line.split("|")) for line in table.strip().splitlines()
    ):
        kind, _, default = takes.partition(" ")
        more: dict[str, Any] = {"default": default, "show_default": True} if default else {}
        if kind == "switch":
            more["is_flag"] = True
        elif kind == "file":
            more["type"] = FILE
        elif "," in kind:
            more["type"] = click.Choice(kind.split(","))
        elif ".." in kind and not kind.endswith("..."):
            least, _, most = kind.partition("..")
            more |= {"type": Whole(int(least), int(most)), "metavar": "N"}
        else:
            more |= {"metavar": kind.removesuffix("..."), "multiple": kind.endswith("...")}
            more |= {"type": float} if kind == "SECONDS" else {}
        made.append(
            click.option(*names.split(), cls=CommonOption if common else click.Option, help=text, **more)
        )

    def given(function: F) -> F:
        for option in reversed(made):
            function = option(function)
        return function

    return given


LOG = (
    f"--logging-format log_form | {','.join(FORMS)} {TEXT_LINES} | | The form of log lines on standard error: \
text as kube-scheduler's, or JSON."
)
"""The form of log lines, for commands that have not kube-scheduler's flags."""


def log_of(form: str, level: int = 0) -> Log:
    """A log on standard error."""
    return Log(note, LogSettings(level, form))


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
