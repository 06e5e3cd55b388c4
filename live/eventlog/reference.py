"""What an event is about, and who takes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import attrs

from ...api.objects import Pod
from ...api.wire.goform import go_form


@attrs.frozen(kw_only=True)
class Reference:
    """An object as events name it."""

    kind: str
    namespace: str
    name: str
    uid: str = ""
    api_version: str = "v1"
    resource_version: str = ""

    def written(self, version: str) -> dict[str, Any]:
        """The reference as JSON, in the form of release *version*."""
        found = {
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "apiVersion": self.api_version,
            "resourceVersion": self.resource_version,
        }
        return go_form("ObjectReference", found, version)


About: TypeAlias = Pod | Reference


def reference(about: About) -> Reference:
    """The reference to *about*."""
    if isinstance(about, Reference):
        return about
    meta = about.metadata
    return Reference(kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid, resource_version=meta.resource_version)


def _nowhere(component: str, about: About, type: str, reason: str, action: str, text: str, related: About | None) -> None:
    """The default: events are lost."""


@attrs.frozen
class Recorder:
    """Takes events in the name of a *component* and gives them to *put*. It never waits and never fails."""

    component: str = ""
    put: Callable[[str, About, str, str, str, str, About | None], None] = _nowhere

    def event(self, about: About, type: str, reason: str, action: str, text: str, related: About | None = None) -> None:
        """Record what happened to *about*.

        *type* is ``Normal`` or ``Warning``. *action* and *related* are sent in the releases that know them.
        """
        self.put(self.component, about, type, reason, action, text, related)
