"""What a scheduler is made from: a release and options, with every file read. It makes the same scheduler as often as needed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, cast

import attrs

from ..algorithmprovider import config as classic
from ..algorithmprovider.catalogue import CATALOGUE, Catalogue
from ..algorithmprovider.config import load_policy
from ..algorithmprovider.gates import keeps_priorities, parse_gates
from ..algorithmprovider.policy import Policy, read_policy
from ..algorithmprovider.registry import DEFAULT_PROVIDER, check_names
from ..algorithmprovider.releases import DEFAULT_RELEASE
from ..core.decision.extender import Extender
from ..core.decision.ties import PickHost
from ..core.engine import Engine
from ..core.rule import Algorithm
from ..exceptions import UnknownNameError, check_type, did_you_mean, wrong_type
from .building import MakeExtenders, build_engine
from .config.configuration import DEFAULT_SCHEDULER, KubeSchedulerConfiguration
from .config.loading import GivenProfile, given_configuration
from .plugin import Plugin
from .releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, find_any_release

GivenPolicy: TypeAlias = "Policy | Mapping[str, Any] | str | os.PathLike[str]"
"""A Policy, its JSON form, or the file that holds it."""
GivenConfig: TypeAlias = "classic.KubeSchedulerConfiguration | Mapping[str, Any] | str | os.PathLike[str]"
"""A KubeSchedulerConfiguration of 1.12 to 1.16, its JSON form, or its file."""
ConfigMaps = Mapping[tuple[str, str], Mapping[str, Any]]


class ClassicOptions(TypedDict, total=False):
    """What only releases with predicates and priorities take; :class:`~kubeclassic.Scheduler` says what each means."""

    policy: GivenPolicy | None
    provider: str | None
    catalogue: Catalogue
    hard_pod_affinity_weight: int | None
    equivalence_cache: bool
    scheduler_name: str | None


class SchedulerOptions(ClassicOptions, total=False):
    """All options of a scheduler; :class:`~kubeclassic.Scheduler` says what each means."""

    release: str | None
    config: GivenConfig | GivenProfile | None
    profile: GivenProfile | None
    plugins: Sequence[type[Plugin]]
    gates: Mapping[str, bool] | str | None
    percentage_of_nodes_to_score: int
    preemption: bool
    tie_break: str | PickHost
    seed: int
    extenders: Sequence[Extender] | str | None
    memory_bytes: int
    max_pd_vols: int | None


CLASSIC_ALONE = tuple(ClassicOptions.__annotations__)
FRAMEWORK_ALONE = ("profile", "plugins")
_FILE = (str, os.PathLike)
_UNSET: Mapping[str, object] = {"catalogue": CATALOGUE, "equivalence_cache": False, "plugins": ()}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Recipe:
    """A release and its options. Files are read already, so that a copy in another process makes the same scheduler."""

    version: str
    config: classic.KubeSchedulerConfiguration = attrs.field(factory=classic.KubeSchedulerConfiguration)
    """What is not given otherwise, for releases with predicates and priorities."""
    profiles: KubeSchedulerConfiguration | None = None
    """For the framework."""
    policy: Policy | None = None
    provider: str | None = None
    catalogue: Catalogue = CATALOGUE
    hard_pod_affinity_weight: int | None = None
    equivalence_cache: bool = False
    scheduler_name: str | None = None
    gates: Mapping[str, bool] = attrs.field(factory=dict)
    percentage: int = 0
    plugins: tuple[type[Plugin], ...] = ()
    preemption: bool = True
    tie_break: str | PickHost = "release"
    seed: int = 0
    extenders: tuple[Extender, ...] | MakeExtenders = ()
    memory_bytes: int = 1 << 30
    max_pd_vols: int | None = None

    def __repr__(self) -> str:
        return f"<Recipe of {self.version}>"

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Recipe:
        """The recipe of *options*, which are :class:`SchedulerOptions`.

        Raises :class:`~kubeclassic.exceptions.WrongTypeError` for a value of another type,
        :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown name or an option that the release does not have, and
        :class:`~kubeclassic.exceptions.PolicyError` for what the release refuses, in upstream's words.
        """
        _check_options(options)
        profile, config = options.get("profile"), options.get("config")
        version = find_any_release(options.get("release") or (DEFAULT_RELEASE if profile is None else DEFAULT_FRAMEWORK)).version
        _check_taken(version, options)
        plain = (
            "provider", "hard_pod_affinity_weight", "scheduler_name", "preemption", "tie_break", "seed", "memory_bytes", "max_pd_vols",
            "catalogue",
        )  # fmt: skip
        values: dict[str, Any] = {name: options[name] for name in plain if name in options}
        values |= {"version": version, "extenders": _extenders(options.get("extenders")), "plugins": tuple(options.get("plugins") or ())}
        values |= {"percentage": options.get("percentage_of_nodes_to_score") or 0}
        if version in FRAMEWORK_RELEASES:
            return cls._of_profiles(values, config if profile is None else profile, options.get("gates"))
        policy = options.get("policy")
        return cls(
            **values, policy=_policy(policy), gates=_gates(options.get("gates")), config=_config(config),
            equivalence_cache=bool(options.get("equivalence_cache")),
        ).checked()  # fmt: skip

    @classmethod
    def _of_profiles(cls, values: Mapping[str, Any], profile: GivenProfile | None, gates: Any) -> Recipe:
        check_type("config", profile, *TYPES["profile"])
        percentage, plugins = values["percentage"] or None, values["plugins"]
        release = values["version"]
        found = given_configuration(profile, gates=gates, percentage=percentage, plugins=plugins, release=release)
        return cls(**{**values, "version": found.release.version}, profiles=found)

    def checked(self) -> Recipe:
        """The same; raises :class:`~kubeclassic.exceptions.UnknownNameError` for a gate or provider that the release does not have."""
        check_names(find_any_release(self.version), {**self.config.gates, **self.gates}, self.provider or self.config.source.provider)
        return self

    # --- what it makes ----------------------------------------------------------------------------------------------

    @property
    def scheduler_names(self) -> frozenset[str]:
        """The schedulerNames of the pods that are scheduled."""
        if self.profiles is not None:
            return frozenset(profile.scheduler_name or "" for profile in self.profiles.profiles)
        return frozenset([self.scheduler_name or self.config.scheduler_name or DEFAULT_SCHEDULER])

    @property
    def switches(self) -> str:
        """The feature gates that are set, in words: ``A=true,B=false``."""
        given = {**self.config.gates, **self.gates} if self.profiles is None else self.profiles.gates
        return ",".join(f"{name}={str(value).lower()}" for name, value in sorted(given.items()))

    @property
    def keeps_priorities(self) -> bool:
        """Whether new pods keep the priorities that they ask for, which gate PodPriority decides."""
        return self.profiles is not None or keeps_priorities({**self.config.gates, **self.gates})

    def engine(self, config_maps: ConfigMaps | None = None) -> Engine:
        """A new scheduler; *config_maps*: manifests of ConfigMaps by namespace and name, of which *config* may name one."""
        return self.engine_of(self.profiles if self.profiles is not None else self.algorithm(config_maps))

    def engine_of(self, wanted: Algorithm | KubeSchedulerConfiguration) -> Engine:
        """A new scheduler of *wanted*, in place of the recipe's own algorithm or profiles."""
        return build_engine(
            wanted, plugins=self.plugins, preempts=self.preemption, tie_break=self.tie_break, seed=self.seed, extenders=self.extenders,
            memory_bytes=self.memory_bytes, max_pd_vols=self.max_pd_vols,
        )  # fmt: skip

    def algorithm(self, config_maps: ConfigMaps | None = None) -> Algorithm:
        """The predicates and priorities, for releases that have them."""
        config = attrs.evolve(
            self.config, gates={**self.config.gates, **self.gates}, percentage=self.percentage or self.config.percentage,
            disable_preemption=self.config.disable_preemption or not self.preemption,
            source=classic.AlgorithmSource(provider=self.provider) if self.provider else self.config.source,
        )  # fmt: skip
        found = config.resolve(
            find_any_release(self.version), config_maps=config_maps, catalogue=self.catalogue, policy=self.policy,
            hard_pod_affinity_weight=self.hard_pod_affinity_weight,
        )  # fmt: skip
        return attrs.evolve(found, equivalence_cache=self.equivalence_cache)


