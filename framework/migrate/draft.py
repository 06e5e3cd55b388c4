"""A profile while it is written: which plugins run at which points, with which weights, arguments and
extenders, and notes.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go of 1.19 to 1.22, which translated Policies until
they were removed.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import attrs

from ...algorithmprovider.extenders import NANOSECONDS, ExtenderConfig, TlsConfig
from ...api.record import UNSET, Record, UnsetType, field, plain
from ...core.release import Release
from ...core.release.fact import rule_facts
from ...exceptions import UnknownNameError
from ..config.apiversions import is_flat
from ..config.profiles import LATEST
from ..releases import ALL_RELEASES, FRAMEWORK_RELEASES, framework_release


class Note(Record):
    """One part of a Policy without an exact equivalent, and what replaces it."""

    subject: str
    """A predicate, a priority, a plugin, or a field of the Policy."""
    text: str
    upstream: str | None = None
    """What upstream's own translation does there, if it is something else."""

    def __str__(self) -> str:
        other = f" (upstream's translation {self.upstream})" if self.upstream else ""
        return f"{self.subject}: {self.text}{other}"


RULES = rule_facts()
"""Predicate, priority, or what was built in -> what it became."""
SELECTOR_SPREAD = "SelectorSpread"
"""The plugin with the formula of SelectorSpreadPriority."""
PRE_SCORERS = frozenset(
    {
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
        "TaintToleration",
    }
)
"""The plugins with a PreScore."""
SCORERS = PRE_SCORERS | {"ImageLocality", "VolumeBinding"}
"""The plugins that score if they are enabled under multiPoint."""
OWN_CONSTRAINTS = "EvenPodsSpreadPriority"
PEER_SPREADING = ("SelectorSpreadPriority", "ServiceSpreadingPriority")
"""The priorities that prefer few peers."""


def left_out(rule: str) -> str:
    """Why no plugin replaces *rule*, for a migration that leaves it out."""
    return RULES[rule].sentence.replace("gone: ", "left out: ")


COUNTED_ELSEWHERE = (
    "NodeVolumeLimits counts such volumes where they are migrated, up to the limit that the CSINode names"
)
"""What remains of the limits of built-in disks in releases without their plugins."""
OLDER_RULES = "refuses it, so that a Policy of an older release would not start"
NODE_LABEL = "has plugin NodeLabel, which was removed in 1.23"
OWN_DEFAULTS = "takes those of its own release, constraints of topology spread among them, PodTopologySpread with weight 2"


# --- extenders ----------------------------------------------------------------------------------------------

