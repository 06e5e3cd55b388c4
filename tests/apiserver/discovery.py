"""What there is: versions, groups and resources, health."""

from __future__ import annotations

from .answers import Answer, Json, not_served, text
from .resources import Flavour


def answer(method: str, path: str, flavour: Flavour) -> Answer | None:
    """The answer to a question about the server itself; None for other paths."""
    parts = path.strip("/").split("/")
    if parts == ["version"]:
        return Answer(200, version(flavour))
    if parts[0] in ("healthz", "livez", "readyz"):
        return text(200, "ok")
    return _resources(parts, flavour)


def version(flavour: Flavour) -> Json:
    """The body of ``/version``."""
    major, minor, _ = flavour.version.split(".")
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{flavour.version}",
        "gitTreeState": "clean",
        "platform": "linux/amd64",
    }


def _resources(parts: list[str], flavour: Flavour) -> Answer | None:
    if len(parts) == 3 and parts[0] == "apis" and parts[1] in flavour.groups:
        group = parts[1]
        wanted = parts[2]
    else:
        return None
    resources = [
        resource for resource in flavour.resources if (resource.group, resource.version) == (group, wanted)
    ]
    found = [{"name": one.plural, "namespaced": one.is_namespaced, "kind": one.kind} for one in resources]
    if not found:
        raise not_served()
    return Answer(
        200,
        {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{group}/{wanted}",
            "resources": found,
        },
    )
