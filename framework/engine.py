"""A scheduler of the framework: the same feed, cache and columns as that of predicates and priorities, another cycle.

Upstream: pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from ..api.objects import Pod
from ..core.arrays.batch import Rows
from ..core.decision.decision import Decision
from ..core.decision.extender import Extender, filter_by_extenders
from ..core.decision.score import ScoreError
from ..core.engine import NO_NODES, Engine
from ..exceptions import CacheError, ExtenderError
from .binding import BindingSteps
from .cache import FrameworkCache, FrameworkNominations, FrameworkSnapshot, NodeOrder
from .config.configuration import DEFAULT_SCHEDULER, KubeSchedulerConfiguration, read_configuration
from .decision import FrameworkDecision, FrameworkDetails
from .diagnosis import Diagnosis
from .plugin import FrameworkCycle, Handle, Plugin
from .postfilter import run_post_filter
from .prefilter import run_pre_filter
from .profile import Profile, Registry, build_profiles
from .registry import DEFAULT_REGISTRY
from .releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES
from .score import prioritize
from .search import search
from .shortcut import Shortcut
from .status import Status, error


@attrs.define(eq=False)
class FrameworkEngine(Engine):
    """A scheduler with the profiles of a configuration; made by :meth:`of`."""

    config: KubeSchedulerConfiguration = attrs.field(kw_only=True)
    profiles: Mapping[str, Profile] = attrs.field(kw_only=True)
    preempts: bool = True
    """False: a pod that fits nowhere is left at that, no PostFilter plugin runs."""
    shortlists: bool = True
    """Preemption looks at as many candidates as its arguments say; else at all."""
    start: int = 0
    """Where the next search begins: upstream's nextStartNodeIndex."""
    node_order: NodeOrder = attrs.field(init=False)
    binding: BindingSteps = attrs.field(init=False)
    shortcuts: dict[str, Shortcut] = attrs.field(init=False)
    """By profile, with what is remembered of earlier cycles."""
    _blamed: dict[str, frozenset[str]] = attrs.field(init=False, factory=dict)
    _binding_cycles: dict[str, FrameworkCycle] = attrs.field(init=False, factory=dict)
    """Pod -> the cycle that it was reserved in, until it is bound."""

    @classmethod
    def of(
        cls,
        config: KubeSchedulerConfiguration | None = None,
        *,
        registry: Registry = DEFAULT_REGISTRY,
        extenders: Sequence[Extender] = (),
        **options: Any,
    ) -> FrameworkEngine:
        """A scheduler for *config* (None: the default profile) with the plugins of *registry*.

        Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for a configuration that is refused.
        """
        config = read_configuration() if config is None else config
        handle = Handle(gates=config.gates, environ=os.environ, has_extenders=bool(config.extenders or extenders))
        profiles = build_profiles(config, FRAMEWORK_RELEASES[DEFAULT_FRAMEWORK], registry, handle)
        first = next(iter(profiles.values())).algorithm
        # Upstream: ignorable extenders are called last.
        ordered = sorted(extenders, key=lambda extender: extender.is_ignorable)
        return cls(first, ordered, config=config, profiles=profiles, **options)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        release = self.algorithm.release
        self.cache = FrameworkCache(self.templates, release.zone_key)
        self.snapshot = snapshot = FrameworkSnapshot(self.cache, self.table, keeps_nodeless=False, resets_all_transient=False)
        self.nominations = FrameworkNominations(by_uid=True)
        self.node_order = NodeOrder(self.cache, snapshot, self.table)
        self.binding = BindingSteps(self.cache)
        share = self.memory_bytes // len(self.profiles)
        self.shortcuts = {name: Shortcut.of(self, profile, share) for name, profile in self.profiles.items()}

    # --- one pod ----------------------------------------------------------------------------------------------------

    def profile_of(self, pod: Pod) -> Profile | None:
        """The profile that *pod* names."""
        return self.profiles.get(pod.spec.scheduler_name or DEFAULT_SCHEDULER)

    def schedule(self, pod: Pod, *, details: bool = True) -> Decision:
        profile = self.profile_of(pod)
        if profile is None:
            return FrameworkDecision(pod, error=f'profile not found for scheduler name "{pod.spec.scheduler_name or DEFAULT_SCHEDULER}"')
        held = self.pre_enqueue(pod, profile)
        if held is not None:
            return FrameworkDecision(pod, error=held.message, is_gated=True)
        cycle = self._latest = self.begin(pod, details=details)
        cycle.node_count = len(self.node_order.rows())
        if not cycle.node_count:
            return FrameworkDecision(pod, error=NO_NODES, nominated="")
        host = None if details else self.shortcuts[profile.scheduler_name].host(cycle)
        if host is None:
            return self._cycle(cycle, profile, details)
        self._blamed.pop(pod.key, None)
        return FrameworkDecision(pod, host, nominated="")

    @property
    def turn(self) -> Any:
        return self.start, self.last_node_index, dict(self._blamed)

    @turn.setter
    def turn(self, turn: Any) -> None:
        self.start, self.last_node_index, self._blamed = turn

    @staticmethod
    def pre_enqueue(pod: Pod, profile: Profile) -> Status | None:
        """What holds *pod* back from being tried at all; None where nothing does."""
        for plugin in profile.at("preEnqueue"):
            status: Status | None = plugin.pre_enqueue(pod)  # type: ignore[attr-defined]  # it stands at this point
            if status is not None and not status.is_success:
                return attrs.evolve(status, plugin=plugin.name)
        return None

    def begin(self, pod: Pod, *, details: bool = True) -> FrameworkCycle:
        self.snapshot.refresh()
        profile = self.profile_of(pod)
        assert profile is not None
        return FrameworkCycle(
            pod=pod, template=self.templates.of(pod), table=self.table, algorithm=profile.algorithm, listings=self.listings,
            binder=self.binder, templates=self.templates, cache=self.cache, details=details,
            answers=self.shortcuts[profile.scheduler_name].memory if self.memory_bytes else None,
        )  # fmt: skip

    def _cycle(self, cycle: FrameworkCycle, profile: Profile, details: bool) -> FrameworkDecision:
        self.table.shared_names = True
        decision = FrameworkDecision(cycle.pod)
        diagnosis = Diagnosis(self.table.names, cycle.node_count, self.node_order.rows())
        kept = FrameworkDetails(self.table.names, diagnosis.excluded, diagnosis=diagnosis)
        decision.error = self._find(cycle, profile, kept)
        if decision.error is not None:
            decision.nominated = ""
            return decision
        if len(kept.feasible_rows):
            self._choose_among(cycle, profile, kept, decision)
        else:
            self._explain(cycle, profile, diagnosis, decision)
        decision.details = kept if details else None
        return decision

    def _find(self, cycle: FrameworkCycle, profile: Profile, kept: FrameworkDetails) -> str | None:
        """Fill in the feasible rows and the diagnosis; the error that ends the cycle, if any."""
        diagnosis = kept.diagnosis
        assert diagnosis is not None
        outcome = run_pre_filter(cycle, profile)
        if outcome.status is not None:
            diagnosis.rejected = outcome.status
            return None if outcome.status.is_rejection else outcome.status.message
        found = search(cycle, profile, self.nominations, diagnosis, outcome.node_names, self.start)
        self.start, kept.feasible_rows, kept.search = found.start, found.feasible, diagnosis.search
        return found.error or self._extend(cycle, kept, diagnosis)

    def _extend(self, cycle: FrameworkCycle, kept: FrameworkDetails, diagnosis: Diagnosis) -> str | None:
        if not self.extenders or not len(kept.feasible_rows):
            return None
        nodes = {name: node for name in kept.feasible if (node := self.table.nodes[self.table.row_of[name]]) is not None}
        try:
            names, diagnosis.extender_reasons = filter_by_extenders(self.extenders, cycle.pod, nodes, kept.feasible)
        except ExtenderError as error:
            return str(error)
        diagnosis.extended = len(names) != len(kept.feasible_rows)
        kept.feasible_rows = np.array([self.table.row_of[name] for name in names], np.intp)
        return None

    def _choose_among(self, cycle: FrameworkCycle, profile: Profile, kept: FrameworkDetails, decision: FrameworkDecision) -> None:
        rows: Rows = kept.feasible_rows
        best = 0
        if len(rows) > 1:
            try:
                kept.ranking = prioritize(cycle, profile, rows, self.extenders)
            except ScoreError as error:
                decision.error, decision.nominated = str(error), ""
                return
            ties = np.flatnonzero(kept.ranking.totals == kept.ranking.totals.max())
            which, moves = self.pick_host(len(ties), self.last_node_index)
            best, self.last_node_index = int(ties[which]), self.last_node_index + moves
        decision.host, decision.nominated = kept.names[int(rows[best])], ""
        self._blamed.pop(cycle.pod.key, None)

    def _explain(self, cycle: FrameworkCycle, profile: Profile, diagnosis: Diagnosis, decision: FrameworkDecision) -> None:
        decision.is_fit_error = True
        if self.preempts and profile.at("postFilter"):
            found = run_post_filter(cycle, profile, self.nominations, diagnosis, self.shortlists, self.extenders)
            diagnosis.post_filter, decision.preemption, decision.nominated = found.message, found.plan, found.nominated
        decision.error, decision.plugins = diagnosis.text(), diagnosis.plugins()
        self._blamed[cycle.pod.key] = decision.plugins

    def blame(self, pod: Pod) -> frozenset[str]:
        """The plugins that turned *pod* down in its latest attempt, told once; none where it failed otherwise."""
        return self._blamed.pop(pod.key, frozenset())

    # --- what follows from a decision -------------------------------------------------------------------------------

    def assume(self, pod: Pod, host: str) -> str | None:
        bound, (profile, cycle) = pod.bound_to(host), self._of_latest(pod)
        refused = self._reserve(pod, bound, profile, cycle) or self._bind(bound, host, profile, cycle, profile.at("preBind"))
        return None if refused is None else refused.message

    def reserve(self, pod: Pod, host: str) -> Status | None:
        """The end of the scheduling cycle: assume, Reserve, Permit; answers why one of them refuses, which is then undone."""
        profile, cycle = self._of_latest(pod)
        refused = self._reserve(pod, pod.bound_to(host), profile, cycle)
        if refused is None:
            self._binding_cycles[pod.key] = cycle
        return refused

    def pre_bind(self, pod: Pod, host: str, until: type[Plugin]) -> Status | None:
        """The binding cycle up to PreBind of *until*, which takes its time; answers why a plugin refuses, which is then undone."""
        profile, cycle = self._of_binding(pod)
        refused = self.binding.pre_bind(pod.bound_to(host), host, profile, cycle, profile.before("preBind", until))
        if refused is None:
            self._binding_cycles[pod.key] = cycle
        return refused

    def bind(self, pod: Pod, host: str, since: type[Plugin] | None = None) -> Status | None:
        """The binding cycle: PreBind (from that of *since* on), Bind, PostBind; answers as :meth:`pre_bind` does."""
        profile, cycle = self._of_binding(pod)
        done = len(profile.before("preBind", since)) if since is not None else 0
        return self._bind(pod.bound_to(host), host, profile, cycle, profile.at("preBind")[done:])

    def give_back(self, pod: Pod, host: str) -> None:
        """The binding cycle ends without a binding: Unreserve, and the pod is forgotten."""
        self.binding.undo(pod.bound_to(host), host, *self._of_binding(pod))

    def _bind(self, bound: Pod, host: str, profile: Profile, cycle: FrameworkCycle, plugins: Sequence[Plugin]) -> Status | None:
        steps = self.binding
        return steps.pre_bind(bound, host, profile, cycle, plugins) or steps.bind(bound, host, profile, cycle)

    def _reserve(self, pod: Pod, bound: Pod, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        try:
            self.cache.assume(bound, self._template_of(pod))
        except CacheError as failure:
            return error(str(failure))
        self.nominations.remove(pod)
        return self.binding.reserve(bound, bound.spec.node_name, profile, cycle)

    def _of_binding(self, pod: Pod) -> tuple[Profile, FrameworkCycle]:
        """The profile of a reserved pod, and its cycle with all that plugins keep there."""
        profile = self.profile_of(pod)
        assert profile is not None
        return profile, self._binding_cycles.pop(pod.key, None) or self.begin(pod)

    def _of_latest(self, pod: Pod) -> tuple[Profile, FrameworkCycle]:
        profile = self.profile_of(pod)
        assert profile is not None
        latest = self._latest
        return profile, latest if isinstance(latest, FrameworkCycle) and latest.pod is pod else self.begin(pod)