_UNITS = ((NANOSECONDS, "s"), (NANOSECONDS // 1000, "ms"), (NANOSECONDS // 10**6, "us"), (1, "ns"))


class WrittenResource(Record):
    """A resource that an extender manages."""

    name: str
    ignored_by_scheduler: bool | UnsetType = UNSET


class WrittenTls(Record):
    """As Kubernetes has it; data is in base64."""

    insecure: bool | UnsetType = UNSET
    server_name: str | UnsetType = UNSET
    cert_file: str | UnsetType = UNSET
    key_file: str | UnsetType = UNSET
    ca_file: str | UnsetType = UNSET
    cert_data: str | UnsetType = UNSET
    key_data: str | UnsetType = UNSET
    ca_data: str | UnsetType = UNSET


class WrittenExtender(Record, kw_only=True):
    """An extender; what is not set is left out."""

    url_prefix: str | UnsetType = UNSET
    filter_verb: str | UnsetType = UNSET
    preempt_verb: str | UnsetType = UNSET
    prioritize_verb: str | UnsetType = UNSET
    weight: int | UnsetType = UNSET
    bind_verb: str | UnsetType = UNSET
    enable_https: bool | UnsetType = field(default=UNSET, name="enableHTTPS")
    tls_config: WrittenTls | UnsetType = UNSET
    http_timeout: str | UnsetType = UNSET
    """A duration such as 2s or 1500ms."""
    node_cache_capable: bool | UnsetType = UNSET
    managed_resources: tuple[WrittenResource, ...] | UnsetType = UNSET
    ignorable: bool | UnsetType = UNSET


def written_extenders(
    extenders: Sequence[ExtenderConfig], weights: Sequence[int]
) -> tuple[list[WrittenExtender], list[Note]]:
    """*extenders* with these *weights* as items of ``extenders``; and notes on what could not be kept."""
    notes = [
        Note(
            f"extender {extender.name}",
            f"httpTimeout {extender.timeout:g} s is left out, so it is 5 s: it has to be above 0",
        )
        for extender in extenders
        if extender.timeout <= 0
    ]
    return [_written(extender, weight) for extender, weight in zip(extenders, weights, strict=True)], notes


def _written(extender: ExtenderConfig, weight: int) -> WrittenExtender:
    managed = tuple(
        WrittenResource(one.name, one.ignored_by_scheduler or UNSET) for one in extender.managed_resources
    )
    tls = WrittenTls(**_set(WrittenTls, extender.tls))
    written = {
        "weight": weight,
        "tls_config": tls if plain(tls) else None,
        "http_timeout": duration_text(extender.timeout),
    }
    return WrittenExtender(**_set(WrittenExtender, extender, **written, managed_resources=managed))


def _set(kind: type[Record], given: ExtenderConfig | TlsConfig | None, **written: Any) -> dict[str, Any]:
    """The fields of *kind* that are set: as they are *written*, else those of *given*, bytes in base64."""
    found = {
        name: written[name] if name in written else getattr(given, name, None)
        for name in kind.__struct_fields__
    }
    return {
        name: base64.b64encode(one).decode() if isinstance(one, bytes) else one
        for name, one in found.items()
        if one
    }


def duration_text(seconds: float) -> str:
    """*seconds* as a duration such as ``2s`` or ``1500ms``; empty for 0 and less."""
    nanoseconds = round(seconds * NANOSECONDS)
    if nanoseconds <= 0:
        return ""
    return next(f"{nanoseconds // size}{unit}" for size, unit in _UNITS if nanoseconds % size == 0)


# --- as data ------------------------------------------------------------------------------------------------

SORTER = "PrioritySort"
BINDER = "DefaultBinder"
GATES = "SchedulingGates"
DEVICES = "DynamicResources"
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
        if found is not None or name in ALL_RELEASES:
            older = f"; {name} {why}: give it the Policy itself, which it reads"
        else:
            older = ""
        raise UnknownNameError(f"{argument}: expected {', '.join((*LISTING, *TARGETS))}, got {name}{older}")
    return found


class WrittenPlugin(Record):
    """A plugin that is enabled or disabled."""

    name: str
    """* is all plugins."""
    weight: int | UnsetType = UNSET
    """Of its scores."""


class WrittenPoint(Record):
    """The plugins of one extension point; multiPoint: of all that they have."""

    disabled: tuple[WrittenPlugin, ...]
    enabled: tuple[WrittenPlugin, ...]
    """In the order in which they run."""


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


ALONE = {
    json: name
    for name, json in zip(
        WrittenPoints.__struct_fields__, WrittenPoints.__struct_encode_fields__, strict=True
    )
    if json not in ("multiPoint", "preScore", "score")
}
"""Extension point -> the field of :class:`WrittenPoints`, of those that only a user's own plugins are at
alone."""


class WrittenArguments(Record):
    """The arguments of a plugin."""

    name: str
    args: Mapping[str, Any]
    """As Kubernetes has them."""


class WrittenProfile(Record):
    """A profile."""

    scheduler_name: str
    plugins: WrittenPoints
    plugin_config: tuple[WrittenArguments, ...] | UnsetType = UNSET
    """The arguments of plugins that have some."""


class WrittenConfiguration(Record, kw_only=True):
    """A KubeSchedulerConfiguration with one profile. Its apiVersion is that of Kubernetes; fields without a
    value are omitted."""

    api_version: Literal["kubescheduler.config.k8s.io/v1", "kubescheduler.config.k8s.io/v1beta3"] = (
        "kubescheduler.config.k8s.io/v1"
    )
    kind: Literal["KubeSchedulerConfiguration"] = "KubeSchedulerConfiguration"
    percentage_of_nodes_to_score: int | UnsetType = UNSET
    profiles: tuple[WrittenProfile, ...]
    extenders: tuple[WrittenExtender, ...] | UnsetType = UNSET


# --- the draft ----------------------------------------------------------------------------------------------

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODES = "NodeAffinity"
CHECKS_ALL = (
    "left out, as its code was removed in 1.24: only the first plugin that rejects a node gives its reasons"
)


@attrs.frozen(repr=False)
class Migration:
    """A configuration in its JSON form, and notes to read before it is used."""

    document: dict[str, Any]
    notes: tuple[Note, ...]


@attrs.define(repr=False)
class ProfileDraft:
    """A profile for *target*, and notes on what is not the same as before."""

    target: Release
    filters: dict[str, None] = attrs.Factory(dict)
    """The filter plugins, in order."""
    weights: dict[str, int] = attrs.Factory(dict)
    """Plugin -> the weight of its scores."""
    args: dict[str, dict[str, Any]] = attrs.Factory(dict)
    notes: list[Note] = attrs.Factory(list)

    def note(self, subject: str, text: str, upstream: str | None = None) -> None:
        """Add a note on something that is not the same as before."""
        self.notes.append(Note(subject, text, upstream))

    def is_gone(self, plugin: str) -> bool:
        """Whether the target has no such plugin."""
        return plugin in self.target.configuration.gone_plugins

    def require(
        self,
        subject: str,
        labels: Sequence[Mapping[str, str]],
        upstream: str | None = None,
        added: Mapping[str, Any] | None = None,
    ) -> None:
        """Let plugin NodeAffinity require *labels* of every node, besides what *added* is in its arguments."""
        terms = ((added or {}).get(REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
        both = [{**term, "matchExpressions": [*term.get("matchExpressions", ()), *labels]} for term in terms]
        self.args[NODES] = {"addedAffinity": {**(added or {}), REQUIRED: {"nodeSelectorTerms": both}}}
        told = ", ".join(f"{one['key']} {one['operator']}" for one in labels)
        text = f"replaced by addedAffinity of plugin {NODES}: required {told}; the reason that users see is another"
        before = NODES not in self.filters
        checks = f"{NODES} also checks nodeSelector and required node affinity of pods, ignored before"
        for said, other in ((text, upstream), *([(checks, None)] if before else [])):
            self.note(subject, said, other)
        self.filters[NODES] = None

    def document(
        self,
        scheduler_name: str,
        percentage: int,
        extenders: Sequence[WrittenExtender],
        post_filters: Sequence[str],
        alone: Mapping[str, Sequence[str]] | None = None,
        absent: Collection[str] = (),
    ) -> dict[str, Any]:
        """A KubeSchedulerConfiguration with the profile, in its JSON form.

        *post_filters*: the plugins that come after those that filter; *percentage* 0 is left out. *alone*:
        extension point -> plugins that run there alone. *absent*: plugins that are usually there and do not
        run.
        """
        arguments = tuple(WrittenArguments(name, found) for name, found in sorted(self.args.items()))
        always = (name for name in (BINDER, GATES) if not self.is_gone(name))
        everywhere = [name for name in (SORTER, *self.filters, *post_filters, *always) if name not in absent]
        profile = WrittenProfile(
            scheduler_name, _points(everywhere, self.weights, alone or {}), arguments or UNSET
        )
        reads_latest = LATEST in self.target.configuration.api_versions
        found: dict[str, Any] = plain(
            WrittenConfiguration(
                api_version="kubescheduler.config.k8s.io/v1"
                if reads_latest
                else "kubescheduler.config.k8s.io/v1beta3",
                percentage_of_nodes_to_score=percentage or UNSET,
                profiles=(profile,),
                extenders=tuple(extenders) or UNSET,
            )
        )
        return found


def _points(
    plugins: Sequence[str], weights: Mapping[str, int], alone: Mapping[str, Sequence[str]]
) -> WrittenPoints:
    scored = {name: weight for name, weight in weights.items() if name != SELECTOR_SPREAD}
    everywhere = _plugins(plugins)
    unwanted = ["*"]
    if SELECTOR_SPREAD in weights:
        # Upstream: validation refuses this plugin at every single extension point, but does not look under
        # multiPoint.
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
