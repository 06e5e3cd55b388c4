"""A run: cycle after cycle on a cluster that changes with each decision; and the feed of changes.

A run has no clock, so a pod waits on Permit until plugins allow or reject it in the cycles of other pods.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
from msgspec.structs import replace

from ..api.garbage import no_garbage_collection
from ..api.objects import DeviceClass, KubeObject, Node, PersistentVolume, PersistentVolumeClaim, Pod
from .bindingcycle import Failure
from .decision import Decision
from .engine import Engine
from .savepoint import Savepoint

# --- The feed: objects as the API's watch delivers them -----------------------------------------------------
# Upstream: the event handlers in pkg/scheduler/eventhandlers.go (1.12: pkg/scheduler/factory/factory.go).


@attrs.define(eq=False, repr=False)
class EventFeed:
    """Delivers events to *engine*. An add of an existing object is an update; deleting an unknown object does
    nothing."""

    engine: Engine
    counts_finished: bool = False
    """Whether finished pods stay on their nodes, as they do for a scheduler that is sent them; else they
    leave."""

    def put(self, item: KubeObject) -> None:
        """An object is added or updated."""
        if self.engine.point is not None:
            self._note(item, item)
        if isinstance(item, Node):
            self._put_node(item)
        elif isinstance(item, Pod):
            self._put_pod(item)
        else:
            self._change_listed(item, item)

    def put_all(self, items: Iterable[KubeObject]) -> None:
        """Many objects are added or updated, such as a whole cluster."""
        with no_garbage_collection():
            for item in items:
                self.put(item)

    def reorder(self, placed: Mapping[str, Sequence[Pod]], mixed: Collection[str]) -> bool:
        """Deliver pods again, in the order of *placed*, where their node lists them in another order or is one
        of *mixed*.

        False if that cannot restore the earlier state, as other pods are there, or plugins let pods wait.
        """
        engine = self.engine
        _, states, assumed = engine.cache.counts
        has_permit_plugins = any(profile.points["permit"] for profile in engine.flow.profiles.values())
        if has_permit_plugins or assumed or states != sum(map(len, placed.values())):
            return False
        for name, info in engine.cache.infos.items():
            if name in mixed or info.is_reordered:
                pods = placed.get(name, [])
                if name in mixed or [entry.pod for entry in info.pods] != pods:
                    for pod in pods:
                        self.delete(pod)
                    self.put_all(pods)
                info.is_reordered = False
        engine.fresh_table().transient[:] = 0
        engine.look_for_huge()
        return True

    def delete(self, item: KubeObject) -> None:
        """An object is deleted; only its kind and key matter."""
        if self.engine.point is not None:
            self._note(item, None)
        if isinstance(item, Node):
            node = self.engine.cache.node(item.name)
            if node is not None:
                self.engine.cache.remove_node(node)
                self._follow(node, None)
        elif isinstance(item, Pod):
            self._delete_pod(item)
        else:
            self._change_listed(item, None)

    def _note(self, item: KubeObject, new: KubeObject | None) -> None:
        """Note how to undo that *new* is put, or *item* deleted."""
        note = self.engine.on_undo
        current = self.known(item)
        if isinstance(item, Node) and self._zone(current) != self._zone(new):
            note(self.engine.cache.order.restore, *self.engine.cache.order.saved())
            if self.engine.cache.forgets_with_node:
                note(self.engine.snapshot.restore, self.engine.snapshot.saved())
        if isinstance(item, DeviceClass):
            # The class that gave a resource before another one took it cannot be told from the classes.
            classes = self.engine.listings.device_classes
            note(classes.restore, dict(classes.by_resource))
        if current is not None:
            if isinstance(item, Node) and new is None and self.engine.cache.forgets_with_node:
                note(self.engine.cache.give_back, item.name, self.engine.cache.infos[item.name].pods)
            note(self.put, current)
        elif new is not None:
            note(self.delete, new)

    def _zone(self, node: KubeObject | None) -> str | None:
        return None if node is None else self.engine.cache.zone_key(node.labels)

    def exists(self, item: KubeObject) -> bool:
        """Whether the scheduler knows an object of this kind and key."""
        return self.known(item) is not None

    def known(self, item: KubeObject) -> KubeObject | None:
        """The object of this kind and key as the scheduler knows it; a pod is on its node."""
        if isinstance(item, Node):
            return self.engine.cache.node(item.name)
        if isinstance(item, Pod):
            state = self.engine.cache.state(item)
            return None if state is None else state.pod
        return self.listed(item)

    def listed(self, item: KubeObject) -> KubeObject | None:
        """The object of this kind and key, which is no node and no pod, as the scheduler knows it."""
        listing = self.engine.listings.of(item)
        return None if listing is None else listing.get(item.key)

    def _put_node(self, node: Node) -> None:
        old = self.engine.cache.node(node.name)
        if old is None:
            self.engine.cache.add_node(node)
        else:
            self.engine.cache.update_node(old, node)
            self._follow(old, node)

    def _put_pod(self, pod: Pod) -> None:
        if pod.is_terminal and not self.counts_finished:
            self._delete_pod(pod)
            return
        state = self.engine.cache.state(pod)
        if state is None or state.assumed:
            self.engine.cache.add(pod)
        else:
            old = state.pod
            self.engine.cache.update(pod)
            self._follow(old, pod)

    def _delete_pod(self, pod: Pod) -> None:
        state = self.engine.cache.state(pod)
        if state is None:
            return
        if state.assumed:
            self.engine.cache.add(state.pod)
        self.engine.cache.remove(state.pod)
        self._follow(state.pod, None)
        if self.engine.templates.are_many:
            self.engine.tidy()

    def _change_listed(self, item: KubeObject, new: KubeObject | None) -> None:
        """Replace the object of the kind and key of *item*, no node and no pod, by *new*; None: delete it."""
        listing = self.engine.listings.of(item)
        binder = self.engine.binder
        old = None
        if listing is not None:
            old = listing.drop(item.key) if new is None else listing.put(new)
        if isinstance(item, PersistentVolume | PersistentVolumeClaim):
            (binder.drop if new is None else binder.put)(item)
        if old is not None or new is not None:
            self._follow(old, new)

    def _follow(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if (follow := self.engine.flow.follow) is not None:
            follow(old, new)


# --- The run ------------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class Run:
    """Runs cycles on one scheduler. Placed pods are assumed, victims are deleted at once, and the preemptor
    is tried again."""

    engine: Engine
    details: bool = True
    retries_once: bool = False
    """Whether a preemptor is tried again only once, as in recorded cases; else as long as each try evicts."""
    feed: EventFeed = attrs.field(init=False)
    evicted: dict[str, str] = attrs.Factory(dict)
    """Victim -> the pod that preempted it."""
    _retries: list[str] = attrs.Factory(list)
    _pods: dict[str, Pod] = attrs.Factory(dict)
    """Key -> pod, with its current status."""
    _waiting: dict[str, Pod] = attrs.Factory(dict)
    """Key -> pod that waits for a node, as it was last put."""
    _on_permit: dict[str, Decision] = attrs.Factory(dict)
    """Key of a pod that waits on Permit -> its decision."""
    _ended: list[tuple[Decision, Failure | None]] = attrs.Factory(list)

    may_hold: bool = attrs.field(init=False)
    """Whether some profile has Permit plugins."""

    def __attrs_post_init__(self) -> None:
        self.feed = EventFeed(self.engine)
        self.may_hold = any(profile.points["permit"] for profile in self.engine.flow.profiles.values())

    def __repr__(self) -> str:
        return f"<Run of {self.engine!r}>"

    # --- what happens to the cluster ------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object is added or updated. A pod without a node waits, with the nomination in its status."""
        if isinstance(item, Pod):
            if self.engine.point is not None:
                self._note(item)
            key = item.key
            self.evicted.pop(key, None)
            if not item.spec.node_name and not item.is_terminal:
                current = self._pods.get(key)
                if self._waiting.get(key) == item or self.engine.cache.is_assumed(item):
                    return
                self._waiting[key] = self._pods[key] = item
                if current is not None:
                    self.engine.nominations.update(current, item)
                elif item.status.nominated_node_name:
                    self.engine.nominations.add(item)
                return
            self._stop_waiting(key)
        self.feed.put(item)

    def delete(self, item: KubeObject) -> None:
        """An object is deleted."""
        if isinstance(item, Pod):
            if self.engine.point is not None:
                self._note(item)
            self._stop_waiting(item.key)
        self.feed.delete(item)

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Nominate *pod* to *node_name* before its first cycle."""
        self._set_nomination(pod, node_name)
        self.engine.nominations.add(self._pods[pod.key], node_name)

    def _stop_waiting(self, key: str) -> None:
        self._stop_holding(key)
        self._waiting.pop(key, None)
        waiting = self._pods.pop(key, None)
        if waiting is not None:
            self.engine.nominations.remove(waiting)

    def _stop_holding(self, key: str) -> None:
        decision = self._on_permit.get(key)
        if decision is not None:
            self.engine.flow.binding.removed(decision.pod)
            self._end_waits()

    # --- trying and taking back -----------------------------------------------------------------------------

    @contextmanager
    def savepoint(self) -> Iterator[Savepoint]:
        """A context for trials: at its end run and cluster are as before, unless the savepoint is kept. See
        :mod:`.savepoint`."""
        with self.engine.savepoint() as point:
            self.engine.on_undo(setattr, self, "_retries", list(self._retries))
            yield point

    @contextmanager
    def edited(self, pairs: Iterable[tuple[KubeObject | None, KubeObject | None]]) -> Iterator[None]:
        """A context in which each pair (before, after) of *pairs* is applied; None: the object does not
        exist."""
        with self.savepoint():
            for before, after in pairs:
                if (
                    isinstance(after, Pod)
                    and self.engine.is_assumed(after)
                    and (confirmed := self.feed.known(after)) is not None
                ):
                    self.feed.put(confirmed)  # the event that confirms a pod changes nothing else of it
                leaves = after is None
                if isinstance(before, Pod) and isinstance(
                    after, Pod
                ):  # it waits again, or goes to another node
                    leaves = not after.spec.node_name or before.spec.node_name not in (
                        "",
                        after.spec.node_name,
                    )
                if before is not None and leaves:
                    self.delete(before)
                if after is not None:
                    self.put(after)
            yield

    def _note(self, pod: Pod) -> None:
        """Note how to restore the record of *pod*, which may change."""
        key = pod.key
        self.engine.on_undo(
            self._restore, key, self._pods.get(key), self._waiting.get(key), self.evicted.get(key)
        )

    def _restore(self, key: str, *values: Any) -> None:
        tables: tuple[dict[str, Any], ...] = (self._pods, self._waiting, self.evicted)
        for table, value in zip(tables, values, strict=True):
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value

    # --- cycles ---------------------------------------------------------------------------------------------

    def cycle(self, pod: Pod, *, retry: bool = False) -> Decision:
        """One scheduling cycle for *pod*; its decision is applied to the cluster."""
        pod, nominated_node = self._begin(pod)
        decision = self.engine.schedule(pod, details=self.details)
        decision.is_retry = retry
        if decision.host is not None:
            self._place(decision, decision.host)
        if decision.host is None:
            evicts = decision.preemption is not None and bool(decision.preemption.victims)
            self._wait(decision, nominated_node, tries_again=not retry or (evicts and not self.retries_once))
        if self._on_permit:
            self._end_waits()
        return decision

    def follow(self, pod: Pod, other_decision: Decision) -> Decision:
        """One cycle for *pod*; another scheduler's decision on it is applied to the cluster."""
        decision, nominated_node = self._decide(pod)
        self._carry_out(decision, nominated_node, other_decision)
        return decision

    @contextmanager
    def following(self, pod: Pod, other_decision: Decision) -> Iterator[Decision]:
        """A context with the decision of :meth:`follow`; *other_decision* is applied at its end."""
        decision, nominated_node = self._decide(pod)
        yield decision
        self._carry_out(decision, nominated_node, other_decision)

    def carry_out(self, pod: Pod, other_decision: Decision) -> None:
        """Apply another scheduler's decision on *pod* to the cluster, without a cycle; *pod* must not have
        claims."""
        pod, nominated_node = self._begin(pod)
        self._carry_out(Decision(pod), nominated_node, other_decision)

    def _carry_out(self, decision: Decision, nominated_node: str, other_decision: Decision) -> None:
        if other_decision.host is None:
            self._wait(
                replace(decision, preemption=other_decision.preemption, nominated=other_decision.nominated),
                nominated_node,
                tries_again=False,
            )
            return
        if self.engine.point is not None:
            self._note_assumption(decision.pod, other_decision.host)
        self.engine.assume(decision.pod, other_decision.host)
        waiting_pod = self.engine.flow.binding.waiting(decision.pod)
        if waiting_pod is not None:  # a pod whose host somebody else decided does not wait
            for plugin in waiting_pod.pending_plugins:
                waiting_pod.allow(plugin)
            self._finish(decision.pod, other_decision.host)
        if self.engine.cache.state(decision.pod) is None:
            self.engine.cache.assume(decision.pod.bound_to(other_decision.host))
            self.engine.nominations.remove(decision.pod)

    def give_back(self, pod: Pod) -> None:
        """Take its host from *pod*, whose decision :meth:`follow` applied, as the other scheduler's plugins
        rejected it."""
        state = self.engine.cache.state(pod)
        if state is not None and state.assumed:
            self.engine.flow.binding.give_back(pod, state.node_name)

    def _decide(self, pod: Pod) -> tuple[Decision, str]:
        """The decision on *pod*, and its nominated node before the cycle."""
        pod, nominated_node = self._begin(pod)
        return self.engine.schedule(pod, details=self.details), nominated_node

    def _begin(self, pod: Pod) -> tuple[Pod, str]:
        """*pod* with its current status, and its nominated node."""
        if self.engine.point is not None:
            self._note(pod)
        pod = self._pods.setdefault(pod.key, pod)
        nominations = self.engine.nominations
        nominated_node = ""
        if nominations.by_node or nominations.by_uid:
            nominated_node = nominations.node_of(pod)
            # Otherwise the equivalence cache, which skips nodes with any nomination, would skip the node
            # nominated for this pod.
            nominations.remove(pod)
        return pod, nominated_node

    def ask(self, pod: Pod) -> Decision:
        """The decision of a cycle for *pod* now; the scheduler and the cluster do not change."""
        pod = self._pods.get(pod.key, pod)
        with self.engine.preserving_state(pod):
            return self.engine.schedule(pod)

    def take_retries(self) -> list[Pod]:
        """The preemptors to retry that still exist, in order; the list is cleared."""
        keys = self._retries
        self._retries = []
        return [self._pods[key] for key in keys if key in self._pods]

    def retries(self) -> Iterator[Pod]:
        """The pods of :meth:`take_retries`, to be tried one by one, again and again while they make room."""
        while pods := self.take_retries():
            yield from pods

    def take_ended(self) -> list[tuple[Decision, Failure | None]]:
        """The ended waits on Permit: the pod's decision, and the reason why it lost its host, or None; the
        list is cleared."""
        ended = self._ended
        self._ended = []
        return ended

    @property
    def held(self) -> list[Pod]:
        """The pods with a host that wait on Permit, in order."""
        return [decision.pod for decision in self._on_permit.values()]

    # --- what follows from a decision -----------------------------------------------------------------------

    def _place(self, decision: Decision, host: str) -> None:
        if self.engine.point is not None:
            self._note_assumption(decision.pod, host)
        error = self.engine.flow.assume(decision.pod, host)
        if error is not None:
            decision.host = None
            decision.error = error
            return
        if self.engine.has_device_claims(decision.pod):
            decision.allocations = self.engine.allocations(decision.pod)
        if self.may_hold and self.engine.flow.binding.waiting(decision.pod) is not None:
            decision.is_waiting = True
            self._on_permit[decision.pod.key] = decision

    def _note_assumption(self, pod: Pod, host: str) -> None:
        for claim in self.engine.listings.resource_claims.of(pod):
            self.engine.on_undo(self.feed.put, claim)
        self.engine.on_undo(self._unassume, pod, host)

    def _unassume(self, pod: Pod, host: str) -> None:
        if pod.spec.volumes:
            self.engine.binder.revert(pod, host)
        if (extended_claim := self.engine.listings.resource_claims.extended_of(pod)) is not None:
            self.feed.delete(extended_claim)
        self.delete(pod)

    def _end_waits(self) -> None:
        """Bind the allowed pods among those on Permit, and take back the rejected ones; this may end other
        waits."""
        while over := [decision for decision in self._on_permit.values() if self._is_over(decision)]:
            for decision in over:
                del self._on_permit[decision.pod.key]
                self._ended.append((decision, self._finish(decision.pod, decision.host or "")))

    def _is_over(self, decision: Decision) -> bool:
        waiting = self.engine.flow.binding.waiting(decision.pod)
        return waiting is None or waiting.is_over

    def _finish(self, pod: Pod, host: str) -> Failure | None:
        binding = self.engine.flow.binding
        failure = binding.permitted(pod, host) or binding.begin(pod, host) or binding.bind(pod, host)
        if failure is None:
            binding.bound(pod, host)
        return failure

    def _wait(self, decision: Decision, nominated_node: str, *, tries_again: bool) -> None:
        pod = decision.pod
        plan = decision.preemption
        if nominated_node:
            # Upstream: a failed pod enters the queue again, and so moves to the end of its node's list of
            # nominated pods.
            self.engine.nominations.add(pod, nominated_node)
        if plan is not None:
            if plan.node is not None:
                self.engine.nominations.remove(pod)
                self.nominate(pod, plan.node)
                for victim in plan.victims:
                    if not self.engine.flow.binding.preempt(victim, pod):
                        if self.engine.point is not None:
                            self._note(victim)
                        self._stop_holding(victim.key)
                        self.feed.delete(victim)
                        self.evicted[victim.key] = pod.key
            for cleared in (*((pod,) if plan.drops_own else ()), *plan.clear_nominations):
                self._withdraw(cleared)
        if decision.nominated == "":
            self._withdraw(pod)
        if plan is not None and plan.node is not None and tries_again:
            decision.is_final = False
            self._retries.append(pod.key)

    def _withdraw(self, pod: Pod) -> None:
        self.engine.nominations.remove(self._pods.get(pod.key, pod))
        self._set_nomination(pod, "")

    def _set_nomination(self, pod: Pod, node_name: str) -> None:
        if self.engine.point is not None:
            self._note(pod)
        current = self._pods.get(pod.key, pod)
        self._pods[pod.key] = replace(current, status=replace(current.status, nominated_node_name=node_name))
