"""The API server as a pure, synchronous function: a request in, a status, headers and JSON out, or a watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

import attrs

from . import discovery, reads, writes
from .answers import Answer, ApiFault, Object, fault, not_allowed, not_served, text
from .call import Call
from .forms import SYSTEM_CLASSES, stored_form, with_defaults
from .resources import OLD_SERVER, Flavour, Resource
from .storage import Storage

VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")

Permits = Callable[[str, str, Resource, str], bool]
"""(user, verb, resource, subresource) -> whether that is allowed."""


@attrs.define
class Store:
    """A whole API server of one version, with nothing in it but the namespaces and priority classes that every cluster has."""

    flavour: Flavour = OLD_SERVER
    storage: Storage = attrs.field(factory=Storage)
    users: Mapping[str, str] | None = None
    """Token -> user; another token is 401. None: nobody is asked for one."""
    permits: Permits = lambda user, verb, resource, subresource: True
    """What a user may do; else 403. Asked only where there are users."""

    def __attrs_post_init__(self) -> None:
        for name in NAMESPACES:
            self._begin("namespaces", {"metadata": {"name": name}})
        for name, value in SYSTEM_CLASSES.items():
            self._begin("priorityclasses", {"metadata": {"name": name}, "value": value})

    def _begin(self, plural: str, item: Object) -> None:
        resource, storage = self.flavour.resource(plural), self.storage
        metadata = {"uid": storage.uid(), "creationTimestamp": storage.now(), **item["metadata"]}
        new = with_defaults(resource.kind, {**item, "metadata": metadata}, self.flavour, storage)
        storage.put(resource, stored_form(resource, new, self.flavour))

    def handle(self, method: str, path: str, query: str = "", body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """The answer to a request. *query* is encoded; the names of *headers* are in lower case."""
        try:
            return self._handle(method, path, query, body, headers or {})
        except ApiFault as error:
            return error.answer

    def _handle(self, method: str, path: str, query: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        user = self._user(headers)
        if (found := discovery.answer(method, path, self.flavour)) is not None:
            return found
        if (call := self._call(method, path, query, body, headers)) is None:
            return text(404, "404 page not found\n")
        verb = self._verb(call)
        self._check_permission(call, verb, user)
        if not call.resource.kind:  # Upstream: whoever may not read a resource does not learn that it is not there.
            raise not_served()
        return self._answer(call, verb, headers)

    # --- who --------------------------------------------------------------------------------------------------------

    def _user(self, headers: Mapping[str, str]) -> str:
        given = headers.get("authorization")
        if self.users is None or given is None:
            return "system:anonymous"
        token = given.removeprefix("Bearer ")
        if token not in self.users:
            raise fault(401, "Unauthorized", "Unauthorized")
        return self.users[token]

    def _check_permission(self, call: Call, verb: str, user: str) -> None:
        resource, name = call.resource, _named(call)
        if self.users is None or self.permits(user, verb, resource, call.subresource):
            return
        whole = f"{resource.plural}/{call.subresource}" if call.subresource else resource.plural
        where = f'in the namespace "{call.namespace}"' if call.namespace else "at the cluster scope"
        what = f'User "{user}" cannot {verb} resource "{whole}" in API group "{resource.group}" {where}'
        named = f'{resource.qualified} "{name}"' if name else resource.qualified
        details = resource.details(name)
        raise fault(403, "Forbidden", f"{named} is forbidden: {what}", details, x_content_type_options="nosniff")

    # --- what -------------------------------------------------------------------------------------------------------

    def _call(self, method: str, path: str, query: str, body: bytes, headers: Mapping[str, str]) -> Call | None:
        """The request for a resource that a path means; None for no path of an API that is there."""
        parts = path.strip("/").split("/")
        if parts[0] == "api" and len(parts) > 2:
            group, version, rest = "", parts[1], parts[2:]
        elif parts[0] == "apis" and len(parts) > 3:
            group, version, rest = parts[1], parts[2], parts[3:]
        else:
            return None
        if group not in self.flavour.groups:
            return None
        asked = dict(parse_qsl(query, keep_blank_values=True))
        if rest[0] == "watch" and len(rest) > 1:
            rest, asked["watch"] = rest[1:], "true"
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
            namespace, rest = rest[1], rest[2:]
        plural, name, subresource = (*rest, "", "")[:3]
        if plural == "bindings":
            plural, subresource = "pods", "binding"
        resource = self.flavour.by_path.get((group, version, plural)) or Resource(group, version, plural, "")
        kind = headers.get("content-type", "").partition(";")[0]
        return Call(method, resource, namespace, name, subresource, asked, body, kind, self.storage, self.flavour)

    def _verb(self, call: Call) -> str:
        if call.method not in VERBS:
            raise not_allowed()
        verb = VERBS[call.method]
        if call.name:
            return "watch" if verb == "get" and call.query.get("watch") in ("true", "1") else verb
        return verb if verb != "get" else "watch" if call.query.get("watch") in ("true", "1") else "list"

    def _answer(self, call: Call, verb: str, headers: Mapping[str, str]) -> Answer:
        if call.subresource == "binding":
            if verb != "create":
                raise not_allowed()
            return writes.bind(call)
        if call.subresource not in ("", "status"):
            raise not_served()
        if (verb in ("update", "patch", "delete") and not call.name) or (verb == "create" and call.name):
            raise not_allowed()
        return _ANSWERS[verb](call)


def _named(call: Call) -> str:
    """The name of the object that is meant. Upstream: a field selector for one name counts as well."""
    field, _, value = call.query.get("fieldSelector", "").partition("=")
    return call.name or (value if field == "metadata.name" else "")


_ANSWERS: Mapping[str, Callable[[Call], Answer]] = {
    "get": reads.get,
    "list": reads.list_,
    "watch": reads.watch,
    "create": writes.create,
    "update": writes.update,
    "patch": writes.patch,
    "delete": writes.delete,
}
