"""The options for the scheduler and the cluster, declared once for all commands that schedule."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click

from ...choices import LEAVE_OUT, ORDERS, TIE_BREAKS
from ...framework.options import FIELDS, declared_of
from ..console.output import warn
from .commands import INPUT, SECTIONS, CommonOption
from .commands import SCHEDULER as SCHEDULER_SECTION
from .paramtypes import FILE, WHOLE, ExtendersOption, Whole, in_bytes

if TYPE_CHECKING:
    from ...simulation.scenario import Files
    from .setup import Setup

F = TypeVar("F", bound=Callable[..., Any])


def environments_max_pd_vols() -> int | None:
    """What KUBE_MAX_PD_VOLS says, with a warning if it does not count."""
    from ...algorithmprovider.config import ignored_limit, max_pd_vols

    if (ignored := ignored_limit(os.environ)) is not None:
        warn(ignored)
    return max_pd_vols(os.environ)


def _or_environment(context: click.Context, parameter: click.Parameter, given: int | None) -> int | None:
    return environments_max_pd_vols() if given is None and not context.resilient_parsing else given


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
    "extenders": {"cls": ExtendersOption},
}
"""What a flag takes -> how click reads it."""


def scheduler_option(name: str) -> Callable[[Any], Any]:
    """The option of the scheduler of that *name*, for a command line."""
    field = FIELDS[name]
    declared = declared_of(field)
    attributes: dict[str, Any] = {"help": declared.help, "metavar": declared.metavar, **TYPES[declared.takes]}
    if type(field.default) in (str, int) and declared.takes != "bytes":
        attributes |= {"default": field.default, "show_default": True}
    if declared.common:
        attributes["cls"] = CommonOption
    if name == "max_pd_vols":
        attributes["callback"] = _or_environment
    return click.option(*declared.flags, name, **attributes)


EXTENDERS = scheduler_option("extenders")
SCHEDULER = tuple(scheduler_option(name) for name, field in FIELDS.items() if declared_of(field).flags)

STRICT = click.option(
    "--strict",
    is_flag=True,
    help="Refuse unknown fields, keys given twice, wrong values, and what the release does not read, instead of a warning.",
)

CLUSTER = (
    click.option("--pods", cls=CommonOption, type=FILE, multiple=True, help="More pods (or workloads) that wait for a node."),
    click.option(
        "--order", type=click.Choice(ORDERS), default="input", show_default=True,
        help="In which order pods are tried: as they come, by priority, or as the release's queue pops them.",
    ),
    click.option("--cron-jobs", is_flag=True, help="Make the pods of one Job for each CronJob that has none and is not suspended."),
    click.option(
        "--set", "edits", cls=CommonOption, multiple=True, metavar="EDIT",
        help="Change what is chosen before anything runs: 'pod web/* requests.cpu=500m', 'node pool=a taints-=x'. May be given again.",
    ),
    click.option("--no-defaults", is_flag=True, help="Take objects as they are, without the API server's defaults."),
    STRICT,
)  # fmt: skip


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def process_options(default: int | Callable[[], int], said: str) -> Callable[[F], F]:
    """Give a command the options that say in which processes it runs; it gets *jobs* and *dask*. *said*: the *default* number in words."""
    told = f"Run in that many processes.  [default: {said}]"
    jobs = click.option("--jobs", "-j", type=Whole(1), metavar="N", default=default, help=told)
    dask = click.option("--dask", metavar="ADDRESS", help="Run on the Dask scheduler at this address, such as tcp://10.0.0.1:8786.")
    return lambda command: jobs(dask(command))


@attrs.frozen(kw_only=True, repr=False)
class ClusterChoice:
    """Which files, and how to read them."""

    pods: tuple[Path, ...] = ()
    order: str = "input"
    cron_jobs: bool = False
    edits: tuple[str, ...] = ()
    no_defaults: bool = False
    strict: bool = False

    def files(self, paths: tuple[Path, ...], *, keeps_manifests: bool = False) -> Files:
        """What *paths* and ``--pods`` hold, before a scheduler is chosen; *keeps_manifests* for extenders."""
        from ...simulation.scenario import Files

        strict = self.strict
        return Files.read(
            paths, self.pods, defaults=not self.no_defaults, strict_fields=strict, keeps_manifests=keeps_manifests, edits=self.edits
        )


def scheduler_options(command: F) -> F:
    """Give *command* the options that choose a scheduler; it gets them as one :class:`~.setup.Setup`, named *setup*."""
    return packed(command, SCHEDULER, SCHEDULER_SECTION, _setup, "setup")


def cluster_options(command: F) -> F:
    """Give *command* the options about the manifests; it gets them as one :class:`ClusterChoice`, named *cluster*."""
    return packed(command, CLUSTER, INPUT, ClusterChoice, "cluster")


def input_options(command: F) -> F:
    """As :func:`cluster_options`, without ``--pods``, which means something else there."""
    return packed(command, CLUSTER[1:], INPUT, ClusterChoice, "cluster")


def _setup(**values: Any) -> Setup:
    from .setup import Setup

    return Setup(values)


def packed(command: F, options: tuple[Callable[[Any], Any], ...], section: str, made: Callable[..., Any], name: str) -> F:
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
