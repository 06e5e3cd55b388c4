"""The Jobs and StatefulSets of a replay.

Upstream: pkg/controller/job/job_controller.go and backoff_utils.go; updateStatefulSet in
pkg/controller/statefulset/stateful_set_control.go.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count

from attrs import Factory, define

from ...api.controlplane import (
    Workload,
    completion_index,
    expand,
    is_ready,
    read_workload,
    with_completion_index,
)
from ...api.objects import JsonObject, Pod, of_kind
from ...core.queue.backoff import nanoseconds
from ...simulation.evictions import SAME_NAME, job_of, made_new, retries_of
from .inputs import Lifetime, WorkloadManifests
from .podlifecycles import PodLifecycle, PodLifecycles
from .times import parse_time

FIRST_DELAY = 10.0
"""Seconds until a Job replaces its first pod that failed; twice as many for each further one."""
LONGEST_DELAY = 600.0
MOST_FAILURES = 1000
"""The most pods that fail one after another, so that a replay ends where a Job never does."""


@define(eq=False, repr=False)
class JobProgress:
    """A Job, and what became of its pods."""

    manifest: JsonObject
    workload: Workload
    retries: int
    """How many of its pods may still fail."""
    evictions: int | None
    """How many may be evicted until it ends; None: they do not count."""
    succeeded: int = 0
    """The number of pods that have finished in the replay."""
    indexes: list[str] = Factory(list)
    """Their indexes, if the Job is indexed."""
    failed: Counter[int] = Factory(Counter)
    """Index -> how many of its pods have failed."""
    failures: int = 0
    """How many have failed since the last one that finished."""
    ready_at: dict[int, int] = Factory(dict)
    """When it makes pods again: by index if these have limits of their own, else below -1."""
    began: int | None = None
    deadline: int | None = None
    """The task that ends it."""
    planned: set[int] = Factory(set)
    """The times at which it looks again."""
    numbers: Iterator[int] = Factory(count)
    """For the names of new pods."""
    pods: dict[str, None] = Factory(dict)
    """Its pods by ``namespace/name``, also some that are gone."""

    def document(self) -> JsonObject:
        """The manifest with its present status."""
        status = self.workload.status
        most = self.workload.spec.backoff_limit_per_index
        counts = most is not None and self.evictions is not None
        given_up = [str(index) for index, times in self.failed.items() if counts and times > (most or 0)]
        changed = {
            "succeeded": status.succeeded + self.succeeded,
            "completedIndexes": ",".join(filter(None, [status.completed_indexes, *self.indexes])),
            "failedIndexes": ",".join(filter(None, [status.failed_indexes, *given_up])),
        }
        return {**self.manifest, "status": {**(self.manifest.get("status") or {}), **changed}}


@define(eq=False, repr=False)
class JobController:
    """The Jobs of the manifests: they replace failed pods, and make others in place of those that finish."""

    pods: PodLifecycles
    _jobs: dict[str, JobProgress] = Factory(dict)
    """By ``namespace/name``."""

    @classmethod
    def of(cls, pods: PodLifecycles, manifests: Iterable[JsonObject]) -> JobController:
        """The controller for Jobs as in *manifests*."""
        controller = cls(pods)
        counts_failures = pods.state.engine.release.server.fails_deleted
        evictions = retries_of(manifests) if counts_failures else {}
        for manifest in manifests:
            job = read_workload(manifest)
            key = f"{job.namespace}/{job.name}"
            controller._jobs[key] = JobProgress(manifest, job, job.retries, evictions.get(key))
        return controller

    def job_of(self, pod: Pod) -> JobProgress | None:
        """The Job of *pod*, if its manifest is known."""
        return self._jobs.get(job_of(pod)) if self._jobs else None

    def came(self, life: PodLifecycle) -> None:
        """A pod is there, perhaps one of a Job."""
        if (job := self.job_of(life.original)) is None:
            return
        job.pods[life.key] = None
        deadline = job.workload.spec.active_deadline_seconds
        if deadline is not None and job.deadline is None:
            state = self.pods.state
            began = parse_time(job.workload.status.start_time) if state.origin else None
            if job.began is None:
                job.began = state.now if began is None else nanoseconds(began[0] - state.origin)
            time = max(job.began + nanoseconds(deadline), state.now)
            job.deadline = state.agenda.put(time, partial(self._end, job))

    def waits_for(self, pod: Pod) -> bool:
        """Whether *pod* has failed only once it is gone."""
        job = self.job_of(pod)
        return job is not None and job.workload.replaces_only_failed

    def finished(self, life: PodLifecycle) -> None:
        """A pod has succeeded."""
        if (job := self.job_of(life.original)) is not None:
            job.succeeded += 1
            if (index := completion_index(life.original)) >= 0:
                job.indexes.append(str(index))
            job.failures = 0
            job.ready_at.pop(-1, None)
            self._sync(job, life)
            if job.deadline is not None and job.retries >= 0 and self.pods.all.keys().isdisjoint(job.pods):
                self.pods.state.agenda.cancel(job.deadline)
                job.deadline = None

    def failed(self, life: PodLifecycle, *, by_itself: bool = False) -> bool:
        """A pod has failed *by_itself*, was evicted, or is gone; whether its Job is known."""
        job = self.job_of(life.original)
        if job is not None:
            if by_itself or job.evictions:
                job.retries -= 1
            elif job.evictions == 0:
                job.retries = -1
            self._count_failure(job, life)
        return job is not None

    def _count_failure(self, job: JobProgress, life: PodLifecycle) -> None:
        state = self.pods.state
        if job.retries < 0:
            self._end(job)
            return
        if state.engine.release.server.fails_deleted:
            index = completion_index(life.original)
            job.failed[index] += 1
            job.failures += 1
            if job.failures > MOST_FAILURES:
                return
            by_index = job.workload.spec.backoff_limit_per_index is not None
            times = job.failed[index] if by_index else job.failures
            delay = min(FIRST_DELAY * 2 ** min(times - 1, 6), LONGEST_DELAY)
            job.ready_at[index if by_index else -1] = state.after(delay)
        self._sync(job, life)

    def _end(self, job: JobProgress) -> None:
        """The Job has failed."""
        job.retries = -1
        for life in [self.pods.all[key] for key in job.pods if key in self.pods.all]:
            if not life.is_leaving:
                self.pods.delete(life)

    def _sync(self, job: JobProgress, life: PodLifecycle) -> None:
        """Make the pods that *job* lacks, like that of *life*, as soon as it may."""
        state = self.pods.state
        if job.retries < 0 or not self.pods.is_ours(life.original):
            return
        present = [pod for key in job.pods if (pod := state.pod(key)) is not None]
        job.pods = {pod.key: None for pod in present}
        for made in of_kind(Pod, expand([job.document()], present).objects):
            index = completion_index(made)
            ready_at = max(job.ready_at.get(index, 0), job.ready_at.get(-1, 0))
            if ready_at <= state.now:
                self._make(job, index, life)
            elif ready_at not in job.planned:
                job.planned.add(ready_at)
                state.agenda.put(ready_at, partial(self._sync, job, life))

    def _make(self, job: JobProgress, index: int, life: PodLifecycle) -> None:
        root = life.original
        names = (f"{job.workload.name}-{number}" for number in job.numbers)
        name = next(name for name in names if f"{root.namespace}/{name}" not in self.pods.replacements)
        pod = made_new(root, name, root.uid and f"{root.uid}-{name}")
        pod = pod if index < 0 else with_completion_index(pod, index)
        self.pods.arrive(pod, life.lifetime)


# --- stateful sets ------------------------------------------------------------------------------------------


@define(eq=False, repr=False)
class StatefulSetController:
    """The StatefulSets that make a pod only once those before it are running and ready."""

    pods: PodLifecycles
    manifests: WorkloadManifests
    _lives: defaultdict[str, dict[int, PodLifecycle]] = Factory(lambda: defaultdict(dict))
    """Set -> ordinal -> the last pod of it that came."""
    _held: defaultdict[str, dict[int, tuple[Pod, Lifetime, Pod | None]]] = Factory(lambda: defaultdict(dict))
    """Set -> ordinal -> a pod that is not made yet, its lifetime, and the first pod that it replaces."""
    _seen: int = -1
    """The cluster's ``changes`` at the last look."""

    def came(self, life: PodLifecycle) -> None:
        """A pod is there, perhaps one of such a set."""
        if set_name := self._set_of(life.original):
            self._lives[set_name][_ordinal(life.original)] = life

    def holds(self, pod: Pod, lifetime: Lifetime, root: Pod | None) -> bool:
        """Whether the new *pod* has to wait for others of its set; it comes later."""
        first = root or pod
        set_name = self._set_of(first)
        if not set_name or (root is None and pod.key not in self.manifests.made):
            return False
        ordinal = _ordinal(first)
        if self._is_due(set_name, ordinal):
            return False
        self._held[set_name][ordinal] = pod, lifetime, root
        return True

    def change(self, key: str, pod: Pod | None) -> bool:
        """Put *pod* in place of a held one, None for none; whether one was held."""
        for held in self._held.values():
            for ordinal, (old, lifetime, root) in held.items():
                if old.key == key:
                    del held[ordinal]
                    if pod is not None:
                        held[ordinal] = pod, lifetime, root
                    return True
        return False

    def look(self) -> None:
        """Make the pods whose turn has come."""
        if not self._held or self._seen == self.pods.state.changes:
            return
        self._seen = self.pods.state.changes
        for set_name, held in list(self._held.items()):
            while held and self._is_due(set_name, ordinal := min(held)):
                self.pods.arrive(*held.pop(ordinal))
            if not held:
                del self._held[set_name]

    def _set_of(self, pod: Pod) -> str:
        owner = pod.controller
        name = f"{pod.namespace}/{owner.name}" if owner is not None and owner.kind == SAME_NAME else ""
        return name if name in self.manifests.ordered else ""

    def _is_due(self, set_name: str, ordinal: int) -> bool:
        """Whether all pods before *ordinal* that are left are running and ready."""
        if any(number < ordinal for number in self._held[set_name]):
            return False
        return all(number >= ordinal or self._is_well(life) for number, life in self._lives[set_name].items())

    def _is_well(self, life: PodLifecycle) -> bool:
        pod = self.pods.state.pod(life.key)
        if pod is None or self.pods.all.get(life.key) is not life:
            return True
        is_up = pod.status.phase == "Running" and life.node not in self.pods.failures
        return is_up and is_ready(pod) and not life.is_leaving


def _ordinal(pod: Pod) -> int:
    number = pod.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0
