"""A profile: its constructed plugins at the extension points where they run, and as rules of a cycle.

Upstream: pkg/scheduler/framework/runtime/framework.go NewFramework.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from functools import partial, wraps
from math import isnan
from typing import Any

import attrs
import numpy as np

from ..algorithmprovider.extenders import ignored_resources
from ..algorithmprovider.policy import unread_field
from ..api.objects import MAX_INT64, wrap_int64
from ..api.record import replace
from ..core.guard import (
    Check,
    RuleGuard,
    WrongAnswer,
    clauses,
    described,
    failures_of_batch,
    guarded,
    guarded_reduce,
    hashable,
    scores_of_batch,
    sums,
)
from ..core.release import FrameworkCells
from ..exceptions import PolicyError, RuleError
from .config.args import NodeResourcesFitArgs, arg_faults
from .config.configuration import KubeSchedulerConfiguration
from .config.fielderrors import Context, ProfileFault, aggregated, fault_of
from .config.profiles import FILLED, ProfileConfig, args_with_defaults, sorter_args
from .plugin import (
    MAX_NODE_SCORE,
    OURS,
    POINTS,
    Algorithm,
    Batch,
    ClusterEvent,
    Code,
    Events,
    Failures,
    Handle,
    Plugin,
    Points,
    PostFilterResult,
    Predicate,
    PreFilterResult,
    Priority,
    PriorityError,
    Reads,
    Scores,
    StateKey,
    Status,
    Template,
    WaitingPods,
    every_pod,
)

# --- Filter and Score of a plugin as a predicate and a priority ---------------------------------------------
# This way both generations share one cycle and one cache.


def _missed(text: str | None, error: str, cells: FrameworkCells) -> str | None:
    """*text*, a plugin's error for missing state, in the words of the release."""
    if text is None or not cells.reads_in_error:
        return text
    return re.sub("^(?:failed to read|reading) ", f"{error} reading ", text)


def as_predicate(plugin: Any, pre_filters: bool, cells: FrameworkCells) -> Predicate:
    """The plugin's Filter as a predicate; *pre_filters*: its PreFilter is enabled too."""
    error_text = None if pre_filters else _missed(plugin.without_pre_filter, "error", cells)
    clauses = None if error_text is not None else getattr(plugin, "filter_clauses", None)
    is_ours = type(plugin).__module__.startswith(OURS)
    # Upstream's plugins with clauses already give one reason a node.
    has_one_reason = cells.one_reason and is_ours and getattr(plugin, "filter_clauses", None) is None

    def check(pod: Template, nodes: Batch, cycle: Any) -> Failures | None:
        if error_text is not None:
            turned_down: Failures | None = plugin.filter_without_state(pod, nodes, cycle)
            if turned_down is None:
                return Failures.error(error_text, nodes.has_node)
            error = Failures.error(error_text, nodes.has_node & turned_down.passed)
            return Failures.joined([turned_down, error])
        try:
            failures: Failures | None = plugin.filter(pod, nodes, cycle)
        except PriorityError as error:
            return Failures.error(str(error), nodes.has_node)
        return failures.with_one_reason() if failures is not None and has_one_reason else failures

    return Predicate(
        name=plugin.name,
        check=plugin.filter if is_ours and error_text is None and not has_one_reason else check,
        reads=plugin.filter_reads,
        concerns=every_pod if error_text is not None else plugin.concerns,
        key=plugin.filter_key,
        effect=getattr(plugin, "filter_effect", None),
        clauses=clauses,
        error=partial(cells.filter_error.format, plugin=plugin.name),
    )


def as_priority(plugin: Any, pre_scores: bool, cells: FrameworkCells) -> Priority:
    """The plugin's Score and NormalizeScore as a priority; *pre_scores*: its PreScore is enabled too."""
    error_text = None if pre_scores else _missed(plugin.without_pre_score, "Error", cells)

    def fails(pod: Template, nodes: Batch, cycle: Any) -> Scores:
        if plugin.passes_over(pod):
            return nodes.zeros()
        raise PriorityError(error_text or "")

    return Priority(
        name=plugin.name,
        score=plugin.score if error_text is None else fails,
        reads=plugin.score_reads,
        key=plugin.score_key,
        reduce=getattr(plugin, "normalize_score", None),
        whole_list=plugin.scores_together,
        concerns=every_pod if error_text is not None else plugin.score_concerns,
        sums=None if error_text is not None else getattr(plugin, "score_sums", None),
        reads_devices=getattr(plugin, "score_devices", None),
    )


