"""The options of a scheduler, each declared once with its values, meaning, flag, key in ``--a KEY=VALUE``,
and releases.

The command line, configurations in words, the checks and the documentation follow from the fields of
:class:`Classic` and :class:`Framework`. Nothing heavy is imported before an option is read.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from ..choices import DEFAULT_RELEASE, FIRST_FRAMEWORK, LEAVE_OUT, NEWEST_RELEASE
from ..exceptions import KubeclassicError, UnknownNameError, check_type, did_you_mean, wrong_type

if TYPE_CHECKING:
    from ..algorithmprovider.catalogue import Catalogue
    from ..algorithmprovider.config import AlgorithmConfiguration as ClassicConfiguration
    from ..algorithmprovider.gates import GivenGates
    from ..algorithmprovider.policy import Policy
    from ..core.decision.extender import Extender
    from ..core.decision.score import PickHost
    from .config.configuration import KubeSchedulerConfiguration
    from .plugin import Plugin

    GivenPolicy = Policy | Mapping[str, Any] | str | os.PathLike[str]
    """A Policy, its JSON form, or the file that holds it."""
    GivenConfig = ClassicConfiguration | Mapping[str, Any] | str | os.PathLike[str]
    """A KubeSchedulerConfiguration of 1.12 to 1.16, its JSON form, or its file."""
    GivenProfile = KubeSchedulerConfiguration | Mapping[str, Any] | str | os.PathLike[str]
    """A KubeSchedulerConfiguration, its JSON form, or its file."""

Types = tuple[type, ...]
OptionValues = Mapping[str, Any]
"""Options by name."""
Called = Callable[[str], str]
"""A function that gives an option's name in messages."""
MIGRATED = "a profile, which `kubeclassic policy migrate` makes of a Policy"


class WrongOptionError(UnknownNameError, TypeError):
    """An unknown option. It is a TypeError too, as for any other function."""


@attrs.frozen(kw_only=True)
class Declared:
    """The declaration of an option, for printing, reading and checks."""

    wanted: str = ""
    """The values that it takes, in words; empty: as in :data:`TAKEN`."""
    types: Types | Callable[[], Types] = ()
    """The types of its values besides None, where that is the default; empty: as :data:`TAKEN` says."""
    flags: Sequence[str] = ("--",)
    """The flags on the command line: by default one of the option's name; none: the option is for Python
    alone."""
    takes: str = ""
    """The kind of value of the flag: ``text``, ``file``, ``whole``, ``positive``, ``bytes``, ``choice``,
    ``flag``, ``no-flag``, ``places``...; by default the one that follows from the default and the limits."""
    choices: Sequence[str] = ()
    least: int | None = None
    most: int | None = None
    shows: bool | str = True
    """Whether the help shows the default, or the default in words."""
    help: str = ""
    python: str | None = ""
    """The text of Python's help, where that is not :attr:`help`; None: the option is for the command line
    alone."""
    required: bool = False
    hidden: bool = False
    common: bool = False
    """Whether most people use it, so that the short help of commands shows it."""
    metavar: str | None = None
    key: str = ""
    """The key in ``--a KEY=VALUE``; empty: the option cannot be varied there."""
    example: str = ""
    """An example of a value for the key, if not the placeholder in the help."""
    instead: str = ""
    """The alternative in releases without it."""


TAKEN: Mapping[str, tuple[Types, str]] = {
    "text": ((str,), "a text"),
    "whole": ((int,), "a whole number"),
    "choice": ((str,), "a text"),
    "flag": ((bool,), "True or False"),
    "no-flag": ((bool,), "True or False"),
    "texts": ((tuple,), "texts"),
}
"""Kind of an option -> the types of its values, and these in words."""
_TAKES = {bool: "flag", int: "whole", tuple: "texts"}
"""Type of a default -> the kind of its option."""


MAY_BE_EMPTY = ("A=true,...", "SELECTOR")
"""Placeholders of texts that may be empty: no gate, and any labels."""


