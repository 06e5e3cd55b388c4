"""Changes of one field of a manifest in words: ``requests.cpu=500m``, ``taints-=x``, ``replicas*=2``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from fractions import Fraction
from typing import Any

from attrs import frozen

from ..api.objects import JsonDict, Quantity
from ..api.reading.formats.yamlvalues import yaml_values
from ..exceptions import KubeclassicError, ManifestError, QuantityError, one_line

LABELS = ("labels", "annotations", "nodeSelector", "matchLabels")
AMOUNTS = ("requests", "limits", "allocatable", "capacity")
FREE_KEYS = frozenset((*LABELS, *AMOUNTS, "parameters", "overhead"))
"""Fields whose keys are anything: all that follows their dot is one key, which may have dots itself."""
OWN_FREE_KEYS = {
    **dict.fromkeys(
        ("CSINode", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass"),
        frozenset(LABELS),
    ),
    "LimitRange": frozenset((*LABELS, "default", "defaultRequest", "max", "maxLimitRequestRatio", "min")),
    "ResourceQuota": FREE_KEYS | {"hard"},
    "RuntimeClass": frozenset((*LABELS, "podFixed")),
    **dict.fromkeys(("Service", "ReplicationController"), FREE_KEYS | {"selector"}),
}
"""Kind -> its fields with free keys, where these are others than :data:`FREE_KEYS`."""
EVERY = "*"
_STEP = re.compile(r"([^.\[\]]+)((?:\[[^\[\]]*\])*)(?:\.|\Z)")
_INSIDE = re.compile(r"\[([^\[\]]*)\]")


class EditError(KubeclassicError):
    """An edit that cannot be read, or that does not fit its objects; the text is one line."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


@frozen
class Step:
    """One step into a manifest: a key of an object, or with *is_item* items of a list: one by name or number,
    or ``*`` for all."""

    name: str
    is_item: bool = False
    is_free: bool = False
    """Whether the key is free, so that its value is a text or an amount."""

    def __str__(self) -> str:
        return f"[{self.name}]" if self.is_item else f".{self.name}"


Path = tuple[Step, ...]


def parse_path(text: str, free: Collection[str] = FREE_KEYS) -> Path:
    """The path in *text*; *free*: the fields whose keys are anything. Raises :class:`EditError`.

    >>> text_of(parse_path("spec.containers[app].resources.requests.nvidia.com/gpu"))
    'spec.containers[app].resources.requests.nvidia.com/gpu'
    >>> len(parse_path("metadata.labels.app.kubernetes.io/name"))
    3
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        if steps and steps[-1].name in free and not (steps[-1].is_item or steps[-1].is_free):
            steps.append(Step(text[at:], is_free=True))
            break
        match = _STEP.match(text, at)
        if match is None:
            steps.clear()
            break
        steps.append(Step(match[1]))
        is_free = match[1] in free
        steps += [
            Step(inside.strip("'\""), is_item=not is_free, is_free=is_free)
            for inside in _INSIDE.findall(match[2])
        ]
        at = match.end()
    if not steps or text.endswith((".", "[]")):
        raise EditError(
            f'expected names with dots between, such as spec.containers[app].image, got the field "{text}"'
        )
    return tuple(steps)


def text_of(path: Path) -> str:
    """*path* as it is written."""
    return "".join(map(str, path)).removeprefix(".")


def changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A copy of *value* with *change* applied at *path*; missing objects on the way are made.

    *change* gets None where nothing is there; if it returns None the key is left out. Raises
    :class:`EditError` if something else than an object or a list is on the way. Parts that are not on the way
    are shared with *value*.
    """
    if not path:
        return change(value)
    step = path[0]
    name = step.name
    rest = path[1:]
    if step.is_item and not isinstance(
        value, dict
    ):  # an object may have keys with dots, which stand in brackets
        if value is not None and not isinstance(value, list):
            raise EditError(f"{step}: expected a list, got it on {_kind_of(value)}")
        items = []
        for number, item in enumerate(value or []):
            if name in (EVERY, str(number)) or (isinstance(item, dict) and item.get("name") == name):
                item = changed(item, rest, change)
            items += [] if item is None else [item]
        return items or None
    if value is not None and not isinstance(value, dict):
        raise EditError(f"{name}: expected an object around it, got it inside {_kind_of(value)}")
    before = value or {}
    after = changed(before.get(name), rest, change)
    if after is None:
        return {key: child for key, child in before.items() if key != name} or None
    return {**before, name: after}


