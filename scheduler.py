"""A scheduler of one release for a cluster: what Python programs use.

>>> from kubeclassic import Cluster, Scheduler
>>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
>>> cluster = Cluster([node, {"kind": "Pod", "metadata": {"name": "web"}}])
>>> Scheduler(cluster, "1.16").schedule("web").host
'a'
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from .api.cluster import Cluster
from .api.load import is_placed
from .api.objects import DEFAULT_SCHEDULER, Pod, why_not_waiting
from .core.arrays import Batch
from .core.cycle import Algorithm, Cycle
from .core.decision import Decision
from .core.engine import Engine
from .core.pods import Template
from .core.run import Run
from .exceptions import KubeclassicError, check_type, wrong_type
from .extenders.choice import asked_extenders
from .framework.copying import Frozen, freeze_run, freeze_spec, thaw_run, thaw_spec
from .framework.options import Classic, Framework, settled_options
from .framework.profile import Profile
from .framework.schedulerspec import SchedulerSpec

__all__ = ["GivenPod", "Scheduler"]

GivenPod: TypeAlias = "Pod | Mapping[str, Any] | str"
"""A pod, its manifest, or the name of one that waits in the cluster."""


class Scheduler:
    """Decides where the pods of a cluster go, as kube-scheduler of a release would.

    The scheduler keeps its own table of the cluster, follows its changes, and assumes that the pods that it
    placed are bound. The cluster itself does not change: to inform it and all other schedulers, call
    ``cluster.update(decision.pod.bound_to(decision.host))``.

    :param cluster: a :class:`~kubeclassic.Cluster`.
    :param options: :class:`~kubeclassic.Classic` for a release with predicates and priorities, 1.12 to 1.16,
        :class:`~kubeclassic.Framework` for one with profiles, from 1.17 on, or the release alone. By default,
        and for ``"auto"``, the release nearest to that of the nodes that the cluster has now; the newest if
        they say none, 1.16 for ``Classic()``.

    A scheduler can be copied and pickled, and so can its decisions. ``copy.copy`` gives one that decides on
    as this one would and follows the same cluster; with ``copy.deepcopy`` and ``pickle`` the cluster is
    copied as well.

    Raises :class:`~kubeclassic.exceptions.WrongTypeError` for a value of another type,
    :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown release, gate or provider, and
    :class:`~kubeclassic.exceptions.PolicyError` for what the release refuses, in upstream's words.
    """

    def __init__(self, cluster: Cluster, options: Classic | Framework | str | None = None) -> None:
        check_cluster("cluster", cluster)
        found = settled_options(
            options, "options", lambda: [node.status.kubelet_version for node in cluster.nodes]
        )
        self._spec: SchedulerSpec | None = SchedulerSpec.of(found, asked_extenders(found.extenders)).read()
        self._start(cluster, self._spec.engine(cluster.config_maps), self._spec.scheduler_names)

    @classmethod
    def of(cls, cluster: Cluster, engine: Engine, *, scheduler_name: str = DEFAULT_SCHEDULER) -> Scheduler:
        """The scheduler that decides by *engine*, which must be new; *scheduler_name* counts where it has no
        profiles.

        The scheduler cannot be copied or pickled, as it is not known from what the engine was made.
        """
        made = cls.__new__(cls)
        made._spec = None
        made._start(cluster, engine, engine.scheduler_names(scheduler_name))
        return made

    def _start(self, cluster: Cluster, engine: Engine, scheduler_names: frozenset[str]) -> None:
        self.cluster = cluster
        self.scheduler_names = scheduler_names
        self._run = Run(engine)
        cluster.follow(self._run)

    def __repr__(self) -> str:
        return f"<Scheduler: release {self.algorithm.release.version} for {self.cluster!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """The parts for copies and pickles: the cluster, the specification of the scheduler, and its state;
        for a subclass, its attributes too."""
        if self._spec is None:
            raise KubeclassicError(
                "a scheduler that was made of an engine cannot be copied or pickled: make it by Scheduler(cluster, ...)"
            )
        state = freeze_run(self._run, _objects(self.cluster))
        more = {
            name: value
            for name, value in vars(self).items()
            if name not in ("cluster", "scheduler_names", "_spec", "_run")
        }
        return _thawed, (type(self), self.cluster, freeze_spec(self._spec), state), more or None

    def __deepcopy__(self, memo: dict[int, Any]) -> Scheduler:
        make, (kind, cluster, spec, state), more = self.__reduce__()
        # A spec never changes: it is shared, and so are the rules in it, which need not be of a kind that can
        # be pickled.
        made: Scheduler = make(kind, copy.deepcopy(cluster, memo), spec, copy.deepcopy(state, memo))
        vars(made).update(copy.deepcopy(more or {}, memo))
        return made

    @property
    def algorithm(self) -> Algorithm:
        """The rules: predicates in order, priorities with their weights, release and gates; of profiles, the
        first one's filters and scores."""
        return self._run.engine.algorithm

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """The profiles by schedulerName; empty for a release without."""
        return self._run.engine.profiles

    @property
    def waiting(self) -> tuple[Pod, ...]:
        """The cluster's pods that ask for this scheduler and that it has neither placed nor evicted."""
        pods = (pod for pod in self.cluster.pods if why_not_waiting(pod, self.scheduler_names) is None)
        return tuple(pod for pod in pods if not self._host_of(pod) and pod.key not in self._run.evicted)

    @property
    def waiting_on_permit(self) -> tuple[Pod, ...]:
        """The pods that have a host where Permit plugins still make them wait: their decisions have
        ``is_waiting``. Do not bind them yet.

        Cycles of other pods let plugins allow them, or reject them: then they are in :attr:`waiting` again.
        """
        return tuple(self._run.held)

    @property
    def evicted(self) -> Mapping[str, str]:
        """The pods that had to leave -> the pod that took their place. A pod can be here after a decision
        that gave it a node."""
        return dict(self._run.evicted)

    # --- decisions ------------------------------------------------------------------------------------------

    def schedule(self, pod: GivenPod, *, details: bool = True) -> Decision:
        """One scheduling cycle for *pod*, which need not be in the cluster. If it finds a host, the pod is
        assumed to be bound there.

        If it preempts other pods, they leave at once, and *pod* is nominated to their node: schedule it
        again. With *details* the decision keeps feasible nodes, reasons and scores; without them it is much
        faster. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for a pod that is unknown, cannot be
        read, or has a node.
        """
        decision = self._cycle(self._unplaced(pod), details)
        self._run.take_retries()
        return decision

    def decisions(
        self, pods: Iterable[GivenPod] | None = None, *, details: bool = True
    ) -> Iterator[Decision]:
        """A cycle for each of *pods*, or for all that wait, highest priority first; pods that preempted
        others are tried again at the end, for as long as they make room.

        So a pod can have several decisions: the one with ``is_final`` counts. Pods that had to leave are in
        :attr:`evicted`. Each decision is taken when it is asked for. Raises as :meth:`schedule` does, for the
        first such pod; earlier decisions stay.
        """
        check_pods(pods)
        by_priority = self._run.engine.queues_by_priority
        waiting = sorted(self.waiting, key=lambda pod: -pod.priority if by_priority else 0)
        for pod in waiting if pods is None else (self._unplaced(pod) for pod in pods):
            yield self._cycle(pod, details)
        for pod in self._run.retries():
            yield self._cycle(pod, details, retry=True)

    def run(self, pods: Iterable[GivenPod] | None = None, *, details: bool = True) -> list[Decision]:
        """The decisions of :meth:`decisions`, all at once.

        With *details* each decision keeps the arrays behind it: for many pods on many nodes ``details=False``
        is much faster and smaller.
        """
        return list(self.decisions(pods, details=details))

    def explain(self, pod: GivenPod) -> Decision:
        """The decision of :meth:`schedule` for *pod*, with all details; nothing changes."""
        return self._run.ask(self._unplaced(pod))

    def batch(self, pod: GivenPod) -> tuple[Template, Batch, Cycle]:
        """The arguments of a rule about *pod*: ``pod``, ``nodes``, with all nodes, and ``cycle``, to try
        rules by hand.

        They show the cluster as it is now, and hold until it changes or the scheduler decides about another
        pod.

        >>> scheduler = Scheduler(Cluster.load("examples/cluster"))
        >>> pod, nodes, cycle = scheduler.batch("shop/orders-0")
        >>> nodes
        <Batch of 11 rows: the whole table>
        """
        cycle: Cycle = self._run.engine.begin(self.cluster.waiting_pod(pod))
        return cycle.template, Batch.everywhere(cycle.table), cycle

    def _cycle(self, pod: Pod, details: bool, *, retry: bool = False) -> Decision:
        check_type("details", details, bool, "True or False")
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
        state = self._run.engine.pod_state(pod)
        return "" if state is None else state.node_name


