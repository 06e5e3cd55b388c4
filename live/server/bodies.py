"""The bodies of an extender's calls and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

from attrs import frozen

from ...api.objects import JsonDict, JsonObject, Pod
from ...api.reading import decode_kind, shown
from ...core.decision import Victims
from ...exceptions import KubeclassicError, ManifestError

T = TypeVar("T")
BAD_REQUEST = 400
TOO_LARGE = 413
UNPROCESSABLE = 422
MOST_VALUES = 4_000_000
"""About how many values a body may have, since many small ones take far more memory than the body; 5,000
nodes have half as many."""


class RequestError(KubeclassicError):
    """A request that cannot be answered: its HTTP *status*, *where* it is wrong, the value there, and the
    expected one."""

    def __init__(self, where: str, got: str, wanted: str, status: int = BAD_REQUEST) -> None:
        super().__init__(f"{where}: expected {wanted}, got {got}")
        self.where = where
        self.got = got
        self.wanted = wanted
        self.status = status

    def record(self) -> dict[str, str]:
        """As plain data."""
        return {"error": str(self), "where": self.where, "got": self.got, "wanted": self.wanted}


@frozen
class NodesAsked:
    """The nodes that a request is about: by name, or as objects in JSON form with their names."""

    names: Sequence[str]
    field: str
    """The field of the request that has them."""
    manifests: Sequence[JsonObject] | None = None


@frozen
class BindingArgs:
    """A call of bind."""

    name: str
    namespace: str
    uid: str
    node: str

    @property
    def key(self) -> str:
        """The pod's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"


# --- calls --------------------------------------------------------------------------------------------------


def extender_args(body: bytes) -> tuple[Pod, NodesAsked]:
    """The pod and the nodes of a call of filter or prioritize. This and the others raise
    :class:`RequestError`."""
    fields = _fields(read_json(body), ("Pod", "Nodes", "NodeNames"), "body")
    nodes = fields.get("Nodes")
    names = fields.get("NodeNames")
    if (nodes is None) == (names is None):
        raise RequestError(
            "body", "neither Nodes nor NodeNames" if nodes is None else "Nodes and NodeNames", "one of them"
        )
    if nodes is None:
        for i, name in enumerate(_checked(names, "NodeNames", list)):
            if type(name) is not str:
                raise RequestError(f"NodeNames[{i}]", shown(name), "the name of a node")
        return _pod(fields), NodesAsked(names or (), "NodeNames")
    listed = _fields(nodes, ("items",), "Nodes").get("items")
    node_names = list[str]()
    for i, manifest in enumerate(_checked([] if listed is None else listed, "Nodes.items", list)):
        place = f"Nodes.items[{i}]"
        metadata = _checked(manifest, place, dict).get("metadata")
        name = metadata.get("name") if isinstance(metadata, Mapping) else None
        if not isinstance(name, str) or not name:
            raise RequestError(
                f"{place}.metadata.name", "nothing" if name is None else shown(name), "the name of a node"
            )
        node_names.append(name)
    return _pod(fields), NodesAsked(node_names, "Nodes.items", listed or ())


def preemption_args(body: bytes) -> tuple[Pod, NodesAsked, Mapping[str, Sequence[str]]]:
    """The pod and the nodes of a call of preemption; and node -> the UIDs of the pods that are to leave it.

    A pod without one is known by ``namespace/name``. Of both forms of victims the one that is not empty
    counts.
    """
    forms = ("NodeNameToVictims", "NodeNameToMetaVictims")
    fields = _fields(read_json(body), ("Pod", *forms), "body")
    if all(fields.get(form) is None for form in forms):
        raise RequestError("body", f"neither {' nor '.join(forms)}", "one of them")
    form = next((form for form in forms if fields.get(form)), forms[0])
    victims = {
        name: list(_uids(pods, f"{form}[{shown(name)}]", are_whole=form == forms[0]))
        for name, pods in _checked(fields.get(form) or {}, form, dict).items()
    }
    return _pod(fields), NodesAsked(list(victims), form), victims


def binding_args(body: bytes) -> BindingArgs:
    """The call of bind in *body*."""
    names = ("PodName", "PodNamespace", "PodUID", "Node")
    fields = _fields(read_json(body), names, "body")
    name, namespace, uid, node = (_checked(fields.get(name) or "", name, str) for name in names)
    for value, field in ((name, "PodName"), (node, "Node")):
        if not value:
            raise RequestError(field, "nothing", "a name")
    return BindingArgs(name, namespace or "default", uid, node)


# --- parts --------------------------------------------------------------------------------------------------


