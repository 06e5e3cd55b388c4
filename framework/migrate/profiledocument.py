"""A profile in the JSON form of a configuration: which plugins run at which points, with which weights and arguments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal

from ...api.record import UNSET, Record, UnsetType, plain, says
from ...core.release import Release
from ...exceptions import UnknownNameError
from ..config.apiversions import is_flat
from ..config.defaults import LATEST
from ..releases import ALL_RELEASES, FRAMEWORK_RELEASES, framework_release
from .equivalents import PRE_SCORERS, SCORERS, SELECTOR_SPREAD
from .extenderargs import WrittenExtender

SORTER, BINDER, GATES = "PrioritySort", "DefaultBinder", "SchedulingGates"
DEVICES = "DynamicResources"
Json = dict[str, Any]
ALONE: Mapping[str, str] = {
    "queueSort": "queue_sort", "preFilter": "pre_filter", "reserve": "reserve", "permit": "permit", "preBind": "pre_bind", "bind": "bind",
    "postBind": "post_bind",
}  # fmt: skip
"""Extension point -> the field of :class:`WrittenPoints`, of those that only a user's own plugins are at alone."""


TARGETS: Mapping[str, Release] = {
    version: release
    for version, release in FRAMEWORK_RELEASES.items()
    if not release.configuration.lists_points
}
"""The releases that name plugins for all points at once."""
LISTING: Mapping[str, Release] = {
    version: release
    for version, release in FRAMEWORK_RELEASES.items()
    if release.configuration.lists_points and not is_flat(release.configuration)
}
"""Those with profiles that list plugins for each point."""


def target_release(name: str, argument: str) -> Release:
    """The release called *name*, which can run a profile.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` about *argument* if it cannot.
    """
    found = framework_release(name)
    if found is None or found.version not in (*LISTING, *TARGETS):
        why = "has no profiles"
        if found is not None:
            why = "runs the plugins of a Policy or a provider, to which a configuration can only add some"
        older = (
            f"; {name} {why}: give it the Policy itself, which it reads"
            if found is not None or name in ALL_RELEASES
            else ""
        )
        raise UnknownNameError(f"{argument}: expected {', '.join((*LISTING, *TARGETS))}, got {name}{older}")
    return found


class WrittenPlugin(Record):
    """A plugin that is enabled or disabled."""

    name: Annotated[str, says("* is all plugins.")]
    weight: Annotated[int | UnsetType, says("Of its scores.")] = UNSET


class WrittenPoint(Record):
    """The plugins of one extension point; multiPoint: of all that they have."""

    disabled: tuple[WrittenPlugin, ...]
    enabled: Annotated[tuple[WrittenPlugin, ...], says("In the order in which they run.")]


class WrittenPoints(Record, kw_only=True):
    """The extension points that the profile names."""

    multi_point: WrittenPoint
    queue_sort: WrittenPoint | UnsetType = UNSET
    pre_filter: WrittenPoint | UnsetType = UNSET
    pre_score: WrittenPoint
    score: WrittenPoint
    reserve: WrittenPoint | UnsetType = UNSET
    permit: WrittenPoint | UnsetType = UNSET
    pre_bind: WrittenPoint | UnsetType = UNSET
    bind: WrittenPoint | UnsetType = UNSET
    post_bind: WrittenPoint | UnsetType = UNSET


class WrittenArguments(Record):
    """The arguments of a plugin."""

    name: str
    args: Annotated[Mapping[str, Any], says("As Kubernetes has them.")]


class WrittenProfile(Record):
    """A profile."""

    scheduler_name: str
    plugins: WrittenPoints
    plugin_config: Annotated[
        tuple[WrittenArguments, ...] | UnsetType, says("The arguments of plugins that have some.")
    ] = UNSET


class WrittenConfiguration(Record, kw_only=True):
    """A KubeSchedulerConfiguration with one profile. Its apiVersion is that of Kubernetes; fields without a value are left out."""

    api_version: Literal["kubescheduler.config.k8s.io/v1", "kubescheduler.config.k8s.io/v1beta3"] = (
        "kubescheduler.config.k8s.io/v1"
    )
    kind: Literal["KubeSchedulerConfiguration"] = "KubeSchedulerConfiguration"
    percentage_of_nodes_to_score: int | UnsetType = UNSET
    profiles: tuple[WrittenProfile, ...]
    extenders: tuple[WrittenExtender, ...] | UnsetType = UNSET


def document_of(
    scheduler_name: str,
    *,
    percentage: int,
    filters: Sequence[str],
    weights: Mapping[str, int],
    args: Mapping[str, Json],
    extenders: Sequence[WrittenExtender],
    post_filters: Sequence[str],
    target: Release,
    alone: Mapping[str, Sequence[str]] = MappingProxyType({}),
    absent: Collection[str] = (),
) -> Json:
    """A KubeSchedulerConfiguration with one profile, in its JSON form.

    *filters*: plugins in order; *post_filters*: those that come after them; *weights*: plugin -> weight of its scores; *args*: plugin ->
    arguments; *percentage* 0 is left out. *target*: the release that is to read it. *alone*: extension point -> plugins that run there
    alone. *absent*: plugins that are usually there and do not run.
    """
    arguments = tuple(WrittenArguments(name, found) for name, found in sorted(args.items()))
    always = (name for name in (BINDER, GATES) if name not in target.configuration.gone_plugins)
    everywhere = [name for name in (SORTER, *filters, *post_filters, *always) if name not in absent]
    profile = WrittenProfile(scheduler_name, _points(everywhere, weights, alone), arguments or UNSET)
    reads_latest = LATEST in target.configuration.api_versions
    configuration = WrittenConfiguration(
        api_version=(
            "kubescheduler.config.k8s.io/v1" if reads_latest else "kubescheduler.config.k8s.io/v1beta3"
        ),
        percentage_of_nodes_to_score=percentage or UNSET,
        profiles=(profile,),
        extenders=tuple(extenders) or UNSET,
    )
    found: Json = plain(configuration)
    return found


def _points(
    plugins: Sequence[str], weights: Mapping[str, int], alone: Mapping[str, Sequence[str]]
) -> WrittenPoints:
    scored = {name: weight for name, weight in weights.items() if name != SELECTOR_SPREAD}
    everywhere = _plugins(plugins)
    unwanted = ["*"]
    if SELECTOR_SPREAD in weights:
        # Upstream: validation refuses this plugin at every single extension point, but does not look under multiPoint.
        everywhere += (WrittenPlugin(SELECTOR_SPREAD, weights[SELECTOR_SPREAD]),)
        unwanted = [name for name in plugins if name in SCORERS and name not in scored]
    before_scores = _plugins(name for name in unwanted if name in ("*", *PRE_SCORERS))
    return WrittenPoints(
        multi_point=WrittenPoint(_plugins(["*"]), everywhere),
        pre_score=WrittenPoint(
            before_scores,
            _plugins([*(name for name in scored if name in PRE_SCORERS), *alone.get("preScore", ())]),
        ),
        score=WrittenPoint(
            _plugins(unwanted), tuple(WrittenPlugin(name, weight) for name, weight in scored.items())
        ),
        **{
            ALONE[point]: WrittenPoint((), _plugins(names))
            for point, names in alone.items()
            if point in ALONE and names
        },
    )


def _plugins(names: Iterable[str]) -> tuple[WrittenPlugin, ...]:
    return tuple(map(WrittenPlugin, names))