def check_cluster(name: str, cluster: object) -> None:
    """Raise :class:`~kubeclassic.exceptions.WrongTypeError` unless *cluster* is a Cluster; the text says how
    to make one."""
    if isinstance(cluster, str):
        made = f"Cluster.load({cluster!r}) makes one"
    else:
        made = "Cluster.load(path) or Cluster(objects) makes one"
    check_type(name, cluster, Cluster, f"a Cluster; {made}")


def check_pods(pods: object) -> None:
    """Raise :class:`~kubeclassic.exceptions.WrongTypeError` for a single pod where several are expected."""
    if isinstance(pods, str | Mapping | Pod) or not isinstance(pods, Iterable | None):
        raise wrong_type("pods", pods, "several, such as a list; schedule() takes one")


def _thawed(kind: type[Scheduler], cluster: Cluster, spec: Frozen, state: Frozen) -> Scheduler:
    """The scheduler that was copied or pickled, for *cluster*, which is a copy of its own or the same."""
    made = kind.__new__(kind)
    made._spec = thaw_spec(spec)
    made.cluster = cluster
    made.scheduler_names = made._spec.scheduler_names
    made._run = thaw_run(state, made._spec.engine(cluster.config_maps), _objects(cluster))
    cluster.follow(made._run, told=True)
    return made


def _objects(cluster: Cluster) -> dict[str, Any]:
    """The objects of a cluster by name; a copy of it has equal ones by the same names."""
    return {f"object {number}": item for number, item in enumerate(cluster.objects)}