def _check_value(_: object, field: attrs.Attribute[Any], value: Any) -> None:
    declared = declared_of(field)
    if value is field.default:
        return
    types, expected = TAKEN.get(declared.takes, ((object,), ""))
    if value == "" and declared.takes in ("text", "file") and declared.metavar not in MAY_BE_EMPTY:
        raise wrong_type(field.name, value, declared.wanted or declared.metavar or expected)
    check_type(
        field.name,
        value,
        (declared.types() if callable(declared.types) else declared.types) or types,
        declared.wanted or expected,
    )
    if declared.choices and value not in declared.choices:
        raise UnknownNameError(f'{field.name}: expected {", ".join(declared.choices)}, got "{value}"')
    least = declared.least
    most = declared.most
    if value is not None and ((least is not None and value < least) or (most is not None and value > most)):
        expected = f"{least} or more" if most is None else f"{least} to {most}"
        raise UnknownNameError(f"{field.name}: expected {expected}, got {value}")


def option(
    default: Any = attrs.NOTHING,
    help: str = "",
    *,
    converter: Callable[[Any], Any] | None = None,
    **declared: Any,
) -> Any:
    """A field that declares an option: its default, and the attributes of :class:`Declared`."""
    return attrs.field(
        default=default,
        validator=_check_value,
        converter=converter,
        kw_only=True,
        metadata={"declared": Declared(help=help, **declared)},
    )


def declared_of(field: attrs.Attribute[Any]) -> Declared:
    """The declaration of the option *field*, with everything that follows from its name and default."""
    declared: Declared = field.metadata["declared"]
    takes = (
        declared.takes
        or ("choice" if declared.choices else "whole" if declared.least is not None else "")
        or ("no-flag" if field.default is True else _TAKES.get(type(field.default), "text"))
    )
    flag = f"--{'no-' * (takes == 'no-flag')}{field.name.replace('_', '-')}"
    return attrs.evolve(declared, takes=takes, flags=(flag,) if declared.flags == ("--",) else declared.flags)


# --- what options take that is not a plain type -------------------------------------------------------------

_FILE = (str, os.PathLike)
_A_FILE = "a file's path"


def _policies() -> Types:
    from ..algorithmprovider.policy import Policy

    return (*_FILE, Mapping, Policy)


def _configurations() -> Types:
    from ..algorithmprovider.config import AlgorithmConfiguration as OfReleasesWithPredicates

    return (*_profiles(), OfReleasesWithPredicates)


def _profiles() -> Types:
    from .config.configuration import KubeSchedulerConfiguration

    return (*_FILE, Mapping, KubeSchedulerConfiguration)


def _catalogues() -> Types:
    from ..algorithmprovider.catalogue import Catalogue

    return (Catalogue,)


