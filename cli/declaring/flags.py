"""The options for the scheduler and the cluster, declared once for all commands that schedule."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click

from ...choices import LEAVE_OUT, TIE_BREAKS
from ...framework.options import FIELDS, declared_of
from ...questions.options import ClusterOptions, MorePods
from ..console.output import warn
from .commands import INPUT, SECTIONS, CommonOption
from .commands import SCHEDULER as SCHEDULER_SECTION
from .paramtypes import CONFIGURATION, FILE, WHOLE, ExtendersOption, FileName, Whole, in_bytes, ratio, seconds

if TYPE_CHECKING:
    from .setup import Setup

F = TypeVar("F", bound=Callable[..., Any])


@attrs.frozen(kw_only=True, repr=False)
class ClusterChoice(ClusterOptions, MorePods):
    """Which files, and how to read them."""


def environments_max_pd_vols() -> int | None:
    """What KUBE_MAX_PD_VOLS says, with a warning if it does not count."""
    from ...algorithmprovider.config import ignored_limit, max_pd_vols

    if (ignored := ignored_limit(os.environ)) is not None:
        warn(ignored)
    return max_pd_vols(os.environ)


def _or_environment(context: click.Context, parameter: click.Parameter, given: int | None) -> int | None:
    return environments_max_pd_vols() if given is None and not context.resilient_parsing else given


WRITTEN_FILE = FileName(allow_dash=False)
TYPES: Mapping[str, dict[str, Any]] = {
    "text": {},
    "file": {"type": FILE},
    "whole": {"type": WHOLE},
    "positive": {"type": Whole(1, 2**63 - 1)},
    "bytes": {"callback": in_bytes},
    "choice": {"type": click.Choice(list(TIE_BREAKS))},
    "plugins": {"type": click.Choice([LEAVE_OUT])},
    "flag": {"is_flag": True},
    "no-flag": {"is_flag": True, "callback": lambda context, parameter, given: not given},
    "places": {"multiple": True},
    "list": {},
    "seconds": {"type": seconds},
    "factor": {"type": click.FloatRange(min=0, min_open=True)},
    "switch": {},
    "written": {"type": WRITTEN_FILE, "metavar": "FILE"},
    "texts": {"multiple": True},
    "files": {"type": FILE, "multiple": True},
    "ratio": {"type": ratio},
    "configuration": {"type": CONFIGURATION},
    "extenders": {"cls": ExtendersOption},
}
"""What a flag takes -> how click reads it."""


def scheduler_option(name: str) -> Callable[[Any], Any]:
    """The option of the scheduler of that *name*, for a command line."""
    return click_option(FIELDS[name], **({"callback": _or_environment} if name == "max_pd_vols" else {}))


def click_option(field: attrs.Attribute[Any], **more: Any) -> Callable[[Any], Any]:
    """The option that *field* declares, for a command line; one of a scheduler has its name for itself."""
    declared = declared_of(field)
    name = f"own_{field.name}" if field.name in FIELDS and FIELDS[field.name] is not field else field.name
    if declared.takes == "argument":
        return click.argument(name)
    metavar = "N" if declared.takes == "whole" else None
    attributes: dict[str, Any] = {"help": declared.help, "metavar": declared.metavar or metavar, **TYPES[declared.takes]}
    if declared.takes == "switch":
        attributes |= {"default": field.default, "show_default": True}
    if declared.choices:
        attributes["type"] = click.Choice(list(declared.choices))
    elif declared.least is not None:
        attributes["type"] = Whole(declared.least, declared.most)
    if type(field.default) in (str, int, float) and declared.takes != "bytes":
        attributes |= {"default": field.default, "show_default": declared.shows}
    attributes |= {"cls": CommonOption} if declared.common else {}
    attributes |= {"required": declared.required, "hidden": declared.hidden} if declared.required or declared.hidden else {}
    return click.option(*declared.flags, name, **{**attributes, **more})


SCHEDULER = tuple(scheduler_option(name) for name, field in FIELDS.items() if declared_of(field).flags)

def process_options(default: int | None, said: str) -> Callable[[F], F]:
    """Give a command the options that say in which processes it runs; it gets *jobs* and *dask*. *said*: the *default* number in words."""
    told = f"The number of processes.  [default: {said}]"
    jobs = click.option("--jobs", "-j", type=Whole(1), metavar="N", default=default, help=told)
    dask = click.option("--dask", metavar="ADDRESS", help="Run on this Dask cluster, such as tcp://10.0.0.1:8786.")
    return lambda command: jobs(dask(command))


def scheduler_options(command: F) -> F:
    """Give *command* the options that choose a scheduler; it gets them as one :class:`~.setup.Setup`, named *setup*."""
    return packed(command, SCHEDULER, SCHEDULER_SECTION, _setup, "setup")


def cluster_options(command: F) -> F:
    """Give *command* the options about the manifests; it gets them as one :class:`ClusterChoice`, named *cluster*."""
    return packed(command, list(map(click_option, ClusterChoice.declared().values())), INPUT, ClusterChoice, "cluster")


def _setup(**values: Any) -> Setup:
    from .setup import Setup

    return Setup(values)


def packed(command: F, options: Sequence[Callable[[Any], Any]], section: str, made: Callable[..., Any], name: str) -> F:
    """*command* with *options*, whose values it gets as *name*, which is what *made* makes of them."""
    fields: list[str] = []

    @functools.wraps(command)
    def packing(**values: Any) -> Any:
        packed = made(**{field: values.pop(field) for field in fields})
        return command(**values, **{name: packed})

    for option in reversed(options):
        packing = option(packing)
        added = vars(packing)["__click_params__"][-1]  # where click keeps what a command will have
        fields += [added.name] if added.expose_value else []
        SECTIONS.update(dict.fromkeys(added.opts, section))
    return packing  # type: ignore[return-value]  # click looks at the wrapper only