# --- reading --------------------------------------------------------------------------------------------------------


def _extenders(given: Any) -> tuple[Extender, ...] | MakeExtenders:
    if callable(given):
        return cast(MakeExtenders, given)
    check_type("extenders", given, (Iterable, type(None)), "a list of extenders, or a text: off, record FILE or replay FILE")
    return tuple(given or ())


def _policy(given: GivenPolicy | None) -> Policy | None:
    if isinstance(given, str | os.PathLike):
        return load_policy(given)
    return read_policy(given) if isinstance(given, Mapping) else given


def _gates(given: Mapping[str, bool] | str | None) -> dict[str, bool]:
    return parse_gates(given) if isinstance(given, str) else dict(given or {})


def _config(given: Any) -> classic.KubeSchedulerConfiguration:
    if given is None:
        return classic.KubeSchedulerConfiguration(folder=Path())
    if isinstance(given, Mapping):
        return classic.read_configuration(given)
    if isinstance(given, str | os.PathLike):
        return classic.load_configuration(given)
    check_type("config", given, classic.KubeSchedulerConfiguration, f"one of releases with predicates, such as {DEFAULT_RELEASE}")
    return cast(classic.KubeSchedulerConfiguration, given)


def _check_taken(version: str, options: Mapping[str, Any]) -> None:
    """Refuse the options of the other kind of releases."""
    runs_profiles = version in FRAMEWORK_RELEASES
    wanted = f"profile or plugins of release {version}" if runs_profiles else f'release "{DEFAULT_FRAMEWORK}"'
    for name in CLASSIC_ALONE if runs_profiles else FRAMEWORK_ALONE:
        value = options.get(name)
        if value is not None and value != _UNSET.get(name) and (name != "plugins" or len(value)):
            raise UnknownNameError(f"{name}: got one, which release {version} does not have, wanted {wanted}")
    if options.get("profile") is not None and options.get("config") is not None:
        raise UnknownNameError("config: got one beside profile, wanted one of them")


