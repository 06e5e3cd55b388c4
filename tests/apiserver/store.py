"""The API server as a pure, synchronous function: a request in, a status, headers and JSON out, or a watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

import attrs

from . import discovery, reads, writes
from .answers import Answer, ApiFault, Object, not_allowed, not_served, text
from .call import Call
from .forms import SYSTEM_CLASSES, stored_form, with_defaults
from .resources import OLD_SERVER, Flavour, Resource
from .storage import Storage

VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


@attrs.define
class Store:
    """A whole API server of one version, with nothing in it but the namespaces and priority classes that
    every cluster has."""

    flavour: Flavour = OLD_SERVER
    storage: Storage = attrs.field(factory=Storage)

    def __attrs_post_init__(self) -> None:
        for name in NAMESPACES:
            self._begin("namespaces", {"metadata": {"name": name}})
        for name, value in SYSTEM_CLASSES.items():
            self._begin("priorityclasses", {"metadata": {"name": name}, "value": value})

    def _begin(self, plural: str, item: Object) -> None:
        resource = self.flavour.resource(plural)
        storage = self.storage
        metadata = {"uid": storage.uid(), "creationTimestamp": storage.now(), **item["metadata"]}
        new = with_defaults(resource.kind, {**item, "metadata": metadata}, self.flavour, storage)
        storage.put(resource, stored_form(resource, new, self.flavour))

    def handle(
        self,
        method: str,
        path: str,
        query: str = "",
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer to a request. *query* is encoded; the names of *headers* are in lower case."""
        try:
            return self._handle(method, path, query, body, headers or {})
        except ApiFault as error:
            return error.answer

    def _handle(self, method: str, path: str, query: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        if (found := discovery.answer(method, path, self.flavour)) is not None:
            return found
        if (call := self._call(method, path, query, body, headers)) is None:
            return text(404, "404 page not found\n")
        if not call.resource.kind:
            raise not_served()
        return self._answer(call, self._verb(call))

    # --- what -----------------------------------------------------------------------------------------------

    def _call(
        self, method: str, path: str, query: str, body: bytes, headers: Mapping[str, str]
    ) -> Call | None:
        """The request for a resource that a path means; None for no path of an API that is there."""
        parts = path.strip("/").split("/")
        if parts[0] == "api" and len(parts) > 2:
            group = ""
            version = parts[1]
            rest = parts[2:]
        elif parts[0] == "apis" and len(parts) > 3:
            group = parts[1]
            version = parts[2]
            rest = parts[3:]
        else:
            return None
        if group not in self.flavour.groups:
            return None
        asked = dict(parse_qsl(query, keep_blank_values=True))
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
            namespace = rest[1]
            rest = rest[2:]
        plural, name, subresource = (*rest, "", "")[:3]
        if plural == "bindings":
            plural = "pods"
            subresource = "binding"
        resource = self.flavour.by_path.get((group, version, plural)) or Resource(group, version, plural, "")
        kind = headers.get("content-type", "").partition(";")[0]
        return Call(
            method, resource, namespace, name, subresource, asked, body, kind, self.storage, self.flavour
        )

    def _verb(self, call: Call) -> str:
        if call.method != "GET":
            return VERBS[call.method]
        return "watch" if call.query.get("watch") == "true" else "get" if call.name else "list"

    def _answer(self, call: Call, verb: str) -> Answer:
        if call.subresource == "binding":
            return writes.bind(call)
        if call.subresource not in ("", "status") or (
            verb in VERBS.values() and (verb == "create") == bool(call.name)
        ):
            raise not_allowed()
        return _ANSWERS[verb](call)


_ANSWERS: Mapping[str, Callable[[Call], Answer]] = {
    "get": reads.get,
    "list": reads.list_,
    "watch": reads.watch,
    "create": writes.create,
    "update": writes.update,
    "patch": writes.patch,
    "delete": writes.delete,
}
