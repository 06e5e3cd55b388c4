"""The API server as a pure, synchronous function: a request in, a status, headers and JSON out, or a
watch."""

import base64
import json
import re
from functools import partial
from urllib.parse import parse_qsl

import attrs

from .answers import Answer, ApiFault, bad_request, fault, not_allowed, not_served, status_body, success, text
from .forms import (
    SYSTEM_CLASSES,
    decoded,
    frozen_spec,
    invalid,
    merge_patch,
    stored_form,
    strategic_patch,
    with_defaults,
)
from .resources import OLD_SERVER, Resource
from .storage import Storage, Watch, event

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


@attrs.define
class Store:
    """A whole API server of one version, with nothing in it but the namespaces and priority classes that
    every cluster has."""

    flavour: object = OLD_SERVER
    storage: Storage = attrs.field(factory=Storage)

    def __attrs_post_init__(self):
        storage = self.storage
        given = [("namespaces", {"metadata": {"name": name}}) for name in NAMESPACES]
        given += [
            ("priorityclasses", {"metadata": {"name": name}, "value": value})
            for name, value in SYSTEM_CLASSES.items()
        ]
        for plural, item in given:
            resource = self.flavour.resource(plural)
            item["metadata"] |= {"uid": storage.uid(), "creationTimestamp": storage.now()}
            storage.put(
                resource,
                stored_form(
                    resource, with_defaults(resource.kind, item, self.flavour, storage), self.flavour
                ),
            )

    def handle(self, method, path, query="", body=b"", headers=None):
        """The answer to a request. *query* is encoded; the names of *headers* are in lower case."""
        parts = path.strip("/").split("/")
        try:
            if (found := self._about_the_server(parts)) is not None:
                return found
            call = self._call(method, parts, query, body, headers or {})
            if call is None:
                return text(404, "404 page not found\n")
            if not call.resource.kind:
                raise not_served()
            if call.subresource == "binding":
                return bind(call)
            verb = "GET watch" if method == "GET" and call.query.get("watch") == "true" else method
            # A collection is listed, watched and added to; an object is read, changed and deleted.
            if call.subresource not in ("", "status") or (
                method != "GET" and (method == "POST") == bool(call.name)
            ):
                raise not_allowed()
            return VERBS["GET list" if verb == "GET" and not call.name else verb](call)
        except ApiFault as error:
            return error.answer

    def _about_the_server(self, parts):
        flavour = self.flavour
        if parts == ["version"]:
            major, minor, _ = flavour.version.split(".")
            named = {"gitVersion": f"v{flavour.version}", "gitTreeState": "clean", "platform": "linux/amd64"}
            return Answer(200, {"major": major, "minor": minor, **named})
        if parts[0] in ("healthz", "livez", "readyz"):
            return text(200, "ok")
        if len(parts) != 3 or parts[0] != "apis" or parts[1] not in flavour.groups:
            return None
        resources = [one for one in flavour.resources if [one.group, one.version] == parts[1:]]
        found = [{"name": one.plural, "namespaced": one.is_namespaced, "kind": one.kind} for one in resources]
        if not found:
            raise not_served()
        return Answer(
            200,
            {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": "/".join(parts[1:]),
                "resources": found,
            },
        )

    def _call(self, method, parts, query, body, headers):
        """The request for a resource that a path means; None for no path of an API that is there."""
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
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
            namespace = rest[1]
            rest = rest[2:]
        plural, name, subresource = (*rest, "", "")[:3]
        if plural == "bindings":
            plural = "pods"
            subresource = "binding"
        resource = self.flavour.by_path.get((group, version, plural)) or Resource(group, version, plural, "")
        asked = dict(parse_qsl(query, keep_blank_values=True))
        kind = headers.get("content-type", "").partition(";")[0]
        return Call(resource, namespace, name, subresource, asked, body, kind, self.storage, self.flavour)