# --- types ----------------------------------------------------------------------------------------------------------

_A_FILE = "a file's path"
_NONE = type(None)
TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "release": ((str, _NONE), f'a text such as "{DEFAULT_RELEASE}"'),
    "policy": ((*_FILE, Mapping, Policy, _NONE), f"{_A_FILE}, a Policy or its JSON form"),
    "provider": ((str, _NONE), f'a name such as "{DEFAULT_PROVIDER}"'),
    "catalogue": ((Catalogue,), "a Catalogue such as CATALOGUE.with_(rule)"),
    "hard_pod_affinity_weight": ((int, _NONE), "a whole number from 1 to 100"),
    "equivalence_cache": ((bool,), "True or False"),
    "scheduler_name": ((str, _NONE), "a text"),
    "config": (
        (*_FILE, Mapping, classic.KubeSchedulerConfiguration, KubeSchedulerConfiguration, _NONE),
        f"{_A_FILE}, a KubeSchedulerConfiguration or its JSON form",
    ),
    "profile": ((*_FILE, Mapping, KubeSchedulerConfiguration, _NONE), f"{_A_FILE}, a KubeSchedulerConfiguration or its JSON form"),
    "plugins": ((Sequence,), "a list of subclasses of Plugin"),
    "gates": ((str, Mapping, _NONE), 'a dict such as {"EvenPodsSpread": True}, or a text such as "EvenPodsSpread=true"'),
    "percentage_of_nodes_to_score": ((int,), "a whole number from 0 to 100"),
    "preemption": ((bool,), "True or False"),
    "tie_break": ((object,), "a name or a function"),
    "seed": ((int,), "a whole number"),
    "extenders": ((object,), "a list of extenders, or a text: off, record FILE or replay FILE"),
    "memory_bytes": ((int,), "a whole number"),
    "max_pd_vols": ((int, _NONE), "a whole number above 0"),
}
"""Option -> the types that it takes, and what is wanted in words."""


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name not in TYPES:
            raise WrongOptionError(f'got an option "{name}", which a scheduler does not have{did_you_mean(name, TYPES)}')
        check_type(name, value, *TYPES[name])
    if not (isinstance(options.get("tie_break", ""), str) or callable(options["tie_break"])):
        raise wrong_type("tie_break", options["tie_break"], TYPES["tie_break"][1])
    gates = options.get("gates")
    for gate, setting in gates.items() if isinstance(gates, Mapping) else ():
        check_type(f"gates: {gate}", setting, bool, "True or False")
    for plugin in options.get("plugins", ()):
        if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
            raise wrong_type("plugins", plugin, TYPES["plugins"][1])


class WrongOptionError(UnknownNameError, TypeError):
    """An option that there is not. It is a TypeError too, as for any other function."""