def as_cacheable(rule: Priority, plugin: Any, pre_scores: bool) -> Priority:
    """*rule*, a plugin's Score, in its cacheable form: ``kept_score`` and ``kept_normalize`` if it has them.

    A final score out of range of a user's plugin is an error, so that the cycle is run and gives upstream's
    error.
    """
    if getattr(plugin, "kept_score", None) is not None and (pre_scores or plugin.without_pre_score is None):
        # The kept value is not the score itself, so it has a key of its own.
        key = plugin.score_key
        raw = plugin.kept_score
        rule = attrs.evolve(
            rule, score=raw, reduce=plugin.kept_normalize, whole_list=False, key=lambda pod: (raw, key(pod))
        )
    if type(plugin).__module__.startswith(OURS):
        return rule
    if rule.reduce is None:
        return attrs.evolve(rule, score=_in_range(rule.score))
    return attrs.evolve(rule, reduce=_in_range(rule.reduce))


def _in_range(method: Callable[..., Scores]) -> Callable[..., Scores]:
    @wraps(method)
    def bounded(*arguments: Any) -> Scores:
        scores = method(*arguments)
        # As unsigned numbers, those below 0 are above every bound.
        if len(scores) and int(scores.view(np.uint64).max()) > MAX_NODE_SCORE:
            raise PriorityError("a score is out of range")
        return scores

    return bounded


# --- Plugins of a user: checked when they are registered, and behind guards when they run -------------------


REDUCES = ("normalize_score", "kept_normalize")