def _kind_of(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return f"the value {value!r}"


# --- fields by kind -----------------------------------------------------------------------------------------

TOP = ("metadata", "spec", "status")
FIXED = (
    "apiVersion",
    "kind",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "name",
    "namespace",
    "uid",
)
"""Fields that say which object it is; they do not change."""
POD_TEMPLATES = {
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"),
        "spec.template.spec",
    ),
    "Pod": "spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
"""Kind -> the path of the spec of its pods."""
OF_PODS = frozenset(
    [
        "affinity",
        "containers",
        "hostNetwork",
        "initContainers",
        "nodeName",
        "nodeSelector",
        "overhead",
        "preemptionPolicy",
        "priority",
        "priorityClassName",
        "resourceClaims",
        "runtimeClassName",
        "schedulerName",
        "schedulingGates",
        "terminationGracePeriodSeconds",
        "tolerations",
        "topologySpreadConstraints",
        "volumes",
    ]
)
"""Fields of the spec of pods."""
OF_NODE_STATUS = frozenset(
    ["allocatable", "capacity", "conditions", "images", "nodeInfo", "volumesAttached", "volumesInUse"]
)
SINGULAR = {name: f"{name}s" for name in ("request", "limit", "label", "annotation", "toleration", "taint")}
"""Short name that lacks its s -> the name to suggest."""
WITHOUT_SPEC = ("StorageClass", "PriorityClass", "RuntimeClass", "CSIStorageCapacity")


def path_for(kind: str, text: str) -> Path:
    """The path that *text* means for objects of *kind*. Raises :class:`EditError`.

    >>> text_of(path_for("Pod", "requests.cpu")), text_of(path_for("Node", "taints")), text_of(path_for("Deployment", "replicas"))
    ('spec.containers[*].resources.requests.cpu', 'spec.taints', 'spec.replicas')
    """
    path = parse_path(text, OWN_FREE_KEYS.get(kind, FREE_KEYS))
    field = path[0].name
    pods = POD_TEMPLATES.get(kind)
    before = "spec"
    if (meant := SINGULAR.get(field)) is not None:
        raise EditError(
            f'expected a field that there is, got "{text}"; did you mean "{meant}{text.removeprefix(field)}"?'
        )
    if field in ("labels", "annotations"):
        before = "metadata"
    elif pods is not None and field in ("requests", "limits"):
        before = f"{pods}.containers[{EVERY}].resources"
    elif pods is not None and field in OF_PODS:
        before = pods
    elif kind == "Node" and field in OF_NODE_STATUS:
        before = "status"
    elif kind == "PersistentVolumeClaim" and field == "requests":
        before = "spec.resources"
    elif field in TOP or field in FIXED or kind in WITHOUT_SPEC:
        before = ""
    whole_path = (*(parse_path(before) if before else ()), *path)
    if text_of(whole_path) in FIXED:
        raise EditError(f'expected another field, got "{text}", which says which object it is')
    return whole_path


# --- taints and tolerations ---------------------------------------------------------------------------------

_SHORT = re.compile(r"(?P<key>[^=:{\s]+)(?:=(?P<value>[^:]*))?(?::(?P<effect>\w*))?")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def keyed_item(field: str, text: str) -> JsonDict | None:
    """The taint or toleration in *text*; None for another *field*, or where *text* is YAML. Raises
    :class:`EditError`.

    >>> keyed_item("taints", "dedicated=gpu:NoSchedule")
    {'key': 'dedicated', 'value': 'gpu', 'effect': 'NoSchedule'}
    >>> keyed_item("tolerations", "dedicated")
    {'key': 'dedicated', 'operator': 'Exists'}
    """
    if field not in ("taints", "tolerations") or text.lstrip().startswith("{"):
        return None
    if field == "tolerations" and text == "*":
        return {"operator": "Exists"}
    key, value, effect = _parts(field, text)
    if field == "taints":
        if not effect:
            raise EditError(f'expected KEY:EFFECT or KEY=VALUE:EFFECT, got the taint "{text}"')
        return {"key": key, **({"value": value} if value else {}), "effect": effect}
    operator = {"operator": "Exists"} if value is None else {"operator": "Equal", "value": value}
    return {"key": key, **operator, **({"effect": effect} if effect else {})}


def _parts(field: str, text: str) -> tuple[str, str | None, str]:
    match = _SHORT.fullmatch(text)
    effect = (match["effect"] or "") if match else ""
    if match is None or (effect and effect not in EFFECTS):
        raise EditError(
            f'{field}: expected KEY, KEY=VALUE or KEY=VALUE:EFFECT, EFFECT one of {", ".join(EFFECTS)}, got "{text}"'
        )
    return match["key"], match["value"], effect


# --- changes ------------------------------------------------------------------------------------------------

ADD = "+="
TIMES = "*="
REMOVE = "-"
_WRITTEN = re.compile(r"([^=]*?[^=+*-])(\+=|-=|\*=|=)(.*)", re.DOTALL)
_FACTOR = re.compile(r"\s*[-+\d._/]{1,40}(e[-+]?\d{1,2})?\s*", re.IGNORECASE)
_NANO = 10**9


@frozen
class FieldChange:
    """One change: at *path*, by *operator*, with the text *value*."""

    path: Path
    operator: str
    value: str

    @classmethod
    def parse(cls, kind: str, text: str) -> FieldChange:
        """The change in *text* for objects of *kind*. Raises :class:`EditError`.

        >>> texts = ("requests.cpu*=0.5", "labels.pool=a=b", "nodeSelector.pool-")
        >>> [(change.operator, change.value) for change in (FieldChange.parse("Pod", text) for text in texts)]
        [('*=', '0.5'), ('=', 'a=b'), ('-', '')]
        """
        match = _WRITTEN.fullmatch(text)
        if match is not None:
            return cls(path_for(kind, match[1]), match[2], match[3])
        if text.endswith(REMOVE) and len(text) > 1 and "=" not in text:
            return cls(path_for(kind, text[:-1]), REMOVE, "")
        raise EditError(
            f'expected FIELD=VALUE, FIELD+=VALUE, FIELD-=VALUE, FIELD*=NUMBER or FIELD-, got the change "{text}"'
        )

    def made(self, manifest: JsonDict) -> JsonDict:
        """A copy of *manifest* with the change. Raises :class:`EditError`."""
        try:
            after: JsonDict = changed(manifest, self.path, self._at)
        except EditError as error:
            raise EditError(f"{text_of(self.path)}: {error}") from None
        return after

    def _at(self, before: Any) -> Any:
        name = self.path[-1].name
        value = self.value
        if self.operator == "=":  # a free key has a text, whatever it looks like
            return value if self.path[-1].is_free else read_value(value)
        if self.operator == ADD:
            if before is None or isinstance(before, list):
                return [*(before or []), keyed_item(name, value) or read_value(value)]
            added = read_value(value)
            if isinstance(before, dict) and isinstance(added, dict):
                return {**before, **added}
            raise EditError("got += where there is neither a list nor an object")
        if before is None or self.operator == REMOVE:
            return None
        if self.operator == TIMES:
            try:
                times = Fraction(value if _FACTOR.fullmatch(value) else "")
            except (ValueError, ZeroDivisionError):
                raise EditError(f'expected a number such as 0.5, got the factor "{value}"') from None
            if times < 0:
                raise EditError(f'expected a number of 0 or more, got the factor "{value}"')
            try:
                exact = Quantity.parse(before).nanos * times
            except QuantityError as error:
                raise EditError(f"it is no number: {error}") from None
            if isinstance(before, int):
                return -int(-exact // _NANO)
            milli = -int(-exact // 10**6)
            return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"
        if isinstance(before, dict):
            return {key: child for key, child in before.items() if key != value} or None
        if not isinstance(before, list):
            raise EditError("got -= where there is neither a list nor an object")
        if name in ("taints", "tolerations") and not value.lstrip().startswith("{"):
            # Leave out items with the key, and with the value and effect if the text has them.
            key, taint_value, effect = _parts(name, value)
            remaining = [
                item
                for item in before
                if not isinstance(item, dict)
                or key not in ("*", item.get("key"))
                or taint_value not in (None, item.get("value") or "")
                or effect not in ("", item.get("effect"))
            ]
        else:
            meant = read_value(value)
            keys = ("name", "key", "topologyKey")
            remaining = [
                item
                for item in before
                if item != meant and not (isinstance(item, dict) and meant in map(item.get, keys))
            ]
        return remaining or None


def read_value(text: str) -> Any:
    """The value of *text* as YAML: a number, true, a text, ``[a, b]``, ``{key: value}``. Raises
    :class:`EditError`."""
    try:
        values = [value for value, _ in yaml_values(text, "value")]
    except ManifestError:
        values = [None, None]
    if len(values) > 1:
        raise EditError(f'expected YAML, got the value "{text}"')
    return values[0] if values else None