@attrs.frozen(slots=False)
class Call:
    """A request for a resource, of which the path is understood."""

    resource: Resource
    namespace: str
    name: str
    subresource: str
    query: dict
    body: bytes
    content_type: str
    storage: Storage
    flavour: object

    @property
    def key(self):
        """Namespace and name of the object."""
        return self.namespace, self.name

    def stored(self):
        """The object that is meant; 404 if it is not there."""
        found = self.storage.of(self.resource.plural).get(self.key)
        return found if found is not None else self.missing(self.name)

    def missing(self, name):
        """404 for an object of the resource."""
        raise fault(
            404, "NotFound", f'{self.resource.qualified} "{name}" not found', self.resource.details(name)
        )

    def conflict(self, name, why, kind=None):
        """409 for an object of the resource."""
        message = f'Operation cannot be fulfilled on {kind or self.resource.qualified} "{name}": {why}'
        raise fault(409, "Conflict", message, self.resource.details(name, kind))

    def given(self):
        """The object in the body, in the stored form of its API."""
        item = decoded(self.body, self.resource)
        return {
            **item,
            "metadata": {
                **(item.get("metadata") or {}),
                **({"namespace": self.namespace} if self.namespace else {}),
            },
        }

    def given_json(self):
        """The body as it is; an empty one is None."""
        return json.loads(self.body) if self.body.strip() else None

    def answer(self, status, item):
        """An answer with a stored object."""
        if self.subresource and self.flavour.has_self_link:
            item = {
                **item,
                "metadata": {
                    **item["metadata"],
                    "selfLink": f"{item['metadata']['selfLink']}/{self.subresource}",
                },
            }
        return Answer(status, item)

    @property
    def revision(self):
        """``resourceVersion`` of the query; None without one."""
        version = self.query.get("resourceVersion", "")
        return int(version) if version else None


# --- get, list ----------------------------------------------------------------------------------------------

_FIELDS = {
    "Event": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "source",
        "type",
        "reportingComponent",
    ),
    "Node": ("spec.unschedulable",),
    "Namespace": ("status.phase",),
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
}
"""Kind -> the field labels that it has besides the name and the namespace."""
LOST_WATCH = "The resourceVersion for the provided watch is too old."
LOST_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token "
    "results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and "
    "now may show up in the list."
)


def selector(call):
    """The test of the field selector; None where it is empty. An unknown field is a 400; no scheduler sends
    labels."""
    tests = [
        re.split(r"(!=|==|=)", part, maxsplit=1)
        for part in call.query.get("fieldSelector", "").split(",")
        if part
    ]
    for path, _, _ in tests:
        if path not in ("metadata.name", "metadata.namespace", *_FIELDS.get(call.resource.kind, ())):
            raise bad_request(f"field label not supported: {path}")

    def matches(item):
        for path, operator, value in tests:
            found = item
            for step in path.split("."):
                found = found.get(step, "") if isinstance(found, dict) else ""
            written = str(found).lower() if isinstance(found, bool) else str(found or "")
            if (written == value) == (operator == "!="):
                return False
        return True

    return matches if tests else None


def list_(call):
    """The objects that the selector chooses, a page of them with ``limit``."""
    matches = selector(call)
    storage = call.storage
    resource = call.resource
    limit = int(call.query.get("limit") or 0)
    revision = call.revision
    start = ("", "")
    if token := call.query.get("continue"):
        revision, start = _continued(call, token)
    elif not revision:
        # Upstream: the watch cache, which answers revision 0, knows no pages.
        limit = 0 if revision == 0 and resource.is_cached else limit
        revision = None
    elif not limit:
        revision = None
    objects = storage.of(resource.plural) if revision is None else storage.at(resource.plural, revision)
    keys = sorted(key for key in objects if not call.namespace or key[0] == call.namespace)
    keys = [key for key in keys if key > start and (matches is None or matches(objects[key]))]
    page = keys[:limit] if limit else keys
    shown = storage.revision if revision is None else revision
    metadata = {"resourceVersion": str(shown)}
    if call.flavour.has_self_link:
        metadata["selfLink"] = resource.path(call.namespace)
    if len(page) < len(keys):
        namespace, name = page[-1]
        # Upstream: the next page begins just behind the last key, which stands below the path of the list.
        metadata["continue"] = _token(
            shown, f"{namespace}/{name}\0" if namespace and not call.namespace else f"{name}\0"
        )
        if call.flavour.counts_remaining and matches is None:
            metadata["remainingItemCount"] = len(keys) - len(page)
    # Upstream: an object stands in a list without its kind and API version.
    items = [
        {key: part for key, part in objects[at].items() if key not in ("kind", "apiVersion")} for at in page
    ]
    return Answer(
        200,
        {
            "kind": f"{resource.kind}List",
            "apiVersion": resource.api_version,
            "metadata": metadata,
            "items": items,
        },
    )


def _token(revision, start):
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _continued(call, token):
    """Revision and key of a continue token; 410 with a fresh one if its revision is compacted."""
    found = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    revision = int(found["rv"])
    start = str(found["start"])
    if 0 <= revision < call.storage.compacted:
        raise fault(410, "Expired", LOST_CONTINUE, metadata={"continue": _token(-1, start)})
    namespace, _, name = start.removesuffix("\0").rpartition("/")
    return None if revision < 0 else revision, (namespace or call.namespace, name)


