"""A Policy: a user's own choice of rules, as it is read and validated, and the algorithm that follows.

Upstream: pkg/scheduler/api/v1/types.go, pkg/scheduler/api/validation ValidatePolicy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, TypeVar

import attrs
from msgspec import field
from msgspec.structs import astuple

from ..api.objects import MAX_INT64, JsonObject, Part
from ..api.reading import Document, Mismatch, ReadBy, fields_of, read, shown, unknown_fields
from ..core.cycle import Algorithm, Predicate, Priority
from ..core.release import GateEffect, Gates, Release
from ..exceptions import PolicyError, did_you_mean
from ..predicates.checknodelabelpresence import node_label_presence
from ..predicates.checkserviceaffinity import service_affinity
from ..predicates.rule import metadata_fails
from ..priorities.nodelabel import node_label
from ..priorities.requestedtocapacityratio import requested_to_capacity_ratio_of
from ..priorities.rule import MAX_PRIORITY
from ..priorities.serviceantiaffinity import service_anti_affinity
from .catalogue import CATALOGUE, Catalogue, check_name
from .extenders import OF_POLICIES, ExtenderConfig, faults, ignored_resources, in_calling_order
from .gates import GivenGates, resolved_gates

MAX_WEIGHT = MAX_INT64 // MAX_PRIORITY
"""Weights are below this."""
_EXTENDERS = "extenders["
"""The beginning of paths in extenders, which all releases read leniently."""


# --- predicates ---------------------------------------------------------------------------------------------


class ServiceAffinity(Part):
    """Pods of a service stay on nodes with equal values of these node labels."""

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
    """A resource and its weight."""

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
    """A Policy as it was written; None for lists that are absent or null, which mean the
    DefaultProvider's."""

    kind: str = ""
    api_version: str = ""
    predicates: tuple[PredicateEntry, ...] | None = None
    priorities: tuple[PriorityEntry, ...] | None = None
    extenders: Annotated[tuple[ExtenderConfig, ...], ReadBy(OF_POLICIES)] = ()
    hard_pod_affinity_weight: int = field(default=0, name="hardPodAffinitySymmetricWeight")
    """hardPodAffinitySymmetricWeight; 0 leaves the component configuration's."""
    always_check_all: bool = field(default=False, name="alwaysCheckAllPredicates")


class WrittenPolicy(Policy):
    """A Policy with those oddities of its text that not every release accepts."""

    unknown: tuple[str, ...] = ()
    """The paths of keys that are not read: misspelled, or in the wrong case."""
    repeated: tuple[str, ...] = ()
    """The paths of keys that are given twice."""
    is_yaml: bool = False


def read_policy(document: Document | JsonObject) -> Policy:
    """The Policy that *document*, or its JSON form, describes; a document without an apiVersion is an empty
    one.

    Whether a release accepts its form is checked by :func:`decoded`. Raises
    :class:`~kubeclassic.exceptions.PolicyError`, ``invalid policy: ...`` with the path to the wrong field.
    """
    if isinstance(document, Document):
        source = document
    else:
        source = Document({"apiVersion": OLD_VERSION, **document}, "")
    # Upstream: without an apiVersion it is decoded as the internal type, whose fields have no names in JSON.
    is_empty = not source.data.get("apiVersion")
    try:
        policy = read(Policy, {"kind": source.data.get("kind")} if is_empty else source.data)
    except Mismatch as mismatch:
        raise PolicyError(f"invalid policy: {mismatch}") from None
    kind = policy.kind or "Policy"
    version = policy.api_version or OLD_VERSION
    if kind != "Policy" or version not in (OLD_VERSION, NEW_VERSION):
        raise PolicyError(_unregistered(kind, version))
    unread = source.data.keys() - {"kind", "apiVersion"} if is_empty else unknown_keys(source.data)
    # Upstream: strict decoding reads the keys in the order of their names.
    unknown = tuple(sorted(unread, key=lambda path: path.partition("[")[0]))
    if not (unknown or source.repeated or source.is_yaml or is_empty):
        return policy
    return WrittenPolicy(**_fields(policy), unknown=unknown, repeated=source.repeated, is_yaml=source.is_yaml)