# --- the options --------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class SchedulerOptions(ABC):
    """The options of schedulers of all releases, and those of releases that read a Policy."""

    release: str | None = option(
        None,
        f"The scheduler's release, such as 1.14 or v1.14.3.  [default: auto, the cluster's release; {DEFAULT_RELEASE} with a Policy]",
        common=True,
        metavar="RELEASE",
        wanted=f'a text such as "{NEWEST_RELEASE}"',
        key="release",
    )
    config: GivenConfig | GivenProfile | None = option(
        None,
        f"A KubeSchedulerConfiguration; other options override it. From {FIRST_FRAMEWORK} on, the same as --profile.",
        takes="file",
        types=_configurations,
        wanted=f"{_A_FILE}, a KubeSchedulerConfiguration or its JSON form",
        key="config",
    )
    gates: GivenGates = option(
        None,
        "Feature gates that differ from the defaults.",
        flags=("--feature-gates",),
        metavar="A=true,...",
        types=(str, Mapping),
        wanted='a dict such as {"EvenPodsSpread": True}, or a text such as "EvenPodsSpread=true"',
        key="feature-gates",
        example="GATE=true",
    )
    percentage_of_nodes_to_score: int | None = option(
        None,
        "Stop searching when this percentage of nodes fits; 0 or absent: the release's default (50 in 1.12 and 1.13, then adaptive).",
        takes="whole",
        wanted="a whole number from 0 to 100",
        key="percentage",
        example="100",
    )
    preemption: bool = option(
        True, "Never evict pods of lower priority to make room.", flags=("--disable-preemption",)
    )
    max_pd_vols: int | None = option(
        None,
        "The most cloud disks of each type per node, where the node does not say.  "
        "[default: KUBE_MAX_PD_VOLS, or the limit of the type]",
        takes="positive",
        metavar="N",
        types=(int,),
        wanted="a whole number above 0",
        key="max-pd-vols",
        example="16",
    )
    tie_break: str | PickHost = option(
        "release",
        "How to choose between best nodes. Where the original picks at random (1.16 to 1.34), `release` takes the first.",
        takes="choice",
        types=(object,),
        wanted="a name or a function",
        key="tie-break",
        example="random",
    )
    seed: int = option(0, "For --tie-break random, and for random events of a scenario.")
    rules: Sequence[str] = option(
        (),
        "Your own rules: a Python file or module, and the Catalogue in it; "
        f"from {FIRST_FRAMEWORK} on, a plugin class or a list of them.",
        takes="places",
        metavar="FILE.py:NAME",
        types=(Sequence,),
        wanted="places such as FILE.py:NAME",
        key="rules",
        example="MODULE:NAME",
    )
    extenders: Sequence[Extender] | str | None = option(
        None,
        "What to do with configured extenders: ignore them, call them (they receive pods and nodes), call them and save their answers "
        "in FILE, or use saved answers.  [default: only run calls them]",
        takes="extenders",
        metavar="off|call|record FILE|replay FILE",
        types=(Sequence,),
        wanted="a list of extenders, or a text: off, call, record FILE or replay FILE",
        key="extenders",
        example="call",
    )
    fresh_start: bool = option(
        False,
        "Up to 1.28: score images as in a scheduler's first minutes, before it has counted them on all nodes.",
    )
    memory_bytes: int = option(
        1 << 30,
        "The most memory for cached results, such as 64Mi; 0: no cache.  [default: 1Gi; 256Mi for run, shadow and serve]",
        flags=("--memory",),
        takes="bytes",
        metavar="BYTES",
        types=(int,),
        wanted="a whole number",
    )

    provider: str | None = option(
        None,
        "Up to 1.21: DefaultProvider (the default) or ClusterAutoscalerProvider.",
        flags=("--provider", "--algorithm-provider"),
        metavar="NAME",
        wanted='a name such as "DefaultProvider"',
        key="provider",
        instead="a profile",
    )
    policy: GivenPolicy | None = option(
        None,
        "Up to 1.22: a Policy, alone or among other objects, instead of a provider.",
        flags=("--policy", "--policy-config-file"),
        common=True,
        takes="file",
        types=_policies,
        wanted=f"{_A_FILE}, a Policy or its JSON form",
        key="policy",
        instead=MIGRATED,
    )
    policy_configmap: str | None = option(
        None,
        "Up to 1.22: the ConfigMap in the manifests that contains the Policy.",
        metavar="NAME",
        wanted="the name of a ConfigMap",
        instead=MIGRATED,
    )
    policy_configmap_namespace: str = option(
        "kube-system", "The namespace of that ConfigMap.", metavar="NAME", wanted="a namespace"
    )
    hard_pod_affinity_weight: int | None = option(
        None,
        "How much other pods' required affinity counts in scoring, 0 to 100.  [default: 1]",
        flags=("--hard-pod-affinity-symmetric-weight",),
        takes="whole",
        wanted="a whole number from 0 to 100",
        instead="hardPodAffinityWeight of InterPodAffinity in a profile",
    )

    def __attrs_post_init__(self) -> None:
        if not (isinstance(self.tie_break, str) or callable(self.tie_break)):
            raise wrong_type("tie_break", self.tie_break, "a name or a function")
        for place in self.rules:
            check_type("rules", place, str, "places such as FILE.py:NAME")
        for extender in () if isinstance(self.extenders, str | None) else self.extenders:
            if not hasattr(extender, "is_interested"):
                raise wrong_type("extenders", extender, "a list of extenders")
        for gate, setting in self.gates.items() if isinstance(self.gates, Mapping) else ():
            check_type("gates", gate, str, 'names such as "EvenPodsSpread"')
            check_type(f"gates: {gate}", setting, bool, "True or False")
        self.version  # noqa: B018  # an unknown release is an error at once

    @property
    def follows_nodes(self) -> bool:
        """Whether the nodes decide the release. Options of releases with predicates are for 1.16 if they name
        no release."""
        return False

    @property
    @abstractmethod
    def version(self) -> str:
        """The release without a patch level. Raises :class:`~kubeclassic.exceptions.UnknownNameError` for a
        release of the other generation."""


