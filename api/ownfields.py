"""Objects in JSON form: the manifest that they came from, with all that they say otherwise now.

An object can differ from its manifest: it got defaults, a node, a nomination. What it says itself counts, and
the rest stays as it came. And ResourceClaims as the API server takes them, in any version of resource.k8s.io:
these fields are the same in all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .objects import (
    JsonDict,
    JsonObject,
    KubeObject,
    Pod,
    Quantity,
    ResourceClaim,
    attributes,
    is_value,
    json_names,
)
from .reading import decode_kind


def compact_json(value: Any) -> bytes:
    """*value* as JSON without spaces, in ASCII: halves of surrogate pairs are no UTF-8."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def current_manifest(item: KubeObject) -> JsonDict:
    """The JSON form of *item*: its manifest, if it kept that, with all that the object says otherwise."""
    given = item.manifest or {}
    written: JsonDict = _merged(given, decode_kind(item.kind, given, strict=False), item)
    written["metadata"] = {**written.get("metadata", {}), "name": item.name}
    if item.namespaced:
        written["metadata"] |= {"namespace": item.namespace, "uid": item.uid}
    if isinstance(item, Pod):
        # What the scheduler itself changes, and may take back.
        written["spec"] = {**written.get("spec", {}), "nodeName": item.node_name}
        written["status"] = {
            **written.get("status", {}),
            "nominatedNodeName": item.status.nominated_node_name,
        }
    return written


def own_fields(value: Any) -> JsonDict:
    """The fields of an object, or of a part of one, that are not the default."""
    found: JsonDict = _merged({}, type(value)(), value)
    return found


def _merged(given: Any, was: Any, now: Any) -> Any:
    """*given*, which said *was*, as it has to be to say *now*."""
    if is_value(type(now)):
        was = type(now)() if was is None else was
        written = dict(given) if isinstance(given, dict) else {}
        names = json_names(type(now))
        for attribute, default in attributes(type(now)).items():
            before = getattr(was, attribute)
            held = getattr(now, attribute)
            name = names[attribute]
            if held == before:
                continue
            if held is None or held == default:
                written.pop(name, None)
            else:
                written[name] = _merged(written.get(name), before, held)
        return written
    if isinstance(now, tuple):
        # What an item says that is not read here stays with the one of its name, or else of its place.
        pairs = (
            list(zip(given, was, strict=True))
            if isinstance(given, list) and isinstance(was, tuple) and len(given) == len(was)
            else []
        )
        named = {one.name: (item, one) for item, one in pairs if getattr(one, "name", "")}
        items = []
        for place, held in enumerate(now):
            item, one = named.get(getattr(held, "name", "")) or (
                pairs[place] if not named and place < len(pairs) else (None, None)
            )
            items.append(item if one is not None and one == held else _merged(item, one, held))
        return items
    if isinstance(now, dict):
        before = given if isinstance(given, dict) else {}
        same = was if isinstance(was, dict) else {}
        return {
            key: before[key] if key in before and same.get(key) == held else _merged(None, None, held)
            for key, held in now.items()
        }
    return str(now) if isinstance(now, Quantity) else now


# --- claims to devices --------------------------------------------------------------------------------------

NO_CLASSES: Mapping[str, JsonObject] = {}


def with_finalizers(manifest: JsonObject, claim: ResourceClaim) -> JsonDict:
    """The claim of *manifest* with the finalizers of *claim*: for an update of the claim itself, which comes
    before that of its status."""
    return {
        **manifest,
        "metadata": {**manifest.get("metadata", {}), "finalizers": list(claim.metadata.finalizers)},
    }


def with_status(
    manifest: JsonObject,
    claim: ResourceClaim,
    classes: Mapping[str, JsonObject] = NO_CLASSES,
    names_requests: bool = False,
) -> JsonDict:
    """The claim of *manifest* with the devices and users of *claim*: for an update of its status. *classes*:
    manifests, by name.

    With *names_requests* what a class tells drivers names the requests that it is for.
    """
    status = dict(manifest.get("status") or {})
    before = status.pop("allocation", None)
    status.pop("reservedFor", None)
    allocation = claim.status.allocation
    if allocation is not None:
        since = allocation.allocation_timestamp
        made = before
        if made is None:
            # What the classes of the requests that were chosen tell drivers, and then what the claim does.
            devices = manifest.get("spec", {}).get("devices", {})
            chosen = {one.request.partition("/")[0]: one.request for one in allocation.results}
            found: list[JsonDict] = []
            asked = []
            for one in devices.get("requests", ()):
                # Its class, or that of the alternative of it that was chosen.
                name = chosen.get(one["name"], "")
                alternatives = {
                    f"{one['name']}/{other['name']}": other for other in one.get("firstAvailable", ())
                }
                asked_for = alternatives.get(name, one.get("exactly", one))
                asked.append((asked_for.get("deviceClassName", ""), name or one["name"]))
            names = [name for name, _ in asked]
            for name in dict.fromkeys(names) if names_requests else names:
                named = {}
                if names_requests:
                    named = {"requests": [request for other, request in asked if other == name]}
                told = classes.get(name, {}).get("spec", {}).get("config", ())
                found += [{"source": "FromClass", **one, **named} for one in told]
            for one in devices.get("config", ()):
                concerned = set(one.get("requests") or ())
                times = sum(bool({name, whole} & concerned) for name, whole in chosen.items())
                found += [{"source": "FromClaim", **one}] * (times if concerned else 1)
            made = own_fields(allocation)
            made["devices"] = {
                "results": [],
                **made.get("devices", {}),
                **({"config": found} if found else {}),
            }
        status["allocation"] = {**made, **({"allocationTimestamp": since} if since is not None else {})}
    else:
        status.pop("devices", None)
    users = list(map(own_fields, claim.status.reserved_for))
    return {**manifest, "status": {**status, **({"reservedFor": users} if users else {})}}
