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

from ...algorithmprovider.extenders import NANOSECONDS, ExtenderConfig
from ...api.objects import JsonDict, JsonObject, json_names
from ...api.record import UNSET, Record, UnsetType, plain
from ...core.release import Release
from ...core.release.fact import rule_facts
from ...exceptions import UnknownNameError
from ..config.apiversions import is_flat
from ..config.configuration import LATEST
from ..plugin import POINTS
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
OWN_CONSTRAINTS = "EvenPodsSpreadPriority"
PEER_SPREADING = ("SelectorSpreadPriority", "ServiceSpreadingPriority")
"""The priorities that prefer few peers."""


def left_out(rule: str) -> str:
    """The reason why no plugin replaces *rule*, for a migration that leaves it out."""
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


def written_extenders(extenders: Sequence[ExtenderConfig]) -> tuple[list[JsonDict], list[Note]]:
    """*extenders* as items of ``extenders``; and notes on what could not be kept."""
    notes = [
        Note(
            f"extender {extender.name}",
            f"httpTimeout {extender.timeout:g} s is left out, so it is 5 s: it has to be above 0",
        )
        for extender in extenders
        if extender.timeout <= 0
    ]
    found = [as_json(one) | {"httpTimeout": duration_text(one.timeout)} for one in extenders]
    return [{name: part for name, part in one.items() if part} for one in found], notes


def as_json(value: Any) -> Any:
    """A value of a configuration in its JSON form, without what is not set; bytes are in base64."""
    if attrs.has(type(value)):
        fields = {name: getattr(value, attribute) for attribute, name in json_names(type(value)).items()}
        return {
            name: as_json(part)
            for name, part in fields.items()
            if part not in (None, (), "", b"") and part is not False
        }
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return [as_json(part) for part in value] if isinstance(value, tuple) else value


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


def target_release(name: str, argument: str, *, is_policy: bool) -> Release:
    """The release called *name*, which can run what a profile, or a Policy, becomes.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` about *argument* if it cannot.
    """
    known = TARGETS if is_policy else {**LISTING, **TARGETS}
    found = framework_release(name)
    if found is None or found.version not in known:
        is_older = is_policy and (found is not None or name in ALL_RELEASES)
        older = f"; give {name} the Policy itself, which it reads" if is_older else ""
        raise UnknownNameError(f"{argument}: expected {', '.join(known)}, got {name}{older}")
    return found


ALONE = ("queueSort", "preFilter", "reserve", "permit", "preBind", "bind", "postBind")
"""The extension points that only a user's own plugins are at alone."""


class WrittenConfiguration(Record, kw_only=True):
    """A KubeSchedulerConfiguration; fields without a value are omitted."""

    api_version: Literal["kubescheduler.config.k8s.io/v1", "kubescheduler.config.k8s.io/v1beta3"]
    """That of Kubernetes."""
    kind: Literal["KubeSchedulerConfiguration"] = "KubeSchedulerConfiguration"
    percentage_of_nodes_to_score: int | UnsetType = UNSET
    profiles: tuple[JsonDict, ...]
    """As Kubernetes has them."""
    extenders: tuple[JsonDict, ...] | UnsetType = UNSET
    """As Kubernetes has them."""


# --- the draft ----------------------------------------------------------------------------------------------

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODES = "NodeAffinity"
CHECKS_ALL = (
    "left out, as its code was removed in 1.24: only the first plugin that rejects a node gives its reasons"
)


@attrs.frozen(repr=False)
class Migration:
    """A configuration in its JSON form, and notes to read before it is used."""

    document: JsonDict
    notes: tuple[Note, ...]


@attrs.define(repr=False)
class ProfileDraft:
    """A profile for *target*, and notes on what is not the same as before."""

    target: Release
    filters: dict[str, None] = attrs.Factory(dict)
    """The filter plugins, in order."""
    weights: dict[str, int] = attrs.Factory(dict)
    """Plugin -> the weight of its scores."""
    args: dict[str, JsonDict] = attrs.Factory(dict)
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
        added: JsonObject | None = None,
    ) -> None:
        """Let plugin NodeAffinity require *labels* of every node, besides what *added* is in its arguments."""
        terms = ((added or {}).get(REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
        both = [{**term, "matchExpressions": [*term.get("matchExpressions", ()), *labels]} for term in terms]
        self.args[NODES] = {"addedAffinity": {**(added or {}), REQUIRED: {"nodeSelectorTerms": both}}}
        told = ", ".join(f"{one['key']} {one['operator']}" for one in labels)
        self.note(
            subject,
            f"replaced by addedAffinity of plugin {NODES}: required {told}; the reason that users see is another",
            upstream,
        )
        if NODES not in self.filters:
            self.note(
                subject,
                f"{NODES} also checks nodeSelector and required node affinity of pods, ignored before",
            )
        self.filters[NODES] = None

    def document(
        self,
        scheduler_name: str,
        percentage: int,
        extenders: Sequence[JsonDict],
        post_filters: Sequence[str],
        alone: Mapping[str, Sequence[str]] | None = None,
        absent: Collection[str] = (),
    ) -> JsonDict:
        """A KubeSchedulerConfiguration with the profile, in its JSON form.

        *post_filters*: the plugins that come after those that filter; *percentage* 0 is left out. *alone*:
        extension point -> plugins that run there alone. *absent*: plugins that are usually there and do not
        run.
        """
        always = (name for name in (BINDER, GATES) if not self.is_gone(name))
        plugins = [name for name in (SORTER, *self.filters, *post_filters, *always) if name not in absent]
        alone = alone or {}
        enabled = {
            "multiPoint": _plugins(plugins),
            "preScore": _plugins(
                [*(name for name in self.weights if name in PRE_SCORERS), *alone.get("preScore", ())]
            ),
            "score": [{"name": name, "weight": weight} for name, weight in self.weights.items()],
            **{point: _plugins(alone[point]) for point in ALONE if alone.get(point)},
        }
        profile: JsonDict = {
            "schedulerName": scheduler_name,
            "plugins": {
                point: {
                    "disabled": _plugins(["*"] if point in ("multiPoint", "preScore", "score") else ()),
                    "enabled": enabled[point],
                }
                for point in ("multiPoint", *POINTS)
                if point in enabled
            },
        }
        if self.args:
            profile["pluginConfig"] = [
                {"name": name, "args": found} for name, found in sorted(self.args.items())
            ]
        written: JsonDict = plain(
            WrittenConfiguration(
                api_version="kubescheduler.config.k8s.io/v1"
                if LATEST in self.target.configuration.api_versions
                else "kubescheduler.config.k8s.io/v1beta3",
                percentage_of_nodes_to_score=percentage or UNSET,
                profiles=(profile,),
                extenders=tuple(extenders) or UNSET,
            )
        )
        return written


def _plugins(names: Iterable[str]) -> list[JsonDict]:
    return [{"name": name} for name in names]
