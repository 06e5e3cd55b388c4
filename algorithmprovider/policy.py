"""A Policy: a user's own choice of rules. Reads its JSON form and validates it as upstream does.

Upstream: pkg/scheduler/api/v1/types.go, pkg/scheduler/api/validation ValidatePolicy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import field
from msgspec.structs import astuple

from ..api.objects import MAX_INT64, JsonObject, Part
from ..api.reading import Document, Mismatch, ReadBy, fields_of, read, shown, unknown_fields
from ..core.release import Release
from ..exceptions import PolicyError
from ..priorities.rule import MAX_PRIORITY
from .extenders import OF_POLICIES, ExtenderConfig, faults

MAX_WEIGHT = MAX_INT64 // MAX_PRIORITY
"""Weights are below this."""
_EXTENDERS = "extenders["
"""What paths in extenders begin with: these are read leniently by all releases."""


# --- predicates ---------------------------------------------------------------------------------------------


class ServiceAffinity(Part):
    """Pods of a service stay where these node labels have one value."""

    labels: tuple[str, ...] = ()


class LabelsPresence(Part):
    """Nodes must have all of these labels, or none."""

    labels: tuple[str, ...] = ()
    presence: bool = False


class PredicateArgument(Part):
    """The argument of a predicate; one of the two is given."""

    service_affinity: ServiceAffinity | None = None
    labels_presence: LabelsPresence | None = None


class PredicateEntry(Part):
    """One item of ``predicates``."""

    name: str = ""
    argument: PredicateArgument | None = None


# --- priorities ---------------------------------------------------------------------------------------------


class ServiceAntiAffinity(Part):
    """Pods of a service are spread over the values of this node label."""

    label: str = ""


class LabelPreference(Part):
    """Nodes with this label are preferred, or those without."""

    label: str = ""
    presence: bool = False


class UtilizationPoint(Part):
    """A point of a broken line from utilization in percent to a score."""

    utilization: int = 0
    score: int = 0


class ResourceWeight(Part):
    """A resource that counts, and how much."""

    name: str = ""
    weight: int = 0


class RatioArguments(Part):
    """The desired utilization of a node: ``requestedToCapacityRatioArguments``."""

    shape: tuple[UtilizationPoint, ...] = ()
    resources: tuple[ResourceWeight, ...] = ()


class PriorityArgument(Part):
    """The argument of a priority; one of the three is given."""

    service_anti_affinity: ServiceAntiAffinity | None = None
    label_preference: LabelPreference | None = None
    ratio: RatioArguments | None = field(default=None, name="requestedToCapacityRatioArguments")


class PriorityEntry(Part):
    """One item of ``priorities``."""

    name: str = ""
    weight: int = 0
    argument: PriorityArgument | None = None


# --- the Policy ---------------------------------------------------------------------------------------------


OLD_VERSION = "v1"
NEW_VERSION = "kubescheduler.config.k8s.io/v1"
"""The versions of the API that a Policy may name; the newer one came with 1.17."""


class Policy(Part):
    """A Policy as it was written; None for lists that are absent or null, which mean the DefaultProvider's."""

    kind: str = ""
    api_version: str = ""
    predicates: tuple[PredicateEntry, ...] | None = None
    priorities: tuple[PriorityEntry, ...] | None = None
    extenders: Annotated[tuple[ExtenderConfig, ...], ReadBy(OF_POLICIES)] = ()
    hard_pod_affinity_weight: int = field(default=0, name="hardPodAffinitySymmetricWeight")
    """hardPodAffinitySymmetricWeight; 0 leaves the component configuration's."""
    always_check_all: bool = field(default=False, name="alwaysCheckAllPredicates")


class WrittenPolicy(Policy):
    """A Policy with what not every release takes of how it was written."""

    unknown: tuple[str, ...] = ()
    """The paths of keys that are not read, misspelled or in the wrong case."""
    repeated: tuple[str, ...] = ()
    """Those of keys that are given twice."""
    is_yaml: bool = False