@attrs.frozen(kw_only=True)
class Classic(SchedulerOptions):
    """The options of schedulers of 1.12 to 1.16, which have predicates and priorities."""

    scheduler_name: str | None = option(
        None,
        "Schedule pods with this schedulerName.  [default: default-scheduler]",
        metavar="NAME",
        instead="schedulerName of a profile",
    )
    equivalence_cache: bool = option(
        False, "1.12 and 1.13: use the equivalence cache, with the original's bugs.", instead="none"
    )
    catalogue: Catalogue | None = option(
        None,
        types=_catalogues,
        wanted="a Catalogue such as CATALOGUE.with_(rule)",
        instead="plugins",
        flags=(),
    )

    @property
    def version(self) -> str:
        from ..algorithmprovider.releases import find_release

        return find_release(self.release or DEFAULT_RELEASE).version


@attrs.frozen(kw_only=True)
class Framework(SchedulerOptions):
    """The options of schedulers of 1.17 and later, which have profiles of plugins; the first of them also
    make profiles of Policies."""

    profile: GivenProfile | None = option(
        None,
        f"From {FIRST_FRAMEWORK} on: a KubeSchedulerConfiguration, with a profile for each schedulerName.",
        common=True,
        takes="file",
        types=_profiles,
        wanted=f"{_A_FILE}, a KubeSchedulerConfiguration or its JSON form",
        key="profile",
        instead=f"release {NEWEST_RELEASE}",
    )
    plugins: Sequence[type[Plugin]] = option(
        (), types=(Sequence,), wanted="a list of subclasses of Plugin", instead="a catalogue", flags=()
    )

    unknown_plugins: str | None = option(
        None,
        "Leave out the plugins of a profile that no release has, such as Coscheduling; the answer names them.  [default: refuse them]",
        flags=("--plugins",),
        takes="plugins",
        types=(str,),
        wanted=LEAVE_OUT,
        key="plugins",
        example=LEAVE_OUT,
        instead="none",
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        from .plugin import Plugin

        if self.unknown_plugins not in (None, LEAVE_OUT):
            raise UnknownNameError(f'unknown_plugins: expected {LEAVE_OUT}, got "{self.unknown_plugins}"')

        for plugin in self.plugins:
            if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
                raise wrong_type("plugins", plugin, "a list of subclasses of Plugin")
        check_older(attrs.asdict(self, recurse=False), self.version)

    @property
    def follows_nodes(self) -> bool:
        return follows_nodes(attrs.asdict(self, recurse=False))

    @property
    def version(self) -> str:
        from .releases import FRAMEWORK_RELEASES, framework_release

        release = framework_release(
            self.release or default_release(attrs.asdict(self, recurse=False), among=FRAMEWORK_RELEASES)
        )
        if release is None:
            raise UnknownNameError(f'release: expected {", ".join(FRAMEWORK_RELEASES)}, got "{self.release}"')
        return release.version


OLDER = ("policy", "policy_configmap", "provider", "hard_pod_affinity_weight")
"""Options of the first releases of the framework alone, instead of a profile."""
BESIDE_POLICY = ("profile", "config", "plugins", "rules", "provider")


def check_older(values: OptionValues, version: str, called: Called = str) -> None:
    """Raise :class:`~kubeclassic.exceptions.UnknownNameError` for one of *values* that release *version* no
    longer has, or for two that exclude each other; *called*: how messages name an option.
    """
    from .releases import FRAMEWORK_RELEASES

    named = [name for name in (*OLDER, *BESIDE_POLICY) if _is_given(name, values.get(name))]
    policies = FRAMEWORK_RELEASES[version].policies
    has = {
        "policy": policies,
        "policy_configmap": policies,
        "provider": policies and policies.providers,
        "hard_pod_affinity_weight": policies and policies.weight_is_argument,
    }
    for name in OLDER:
        if name in named and not has[name]:
            raise _lacking_error(name, values[name], version, called)
    for name in OLDER:
        for other in BESIDE_POLICY if name in named else ():
            if other in named and name != other and (name, other) != ("hard_pod_affinity_weight", "provider"):
                reason = f"release {version} is started with one of them"
                raise UnknownNameError(f"{called(name)} cannot be combined with {called(other)}: {reason}")


def _lacking_error(name: str, value: object, version: str, called: Called) -> UnknownNameError:
    instead = declared_of(FIELDS[name]).instead
    shown = value if isinstance(value, str | int | os.PathLike) and not isinstance(value, bool) else "one"
    return UnknownNameError(
        f"{called(name)}: expected {instead}, got {shown}, which release {version} does not have"
    )


for kind in (Classic, Framework):
    described = {
        field.name: f"{declared_of(field).wanted}. {declared_of(field).help}" for field in attrs.fields(kind)
    }
    kind.__doc__ = "\n".join(
        [f"{kind.__doc__}\n", *(f":param {name}: {text}".rstrip() for name, text in described.items())]
    )

FIELDS: Mapping[str, attrs.Attribute[Any]] = {
    field.name: field for kind in (Classic, Framework) for field in attrs.fields(kind)
}
"""Name -> field, of all options."""
GivenOptions = Classic | Framework
EXCLUDES = {("profile", "config"): f"from {FIRST_FRAMEWORK} on they are the same"}
"""Options that cannot be combined, and why."""


def options_of(values: OptionValues, called: Called = str) -> GivenOptions:
    """*values* as options of the generation of releases that they choose; values that equal their defaults do
    not count.

    *called*: how messages name an option. Raises :class:`WrongOptionError` for an unknown option,
    :class:`~kubeclassic.exceptions.WrongTypeError` for a value of another type, and
    :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown release, or an option that the release
    does not have.
    """
    from .releases import FRAMEWORK_RELEASES

    for name in values:
        if name not in FIELDS:
            raise WrongOptionError(
                f'got an option "{name}", which a scheduler does not have{did_you_mean(name, FIELDS)}'
            )
    for name in ("release", "profile"):
        _check_value(None, FIELDS[name], values.get(name))
    version = version_of(values)
    kind = Framework if version in FRAMEWORK_RELEASES else Classic
    given_values = {name: value for name, value in values.items() if _is_given(name, value)}
    fields = attrs.fields_dict(kind)
    for name in given_values:
        if name not in fields:
            raise _lacking_error(name, given_values[name], version, called)
    for (one, other), reason in EXCLUDES.items():
        if one in given_values and other in given_values:
            raise UnknownNameError(f"{called(one)} cannot be combined with {called(other)}: {reason}")
    if kind is Framework:
        check_older(given_values, version, called)
    return kind(**given_values)


def _is_given(name: str, value: object) -> bool:
    default = FIELDS[name].default
    return (
        value is not None
        and not (type(value) is type(default) and value == default)
        and not (default == () and value == [])
    )


def version_of(values: OptionValues) -> str:
    """The release that *values* choose, without a patch level. Raises
    :class:`~kubeclassic.exceptions.UnknownNameError`."""
    from .releases import find_any_release

    return find_any_release(values.get("release") or default_release(values), " or auto").version


def follows_nodes(values: OptionValues) -> bool:
    """Whether the nodes decide the release: it is ``auto``, or not given while no option is for releases with
    Policies alone."""
    from ..algorithmprovider.config import API_VERSIONS
    from .releases import AUTO
    from .userrules import names_catalogue

    version = values.get("release")
    if version is not None or values.get("profile") is not None:
        return version in (None, AUTO)
    older_options = {*OLDER, *(attrs.fields_dict(Classic).keys() - attrs.fields_dict(Framework).keys())}
    config = _document_of(values.get("config"))
    return not (
        config.get("apiVersion") in API_VERSIONS
        or "algorithmSource" in config
        or any(_is_given(name, values.get(name)) for name in older_options)
        or names_catalogue(values.get("rules") or ())
    )


def settled_options(
    scheduler: GivenOptions | str | None, name: str, kubelet_versions: Callable[[], Iterable[str]]
) -> GivenOptions:
    """*scheduler* as options, with the release of *kubelet_versions* where the nodes decide; *name*: the
    argument, in messages.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for an unknown release, or another value.
    """
    if scheduler is None or isinstance(scheduler, str):
        is_settled = not follows_nodes({"release": scheduler})
        return options_of({"release": scheduler if is_settled else default_release({}, kubelet_versions())})
    check_type(
        name,
        scheduler,
        (Classic, Framework),
        f'Classic(...), Framework(...) or a release such as "{NEWEST_RELEASE}"',
    )
    if not scheduler.follows_nodes:
        return scheduler
    from .releases import FRAMEWORK_RELEASES

    release = default_release(attrs.asdict(scheduler, recurse=False), kubelet_versions(), FRAMEWORK_RELEASES)
    return attrs.evolve(scheduler, release=release)


def default_release(
    values: OptionValues, kubelet_versions: Iterable[str] = (), among: Iterable[str] | None = None
) -> str:
    """The release for *values* that name none, or ``auto``, in a cluster whose nodes run *kubelet_versions*.

    That is the release of Policies if one of the options is for these; else that of the nodes, or the newest
    where they have no version, but always one that reads the profile. *among*: the possible releases, oldest
    first, every one by default.
    """
    from ..algorithmprovider.config import API_VERSIONS
    from ..core.release import Release
    from .releases import ALL_RELEASES, FRAMEWORK_RELEASES, nearest_release

    releases = list(ALL_RELEASES if among is None else among)
    if not follows_nodes(values):
        return DEFAULT_RELEASE if DEFAULT_RELEASE in releases else releases[0]
    profile = values.get("config") if values.get("profile") is None else values.get("profile")
    if isinstance(read_for := getattr(profile, "release", None), Release):
        return read_for.version
    version = str(_document_of(profile).get("apiVersion", ""))
    is_older = version in API_VERSIONS and values.get("profile") is None
    reading_releases = [
        name
        for name in releases
        if (
            version.rpartition("/")[2] in release.configuration.api_versions
            if (release := FRAMEWORK_RELEASES.get(name))
            else is_older
        )
    ]
    nearest = nearest_release(kubelet_versions, reading_releases or releases)
    return (reading_releases or releases)[-1] if nearest is None else nearest[0].version


def _document_of(source: object) -> Mapping[str, Any]:
    """A configuration as written; empty where there is none, or none can be read: its reader gives the
    reason."""
    from ..algorithmprovider.config import configuration_document

    if isinstance(source, Mapping):
        return source
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == "-":
        return {"apiVersion": source.api_version} if hasattr(source, "api_version") else {}
    try:
        return configuration_document(source).data
    except KubeclassicError:
        return {}
