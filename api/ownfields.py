"""Objects in JSON form: the manifest that they came from, updated with their present values.

An object can differ from its manifest: it got defaults, a node, a nomination. Its own values count, and the
rest stays as it came. And ResourceClaims as the API server takes them, in any version of resource.k8s.io:
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
    """The JSON form of *item*: its manifest, if kept, updated with the object's present values."""
    manifest = item.manifest or {}
    merged: JsonDict = _merged(manifest, decode_kind(item.kind, manifest, strict=False), item)
    merged["metadata"] = {**merged.get("metadata", {}), "name": item.name}
    if item.namespaced:
        merged["metadata"] |= {"namespace": item.namespace, "uid": item.uid}
    if isinstance(item, Pod):
        # What the scheduler itself changes, and may take back.
        merged["spec"] = {**merged.get("spec", {}), "nodeName": item.node_name}
        merged["status"] = {**merged.get("status", {}), "nominatedNodeName": item.status.nominated_node_name}
    return merged


def own_fields(value: Any) -> JsonDict:
    """The fields of an object, or of a part of one, that are not the default."""
    fields: JsonDict = _merged({}, type(value)(), value)
    return fields


def _merged(written: Any, was: Any, now: Any) -> Any:
    """*written*, the JSON form of *was*, changed to that of *now*."""
    if is_value(type(now)):
        was = type(now)() if was is None else was
        fields = dict(written) if isinstance(written, dict) else {}
        names = json_names(type(now))
        for attribute, default in attributes(type(now)).items():
            before = getattr(was, attribute)
            value = getattr(now, attribute)
            name = names[attribute]
            if value == before:
                continue
            if value is None or value == default:
                fields.pop(name, None)
            else:
                fields[name] = _merged(fields.get(name), before, value)
        return fields
    if isinstance(now, tuple):
        # Fields of an item that are not read here stay with the item of the same name, or else of the same
        # place.
        pairs = (
            list(zip(written, was, strict=True))
            if isinstance(written, list) and isinstance(was, tuple) and len(written) == len(was)
            else []
        )
        pair_by_name = {
            previous.name: (item, previous) for item, previous in pairs if getattr(previous, "name", "")
        }
        items = []
        for place, value in enumerate(now):
            item, previous = pair_by_name.get(getattr(value, "name", "")) or (
                pairs[place] if not pair_by_name and place < len(pairs) else (None, None)
            )
            items.append(
                item if previous is not None and previous == value else _merged(item, previous, value)
            )
        return items
    if isinstance(now, dict):
        before = written if isinstance(written, dict) else {}
        same = was if isinstance(was, dict) else {}
        return {
            key: before[key] if key in before and same.get(key) == value else _merged(None, None, value)
            for key, value in now.items()
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

    With *names_requests* the configuration that a class gives to drivers names the requests that it is for.
    """
    status = dict(manifest.get("status") or {})
    old_allocation = status.pop("allocation", None)
    status.pop("reservedFor", None)
    allocation = claim.status.allocation
    if allocation is not None:
        since = allocation.allocation_timestamp
        result = old_allocation
        if result is None:
            # The configuration for drivers from the classes of the chosen requests, and then from the claim.
            devices = manifest.get("spec", {}).get("devices", {})
            result_by_request = {
                device_result.request.partition("/")[0]: device_result.request
                for device_result in allocation.results
            }
            configs: list[JsonDict] = []
            class_and_name = []
            for request in devices.get("requests", ()):
                # The class of the request, or of its chosen alternative.
                name = result_by_request.get(request["name"], "")
                alternatives = {
                    f"{request['name']}/{alternative['name']}": alternative
                    for alternative in request.get("firstAvailable", ())
                }
                exact = alternatives.get(name, request.get("exactly", request))
                class_and_name.append((exact.get("deviceClassName", ""), name or request["name"]))
            names = [name for name, _ in class_and_name]
            for name in dict.fromkeys(names) if names_requests else names:
                requests_field = {}
                if names_requests:
                    requests_field = {
                        "requests": [request for class_name, request in class_and_name if class_name == name]
                    }
                class_configs = classes.get(name, {}).get("spec", {}).get("config", ())
                configs += [{"source": "FromClass", **config, **requests_field} for config in class_configs]
            for config in devices.get("config", ()):
                concerned = set(config.get("requests") or ())
                times = sum(
                    bool({name, result_name} & concerned) for name, result_name in result_by_request.items()
                )
                configs += [{"source": "FromClaim", **config}] * (times if concerned else 1)
            result = own_fields(allocation)
            result["devices"] = {
                "results": [],
                **result.get("devices", {}),
                **({"config": configs} if configs else {}),
            }
        status["allocation"] = {**result, **({"allocationTimestamp": since} if since is not None else {})}
    else:
        status.pop("devices", None)
    users = list(map(own_fields, claim.status.reserved_for))
    return {**manifest, "status": {**status, **({"reservedFor": users} if users else {})}}