def read_json(body: bytes) -> Any:
    """The JSON value in *body*."""
    if not body.strip():
        raise RequestError("body", "nothing", "a JSON object")
    if sum(map(body.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise RequestError("body", "more", f"at most {MOST_VALUES:,} values", TOO_LARGE)

    def refuse(text: str) -> NoReturn:
        raise ValueError(f"{text} is no JSON")

    try:
        return json.loads(body, parse_constant=refuse)
    except RecursionError:
        raise RequestError(
            "body", "JSON that is nested too deeply", "the JSON of an extender's call"
        ) from None
    except json.JSONDecodeError as error:
        place = f"body, line {error.lineno}, column {error.colno}"
        raise RequestError(place, f"no JSON ({error.msg})", "a JSON object") from None
    except ValueError as error:
        raise RequestError("body", f"no JSON ({error})", "a JSON object in UTF-8") from None


def _fields(value: Any, names: Sequence[str], where: str) -> JsonDict:
    """The fields of an object by their names in *names*, whatever their case is there; others are ignored,
    the last one counts."""
    by_lower_name = {name.lower(): name for name in names}
    pairs = ((by_lower_name.get(key.lower()), item) for key, item in _checked(value, where, dict).items())
    return {name: item for name, item in pairs if name is not None}


_WANTED: Mapping[type, str] = {dict: "an object", list: "a list", str: "a string"}


def _checked(value: Any, where: str, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise RequestError(where, shown(value), _WANTED[kind])
    return value


def _pod(fields: JsonObject) -> Pod:
    manifest = fields.get("Pod")
    if not isinstance(manifest, Mapping):
        raise RequestError("Pod", "nothing" if manifest is None else shown(manifest), "a Pod")
    pod = read_object("Pod", manifest, "Pod")
    assert isinstance(pod, Pod)
    return pod


def read_object(kind: str, manifest: JsonObject, where: str) -> Any:
    """The object of *kind* in *manifest*, which needs a name."""
    try:
        item = decode_kind(kind, manifest, where, strict=False)
    except ManifestError as error:
        # Its text is like ``Pod: spec.containers: expected a list, got 3``.
        place, _, rest = str(error).removeprefix(f"{where}: ").partition(": expected ")
        expected, _, value = rest.rpartition(", got ")
        raise RequestError(f"{where}.{place}", value, expected) from None
    if item is None or not item.metadata.name:
        raise RequestError(f"{where}.metadata.name", "nothing", f"the name of a {kind}")
    return item


def _uids(value: Any, where: str, *, are_whole: bool) -> Iterator[str]:
    """The UIDs of victims, which the request has as whole pods or as UIDs alone."""
    pods = _fields({} if value is None else value, ("Pods",), where).get("Pods")
    for i, pod in enumerate(_checked([] if pods is None else pods, f"{where}.Pods", list)):
        place = f"{where}.Pods[{i}]"
        if are_whole:
            yield read_object("Pod", _checked(pod, place, dict), place).uid
        else:
            yield _checked(_fields(pod, ("UID",), place).get("UID"), f"{place}.UID", str)


# --- answers ------------------------------------------------------------------------------------------------


def filter_result(
    nodes: NodesAsked,
    fitting: Sequence[int] = (),
    failed: Mapping[str, str] = MappingProxyType({}),
    unresolvable: Mapping[str, str] = MappingProxyType({}),
    error: str = "",
) -> JsonDict:
    """An ExtenderFilterResult in the form of the request: the places of *nodes* that fit; node -> why it does
    not.

    Nodes that cannot be helped are in both maps: older schedulers read the first only, and newer ones let the
    second count.
    """
    manifests = nodes.manifests
    return {
        "Nodes": None if manifests is None else {"metadata": {}, "items": [manifests[i] for i in fitting]},
        "NodeNames": [nodes.names[i] for i in fitting] if manifests is None else None,
        "FailedNodes": dict(failed),
        "FailedAndUnresolvableNodes": dict(unresolvable),
        "Error": error,
    }


def preemption_result(candidates: Mapping[str, Victims], unknown: Mapping[str, Sequence[str]]) -> JsonDict:
    """An ExtenderPreemptionResult; *unknown*: node -> the UIDs in the request that are not on it, which stay
    in the answer."""
    uids = {
        name: [*(pod.uid for pod in victims.pods), *unknown.get(name, ())]
        for name, victims in candidates.items()
    }
    pods = {name: [{"UID": uid} for uid in pod_uids] for name, pod_uids in uids.items()}
    return {
        "NodeNameToMetaVictims": {
            name: {"Pods": pods[name], "NumPDBViolations": victims.violations}
            for name, victims in candidates.items()
        }
    }
