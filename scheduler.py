"""A scheduler of one release for a cluster: what Python programs use.

    >>> from kubeclassic import Cluster, Scheduler
    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> cluster = Cluster([node, {"kind": "Pod", "metadata": {"name": "web"}}])
    >>> Scheduler(cluster, release="1.16").schedule("web").host
    'a'
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

from .algorithmprovider.catalogue import CATALOGUE, Catalogue
from .algorithmprovider.config import load_policy
from .algorithmprovider.gates import parse_gates
from .algorithmprovider.policy import Policy
from .algorithmprovider.providers import resolve
from .algorithmprovider.registry import DEFAULT_PROVIDER, check_names
from .algorithmprovider.releases import DEFAULT_RELEASE
from .api.cluster import Cluster
from .api.inventory import DEFAULT_SCHEDULER, is_placed, why_not_waiting
from .api.objects import Pod
from .core.decision.decision import Decision
from .core.decision.extender import Extender
from .core.decision.ties import PickHost
from .core.engine import Engine
from .core.release import Release
from .core.rule import Algorithm
from .core.run import Run
from .exceptions import UnknownNameError
from .framework.building import build_engine
from .framework.config.configuration import KubeSchedulerConfiguration
from .framework.config.loading import GivenProfile, given_configuration
from .framework.plugin import Plugin
from .framework.profile import Profile
from .framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, find_any_release

GivenPod: TypeAlias = "Pod | Mapping[str, Any] | str"
"""A pod, its manifest, or the name of one that waits in the cluster."""
GivenPolicy: TypeAlias = "Policy | Mapping[str, Any] | str | os.PathLike[str]"
"""A Policy, its JSON form, or the file that holds it."""


class ClassicOptions(TypedDict, total=False):
    """What releases with predicates and priorities take beside the rest."""

    policy: GivenPolicy | None
    """Takes precedence over *provider*."""
    provider: str | None
    catalogue: Catalogue
    """A user's own rules beside upstream's."""
    hard_pod_affinity_weight: int | None
    """By default 1."""
    equivalence_cache: bool
    scheduler_name: str | None
    """Whose pods wait for this scheduler."""


class Scheduler:
    """Decides where the pods of *cluster* go, as kube-scheduler of *release* would.

    The scheduler keeps its own table of the cluster, follows its changes, and assumes that the pods that it placed are bound. The cluster
    itself does not change: to tell it and all other schedulers, call ``cluster.update(decision.pod.bound_to(decision.host))``.

    *gates* are those that differ from the release's defaults, or ``A=true,B=false``. ``percentage_of_nodes_to_score=0`` is the default of
    the release, or what profiles say. *tie_break* says how to choose among several best nodes: ``release``, ``round-robin``, ``first``,
    ``random`` (by *seed*), or a function (how many there are, how often it was called before) -> (which, whether that counts as a call).
    *extenders* are called in order; those that a Policy or configuration names are not called. *memory_bytes* is the size of the cache of
    answers, 0: none.

    Releases with predicates and priorities take the options of :class:`ClassicOptions` too.
    Those with the framework take *profile*, a KubeSchedulerConfiguration, whose profiles say which pods wait, and *plugins*, a user's own
    beside upstream's; without a profile these run at all of their extension points. Without *release* it is the newest of the former,
    or with *profile* that of the latter.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown release, gate or provider, or for an option that the
    release does not have, and :class:`~kubeclassic.exceptions.PolicyError` for what the release refuses, in upstream's words.
    """

    def __init__(
        self,
        cluster: Cluster,
        release: str | None = None,
        *,
        profile: GivenProfile | None = None,
        plugins: Sequence[type[Plugin]] = (),
        gates: Mapping[str, bool] | str | None = None,
        percentage_of_nodes_to_score: int = 0,
        preemption: bool = True,
        tie_break: str | PickHost = "release",
        seed: int = 0,
        extenders: Sequence[Extender] = (),
        memory_bytes: int = 1 << 30,
        **classic: Unpack[ClassicOptions],
    ) -> None:
        found = find_any_release(release or (DEFAULT_RELEASE if profile is None else DEFAULT_FRAMEWORK))
        _check_taken(found.version, classic, {"profile": profile, "plugins": plugins or None})
        percentage = percentage_of_nodes_to_score
        wanted: Algorithm | KubeSchedulerConfiguration
        if found.version in FRAMEWORK_RELEASES:
            wanted = given_configuration(profile, gates=gates, percentage=percentage or None, plugins=plugins)
        else:
            wanted = _algorithm(found, classic, gates, percentage=percentage or found.default_percentage, preemption=preemption)
        engine = build_engine(
            wanted, plugins=plugins, preempts=preemption, tie_break=tie_break, seed=seed, extenders=extenders, memory_bytes=memory_bytes
        )
        self._start(cluster, engine, classic.get("scheduler_name") or DEFAULT_SCHEDULER)

    @classmethod
    def of(cls, cluster: Cluster, engine: Engine, *, scheduler_name: str = DEFAULT_SCHEDULER) -> Scheduler:
        """The scheduler that decides by *engine*, which must be new; *scheduler_name* counts where it has no profiles."""
        made = cls.__new__(cls)
        made._start(cluster, engine, scheduler_name)
        return made

    def _start(self, cluster: Cluster, engine: Engine, scheduler_name: str) -> None:
        self.cluster = cluster
        self.scheduler_names = engine.scheduler_names(scheduler_name)
        self._run = Run(engine)
        cluster.follow(self._run)

    def __repr__(self) -> str:
        return f"<Scheduler: release {self.algorithm.release.version} for {self.cluster!r}>"

    @property
    def algorithm(self) -> Algorithm:
        """What runs: predicates in order, priorities with their weights, release and gates; of profiles, what the first one filters and
        scores by."""
        return self._run.engine.algorithm

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """The profiles by schedulerName; empty for a release without."""
        return self._run.engine.flow.profiles

    @property
    def waiting(self) -> tuple[Pod, ...]:
        """The cluster's pods that ask for this scheduler and that it has neither placed nor evicted."""
        pods = (pod for pod in self.cluster.pods if why_not_waiting(pod, self.scheduler_names) is None)
        return tuple(pod for pod in pods if not self._host_of(pod) and pod.key not in self._run.evicted)

    @property
    def waiting_on_permit(self) -> tuple[Pod, ...]:
        """The pods that have a host where Permit plugins still make them wait: their decisions have ``is_waiting``. Do not bind them yet.

        Cycles of other pods let plugins allow them, or reject them: then they are in :attr:`waiting` again.
        """
        return tuple(self._run.held)

    @property
    def evicted(self) -> Mapping[str, str]:
        """The pods that had to leave -> the pod that took their place. A pod can be here after a decision that gave it a node."""
        return dict(self._run.evicted)

    # --- decisions --------------------------------------------------------------------------------------------------

    def schedule(self, pod: GivenPod, *, details: bool = True) -> Decision:
        """One scheduling cycle for *pod*, which need not be in the cluster. If it finds a host, the pod is assumed to be bound there.

        If it preempts other pods, they leave at once, and *pod* is nominated to their node: schedule it again. With *details* the decision
        keeps feasible nodes, reasons and scores; without them it is much faster. Raises
        :class:`~kubeclassic.exceptions.KubeclassicError` for a pod that is unknown, cannot be read, or has a node.
        """
        decision = self._cycle(self._unplaced(pod), details)
        self._run.take_retries()
        return decision

    def run(self, pods: Iterable[GivenPod] | None = None, *, details: bool = False) -> list[Decision]:
        """A cycle for each of *pods*, or for all that wait, in order; pods that preempted others are tried once more at the end.

        So a pod can have two decisions: that with ``is_final`` counts. Pods that had to leave are in :attr:`evicted`.
        Raises as :meth:`schedule` does, for the first such pod; earlier decisions stay.
        """
        chosen = (self._unplaced(pod) for pod in pods) if pods is not None else iter(self.waiting)
        decisions = [self._cycle(pod, details) for pod in chosen]
        decisions += [self._cycle(pod, details, retry=True) for pod in self._run.take_retries()]
        return decisions

    def explain(self, pod: GivenPod) -> Decision:
        """What :meth:`schedule` would decide for *pod*, with all details; nothing changes."""
        return self._run.ask(self._unplaced(pod))

    def _cycle(self, pod: Pod, details: bool, *, retry: bool = False) -> Decision:
        self._run.details = details
        return self._run.cycle(pod, retry=retry)

    def _unplaced(self, pod: GivenPod) -> Pod:
        """The given pod, which must have no node; the scheduler gets its latest form."""
        found = self.cluster.waiting_pod(pod)
        host = found.spec.node_name or self._host_of(found)
        if host:
            raise is_placed(found.key, host)
        self._run.put(found)
        return found

    def _host_of(self, pod: Pod) -> str:
        state = self._run.engine.cache.state(pod)
        return "" if state is None else state.node_name


