"""The options for the scheduler and the cluster, declared once for all commands that schedule."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click

from ..console.output import warn
from .choices import DEFAULT_FRAMEWORK, DEFAULT_RELEASE, ORDERS, TIE_BREAKS
from .commands import INPUT, SECTIONS
from .commands import SCHEDULER as SCHEDULER_SECTION
from .paramtypes import FILE, WHOLE, ExtendersOption, Whole

if TYPE_CHECKING:
    from ...simulation.scenario import Files
    from ..engines.setup import Setup

F = TypeVar("F", bound=Callable[..., Any])

def environments_max_pd_vols() -> int | None:
    """What KUBE_MAX_PD_VOLS says, with a warning if it does not count."""
    from ...algorithmprovider.environment import ignored_limit, max_pd_vols

    if (ignored := ignored_limit(os.environ)) is not None:
        warn(ignored)
    return max_pd_vols(os.environ)


def _or_environment(context: click.Context, parameter: click.Parameter, given: int | None) -> int | None:
    return environments_max_pd_vols() if given is None and not context.resilient_parsing else given

EXTENDERS = click.option(
    "--extenders", cls=ExtendersOption, metavar="off|record FILE|replay FILE",
    help="Do not call the extenders that are configured; or keep their answers in FILE; or take the answers from there.",
)  # fmt: skip

SCHEDULER = (
    click.option(
        "--release", metavar="RELEASE",
        help="The release that schedules, such as 1.14 or v1.14.3; auto: that of the nodes, or the nearest."
        f"  [default: {DEFAULT_RELEASE}; with --profile {DEFAULT_FRAMEWORK}]",
    ),
    click.option(
        "--profile", type=FILE,
        help=f"From {DEFAULT_FRAMEWORK} on: a KubeSchedulerConfiguration, with a profile for each schedulerName that pods may ask for.",
    ),
    click.option("--provider", "--algorithm-provider", metavar="NAME", help="DefaultProvider (the default) or ClusterAutoscalerProvider."),
    click.option("--policy", "--policy-config-file", type=FILE, help="A Policy, by itself or in a ConfigMap, instead of a provider."),
    click.option("--policy-configmap", metavar="NAME", help="A ConfigMap among the manifests that holds the Policy."),
    click.option("--policy-configmap-namespace", metavar="NAME", default="kube-system", show_default=True, help="Where that ConfigMap is."),
    click.option(
        "--config", type=FILE,
        help=f"A KubeSchedulerConfiguration; other options override it. From {DEFAULT_FRAMEWORK} on the same as --profile.",
    ),
    click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults."),
    click.option(
        "--percentage-of-nodes-to-score", "percentage", type=WHOLE, metavar="N",
        help="Stop looking when this share of the nodes fits; 0 or absent: as the release does (50 in 1.12 and 1.13, then adaptive).",
    ),
    click.option(
        "--hard-pod-affinity-symmetric-weight", "hard_pod_affinity_weight", type=WHOLE, metavar="N",
        help="The weight of the required affinity of other pods in scoring, 1 to 100.  [default: 1]",
    ),
    click.option("--scheduler-name", metavar="NAME", help="Schedule the pods that ask for this one.  [default: default-scheduler]"),
    click.option("--disable-preemption", is_flag=True, help="Never make room by evicting pods of lower priority."),
    click.option(
        "--max-pd-vols", type=Whole(1, 2**63 - 1), metavar="N", callback=_or_environment,
        help="How many cloud disks of each type a node takes that does not say so.  [default: KUBE_MAX_PD_VOLS, then what the type takes]",
    ),
    click.option("--equivalence-cache", is_flag=True, help="1.12 and 1.13: use the equivalence cache, with the original's gaps."),
    click.option(
        "--tie-break", type=click.Choice(list(TIE_BREAKS)), default="release", show_default=True,
        help="How to choose among best nodes. The originals from 1.16 on do it at random; `release` takes the first.",
    ),
    click.option("--seed", type=WHOLE, default=0, show_default=True, help="For --tie-break random, and for random events of a scenario."),
    click.option(
        "--rules", multiple=True, metavar="FILE.py:NAME",
        help="Your own rules: a Python file or module, and the Catalogue in it; "
        f"from {DEFAULT_FRAMEWORK} on the class of a plugin, or a list of such.",
    ),
    EXTENDERS,
)  # fmt: skip

STRICT = click.option(
    "--strict",
    is_flag=True,
    help="Refuse unknown fields, keys given twice, wrong values, and what the release does not read, instead of a warning.",
)

CLUSTER = (
    click.option("--pods", type=FILE, multiple=True, help="More pods (or workloads) that wait for a node."),
    click.option(
        "--order", type=click.Choice(ORDERS), default="input", show_default=True,
        help="In which order pods are tried: as they come, by priority, or as the release's queue pops them.",
    ),
    click.option("--cron-jobs", is_flag=True, help="Make the pods of one Job for each CronJob that has none and is not suspended."),
    click.option(
        "--set", "edits", multiple=True, metavar="EDIT",
        help="Change what is chosen before anything runs: 'pod web/* requests.cpu=500m', 'node pool=a taints-=x'. May be given again.",
    ),
    click.option("--no-defaults", is_flag=True, help="Take objects as they are, without the API server's defaults."),
    STRICT,
)  # fmt: skip


@attrs.frozen(kw_only=True)
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
    return _packed(command, SCHEDULER, SCHEDULER_SECTION, _setup, "setup")


def cluster_options(command: F) -> F:
    """Give *command* the options about the manifests; it gets them as one :class:`ClusterChoice`, named *cluster*."""
    return _packed(command, CLUSTER, INPUT, ClusterChoice, "cluster")


def input_options(command: F) -> F:
    """As :func:`cluster_options`, without ``--pods``, which means something else there."""
    return _packed(command, CLUSTER[1:], INPUT, ClusterChoice, "cluster")


def _setup(**values: Any) -> Setup:
    from ..engines.setup import Setup

    return Setup(**values)


def _packed(command: F, options: tuple[Callable[[Any], Any], ...], section: str, made: Callable[..., Any], name: str) -> F:
    """*command* with *options*, whose values it gets as *name*, which is what *made* makes of them."""
    fields: list[str] = []

    @functools.wraps(command)
    def packing(**values: Any) -> Any:
        packed = made(**{field: values.pop(field) for field in fields})
        return command(**values, **{name: packed})

    for option in reversed(options):
        packing = option(packing)
        added = vars(packing)["__click_params__"][-1]  # where click keeps what a command will have
        fields.append(added.name)
        SECTIONS.update(dict.fromkeys(added.opts, section))
    return packing  # type: ignore[return-value]  # click looks at the wrapper only