def decoded(policy: Policy, release: Release) -> Policy:
    """*policy* as *release* decodes it, with the fields that the release reads.

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
    """Sentences on the parts of *policy* that *release* accepts but ignores."""
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
"""The refusal of a Policy in that version by releases up to 1.16."""


def validate(policy: Policy, release: Release) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` with everything that upstream's validation finds, in
    one text."""
    if policy.api_version == NEW_VERSION:
        raise PolicyError(NEW_VERSION_REFUSED)
    texts = [
        f"Priority {entry.name} should have a positive weight applied to it or it has overflown"
        for entry in policy.priorities or ()
        if not 0 < entry.weight < MAX_WEIGHT
    ]
    texts += faults(policy.extenders)
    if texts:
        raise PolicyError(release.error_joiner(texts))


def check_arguments(
    entry: PredicateEntry | PriorityEntry,
    form: str = "Exactly 1 {kind} argument is required, numArgs: {number}, {Kind}: {name}",
) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError`, in the words of *form*, for an argument that is
    not of exactly one kind."""
    number = sum(kind is not None for kind in astuple(entry.argument)) if entry.argument is not None else 1
    if number == 1:
        return
    kind, entry_text = (
        ("priority", f"{entry.name} {entry.weight}")
        if isinstance(entry, PriorityEntry)
        else ("predicate", entry.name)
    )
    # Upstream: the whole entry is printed, and its argument as an address.
    raise PolicyError(
        form.format(kind=kind, Kind=kind.title(), number=number, name=entry.name, entry=entry_text)
    )


def unknown_keys(document: JsonObject) -> Iterator[str]:
    """The paths of unread keys of a Policy's JSON form, misspelled or in the wrong case; in extenders any
    case is right."""
    yield from unknown_fields(document, fields_of(Policy))
    yield from unknown_fields(
        document.get("extenders"), fields_of(ExtenderConfig), "extenders", any_case=True
    )


# --- From a release, its gates and a Policy or a provider to the algorithm ----------------------------------
# Upstream: CreateFromProvider, CreateFromConfig and CreateFromKeys in pkg/scheduler/factory/factory.go;
# RegisterCustomFitPredicate and RegisterCustomPriorityFunction in pkg/scheduler/factory/plugins.go.


# --- registry -----------------------------------------------------------------------------------------------

# The names that may be used: those of a release with its gates, with the functions of a catalogue. One
# registry is made for each configuration and dropped afterwards. Upstream keeps a single one for the whole
# process, and a Policy changes it permanently.

R = TypeVar("R", Predicate, Priority)
DEFAULT_PROVIDER = "DefaultProvider"
PROVIDERS: Mapping[str, Mapping[str, str]] = {
    DEFAULT_PROVIDER: {},
    "ClusterAutoscalerProvider": {"LeastRequestedPriority": "MostRequestedPriority"},
}
"""The providers, each with the priorities that replace default ones."""


@attrs.define(kw_only=True, repr=False)
class Registry:
    """Everything that is registered: functions by name, the providers' sets, and what is mandatory."""

    release: Release
    predicates: dict[str, Predicate]
    priorities: dict[str, Callable[[], Priority]]
    weights: dict[str, int]
    """Weights of priorities."""
    mandatory: tuple[str, ...]
    default_predicates: list[str]
    default_priorities: list[str]

    @classmethod
    def of(cls, release: Release, gates: Gates, catalogue: Catalogue) -> Registry:
        """The rules that *release* registers with *gates*, and those that a user added to *catalogue*."""
        on = [effect for effect in release.gate_effects if gates[effect.gate]]
        priorities = [*release.priorities, *_priorities_of(on), *catalogue.added_priorities]
        predicates = [*_with_effects(release.predicates, on), *catalogue.added_predicates]
        return cls(
            release=release,
            predicates={
                name: _rule_of(catalogue.predicates, name, release.texts["predicate"]) for name in predicates
            },
            priorities={
                name: _constant(_rule_of(catalogue.priorities, name, release.texts["priority"]))
                for name in priorities
            },
            weights={
                **dict.fromkeys(priorities, 1),
                **release.default_priorities,
                **catalogue.added_priorities,
            },
            mandatory=next(
                (effect.mandatory for effect in on if effect.mandatory is not None),
                release.mandatory_predicates,
            ),
            default_predicates=[
                *_with_effects(release.default_predicates, on, adding=True),
                *catalogue.added_predicates,
            ],
            default_priorities=[
                *release.default_priorities,
                *_priorities_of(on, adding=True),
                *catalogue.added_priorities,
            ],
        )

    def provider(self, name: str) -> tuple[list[str], list[str]]:
        """The predicates and priorities of the provider *name*; raises
        :class:`~kubeclassic.exceptions.PolicyError` if there is none."""
        if not isinstance(name, str) or name not in PROVIDERS:
            raise PolicyError(f'plugin "{name}" has not been registered')
        replacements = PROVIDERS[name]
        return self.default_predicates, [
            replacements.get(priority, priority) for priority in self.default_priorities
        ]


def gates_of(name: str, release: Release) -> str:
    """The gates that *name*, unknown to *release*, may mean, or the command that lists all."""
    return (
        did_you_mean(name, release.gates)
        or f"; `kubeclassic releases {release.version}` lists those of {release.version}"
    )


def _with_effects(names: Iterable[str], effects: Iterable[GateEffect], *, adding: bool = False) -> list[str]:
    rules = dict.fromkeys(names)
    for effect in effects:
        rules |= dict.fromkeys(effect.adds if adding else effect.registers)
        for name in effect.unregisters:
            rules.pop(name, None)
    return list(rules)


def _priorities_of(effects: Iterable[GateEffect], *, adding: bool = False) -> list[str]:
    registering = (effect for effect in effects if effect.adds_priority or not adding)
    return [effect.registers_priority for effect in registering if effect.registers_priority is not None]


def _rule_of(rules: Mapping[str, R], name: str, text: str) -> R:
    if name not in rules:
        raise PolicyError(text.format(name=name))
    return rules[name]


def _constant(rule: Priority) -> Callable[[], Priority]:
    return lambda: rule


@attrs.frozen(repr=False)
class Selection:
    """The choice of a configuration: predicates and priorities by name, also those that never run."""

    registry: Registry
    predicates: Mapping[str, Predicate]
    priorities: tuple[tuple[Priority, int], ...]
    """Sorted by name, each with its weight."""
    hard_pod_affinity_weight: int


def resolve(
    release: Release,
    *,
    gates: GivenGates = None,
    policy: Policy | JsonObject | None = None,
    provider: str = DEFAULT_PROVIDER,
    catalogue: Catalogue = CATALOGUE,
    hard_pod_affinity_weight: int = 1,
    percentage: int = 0,
    preemption: bool = True,
    equivalence_cache: bool = False,
    max_pd_vols: int | None = None,
) -> Algorithm:
    """The algorithm that *release* runs with this configuration.

    *gates*: those that differ from the release's defaults, or ``A=true,B=false``. *policy*: a Policy in its
    JSON form; without one the set of *provider*. *percentage*: as for the scheduler's constructor; the
    meaning of 0 depends on the release. *max_pd_vols*: the original's KUBE_MAX_PD_VOLS. Pure: nothing is kept
    between calls. Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text where it refuses.
    """
    resolved = resolved_gates(release, gates)
    parsed = read_policy(policy) if isinstance(policy, Mapping) else policy
    unread = tuple(notes_on_form(parsed, release))
    parsed = parsed and decoded(parsed, release)
    selection = select(Registry.of(release, resolved, catalogue), parsed, provider, hard_pod_affinity_weight)
    extenders = () if parsed is None else parsed.extenders
    return Algorithm(
        release=release,
        gates=resolved,
        predicates=in_running_order(selection.predicates, (*release.ordering, *catalogue.added_predicates)),
        priorities=selection.priorities,
        extenders=in_calling_order(extenders, release),
        check_all=parsed is not None and parsed.always_check_all,
        hard_pod_affinity_weight=selection.hard_pod_affinity_weight,
        percentage=percentage,
        preemption=preemption,
        max_pd_vols=max_pd_vols,
        ignored_resources=ignored_resources(extenders),
        metadata_fails=metadata_fails,
        equivalence_cache=release.equivalence_cache
        and (equivalence_cache or resolved["EnableEquivalenceClassCache"]),
        has_predicates=bool(selection.predicates),
        unread=unread,
    )


def in_running_order(selected: Mapping[str, Predicate], ordering: Iterable[str]) -> tuple[Predicate, ...]:
    """The predicates of *selected* that run, in order."""
    # Upstream: a predicate whose name is not in the ordering never runs, and nothing says so.
    return tuple(selected[name] for name in ordering if name in selected)


def select(
    registry: Registry, policy: Policy | None, provider: str, hard_pod_affinity_weight: int
) -> Selection:
    """The choice from *registry*; rules that the Policy makes are registered there. Raises upstream's errors
    in upstream's order."""
    if policy is not None:
        validate(policy, registry.release)
    predicates, priorities = registry.provider(provider if policy is None else DEFAULT_PROVIDER)
    if policy is not None and policy.predicates is not None:
        predicates = [register_predicate(registry, entry) for entry in policy.predicates]
    if policy is not None and policy.priorities is not None:
        priorities = [register_priority(registry, entry) for entry in policy.priorities]
    if policy is not None and policy.hard_pod_affinity_weight != 0:
        hard_pod_affinity_weight = int32(policy.hard_pod_affinity_weight)
    if not 1 <= hard_pod_affinity_weight <= 100:
        raise PolicyError(
            f"invalid hardPodAffinitySymmetricWeight: {hard_pod_affinity_weight}, must be in the range 1-100"
        )
    functions = {
        name: registry.predicates[name] for name in dict.fromkeys((*predicates, *registry.mandatory))
    }
    weighed = tuple((registry.priorities[name](), registry.weights[name]) for name in sorted(set(priorities)))
    total = 0
    for _, weight in weighed:
        if weight * MAX_PRIORITY > MAX_INT64 - total:
            raise PolicyError(registry.release.texts["overflow"])
        total += weight * MAX_PRIORITY
    return Selection(registry, functions, weighed, hard_pod_affinity_weight)


def int32(number: int) -> int:
    """*number* cut to 32 bits, as upstream does with a Policy's weights when it reads them."""
    return (number + 2**31) % 2**32 - 2**31


def register_predicate(registry: Registry, entry: PredicateEntry) -> str:
    """Register the predicate that *entry* asks for under its name, in place of any other; returns the
    name."""
    name = entry.name
    argument = entry.argument
    if argument is not None:
        check_arguments(entry)
        check_name(name)
        if argument.service_affinity is not None:
            registry.predicates[name] = service_affinity(name, argument.service_affinity.labels)
        elif argument.labels_presence is not None:
            presence = argument.labels_presence
            registry.predicates[name] = node_label_presence(name, presence.labels, presence.presence)
    elif name not in registry.predicates:
        raise PolicyError(f"Invalid configuration: Predicate type not found for {name}")
    return name


def register_priority(registry: Registry, entry: PriorityEntry) -> str:
    """Register the priority that *entry* asks for under its name and weight, in place of any other; returns
    the name."""
    name = entry.name
    argument = entry.argument
    if argument is not None:
        check_arguments(entry)
        check_name(name)

        def make() -> Priority:
            if argument.service_anti_affinity is not None:
                return service_anti_affinity(name, argument.service_anti_affinity.label)
            if argument.label_preference is not None:
                return node_label(name, argument.label_preference.label, argument.label_preference.presence)
            assert argument.ratio is not None
            shape = [(point.utilization, point.score) for point in argument.ratio.shape]
            resources = argument.ratio.resources if registry.release.ratio_reads_resources else ()
            return requested_to_capacity_ratio_of(
                name, shape, [(resource.name, resource.weight) for resource in resources]
            )

        # Upstream: an argument is checked when the list of priorities is made, unless another entry has
        # replaced it.
        registry.priorities[name] = make
    elif name not in registry.priorities:
        raise PolicyError(f"Invalid configuration: Priority type not found for {name}")
    registry.weights[name] = entry.weight
    return name
