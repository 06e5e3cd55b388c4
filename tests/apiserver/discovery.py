"""What there is: versions, groups and resources, health."""

from __future__ import annotations

from .answers import Answer, Json, not_allowed, not_served, text
from .resources import Flavour


def answer(method: str, path: str, flavour: Flavour) -> Answer | None:
    """The answer to a question about the server itself; None for other paths."""
    parts = path.strip("/").split("/")
    if parts == ["version"]:
        if method != "GET":
            raise not_allowed()
        return Answer(200, version(flavour))
    if parts[0] in ("healthz", "livez", "readyz"):
        known = parts[0] == "healthz" or not flavour.has_self_link
        return text(200, "ok") if known else text(404, "404 page not found\n")
    if parts == ["api"]:
        return Answer(200, {"kind": "APIVersions", "versions": ["v1"]})
    if parts == ["apis"]:
        groups = [_group(group, flavour) for group in flavour.groups if group]
        return Answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    return _resources(parts, flavour)


def version(flavour: Flavour) -> Json:
    """The body of ``/version``."""
    major, minor, _ = flavour.version.split(".")
    return {"major": major, "minor": minor, "gitVersion": f"v{flavour.version}", "gitTreeState": "clean", "platform": "linux/amd64"}


def _group(group: str, flavour: Flavour) -> Json:
    versions = [{"groupVersion": f"{group}/{each}", "version": each} for each in flavour.groups[group]]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _resources(parts: list[str], flavour: Flavour) -> Answer | None:
    if parts == ["api", "v1"]:
        group, wanted = "", "v1"
    elif len(parts) == 3 and parts[0] == "apis" and parts[1] in flavour.groups:
        group, wanted = parts[1], parts[2]
    else:
        return None
    resources = [resource for resource in flavour.resources if (resource.group, resource.version) == (group, wanted)]
    found = [{"name": one.plural, "namespaced": one.is_namespaced, "kind": one.kind} for one in resources]
    if not found:
        raise not_served()
    head = {"kind": "APIResourceList"} | ({"apiVersion": "v1"} if group else {})
    return Answer(200, {**head, "groupVersion": f"{group}/{wanted}" if group else wanted, "resources": found})