# --- watch --------------------------------------------------------------------------------------------------


def watch(call):
    """A watch from a revision on; without one, or from 0, the present objects come first. Too old is an ERROR
    event, status 200."""
    matches = selector(call)
    revision = call.revision
    storage = call.storage
    resource = call.resource
    watches = storage.watches.setdefault(resource.plural, [])
    found = Watch(
        namespace=call.namespace,
        matches=matches,
        api_version=resource.api_version,
        after=revision or 0,
        has_bookmarks=call.query.get("allowWatchBookmarks") == "true" and resource.is_cached,
        timeout=float(call.query["timeoutSeconds"]) if call.query.get("timeoutSeconds") else None,
        bookmark=partial(_bookmark, call),
        leave=lambda watch: watches.remove(watch) if watch in watches else None,
    )
    oldest = max(storage.cache_start, storage.compacted) if resource.is_cached else storage.compacted
    if revision and revision < oldest:
        # Upstream: the watch cache and etcd say it differently.
        reason = call.flavour.too_old_reason
        message = f"too old resource version: {revision} ({oldest})"
        lost = (
            status_body(410, reason, message)
            if resource.is_cached
            else status_body(410, "Expired", LOST_WATCH)
        )
        found.send(event("ERROR", lost))
        found.close()
        return Answer(200, watch=found)
    if revision:
        for change in reversed(
            [change for change in storage.since(revision) if change.plural == resource.plural]
        ):
            found.offer(change)
    else:
        for key, item in list(storage.of(resource.plural).items()):
            if call.namespace in ("", key[0]) and (matches is None or matches(item)):
                found.send(event("ADDED", item))
    watches.append(found)
    return Answer(200, watch=found)


def _bookmark(call):
    """An object with nothing but the present revision."""
    metadata = {"resourceVersion": str(call.storage.revision), "creationTimestamp": None}
    return event(
        "BOOKMARK",
        {"kind": call.resource.kind, "apiVersion": call.resource.api_version, "metadata": metadata},
    )


# --- delete -------------------------------------------------------------------------------------------------


def delete(call):
    """One object: it goes at once, or waits for its grace period or its finalizers."""
    options = call.given_json() or {}
    old = call.stored()
    storage = call.storage
    metadata = old["metadata"]
    if call.resource.kind != "Pod":
        if metadata.get("finalizers"):
            return call.answer(200, old if "deletionTimestamp" in metadata else _marked(call, old, 0))
        storage.remove(call.resource, old)
        return success(200, {**call.resource.details(call.name), "uid": metadata["uid"]})
    given = options.get("gracePeriodSeconds")
    before = metadata.get("deletionGracePeriodSeconds")
    if before is not None and (given is None or given >= before):
        return call.answer(200, old)
    if before is not None:
        period = given
    elif not old["spec"].get("nodeName") or old["status"].get("phase") in ("Succeeded", "Failed"):
        period = 0
    else:
        period = int(old["spec"].get("terminationGracePeriodSeconds", 30) if given is None else given)
    # Upstream: it is marked first even if it goes at once, so its watchers see MODIFIED, then DELETED.
    new = _marked(call, old, period)
    if is_finished(new):
        last = storage.remove(call.resource, new)
        return call.answer(200, last if call.flavour.shows_removal else new)
    return call.answer(200, new)


def is_finished(item):
    """Whether an object that is being deleted has nothing left to wait for."""
    metadata = item["metadata"]
    return "deletionTimestamp" in metadata and not (
        metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
    )


def _marked(call, old, period):
    mark = {"deletionTimestamp": call.storage.now(period), "deletionGracePeriodSeconds": period}
    return call.storage.put(call.resource, {**old, "metadata": {**old["metadata"], **mark}})


# --- create, update, patch ----------------------------------------------------------------------------------

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
PATCHES = {
    "application/merge-patch+json": merge_patch,
    "application/strategic-merge-patch+json": strategic_patch,
}
KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
"""Metadata that no update changes."""