def _check_taken(version: str, classic: ClassicOptions, newer: Mapping[str, object]) -> None:
    """Refuse the options of the other kind of releases."""
    runs_profiles = version in FRAMEWORK_RELEASES
    wanted = f"profile or plugins of release {DEFAULT_FRAMEWORK}" if runs_profiles else f'release "{DEFAULT_FRAMEWORK}"'
    unset = {"catalogue": CATALOGUE, "equivalence_cache": False}
    for name, value in (classic if runs_profiles else newer).items():
        if value is not None and value is not unset.get(name):
            raise UnknownNameError(f"{name}: got one, which release {version} does not have, wanted {wanted}")


def _algorithm(release: Release, classic: ClassicOptions, gates: Mapping[str, bool] | str | None, **options: Any) -> Algorithm:
    switches = parse_gates(gates) if isinstance(gates, str) else dict(gates or {})
    provider, policy, weight = classic.get("provider") or DEFAULT_PROVIDER, classic.get("policy"), classic.get("hard_pod_affinity_weight")
    check_names(release, switches, provider)
    return resolve(
        release, gates=switches, policy=load_policy(policy) if isinstance(policy, str | os.PathLike) else policy, provider=provider,
        catalogue=classic.get("catalogue", CATALOGUE), hard_pod_affinity_weight=1 if weight is None else weight,
        equivalence_cache=classic.get("equivalence_cache", False), **options,
    )  # fmt: skip
