"""A profile in the JSON form of a configuration: which plugins run at which points, with which weights and arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from ...api.record import UNSET, Record, UnsetType, plain, says
from .equivalents import PRE_SCORERS, SCORERS, SELECTOR_SPREAD
from .extenderargs import WrittenExtender

ALWAYS = ("DefaultBinder", "SchedulingGates")
DEVICES = "DynamicResources"
Json = dict[str, Any]


class WrittenPlugin(Record):
    """A plugin that is enabled or disabled."""

    name: Annotated[str, says("* is all plugins.")]
    weight: Annotated[int | UnsetType, says("Of its scores.")] = UNSET


class WrittenPoint(Record):
    """The plugins of one extension point; multiPoint: of all that they have."""

    disabled: tuple[WrittenPlugin, ...]
    enabled: Annotated[tuple[WrittenPlugin, ...], says("In the order in which they run.")]


class WrittenPoints(Record):
    """The extension points that the profile names."""

    multi_point: WrittenPoint
    pre_score: WrittenPoint
    score: WrittenPoint


class WrittenArguments(Record):
    """The arguments of a plugin."""

    name: str
    args: Annotated[Mapping[str, Any], says("As Kubernetes has them.")]


class WrittenProfile(Record):
    """A profile."""

    scheduler_name: str
    plugins: WrittenPoints
    plugin_config: Annotated[tuple[WrittenArguments, ...] | UnsetType, says("The arguments of plugins that have some.")] = UNSET


class WrittenConfiguration(Record, kw_only=True):
    """A KubeSchedulerConfiguration with one profile. Its apiVersion is that of Kubernetes; fields without a value are left out."""

    api_version: Literal["kubescheduler.config.k8s.io/v1"] = "kubescheduler.config.k8s.io/v1"
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
) -> Json:
    """A KubeSchedulerConfiguration with one profile, in its JSON form.

    *filters*: plugins in order; *post_filters*: those that come after them; *weights*: plugin -> weight of its scores; *args*: plugin ->
    arguments; *percentage* 0 is left out.
    """
    arguments = tuple(WrittenArguments(name, found) for name, found in sorted(args.items()))
    profile = WrittenProfile(scheduler_name, _points([*filters, *post_filters], weights), arguments or UNSET)
    configuration = WrittenConfiguration(
        percentage_of_nodes_to_score=percentage or UNSET, profiles=(profile,), extenders=tuple(extenders) or UNSET
    )
    found: Json = plain(configuration)
    return found


def _points(filters: Sequence[str], weights: Mapping[str, int]) -> WrittenPoints:
    scored = {name: weight for name, weight in weights.items() if name != SELECTOR_SPREAD}
    everywhere = _plugins(["PrioritySort", *filters, *ALWAYS])
    unwanted = ["*"]
    if SELECTOR_SPREAD in weights:
        # Upstream: validation refuses this plugin at every single extension point, but does not look under multiPoint.
        everywhere += (WrittenPlugin(SELECTOR_SPREAD, weights[SELECTOR_SPREAD]),)
        unwanted = [name for name in filters if name in SCORERS and name not in scored]
    before_scores = _plugins(name for name in unwanted if name in ("*", *PRE_SCORERS))
    return WrittenPoints(
        multi_point=WrittenPoint(_plugins(["*"]), everywhere),
        pre_score=WrittenPoint(before_scores, _plugins(name for name in scored if name in PRE_SCORERS)),
        score=WrittenPoint(_plugins(unwanted), tuple(WrittenPlugin(name, weight) for name, weight in scored.items())),
    )


def _plugins(names: Iterable[str]) -> tuple[WrittenPlugin, ...]:
    return tuple(map(WrittenPlugin, names))