def check_methods(plugin: type[Plugin]) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` where a method's name is close to an extension
    point's, or no method is one."""
    methods = [
        name
        for name in dir(plugin)
        if not name.startswith("_") and not hasattr(Plugin, name) and callable(getattr(plugin, name))
    ]
    expected = (*CHECKS, *REDUCES, "joined")
    unexpected = [name for name in methods if name not in expected]
    for name in unexpected:
        if similar := get_close_matches(name.lower(), expected, n=1, cutoff=0.8):
            raise PolicyError(
                f'plugin "{plugin.name}": got a method {name}, which is no extension point; did you mean "{similar[0]}"?'
            )
    if unexpected and not any(hasattr(plugin, method) for method in POINTS.values()):
        raise PolicyError(
            f'plugin "{plugin.name}": expected one of {", ".join(POINTS.values())}, got the methods {", ".join(unexpected)}'
        )


# --- guards -------------------------------------------------------------------------------------------------


def made(plugin_class: type[Plugin], *arguments: Any) -> Plugin:
    """A plugin of *plugin_class*; a user's own is behind guards. Raises
    :class:`~kubeclassic.exceptions.RuleError` if it cannot be made."""
    if plugin_class.__module__.startswith("kubeclassic.framework.plugins."):
        return plugin_class(*arguments)
    name = f'plugin "{plugin_class.name}"'
    plugin: Plugin = RuleGuard(name, plugin_class)(*arguments)
    for declared in ("filter_reads", "score_reads"):
        if not isinstance(reads := getattr(plugin, declared), Reads):
            raise RuleError(f"{name}: {declared}: expected Reads such as Reads.NODE, got {described(reads)}")
    for point in (*CHECKS, *REDUCES):
        method: Any = getattr(plugin, point, None)
        if getattr(method, "__func__", method) is not getattr(Plugin, point, None):  # else it is ours
            place = f"{name}: {point}"
            object.__setattr__(  # the class may be frozen
                plugin,
                point,
                guarded_reduce(place, method) if point in REDUCES else guarded(place, method, CHECKS[point]),
            )
    return plugin


def _status(answer: Any, arguments: tuple[Any, ...]) -> Status | None:
    """A status of a code and texts, or None."""
    if answer is None:
        return None
    if not isinstance(answer, Status) or not isinstance(answer.code, Code):
        raise WrongAnswer(described(answer), "a Status or None")
    if not isinstance(answer.reasons, tuple) or not all(isinstance(reason, str) for reason in answer.reasons):
        raise WrongAnswer(f"a Status with the reasons {described(answer.reasons)}", "a tuple of texts")
    if not isinstance(answer.timeout, int | float) or isnan(answer.timeout):
        raise WrongAnswer(f"a Status with the timeout {described(answer.timeout)}", "a number of seconds")
    return answer


def _or_status(kind: type[Any], answer: Any, arguments: tuple[Any, ...]) -> Any:
    """A result of *kind*, or a status."""
    if isinstance(answer, kind):
        return answer
    if answer is not None and not isinstance(answer, Status):
        raise WrongAnswer(described(answer), f"a {kind.__name__}, a Status or None")
    return _status(answer, arguments)


def _pre_filtered(answer: Any, arguments: tuple[Any, ...]) -> Any:
    """The nodes that a PreFilter leaves, or a status."""
    names = answer.node_names if isinstance(answer, PreFilterResult) else None
    if not isinstance(names, Set | None):
        raise WrongAnswer(f"a PreFilterResult of {described(names)}", "a set of names")
    return _or_status(PreFilterResult, answer, arguments)


def _truth(answer: Any, arguments: tuple[Any, ...]) -> bool:
    if not isinstance(answer, bool) and type(answer).__name__ != "bool_":
        raise WrongAnswer(described(answer), "True or False")
    return bool(answer)


def _events(answer: Any, arguments: tuple[Any, ...]) -> Events:
    if not isinstance(answer, Sequence) or not all(isinstance(event, ClusterEvent) for event in answer):
        raise WrongAnswer(described(answer), "a list of ClusterEvents")
    return answer


CHECKS: Mapping[str, Check | None] = {
    "pre_enqueue": _status,
    "less": _truth,
    "pre_filter": _pre_filtered,
    "filter": failures_of_batch,
    "post_filter": partial(_or_status, PostFilterResult),
    "pre_score": _status,
    "score": scores_of_batch,
    "kept_score": scores_of_batch,
    "reserve": _status,
    "unreserve": None,
    "permit": _status,
    "pre_bind": _status,
    "bind": _status,
    "post_bind": None,
    "events_to_register": _events,
    "concerns": _truth,
    "score_concerns": _truth,
    "filter_clauses": clauses,
    "score_sums": sums,
    "filter_key": hashable,
    "score_key": hashable,
}
"""Method -> the check of its answer; None: any answer will do."""


# --- Profiles -----------------------------------------------------------------------------------------------


CREATING = "creating profile for scheduler name {name}: "
"""The last part of a refusal's prefix, once the profile is being made."""
Registry = Mapping[str, type[Plugin]]


def _type_of(point: str) -> str:
    return f"{point[0].upper()}{point[1:]}Plugin"


@attrs.frozen(eq=False, repr=False)
class Profile:
    """The plugins, weights and rules for pods of one schedulerName."""

    scheduler_name: str
    percentage: int
    points: Points
    weights: Mapping[str, int]
    """Plugin -> weight of its score."""
    algorithm: Algorithm
    cacheable: Algorithm | None
    """The algorithm with scores in their cacheable form; None if a filter or a score does not declare its
    reads."""
    _plugins: Mapping[str, Plugin]
    handle: Handle = attrs.Factory(Handle)
    """The handle that its plugins share."""
    waiting_pods: WaitingPods = attrs.Factory(WaitingPods)
    """Its pods that wait for Permit plugins."""
    slot: StateKey[frozenset[Plugin]] = attrs.field(init=False, factory=lambda: StateKey("concerned"))
    """The slot in a template's notes for the plugins whose PreFilter concerns it."""
    pre_score_slot: StateKey[dict[str, Status | None]] = attrs.field(
        init=False, factory=lambda: StateKey("pre_score")
    )
    """The slot in a template's notes for answers of PreScore, of plugins that read only the template."""

    def __repr__(self) -> str:
        return f"<Profile {self.scheduler_name}: {len(self._plugins)} plugins>"

    def plugins(self) -> Mapping[str, Plugin]:
        """Name -> every plugin of the profile."""
        return self._plugins


def build_profiles(
    config: KubeSchedulerConfiguration, registry: Registry, handle: Handle | None = None
) -> dict[str, Profile]:
    """The profiles of *config* by schedulerName. Raises :class:`~kubeclassic.exceptions.PolicyError` with
    upstream's text."""
    release = config.release
    handle = handle or handle_of(config)
    profiles = {}
    cells = release.configuration
    if cells.no_fit_args_text and ignored_resources(config.extenders):
        # Upstream: the resources that extenders manage are written into arguments, which each profile has to
        # have.
        for profile in config.profiles:
            if args_with_defaults(profile, "NodeResourcesFit", config.context) is None:
                raise PolicyError(f"{config.begins}{cells.no_fit_args_text}")
    for profile in config.profiles:
        name = profile.scheduler_name or ""
        if release.configuration.sorters_first:
            # Refuse a profile without one plugin that sorts the queue, or with other arguments for it than
            # the first profile has.
            sorters = len(profile.at("queueSort").enabled)
            prefix = f"{config.begins}{release.configuration.profile_prefix.removesuffix(CREATING)}"
            if sorters != 1:
                raise PolicyError(
                    f"{prefix}{release.configuration.sorters_text.format(name=profile.scheduler_name, count=sorters)}"
                )
            if sorter_args(profile) != sorter_args(config.profiles[0]):
                raise PolicyError(
                    f'{prefix}different queue sort plugin args for profile "{profile.scheduler_name}"'
                )
        try:
            profile_handle = handle
            if not release.configuration.shares_waiting_pods:
                profile_handle = attrs.evolve(handle, waiting_pods=WaitingPods())
            profiles[name] = _Builder(profile, config, registry, profile_handle).build()
        except PolicyError as error:
            raise PolicyError(
                f"{config.begins}{release.configuration.profile_prefix.format(name=name)}{error}"
            ) from None
    return profiles


def faults_of(
    profile: ProfileConfig, config: KubeSchedulerConfiguration, registry: Registry
) -> list[ProfileFault]:
    """All faults for which *profile* of *config* is refused once it is decoded, with paths from the profile
    on."""
    return _Builder(profile, config, registry, handle_of(config)).faults()


def handle_of(config: KubeSchedulerConfiguration, **more: Any) -> Handle:
    """The handle that the plugins of *config* share, with *more* of its fields."""
    release = config.release
    return Handle(
        gates=config.gates,
        cells=release.framework,
        devices=release.devices,
        queueing=release.queueing,
        **more,
    )


def _check_total(weights: Iterable[int]) -> None:
    """Refuse weights that are too large together."""
    total = 0
    for weight in weights:
        # Upstream: the room that is left wraps around after a negative weight, so that any weight after it is
        # refused.
        if weight * MAX_NODE_SCORE > wrap_int64(MAX_INT64 - total):
            raise PolicyError("total score of Score plugins could overflow")
        total += weight * MAX_NODE_SCORE


def _split_by_shifting(explicit: Sequence[str], overridden: Collection[str]) -> tuple[list[str], list[str]]:
    """The plugins of one point, in two parts: those that multiPoint names too, and the others.

    Upstream: the loop removes the former from the array that it walks. The items behind one move up by one
    place, so that the next plugin is skipped, and the last one is found again.
    """
    array = list(explicit)
    remaining = list(explicit)
    overriding = list[str]()
    for place in range(len(array)):
        name = array[place]
        if name in overridden:
            overriding.append(name)
            if name in remaining:
                remaining.remove(name)
                array[: len(remaining)] = remaining
    return overriding, remaining


@attrs.define(repr=False)
class _Builder:
    profile: ProfileConfig
    config: KubeSchedulerConfiguration
    registry: Registry
    handle: Handle
    plugin_by_name: dict[str, Any] = attrs.Factory(dict)
    """Name -> plugin, at any point."""
    joined: dict[str, Set[str]] = attrs.Factory(dict)
    """Name -> the extension points that the plugin joins."""
    context: Context = attrs.field(init=False)
    names: Mapping[str, list[str]] = attrs.field(init=False)
    """Extension point, or multiPoint -> the plugins that are enabled there."""
    disabled: Mapping[str, Set[str]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.context = self.config.context
        plugins = self.profile.plugins.items()
        self.names = {point: plugin_set.names for point, plugin_set in plugins}
        self.disabled = {
            point: {plugin.name for plugin in plugin_set.disabled} for point, plugin_set in plugins
        }

    def build(self) -> Profile:
        cells = self.config.release.configuration
        if cells.weight_of_last_point:
            self._weights()  # which may be too large
        elif cells.weights_come_first and self.context.cells.adds_up_weights:
            _check_total(entry.weight or 1 for entry in self.profile.at("score").enabled)
        # Refuse arguments that are given twice, where that was not checked with the configuration.
        configured = [entry.name for entry in self.profile.plugin_config]
        repeated = next((name for i, name in enumerate(configured) if name in configured[:i]), None)
        if repeated is not None:
            raise PolicyError(f"repeated config for plugin {repeated}")
        for name in self._registered_names():
            self._construct(name)
        for point in FILLED:
            for _, text in self._objections(point):
                raise PolicyError(text)
        points = {point: tuple(self._expand(point)) for point in FILLED}
        release = self.config.release
        name = self.profile.scheduler_name or ""
        sorters = len(points["queueSort"])
        if sorters != 1:
            raise PolicyError(cells.sorters_text.format(name=self.profile.scheduler_name, count=sorters))
        if not points["bind"]:
            raise PolicyError(cells.binders_text.format(name=self.profile.scheduler_name))
        weights = self._weights()
        percentage = self.config.percentage if self.profile.percentage is None else self.profile.percentage
        predicates = [
            as_predicate(self.plugin_by_name[rule], rule in points["preFilter"], self.handle.cells)
            for rule in points["filter"]
        ]
        # Each plugin, and whether the PreScore or PreFilter that its score needs runs.
        scorers = [
            (self.plugin_by_name[rule], rule in points[self.plugin_by_name[rule].scores_after], weights[rule])
            for rule in points["score"]
        ]
        priorities = [
            (as_priority(plugin, is_prepared, self.handle.cells), weight)
            for plugin, is_prepared, weight in scorers
        ]
        algorithm = Algorithm(
            release=release,
            gates=self.config.gates,
            predicates=predicates,
            priorities=priorities,
            leaves_counts=any(
                reads & Reads.EFFECTS
                for reads in (*(p.reads for p in predicates), *(p.reads for p, _ in priorities))
            ),
            extenders=self.config.extenders,
            percentage=percentage,
            check_all=self.config.checks_all,
            scores=bool(priorities)
            or any(extender.filter_verb or extender.prioritize_verb for extender in self.config.extenders),
            max_pd_vols=self.handle.max_pd_vols,
            unread=(*(unread_field(path, release) for path in self.config.unread), *self.config.notes),
        )
        plugins = {point: tuple(self.plugin_by_name[name] for name in points[point]) for point in POINTS}
        repeats = len(set(points["score"])) < len(points["score"])
        cacheable = None
        if not (algorithm.leaves_counts or repeats):
            weighed = [
                (as_cacheable(rule, plugin, is_prepared), weight)
                for (rule, _), (plugin, is_prepared, weight) in zip(priorities, scorers, strict=True)
            ]
            cacheable = attrs.evolve(algorithm, priorities=weighed)
        joined = {plugin.name: plugin for members in plugins.values() for plugin in members}
        waiting_pods = self.handle.waiting_pods
        return Profile(
            name, percentage, plugins, weights, algorithm, cacheable, joined, self.handle, waiting_pods
        )

    def _registered_names(self) -> list[str]:
        names = dict.fromkeys(name for members in self.names.values() for name in members)
        return sorted(name for name in names if name in self.registry)

    def _construct(self, name: str) -> None:
        """Make the plugin called *name*."""
        context = self.context
        args, faults = self._args_of(name)
        try:
            if faults:
                raise PolicyError(aggregated(faults))
            plugin = made(self.registry[name], args, self.handle)
        except PolicyError as error:
            raise PolicyError(f"{context.cells.plugin_prefix.format(name=name)}{error}") from None
        self.plugin_by_name[name] = plugin
        self.joined[name] = plugin.joined()

    def _args_of(self, name: str) -> tuple[Any, list[str]]:
        """The arguments of the plugin called *name*, and their faults."""
        args = self.profile.args_of(name, self.context)
        managed = tuple(sorted(ignored_resources(self.config.extenders)))
        if not managed or name != "NodeResourcesFit" or not isinstance(args, NodeResourcesFitArgs):
            return args, arg_faults(name, args, "", self.context)
        # Upstream: the resources that extenders manage replace those in the arguments. Their faults are
        # the extenders'.
        faults = arg_faults(name, attrs.evolve(args, ignored_resources=()), "", self.context)
        return attrs.evolve(args, ignored_resources=managed), faults

    def _objections(self, point: str) -> Iterator[tuple[str, str]]:
        """The plugins that cannot run at a point, each with the reason."""
        checked = set()
        for name in self.names.get(point, ()):
            if name not in self.plugin_by_name:
                yield name, f'{_type_of(point)} "{name}" does not exist'
            elif not self._joins(name, point):
                yield name, f'plugin "{name}" does not extend {_type_of(point)} plugin'
            elif name in checked:
                yield name, f'plugin "{name}" already registered as "{_type_of(point)}"'
            checked.add(name)

    def faults(self) -> list[ProfileFault]:
        """All faults for which the profile is refused; a plugin that cannot be made is reported once."""
        faults: list[ProfileFault] = []
        places = {entry.name: f"pluginConfig[{i}].args" for i, entry in enumerate(self.profile.plugin_config)}
        for name in self._registered_names():
            place = places.get(name, f"arguments of {name}")
            arg_fault_list = [fault_of(text) for text in self._args_of(name)[1]]
            faults += (replace(fault, where=f"{place}.{fault.where}".rstrip(".")) for fault in arg_fault_list)
            if not arg_fault_list:
                self._construct(name)
        for point in FILLED:
            for name, text in self._objections(point):
                if name in self.plugin_by_name or name not in self.registry:
                    faults.append(ProfileFault(f"plugins.{point}", text, f'"{name}"'))
        for name in self.names.get("multiPoint", ()):
            if name not in self.registry:
                text = f'{_type_of(FILLED[0])} "{name}" does not exist'
                faults.append(ProfileFault("plugins.multiPoint", text, f'"{name}"'))
        if not faults:
            try:
                self.build()
            except PolicyError as error:
                faults.append(ProfileFault("", str(error)))
        return faults

    def _joins(self, name: str, point: str) -> bool:
        return point in self.joined[name] and (name, point) not in self.handle.cells.points_lacked

    def _expand(self, point: str) -> list[str]:
        explicit = self.names.get(point, [])
        disabled = self.disabled.get(point, frozenset())
        if "*" in disabled:
            return explicit
        added_names = []
        overridden = set()
        for name in self.names.get("multiPoint", ()):
            if name not in self.plugin_by_name:
                raise PolicyError(f'{_type_of(point)} "{name}" does not exist')
            if not self._joins(name, point) or name in disabled:
                continue
            if name in explicit:
                overridden.add(name)
            elif name in added_names:
                raise PolicyError(f'plugin "{name}" already registered as "{_type_of(point)}"')
            else:
                added_names.append(name)
        order = self.config.release.configuration.multi_point
        if order == "single points":
            return [*explicit, *added_names]
        if order == "shifting overrides":
            leading, trailing = _split_by_shifting(explicit, overridden)
        else:
            leading = [name for name in explicit if name in overridden]
            trailing = [name for name in explicit if name not in overridden]
        return [*leading, *added_names, *trailing]

    def _weights(self) -> dict[str, int]:
        if self.config.release.configuration.weight_of_last_point:
            # Upstream: that of Score counts only if none of the points after it names the plugin.
            weights = self.profile.weights_of_last_points().items()
            latest = {name: weight for name, weight in weights if name in self.registry}
            if self.context.cells.adds_up_weights:
                _check_total(latest.values())
            return {name: latest[name] for name in self.profile.at("score").names if name in latest}
        entries = [*self.profile.at("score").enabled, *self.profile.at("multiPoint").enabled]
        scoring = {
            entry.name: entry.weight or 1 for entry in reversed(entries) if "score" in self.joined[entry.name]
        }
        weight_by_plugin = {entry.name: scoring[entry.name] for entry in entries if entry.name in scoring}
        if self.context.cells.adds_up_weights:
            _check_total(weight_by_plugin.values())
        return weight_by_plugin
