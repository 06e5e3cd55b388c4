"""Mutants: faults put in by hand, one at a time, that the tests have to find.

``python -m tests.support.mutants`` (``.ci/mutants``) puts each into a copy of the checkout, runs the tests of
its room, and names those that nothing found. Words after the command choose the mutants whose description has
one of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.support.house import ROOT


class Mutant(NamedTuple):
    """One fault: in *file* *text* stands once and becomes *fault*; *tests*, files, folders and tests below
    ``tests``, have to fail."""

    says: str
    file: str
    text: str
    fault: str
    tests: str


BOARDS = "test_towns.py"
MUTANTS = (
    Mutant(
        "conditions: reasons in other order",
        "predicates/checknodecondition.py",
        "Failures.joined([_by_conditions(nodes, cycle.release.reads_out_of_disk), unschedulable])",
        "Failures.joined([unschedulable, _by_conditions(nodes, cycle.release.reads_out_of_disk)])",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "taints: NoExecute does not count",
        "predicates/podtoleratesnodetaints.py",
        'NO_NEW_PODS = ("NoSchedule", "NoExecute")',
        'NO_NEW_PODS = ("NoSchedule",)',
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "toleration: empty key no longer any",
        "api/meaning/labels.py",
        "if toleration.key and toleration.key != taint.key:",
        "if toleration.key != taint.key:",
        "api/meaning/test_labels.py",
    ),
    Mutant(
        "resources: full node refused at equality",
        "predicates/podfitsresources.py",
        "taken > nodes.limits_of(sought.resources)",
        "taken >= nodes.limits_of(sought.resources)",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "resources: zero scalars do not bring native checks",
        "predicates/podfitsresources.py",
        "if scalars or any(pod.requests.values()) else ()",
        "if any(pod.requests.values()) else ()",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "hostports: 0.0.0.0 in use is not seen",
        "predicates/podfitshostports.py",
        "            yield ANY_ADDRESS, protocol, number\n",
        "",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "disks: gce read only of one is enough",
        "predicates/nodiskconflict.py",
        "not (gce.read_only and other_gce.read_only)",
        "not (gce.read_only or other_gce.read_only)",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "disks: rbd monitors must all be equal",
        "predicates/nodiskconflict.py",
        "not set(one.monitors).isdisjoint(other.monitors)",
        "set(one.monitors) == set(other.monitors)",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "volumezone: error also where there is a conflict",
        "predicates/novolumezoneconflict.py",
        "labelled & ~conflict)",
        "labelled)",
        "predicates/test_novolumezoneconflict.py",
    ),
    Mutant(
        "volumezone: an empty part of a label does not void it",
        "predicates/novolumezoneconflict.py",
        "if all(parts) else frozenset()",
        "if any(parts) else frozenset()",
        "predicates/test_novolumezoneconflict.py framework/plugins/test_volumezone.py",
    ),
    Mutant(
        "pressure: init containers never count",
        "predicates/checknodepressure.py",
        "[cycle.release.best_effort_sees_init_containers]",
        "[0]",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "unschedulable: cache key forgets tolerations",
        "predicates/checknodeunschedulable.py",
        "reads=Reads.NODE, key=_tolerates_unschedulable",
        "reads=Reads.NODE, key=lambda pod: None",
        "core/incremental test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "taints: cache key only counts tolerations",
        "predicates/podtoleratesnodetaints.py",
        '@predicate("PodToleratesNodeTaints", reads=Reads.NODE, key=lambda pod: pod.spec.tolerations)',
        '@predicate("PodToleratesNodeTaints", reads=Reads.NODE, key=lambda pod: len(pod.spec.tolerations))',
        "core/incremental test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "balanced: full in one of two is enough",
        "priorities/balancedresourceallocation.py",
        "(within[0] & within[1])",
        "(within[0] | within[1])",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "imagelocality: registry port taken for a tag",
        "priorities/imagelocality.py",
        'name.rfind(":") > name.rfind("/")',
        '":" in name',
        "priorities/test_nodeaffinity.py",
    ),
    Mutant(
        "nodeaffinity: no 32 bits",
        "priorities/nodeaffinity.py",
        "return total.astype(np.int32).astype(np.int64)",
        "return total",
        "priorities/test_nodeaffinity.py",
    ),
    Mutant(
        "selectorspread: terminating peers count",
        "priorities/selectorspread.py",
        "return not group.terminating and combine",
        "return combine",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "selectorspread: nodes without zone count as a zone",
        "priorities/selectorspread.py",
        "max(self.in_zones[1:], default=0)",
        "max(self.in_zones, default=0)",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "shares: exactly free is no room",
        "priorities/shares.py",
        "room = free.view(np.uint64) <= capacity.view(np.uint64)",
        "room = free.view(np.uint64) < capacity.view(np.uint64)",
        "priorities/test_shares.py",
    ),
    Mutant(
        "requestedtocapacity: weight 0 stays 0",
        "priorities/requestedtocapacityratio.py",
        "resource: weight or 1 for",
        "resource: weight for",
        "priorities/test_shares.py",
    ),
    Mutant(
        "requestedtocapacity: floor, not toward zero",
        "priorities/requestedtocapacityratio.py",
        "low + int((high - low) * (utilization - left) / (right - left))",
        "low + (high - low) * (utilization - left) // (right - left)",
        "priorities/test_shares.py",
    ),
    Mutant(
        "tainttoleration: empty effect not for PreferNoSchedule",
        "priorities/tainttoleration.py",
        'if toleration.effect in ("", PREFER_NO_SCHEDULE)',
        "if toleration.effect == PREFER_NO_SCHEDULE",
        "test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "nodeaffinity: conflict though an earlier term is open",
        "framework/plugins/nodeaffinity.py",
        "        if not named:\n            return None\n",
        "        if not named:\n            continue\n",
        "framework/plugins/test_nodeaffinity.py test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "nodeaffinity: own reason before the enforced one",
        "framework/plugins/nodeaffinity.py",
        "np.where(enforced, 2 * ~matching, 1)",
        "np.where(matching, 1 * ~enforced, 2)",
        "framework/plugins/test_nodeaffinity.py test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "noderesources: too many pods unresolvable where max is 0",
        "framework/plugins/noderesources.py",
        "            too_small[0] = False\n",
        "",
        "framework/plugins test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "noderesources: native resources can be ignored",
        "framework/plugins/noderesources.py",
        "return ignored and is_extended_resource(name)",
        "return ignored",
        "framework/plugins test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "noderesources: overhead always scored",
        "framework/plugins/noderesources.py",
        "wrap_int64(request(pod, resource) - _overhead(pod, resource))",
        "wrap_int64(request(pod, resource))",
        "framework/plugins test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "noderesources: unrequested scalars count in the mean",
        "framework/plugins/noderesources.py",
        "        if measured.has_scalars:\n",
        "        if False:\n",
        "framework/plugins test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "noderesources: MostAllocated above capacity is 0",
        "framework/plugins/noderesources.py",
        "requested = np.minimum(shares.requested, shares.allocatable)\n",
        "requested = shares.requested\n",
        "framework/plugins test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "interpodaffinity: first pod needs no key",
        "framework/plugins/interpodaffinity.py",
        "for key in affinity.keys if cells.first_pod_needs_keys else ():",
        "for key in ():",
        "framework/plugins/test_interpodaffinity.py test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "interpodaffinity: ignorePreferredTermsOfExistingPods has no effect",
        "framework/plugins/interpodaffinity.py",
        "return has_preferences or not self.args.ignore_preferred_terms_of_existing_pods",
        "return True",
        "framework/plugins/test_interpodaffinity.py test_conformance.py::test_the_cases_kept_here[1.27]",
    ),
    Mutant(
        "interpodaffinity: zero not in the scale",
        "framework/plugins/interpodaffinity.py",
        "Stretched(min(0, raw.lowest), max(0, raw.highest), MAX_NODE_SCORE)",
        "Stretched(raw.lowest, raw.highest, MAX_NODE_SCORE)",
        "framework/plugins/test_interpodaffinity.py framework/middle framework/facts",
    ),
    Mutant(
        "volumerestrictions: claims of other namespaces",
        "framework/plugins/volumerestrictions.py",
        "        if other.namespace == pod.namespace\n",
        "",
        "framework/plugins/test_volumerestrictions.py",
    ),
    Mutant(
        "volumelimits: cache key of ephemeral volumes",
        "framework/plugins/volumelimits.py",
        "if any(volume.ephemeral is not None for volume in pod.volumes)",
        "if False",
        "framework/plugins/test_volumelimits.py core/incremental framework/plugins/test_volumereleases.py",
    ),
    Mutant(
        "schedulinggates: counted though the gate is off",
        "framework/plugins/schedulinggates.py",
        'if not gates or not self.handle.enabled("PodSchedulingReadiness"):',
        "if not gates:",
        "framework/newer framework/queue framework/config/test_gates.py framework/facts",
    ),
    Mutant(
        "volumerestrictions: edits of a trial with the wrong sign",
        "framework/plugins/volumerestrictions.py",
        "count[edit.at] += edit.sign *",
        "count[edit.at] -= edit.sign *",
        "framework/plugins/test_volumerestrictions.py framework/cycle",
    ),
    Mutant(
        "choice: highest victim instead of the first",
        "core/preemption/victimchoice.py",
        "np.take_along_axis(priority, victim.argmax(axis=0)[None], axis=0)[0]",
        "np.where(victim, priority, -(2**62)).max(axis=0)",
        "core/preemption framework/cycle/test_preemption.py",
    ),
    Mutant(
        "choice: sums without the shift",
        "core/preemption/victimchoice.py",
        "((priority + SHIFT) * victim).sum(axis=0), victim.sum(axis=0)",
        "(priority * victim).sum(axis=0), victim.sum(axis=0)",
        "core/preemption framework/cycle/test_preemption.py",
    ),
    Mutant(
        "choice: the earliest start",
        "core/preemption/victimchoice.py",
        "tied[started == started.max()]",
        "tied[started == started.min()]",
        "core/preemption framework/cycle/test_preemption.py",
    ),
    Mutant(
        "choice: more than 32 ties, the last by name",
        "core/preemption/victimchoice.py",
        "[self.rows[tied]].argmin()",
        "[self.rows[tied]].argmax()",
        "core/preemption framework/cycle/test_preemption.py",
    ),
    Mutant(
        "eligible: equal priority leaving counts",
        "core/preemption/select.py",
        "entry.pod.is_terminating and entry.priority < pod.priority",
        "entry.pod.is_terminating and entry.priority <= pod.priority",
        "core/preemption",
    ),
    Mutant(
        "budgets: exhausted at 0 no more",
        "core/preemption/budgets.py",
        "if budget.disruptions_allowed <= 0]",
        "if budget.disruptions_allowed < 0]",
        "core/preemption",
    ),
    Mutant(
        "budgets: one pod too early",
        "core/preemption/budgets.py",
        "mine.cumsum(axis=0) > budget.disruptions_allowed",
        "mine.cumsum(axis=0) >= budget.disruptions_allowed",
        "core/preemption framework/cycle/test_preemption.py",
    ),
    Mutant(
        "budgets of 1.18: a protected pod still takes",
        "core/preemption/budgets.py",
        "takes = selected[place] & ~found[place]",
        "takes = selected[place]",
        "core/preemption framework/cycle/test_preemption.py framework/facts",
    ),
    Mutant(
        "outcomes: nominations are not followed",
        "core/preemption/outcomes.py",
        "            if before.get(row) != self._coming.get(row):\n                self.known[row] = False",
        "            pass",
        "core/preemption",
    ),
    Mutant(
        "outcomes: shared between priorities",
        "core/preemption/outcomes.py",
        "key = cycle.template, pod.priority, *cycle.predicates",
        "key = cycle.template, *cycle.predicates",
        "core/preemption",
    ),
    Mutant(
        "plan: one leaving victim keeps nominations",
        "core/preemption/select.py",
        "keeps and all(pod.is_terminating for pod in victims.pods)",
        "keeps and any(pod.is_terminating for pod in victims.pods)",
        "core/preemption framework/cycle framework/facts",
    ),
    Mutant(
        "plan: equal priority loses its nomination",
        "core/preemption/select.py",
        "if pod.priority < cycle.pod.priority]",
        "if pod.priority <= cycle.pod.priority]",
        "core/preemption framework/cycle",
    ),
    Mutant(
        "outcomes: budgets are not noticed",
        "core/preemption/outcomes.py",
        "table.census.terms_revision, cycle.listings.budgets.version)",
        "table.census.terms_revision, 0)",
        "core/preemption",
    ),
    Mutant(
        "quick: claims without volumes are no detour",
        "core/incremental/quick.py",
        "        if cycle.template.claims and not cycle.binder.are_settled(cycle.template.claims):\n            return Detour.VOLUMES\n",
        "",
        "core/incremental test_towns.py test_scheduler.py",
    ),
    Mutant(
        "quick: nominations are no detour",
        "core/incremental/quick.py",
        "        if self.nominations.by_node:\n            return Detour.NOMINATIONS\n",
        "",
        "core/incremental core/preemption test_towns.py",
    ),
    Mutant(
        "counts: the other keys of unless_none are not asked",
        "core/arrays/counts.py",
        "            if not others or not any(other.has_any for other in others):\n                return None",
        "            return None",
        "core/arrays core/incremental predicates/test_matchinterpodaffinity.py framework/plugins/test_interpodaffinity.py",
    ),
    Mutant(
        "devices: attributes without a value match",
        "core/devices/devicesearch.py",
        "self.constraint.match_attribute is not None and (not value.type or value != self._value)",
        "self.constraint.match_attribute is not None and value != self._value",
        "core/devices framework/plugins/test_dynamicresources.py",
    ),
    Mutant(
        "devices: constraint does not know alternatives",
        "core/devices/devicesearch.py",
        'return not named or request in named or (bool(alternative) and f"{request}/{alternative}" in named)',
        "return not named or request in named",
        "core/devices framework/plugins/test_dynamicresources.py",
    ),
    Mutant(
        "devices: a device twice for admins of a claim",
        "core/devices/devicesearch.py",
        "return not (self.cells.admin_takes_once and holders and claim in holders)",
        "return True",
        "core/devices framework/plugins/test_dynamicresources.py framework/facts",
    ),
    Mutant(
        "devices: constraints before a refusal stay counted",
        "core/devices/devicesearch.py",
        "            for before in together[:number]:\n                before.remove(option.base, option.alternative)\n",
        "",
        "core/devices framework/plugins/test_dynamicresources.py",
    ),
    Mutant(
        "devices: room counts those chosen twice",
        "core/devices/devicesearch.py",
        "there + option.count - place.device > MOST_DEVICES",
        "there + option.count > MOST_DEVICES",
        "core/devices framework/plugins/test_dynamicresources.py framework/facts",
    ),
    Mutant(
        "pools: equal generations replace each other",
        "core/devices/pools.py",
        "[one for one in slices if one.spec.pool.generation == newest]",
        "[one for one in slices if one.spec.pool.generation == newest][-1:]",
        "core/devices framework/plugins/test_dynamicresources.py",
    ),
    Mutant(
        "pools: too many slices are complete",
        "core/devices/pools.py",
        "len(slices) + len(others) != wanted.resource_slice_count",
        "len(slices) + len(others) < wanted.resource_slice_count",
        "core/devices framework/plugins/test_dynamicresources.py",
    ),
    Mutant(
        "plan: adminAccess false is not refused",
        "core/devices/allocationplan.py",
        "if request.admin_access is not None and not self.cells.admin_access:",
        "if request.admin_access and not self.cells.admin_access:",
        "core/devices framework/plugins/test_dynamicresources.py",
    ),
    Mutant(
        "nodedevices: new classes are not noticed",
        "core/devices/nodedevices.py",
        "seen = self.pools.epoch, self.listings.device_classes.version",
        "seen = self.pools.epoch",
        "core/devices framework/plugins/test_dynamicresources.py",
    ),
    Mutant(
        "makes: any domain finds the short name",
        "core/devices/pools.py",
        "if slash and domain == self.driver else None",
        "if slash else None",
        "core/devices framework/plugins/test_dynamicresources.py",
    ),
    Mutant(
        "backoff: a failure at the very end of a wait begins none",
        "core/queue/backoff.py",
        "if until is not None and until >= now:",
        "if until is not None and until > now:",
        "core/queue",
    ),
    Mutant(
        "heap: an item that becomes better stays",
        "core/queue/backoff.py",
        "        if not self._down(index, len(self._items)):\n            self._up(index)\n",
        "        self._down(index, len(self._items))\n",
        "core/queue",
    ),
    Mutant(
        "base: a move in this very cycle does not count",
        "core/queue/base.py",
        "was_moved = self._move_cycle >= (",
        "was_moved = self._move_cycle > (",
        "core/queue",
    ),
    Mutant(
        "base: a move of no pod is no move",
        "core/queue/base.py",
        "moved no pod.\n        self._move_cycle = self.cycle",
        "moved no pod.\n        self._move_cycle = self.cycle if items else self._move_cycle",
        "core/queue framework/queue",
    ),
    Mutant(
        "framework queue: backoff over at its very end",
        "framework/queue/queue.py",
        "return ends >= self._aligned(now) if self",
        "return ends > self._aligned(now) if self",
        "framework/queue",
    ),
    Mutant(
        "hints: what the pod does not request counts",
        "framework/hints.py",
        "number and before.get(name, 0) > after",
        "before.get(name, 0) > after",
        "framework/hints",
    ),
    Mutant(
        "hints: affinity that matched before",
        "framework/hints.py",
        "begins = not _matches_all(wanted, pod, old) and _matches_all(wanted, pod, new)",
        "begins = _matches_all(wanted, pod, new)",
        "framework/hints",
    ),
    Mutant(
        "handlers: equal priority is not moved",
        "framework/queue/eventhandlers.py",
        "lambda pod: pod.priority <= old.priority, old)",
        "lambda pod: pod.priority < old.priority, old)",
        "framework/queue framework/hints framework/facts",
    ),
    Mutant(
        "capacity: no second try after preemption",
        "questions/capacity/answer.py",
        "        for again in run.retries():\n            decision = run.cycle(again, retry=True)\n",
        "",
        "questions/capacity",
    ),
    Mutant(
        "capacity: room without pods",
        "simulation/nodesbyuse.py",
        "{**requests, PODS: 1}",
        "{**requests}",
        "questions/capacity cli/test_capacity.py",
    ),
    Mutant(
        "quantity: negatives rounded toward zero",
        "api/objects/quantity.py",
        "    if number < 0:\n        return number // divisor\n",
        "",
        "api/objects/test_quantity.py",
    ),
    Mutant(
        "quantity: binary amounts do not stop",
        "api/objects/quantity.py",
        "        if abs(nanos) > MAX_INT64 * 10**9:\n            return _make(MAX_INT64 if nanos > 0 else -MAX_INT64, 0, True, style)\n",
        "",
        "api/objects/test_quantity.py",
    ),
    Mutant(
        "labels: Gt is also equal",
        "api/meaning/labels.py",
        '(number > bound if expression.operator == "Gt" else',
        '(number >= bound if expression.operator == "Gt" else',
        "api/meaning",
    ),
    Mutant(
        "labels: fields with several values",
        "api/meaning/labels.py",
        'field.operator not in ("In", "NotIn") or len(field.values) != 1 for',
        'field.operator not in ("In", "NotIn") for',
        "api/meaning test_conformance.py::test_the_cases_kept_here[1.16]",
    ),
    Mutant(
        "extender: limits do not interest it",
        "extenders/extender.py",
        "managed.isdisjoint(found.requests) and managed.isdisjoint(found.limits)",
        "managed.isdisjoint(found.requests)",
        "extenders",
    ),
    Mutant(
        "extender: a host twice counts once",
        "extenders/extender.py",
        "found.get(name, 0) + score * config",
        "score * config",
        "extenders",
    ),
    Mutant(
        "disks: pods of the row are not declared",
        "predicates/nodiskconflict.py",
        '"NoDiskConflict", reads=Reads.PODS,',
        '"NoDiskConflict", reads=Reads.NODE,',
        "test_paths.py",
    ),
    Mutant(
        "selectorspread: services are not declared",
        "priorities/selectorspread.py",
        "reads=Reads.COUNTS | Reads.LISTINGS, key=_key",
        "reads=Reads.COUNTS, key=_key",
        "test_paths.py",
    ),
    Mutant(
        "classes: a counter that moved does not judge again",
        "core/incremental/classes.py",
        "                watch.seen = watch.counter.revision\n                self.is_judged = False",
        "                watch.seen = watch.counter.revision",
        BOARDS,
    ),
    Mutant(
        "classes: a row that moved stays",
        "core/incremental/classes.py",
        "            if now != before:\n                # row goes",
        "            if now != before < 0:\n                # row goes",
        BOARDS,
    ),
    Mutant(
        "classes: the size of what left stays",
        "core/incremental/classes.py",
        "                    size[before] -= 1\n                    self.count -= fits[before]",
        "                    self.count -= fits[before]",
        BOARDS,
    ),
    Mutant(
        "classes: reduce steps do not know how many rows there are",
        "core/incremental/classes.py",
        "ScoresOfClasses(raw, codes, sizes)",
        "ScoresOfClasses(raw, codes, [1] * len(sizes))",
        BOARDS,
    ),
    Mutant(
        "classes: node objects are alike",
        "core/incremental/classes.py",
        "self.of_row, rows = grouped([worth, self._code, *sums], inside)",
        "self.of_row, rows = grouped([worth, *sums], inside)",
        BOARDS,
    ),
    Mutant(
        "classes: no clause refuses",
        "core/incremental/classes.py",
        "            return [at for at in which if not refused[codes[at]]]",
        "            return which",
        BOARDS,
    ),
    Mutant(
        "rows: judged rows are not put right",
        "core/incremental/rows.py",
        "            worth[rows] = now\n",
        "",
        BOARDS,
    ),
    Mutant(
        "lookahead: pods of any size are foreseen",
        "core/incremental/rows.py",
        "if arrival is not size or depth",
        "if arrival is None or depth",
        BOARDS,
    ),
    Mutant(
        "lookahead: another pod on the row does not count",
        "core/incremental/rows.py",
        "                depths[row] = MAX_DEPTH\n                missed",
        "                missed",
        BOARDS,
    ),
    Mutant(
        "answers: node objects stay",
        "core/incremental/answers.py",
        "if answer.still != still or answer.is_restless:",
        "if answer.is_restless:",
        BOARDS,
    ),
    Mutant(
        "answers: a declared one is not followed",
        "core/incremental/answers.py",
        "                        answer.follow()\n                        self._verified",
        "                        self._verified",
        BOARDS,
    ),
    Mutant(
        "answers: pods share them whatever they ask for",
        "core/incremental/answers.py",
        "                template.number if key is template else key,\n",
        "",
        BOARDS,
    ),
    Mutant(
        "answers: a counter that moved is no reason",
        "core/incremental/answers.py",
        "is_behind = answer.is_behind",
        "is_behind = False",
        BOARDS,
    ),
    Mutant(
        "census: a pod that leaves comes once more",
        "core/arrays/census.py",
        "counter.add(row, often * count)",
        "counter.add(row, often * abs(count))",
        BOARDS,
    ),
    Mutant(
        "census: the row of a change is not noted",
        "core/arrays/census.py",
        "        self._moved.append(row)",
        "        self._moved.append(0)",
        BOARDS,
    ),
    Mutant(
        "table: a pod that leaves keeps its requests",
        "core/arrays/table.py",
        "np.subtract(column, amounts, column)",
        "np.subtract(column[:FIRST_RESOURCE], amounts[:FIRST_RESOURCE], column[:FIRST_RESOURCE])",
        BOARDS,
    ),
    Mutant(
        "table: views of sums outlive them",
        "core/arrays/table.py",
        "self.places, self._once = Derived(), Derived()",
        "self.places = Derived()",
        BOARDS,
    ),
    Mutant(
        "table: with one pod all of its priority go",
        "core/arrays/table.py",
        "        if not held:\n            del self.priorities",
        "        if sign < 0:\n            del self.priorities",
        BOARDS,
    ),
    Mutant(
        "trail: a step is lost",
        "core/arrays/trail.py",
        "        self._steps += steps\n",
        "        self._steps += [*steps[:-1], *steps[:1]]\n",
        BOARDS,
    ),
    Mutant(
        "layout: rows are laid out once",
        "core/preemption/layout.py",
        "            self._laid[changed] = False\n",
        "            pass\n",
        f"{BOARDS} core/preemption",
    ),
    Mutant(
        "outcomes: rows that changed are kept",
        "core/preemption/outcomes.py",
        "            self.known[changed] = False",
        "            pass",
        f"{BOARDS} core/preemption",
    ),
)
"""A mutant that no test can find, as it decides alike, is not kept."""


def copied(folder):
    """A copy of the files of the checkout as the package ``kubeclassic`` in *folder*."""
    listed = (
        subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
        .stdout.decode()
        .split("\0")
    )
    copy = folder / "kubeclassic"
    for name in filter(None, listed):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copyfile(ROOT / name, copy / name)
    return copy


def is_found(mutant, copy):
    """Whether the tests of its room fail with *mutant* in *copy*, which is as before afterwards."""
    file = copy / mutant.file
    before = file.read_text(encoding="utf-8")
    file.write_text(before.replace(mutant.text, mutant.fault), encoding="utf-8")
    # All cases that are kept here, and none of the larger data.
    ours = {
        "PYTHONPATH": str(copy.parent),
        "KUBECLASSIC_CONFORMANCE": "full",
        "KUBECLASSIC_SHARED": str(copy / "absent"),
    }
    environment = {**os.environ, **ours}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *(f"tests/{one}" for one in mutant.tests.split()),
    ]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    finally:
        file.write_text(before, encoding="utf-8")
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutant.says}: the tests did not run: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 1


def main(words):
    """Try the mutants that *words* choose; 1 if one is not found."""
    chosen = [one for one in MUTANTS if not words or any(word in f"{one.file}: {one.says}" for word in words)]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        for one in chosen:
            found = is_found(one, copy)
            missed += not found
            sys.stdout.write(f"{'found ' if found else 'MISSED'}  {one.file}: {one.says}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen)} mutants, {missed} not found\n")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