def read_policy(document: Document | JsonObject) -> Policy:
    """The Policy that *document*, or its JSON form, describes; a document without an apiVersion is an empty
    one.

    :func:`decoded` says what a release makes of how it is written. Raises
    :class:`~kubeclassic.exceptions.PolicyError`, ``invalid policy: ...`` with the path to the wrong field.
    """
    if isinstance(document, Document):
        given = document
    else:
        given = Document({"apiVersion": OLD_VERSION, **document}, "")
    # Upstream: without an apiVersion it is decoded as the type of its own, which has no names in JSON.
    is_empty = not given.data.get("apiVersion")
    try:
        policy = read(Policy, {"kind": given.data.get("kind")} if is_empty else given.data)
    except Mismatch as mismatch:
        raise PolicyError(f"invalid policy: {mismatch}") from None
    kind = policy.kind or "Policy"
    version = policy.api_version or OLD_VERSION
    if kind != "Policy" or version not in (OLD_VERSION, NEW_VERSION):
        raise PolicyError(_unregistered(kind, version))
    unread = given.data.keys() - {"kind", "apiVersion"} if is_empty else unknown_keys(given.data)
    # Upstream: what decodes strictly reads the keys in the order of their names.
    unknown = tuple(sorted(unread, key=lambda path: path.partition("[")[0]))
    if not (unknown or given.repeated or given.is_yaml or is_empty):
        return policy
    return WrittenPolicy(**_fields(policy), unknown=unknown, repeated=given.repeated, is_yaml=given.is_yaml)


def decoded(policy: Policy, release: Release) -> Policy:
    """*policy* as *release* decodes it: what it takes of it.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with the first of :func:`faults_of_form`.
    """
    for path, text in faults_of_form(policy, release):
        raise PolicyError(
            f"invalid policy: strict decoder error: {path}: {text}" if path else f"invalid policy: {text}"
        )
    return Policy(**_fields(policy))


def _fields(policy: Policy) -> dict[str, Any]:
    return {name: getattr(policy, name) for name in Policy.__struct_fields__}


def faults_of_form(policy: Policy, release: Release) -> Iterator[tuple[str, str]]:
    """Faults of form of *policy* that *release* refuses: paths, empty for the whole, and texts."""
    if not isinstance(policy, WrittenPolicy):
        return
    if policy.is_yaml and release.policy_form == "JSON":
        yield (
            "",
            "couldn't get version/kind; json parse error: expected JSON, got YAML: Policies in YAML came with 1.15",
        )
    if release.policy_form == "strict":
        for path in policy.repeated:
            yield path, f'key "{_key(path)}" already set in map'
        for path in policy.unknown:
            if not path.startswith(_EXTENDERS):
                yield path, f"found unknown field: {_key(path)}"


def notes_on_form(policy: Policy | None, release: Release) -> Iterator[str]:
    """Parts of *policy* that *release* takes and ignores, in sentences."""
    if not isinstance(policy, WrittenPolicy):
        return
    if not policy.api_version:
        yield f"the Policy has no apiVersion, so that {release.version} reads an empty one: the default provider's rules run"
    for path in policy.unknown if policy.api_version else ():
        yield unread_field(path, release, "Policy")
    for path in policy.repeated:
        yield f"{path} of the Policy is given twice: the last one counts"


def unread_field(path: str, release: Release, of: str = "configuration") -> str:
    """A sentence that says that the field at *path* is ignored."""
    return f"{path} of the {of} does not count: {release.version} does not read the field"


def _key(path: str) -> str:
    return path.rpartition(".")[2]


def _unregistered(kind: str, version: str) -> str:
    return f"invalid policy: no kind {shown(kind)} is registered for version {shown(version)}"


NEW_VERSION_REFUSED = _unregistered("Policy", NEW_VERSION)
"""What releases up to 1.16 say of a Policy in that version."""


def validate(policy: Policy, release: Release) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` with everything that upstream's validation finds, in
    one text."""
    if policy.api_version == NEW_VERSION:
        raise PolicyError(NEW_VERSION_REFUSED)
    found = [
        f"Priority {entry.name} should have a positive weight applied to it or it has overflown"
        for entry in policy.priorities or ()
        if not 0 < entry.weight < MAX_WEIGHT
    ]
    found += faults(policy.extenders)
    if found:
        raise PolicyError(release.error_joiner(found))


def check_arguments(
    entry: PredicateEntry | PriorityEntry,
    wanted: str = "Exactly 1 {kind} argument is required, numArgs: {number}, {Kind}: {name}",
) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError`, in the words of *wanted*, for an argument that is
    not of exactly one kind."""
    number = sum(kind is not None for kind in astuple(entry.argument)) if entry.argument is not None else 1
    if number == 1:
        return
    kind, whole = (
        ("priority", f"{entry.name} {entry.weight}")
        if isinstance(entry, PriorityEntry)
        else ("predicate", entry.name)
    )
    # Upstream: the whole entry is printed, and its argument as an address.
    raise PolicyError(
        wanted.format(kind=kind, Kind=kind.title(), number=number, name=entry.name, entry=whole)
    )


def unknown_keys(document: JsonObject) -> Iterator[str]:
    """The paths of unread keys of a Policy's JSON form, misspelled or in the wrong case; in extenders any
    case is right."""
    yield from unknown_fields(document, fields_of(Policy))
    yield from unknown_fields(
        document.get("extenders"), fields_of(ExtenderConfig), "extenders", any_case=True
    )
