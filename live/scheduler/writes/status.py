"""Changes of a pod's status: the condition PodScheduled, the nomination, and the patch between two statuses.

Upstream: UpdatePodCondition in pkg/api/v1/pod/util.go, PatchPodStatus in pkg/scheduler/util/utils.go, and CreateTwoWayMergePatch in
k8s.io/apimachinery.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ....api.objects import Pod
from ....api.wire.goform import go_form
from .api import ApiError, ClusterApi, Json, may_pass

MERGE_KEYS: Mapping[str, str] = {"conditions": "type", "podIPs": "ip"}
"""List -> the field that identifies its entries; other lists are replaced whole."""
PATCH_TRIES, FIRST_PATCH_PAUSE, PATCH_PAUSE_FACTOR = 4, 0.01, 5.0
COMPARED = ("status", "reason", "message", "lastProbeTime", "lastTransitionTime")


@attrs.frozen(kw_only=True)
class NewCondition:
    """A condition that is to be in a status. Times are in the API's form."""

    type: str = "PodScheduled"
    status: str = "False"
    reason: str
    message: str = ""
    probed: str | None = None
    """Its lastProbeTime."""

    def form(self, since: str | None) -> Json:
        """As JSON; *since*: when its status was another one."""
        found: Json = {"type": self.type, "status": self.status, "lastProbeTime": self.probed, "lastTransitionTime": since}
        return found | {"reason": self.reason, "message": self.message}


def with_condition(status: Mapping[str, Any], condition: NewCondition, now: str) -> Json | None:
    """*status* with *condition* in the place of one of its type, else at the end; None if this changes nothing."""
    conditions = list(status.get("conditions") or [])
    place = next((i for i, one in enumerate(conditions) if one.get("type") == condition.type), None)
    if place is None:
        return {**status, "conditions": [*conditions, condition.form(now)]}
    old = conditions[place]
    since = old.get("lastTransitionTime") if old.get("status") == condition.status else now
    made = condition.form(since)
    if all((old.get(field) or None) == (made[field] or None) for field in COMPARED):
        return None
    conditions[place] = made
    return {**status, "conditions": conditions}


def with_nomination(status: Mapping[str, Any], node_name: str) -> Json:
    """*status* with another nominated node; the empty name removes it."""
    found = {key: value for key, value in status.items() if key != "nominatedNodeName"}
    return found | ({"nominatedNodeName": node_name} if node_name else {})


def status_patch(before: Mapping[str, Any], after: Mapping[str, Any], version: str) -> Json:
    """The strategic merge patch from one status to another; empty if they are the same. Fields are in order of name."""
    old, new = (go_form("PodStatus", status, version) for status in (before, after))
    changed = _difference(old, new)
    return {"status": changed} if changed else {}


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> Json:
    found: Json = {}
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if before == after and (key in old) == (key in new):
            continue
        if key in MERGE_KEYS and key in old and key in new:
            found |= _merged(key, before or [], after or [])
        elif isinstance(before, dict) and isinstance(after, dict):
            found[key] = _difference(before, after)
        else:
            found[key] = _sorted(after)
    return {key: found[key] for key in sorted(found)}


def _merged(name: str, before: Sequence[Json], after: Sequence[Json]) -> Json:
    """A list whose entries are merged by a key: those that changed or came, those that went, and the order of all."""
    key = MERGE_KEYS[name]
    old = {one[key]: one for one in before}
    changed = [_sorted({**_difference(old.get(one[key], {}), one), key: one[key]}) for one in after if one != old.get(one[key])]
    kept = {one[key] for one in after}
    gone = sorted((one[key] for one in before if one[key] not in kept), key=str)
    order = [{key: one[key]} for one in after]
    return {f"$setElementOrder/{name}": order, name: [*changed, *({"$patch": "delete", key: value} for value in gone)]}


def _sorted(value: Any) -> Any:
    """*value* with the fields of each object in order of name, as Go writes a map."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value


async def patch_status(api: ClusterApi, pod: Pod, patch: Json) -> None:
    """Send a patch, unless it is empty; what may pass is tried again, four times in all. Raises :class:`~.api.ApiError`."""
    pause = FIRST_PATCH_PAUSE
    for left in reversed(range(PATCH_TRIES if patch else 0)):
        try:
            await api.patch_status(pod, patch)
            return
        except ApiError as error:
            if not may_pass(error) or not left:
                raise
        await asyncio.sleep(pause)
        pause *= PATCH_PAUSE_FACTOR