def create(call):
    """A new object; 409 if there is one of its name."""
    given = call.given()
    storage = call.storage
    resource = call.resource
    metadata = given["metadata"]
    metadata |= {"uid": storage.uid(), "creationTimestamp": storage.now()}
    metadata.pop("resourceVersion", None)
    new = stored_form(resource, with_defaults(resource.kind, given, call.flavour, storage), call.flavour)
    if (call.namespace, metadata["name"]) in storage.of(resource.plural):
        message = f'{resource.qualified} "{metadata["name"]}" already exists'
        raise fault(409, "AlreadyExists", message, resource.details(metadata["name"]))
    return call.answer(201, storage.put(resource, new))


def update(call):
    """PUT: the object as it is given, but for what is not the client's to change."""
    given = call.given()
    uid = given["metadata"].get("uid")
    if uid and call.key not in call.storage.of(call.resource.plural):
        # Upstream: the UID is compared first, so an object that is missing is a 409 if a UID is given.
        _check_preconditions(call, {"metadata": {"uid": ""}}, {"uid": uid})
    return _updated(call, call.stored(), given)


def patch(call):
    """PATCH: merge patch or strategic merge patch, by the content type."""
    old = call.stored()
    if call.content_type not in PATCHES:
        raise fault(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return _updated(call, old, PATCHES[call.content_type](old, call.given_json()))


def _updated(call, old, given):
    """*given* in place of *old*, after all checks; what changes nothing keeps its revision."""
    _check_preconditions(call, old, given["metadata"])
    was = old["metadata"]
    metadata = {key: part for key, part in given["metadata"].items() if key not in KEPT}
    metadata |= {key: was[key] for key in KEPT if key in was} | {"resourceVersion": was["resourceVersion"]}
    found = {**given, "metadata": metadata}
    if call.subresource == "status":
        found["spec"] = old.get("spec")
    elif call.resource.has_status:
        found["status"] = old.get("status")
    if "generation" in was and found.get("spec") != old.get("spec"):
        metadata["generation"] = was["generation"] + 1
    new = stored_form(call.resource, found, call.flavour)
    if call.resource.kind == "Pod" and frozen_spec(old["spec"]) != frozen_spec(new["spec"]):
        raise invalid(
            call.resource, was["name"], "pod updates may not change other fields than images and tolerations"
        )
    if new == old:
        return call.answer(200, new)
    if is_finished(new):
        # Upstream: the answer lacks the finalizer but has the old revision; watchers see the object with its
        # finalizer.
        call.storage.remove(call.resource, old)
        return call.answer(200, new)
    return call.answer(200, call.storage.put(call.resource, new))


def _check_preconditions(call, old, given):
    uid = given.get("uid")
    version = given.get("resourceVersion")
    if uid and uid != old["metadata"]["uid"]:
        call.conflict(
            call.name,
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old['metadata']['uid']}",
        )
    if not version and call.resource.needs_version:
        raise invalid(call.resource, call.name, "metadata.resourceVersion must be specified for an update")
    if version and version != old["metadata"]["resourceVersion"]:
        call.conflict(call.name, MODIFIED)


# --- binding ------------------------------------------------------------------------------------------------


def bind(call):
    """POST of a Binding: to the pod's subresource, or to the collection of bindings."""
    binding = call.given_json() or {}
    metadata = binding.get("metadata") or {}
    target = binding.get("target") or {}
    name = metadata.get("name", "")
    pod = call.storage.of("pods").get((call.namespace, name))
    if pod is None:
        call.missing(name)
    if call.flavour.checks_binding:
        _check_preconditions(
            call, pod, {key: metadata[key] for key in ("uid", "resourceVersion") if metadata.get(key)}
        )
    if "deletionTimestamp" in pod["metadata"]:
        call.conflict(name, f"pod {name} is being deleted, cannot be assigned to a host", "pods/binding")
    if pod["spec"].get("nodeName"):
        call.conflict(
            name, f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"', "pods/binding"
        )
    if pod["spec"].get("schedulingGates"):
        call.conflict(name, f"pod {name} has non-empty .spec.schedulingGates", "pods/binding")
    # Upstream: labels of the Binding are left aside.
    new = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": call.storage.now(),
    }
    conditions = [
        new if each["type"] == "PodScheduled" else each for each in pod["status"].get("conditions") or ()
    ]
    if new not in conditions:
        conditions.append(new)
    spec = {**pod["spec"], "nodeName": target["name"]}
    status = {**pod["status"], "conditions": conditions}
    call.storage.put(call.resource, {**pod, "spec": spec, "status": status})
    return success(201)


VERBS = {
    "GET": lambda call: call.answer(200, call.stored()),
    "GET list": list_,
    "GET watch": watch,
    "POST": create,
    "PUT": update,
    "PATCH": patch,
    "DELETE": delete,
}
