"""The construction of schedulers from options. All files are read first, so that the same scheduler can be
made repeatedly."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import attrs

from ..algorithmprovider import config as classic
from ..algorithmprovider.catalogue import CATALOGUE, Catalogue
from ..algorithmprovider.cells import TIE_BREAKS
from ..algorithmprovider.check import hints_of
from ..algorithmprovider.extenders import ExtenderConfig, UncalledExtender
from ..algorithmprovider.gates import UNKNOWN_GATE, GivenGates, parse_gates, server_rules
from ..algorithmprovider.policy import DEFAULT_PROVIDER, PROVIDERS, Policy, gates_of, read_policy
from ..api.meaning import ServerRules
from ..api.objects import DEFAULT_SCHEDULER, MAX_INT64, JsonObject
from ..core.classic import classic_engine
from ..core.cycle import Algorithm
from ..core.decision import Extender, PickHost
from ..core.engine import Engine
from ..core.guard import guarded, picked
from ..core.release import Release
from ..exceptions import PolicyError, UnknownNameError, check_type, did_you_mean
from .options import FIELDS, OLDER, Called, Classic, Framework, GivenOptions
from .releases import find_any_release
from .userrules import catalogue_of, hint_of_plugins, plugins_of

if TYPE_CHECKING:
    from .config.configuration import KubeSchedulerConfiguration
    from .plugin import Plugin


# --- engines ------------------------------------------------------------------------------------------------

# From a configuration to an engine, for every release: the command line, the Python API and the simulations
# all use this.


def build_engine(
    config: Algorithm | KubeSchedulerConfiguration,
    *,
    plugins: Sequence[type[Plugin]] = (),
    preempts: bool = True,
    tie_break: str | PickHost = "release",
    seed: int = 0,
    max_pd_vols: int | None = None,
    extenders: Iterable[Extender] | ExtenderChoice = (),
    leaves_uncalled: bool = False,
    **options: Any,
) -> Engine:
    """A scheduler of an algorithm (1.12 to 1.16) or of profiles (from 1.17 on).

    *plugins* are a user's own and *preempts* says whether PostFilter runs; both are for profiles alone.
    *tie_break* is a name of :data:`~kubeclassic.algorithmprovider.cells.TIE_BREAKS`, drawn by *seed*, or a
    function. *extenders* are called; a function makes them of the ones that *configuration* names.
    *leaves_uncalled*: no option asks for calls of these, so that answers say that they are not called.
    *options* are fields of the Engine. *max_pd_vols*: the most cloud disks of each type on a node without a
    limit of its own; upstream reads KUBE_MAX_PD_VOLS. Raises :class:`~kubeclassic.exceptions.PolicyError`
    with upstream's text for profiles that are refused.
    """
    if isinstance(tie_break, str) and tie_break not in TIE_BREAKS:
        raise UnknownNameError(
            f'tie_break: expected {", ".join(TIE_BREAKS)}, got "{tie_break}"{did_you_mean(tie_break, TIE_BREAKS)}'
        )
    if max_pd_vols is not None and not (type(max_pd_vols) is int and 0 < max_pd_vols <= MAX_INT64):
        raise UnknownNameError(f"max_pd_vols: expected a whole number above 0, got {max_pd_vols!r}")
    release = config.release
    options["pick_host"] = (
        TIE_BREAKS[tie_break](release, seed)
        if isinstance(tie_break, str)
        else guarded("tie_break", tie_break, picked)
    )
    options["extenders"] = tuple(extenders(config.extenders, release) if callable(extenders) else extenders)
    if leaves_uncalled and config.extenders:
        config = attrs.evolve(config, extenders=tuple(map(UncalledExtender.of, config.extenders)))
    if isinstance(config, Algorithm):
        config = config if max_pd_vols is None else attrs.evolve(config, max_pd_vols=max_pd_vols)
        return classic_engine(config, **options)
    from .flow import framework_engine  # half of this package: up to 1.16 none of it is needed
    from .registry import registry_of, with_plugins

    # Every candidate for preemption is tried, so that the answer does not depend on where a search happens to
    # begin.
    return framework_engine(
        config,
        registry=with_plugins(registry_of(release), plugins),
        preempts=preempts,
        shortlists=False,
        max_pd_vols=max_pd_vols,
        **options,
    )


ConfigMaps = Mapping[tuple[str, str], JsonObject]


class ExtenderChoice(Protocol):
    """A choice of the extenders of a Policy or a configuration that are called."""

    @property
    def how(self) -> str | None:
        """The words of ``--extenders``; None: the option was not given, so none is called."""
        ...

    def __call__(self, configs: Sequence[ExtenderConfig], release: Release) -> Sequence[Extender]: ...


@attrs.frozen(kw_only=True, eq=False, repr=False)
class SchedulerSpec:
    """A release and its options. Files are read already, so that a copy in another process makes the same
    scheduler."""

    version: str
    config: classic.AlgorithmConfiguration = attrs.Factory(classic.AlgorithmConfiguration)
    """For releases with predicates and priorities: the component configuration, as overridden by options."""
    profiles: KubeSchedulerConfiguration | None = None
    """For releases of the framework: the configuration with profiles."""
    file: str = ""
    """The file of the profiles, for messages."""
    policy: Policy | None = None
    """The Policy, in place of the one that *config* points to."""
    catalogue: Catalogue = CATALOGUE
    equivalence_cache: bool = False
    plugins: tuple[type[Plugin], ...] = ()
    preemption: bool = True
    tie_break: str | PickHost = "release"
    seed: int = 0
    extenders: tuple[Extender, ...] | ExtenderChoice = ()
    memory_bytes: int = 1 << 30
    max_pd_vols: int | None = None
    fresh_start: bool = False

    def __repr__(self) -> str:
        return f"<SchedulerSpec of {self.version}>"

    @classmethod
    def of(
        cls, options: GivenOptions, extenders: Iterable[Extender] | ExtenderChoice = (), called: Called = str
    ) -> SchedulerSpec:
        """The spec of *options*, with *extenders* made from their extender options. *called*: how messages
        name an option.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for a gate or a provider that the release
        does not have, and :class:`~kubeclassic.exceptions.PolicyError` for what the release refuses, in
        upstream's words.
        """
        namespace = "policy_configmap_namespace"
        if options.policy_configmap is None and getattr(options, namespace) != FIELDS[namespace].default:
            raise UnknownNameError(f"{called(namespace)} needs {called('policy_configmap')}")
        version = options.version
        shared: dict[str, Any] = {
            "version": version,
            "extenders": extenders if callable(extenders) else tuple(extenders),
            "preemption": options.preemption,
            "tie_break": options.tie_break,
            "seed": options.seed,
            "memory_bytes": options.memory_bytes,
            "max_pd_vols": options.max_pd_vols,
            "fresh_start": options.fresh_start,
        }
        if isinstance(options, Framework):
            try:
                return cls._from_profiles(options, shared)
            except PolicyError as error:
                name = str(error).removeprefix(UNKNOWN_GATE)
                if name == str(error):
                    raise
                raise PolicyError(
                    f"{called('gates')}: {error}{gates_of(name, find_any_release(version))}"
                ) from None
        if options.equivalence_cache and not find_any_release(version).equivalence_cache:
            raise UnknownNameError(f"{called('equivalence_cache')}: {version} has none")
        return cls(
            **shared,
            config=_classic_config(options),
            policy=None if options.policy is None or _is_file(options.policy) else _policy(options.policy),
            catalogue=catalogue_of(options.rules, options.catalogue or CATALOGUE),
            equivalence_cache=options.equivalence_cache,
        ).checked(lambda name: called("config" if getattr(options, name) is None else name))

    @classmethod
    def _from_profiles(cls, options: Framework, shared: Mapping[str, Any]) -> SchedulerSpec:
        from .config.configuration import KubeSchedulerConfiguration, given_configuration

        profile = options.config if options.profile is None else options.profile
        if isinstance(profile, classic.AlgorithmConfiguration):
            check_type(
                "config", profile, KubeSchedulerConfiguration, "a KubeSchedulerConfiguration with profiles"
            )
        plugins = (*options.plugins, *plugins_of(options.rules))
        if any(getattr(options, name) is not None for name in OLDER):
            return cls._from_policy(options, shared, plugins)
        profiles = given_configuration(
            cast(Any, profile),
            gates=options.gates,
            percentage=options.percentage_of_nodes_to_score,
            plugins=plugins,
            release=shared["version"],
        )
        if options.unknown_plugins is not None:
            from .profilecheck import without_unknown

            profiles = without_unknown(profiles, plugins)
        return cls(
            **{**shared, "version": profiles.release.version},
            profiles=profiles,
            file=os.fspath(profile) if isinstance(profile, str | os.PathLike) else "",
            plugins=plugins,
        )

    @classmethod
    def _from_policy(
        cls, options: Framework, shared: Mapping[str, Any], plugins: tuple[type[Plugin], ...]
    ) -> SchedulerSpec:
        """The spec of a Policy or a provider, for the first releases of the framework, which make profiles of
        these."""
        from .policy import configuration_of_policy, configuration_of_provider

        release = find_any_release(shared["version"])
        policy_source = options.policy
        flags: dict[str, Any] = {
            "gates": options.gates,
            "percentage": options.percentage_of_nodes_to_score or 0,
        }
        if options.hard_pod_affinity_weight is not None:
            flags["hard_pod_affinity_weight"] = options.hard_pod_affinity_weight
        if policy_source is None:
            profiles = configuration_of_provider(options.provider or DEFAULT_PROVIDER, release, **flags)
            config = classic.AlgorithmConfiguration(
                source=_source(options) or classic.AlgorithmSource(),
                gates=_gates(options.gates),
                percentage=flags["percentage"],
                hard_pod_affinity_weight=options.hard_pod_affinity_weight or 0,
            )
            return cls(**shared, config=config, profiles=profiles, plugins=plugins)
        file = os.fspath(cast(str, policy_source)) if _is_file(policy_source) else ""
        policy = classic.load_policy(file) if file else _policy(policy_source)
        with refusals(file, release, _gates(options.gates)):
            profiles = configuration_of_policy(policy, release, **flags)
        return cls(**shared, profiles=profiles, file=file, plugins=plugins)

    def checked(self, called: Called = str) -> SchedulerSpec:
        """The spec itself; raises :class:`~kubeclassic.exceptions.UnknownNameError` for a gate or provider
        that the release does not have."""
        release = find_any_release(self.version)
        for name in self.config.gates:
            if name not in release.gates:
                raise UnknownNameError(f"{called('gates')}: {UNKNOWN_GATE}{name}{gates_of(name, release)}")
        provider = self.config.source.provider
        if provider and provider not in PROVIDERS:
            raise UnknownNameError(
                f'{called("provider")}: plugin "{provider}" has not been registered, expected {" or ".join(PROVIDERS)}'
            )
        return self

    def read(self) -> SchedulerSpec:
        """The spec with the file of a Policy read, so that a copy in another process makes the same
        scheduler."""
        source = self.config.source.policy
        if self.profiles is not None or self.policy is not None or source is None or source.file is None:
            return self
        return attrs.evolve(self, policy=self.config.policy())

    # --- what it makes --------------------------------------------------------------------------------------

    @property
    def configuration(self) -> classic.AlgorithmConfiguration | KubeSchedulerConfiguration:
        """The component configuration, of the kind that the release reads."""
        return self.config if self.profiles is None else self.profiles

    @property
    def scheduler_names(self) -> frozenset[str]:
        """The schedulerNames of the pods that are scheduled."""
        if self.profiles is not None:
            return frozenset(profile.scheduler_name or "" for profile in self.profiles.profiles)
        return frozenset([self.config.scheduler_name or DEFAULT_SCHEDULER])

    @property
    def first_scheduler_name(self) -> str:
        """The schedulerName of its pods; of several profiles, the first one's."""
        return (
            self.config if self.profiles is None else self.profiles.profiles[0]
        ).scheduler_name or DEFAULT_SCHEDULER

    @property
    def switches(self) -> str:
        """The feature gates that are set, in words: ``A=true,B=false``."""
        return ",".join(
            f"{name}={str(value).lower()}" for name, value in sorted(self.configuration.gates.items())
        )

    @property
    def server(self) -> ServerRules:
        """The admission of new objects by an API server of its release."""
        return server_rules(find_any_release(self.version), self.configuration.gates)

    @property
    def may_call_extenders(self) -> bool:
        """Whether extenders may be configured, as far as known before the cluster is read."""
        if not isinstance(self.extenders, tuple) and self.extenders.how in ("off", None):
            return False
        if self.profiles is not None:
            return bool(self.profiles.extenders) or self.config.source.policy is not None
        source = self.config.source.policy
        if self.policy is None and (
            source is None or source.file is None or not (self.config.folder / source.file).exists()
        ):
            return source is not None
        policy = self.policy or self.config.policy()
        return policy is not None and bool(policy.extenders)

    def engine(self, config_maps: ConfigMaps | None = None) -> Engine:
        """A new scheduler; *config_maps*: manifests of ConfigMaps by namespace and name, of which *config*
        may name one."""
        profiles = self.settled(config_maps).profiles
        with refusals(self.file, find_any_release(self.version), self.configuration.gates):
            return self.engine_of(self.algorithm(config_maps) if profiles is None else profiles)

    def settled(self, config_maps: ConfigMaps | None = None) -> SchedulerSpec:
        """The spec, with the profiles of a Policy that a ConfigMap has, where the release makes profiles of
        it."""
        source = self.config.source.policy
        if self.profiles is None or source is None or source.config_map is None:
            return self
        from .policy import DEFAULT_AFFINITY_WEIGHT, configuration_of_policy

        config = self.config
        place = source.where(Path())
        policy = config.policy(config_maps)
        assert policy is not None
        release = self.profiles.release
        with refusals(place, release, config.gates):
            profiles = configuration_of_policy(
                policy,
                release,
                gates=config.gates,
                percentage=config.percentage,
                hard_pod_affinity_weight=config.hard_pod_affinity_weight or DEFAULT_AFFINITY_WEIGHT,
            )
        return attrs.evolve(self, profiles=profiles, config=classic.AlgorithmConfiguration(), file=place)

    def engine_of(self, configuration: Algorithm | KubeSchedulerConfiguration, **options: Any) -> Engine:
        """A new scheduler of *configuration*, in place of the spec's own; *options* as for the Engine."""
        # In a running cluster, kubelets have updated every node, and with it the counts of its images, since
        # the scheduler's start.
        options = {"counts_images_late": None if self.fresh_start else True, **options}
        return build_engine(
            configuration,
            plugins=self.plugins,
            preempts=self.preemption,
            tie_break=self.tie_break,
            seed=self.seed,
            extenders=self.extenders,
            leaves_uncalled=not isinstance(self.extenders, tuple) and self.extenders.how is None,
            memory_bytes=self.memory_bytes,
            max_pd_vols=self.max_pd_vols,
            **options,
        )

    def algorithm(self, config_maps: ConfigMaps | None = None, release: Release | None = None) -> Algorithm:
        """The predicates and priorities, for releases with these; *release*: a slightly different one, in
        place of its own."""
        config = attrs.evolve(
            self.config, disable_preemption=self.config.disable_preemption or not self.preemption
        )
        reader = release or find_any_release(self.version)
        algorithm = config.resolve(
            reader, config_maps=config_maps, catalogue=self.catalogue, policy=self.policy
        )
        unread = algorithm.unread
        if self.config.written:
            from .config.configuration import unread_of_first

            unread += unread_of_first(self.config.written, reader)
        return attrs.evolve(algorithm, equivalence_cache=self.equivalence_cache, unread=unread)


@contextmanager
def refusals(place: str, release: Release, gates: Mapping[str, bool]) -> Iterator[None]:
    """A context that adds the file *place* to a refusal, and hints where unregistered rules and plugins can
    come from."""
    try:
        yield
    except PolicyError as error:
        located = PolicyError(f"{place}: {error}") if place else error
        refusal = str(error)
        for hint in filter(None, (*hints_of(refusal, release, gates), hint_of_plugins(refusal))):
            located.add_note(hint)
        raise located from None


# --- reading ------------------------------------------------------------------------------------------------


def _classic_config(options: Classic) -> classic.AlgorithmConfiguration:
    """The component configuration of *options*, which override its own settings."""
    config: Any = options.config
    if config is None:
        config = classic.AlgorithmConfiguration(folder=Path())
    elif isinstance(config, Mapping):
        config = classic.read_configuration(config)
    elif isinstance(config, str | os.PathLike):
        config = classic.load_configuration(config)
    check_type(
        "config", config, classic.AlgorithmConfiguration, "one of releases with predicates and priorities"
    )
    changes: dict[str, Any] = {
        "percentage": options.percentage_of_nodes_to_score,
        "hard_pod_affinity_weight": options.hard_pod_affinity_weight,
        "scheduler_name": options.scheduler_name,
        "source": _source(options),
        "folder": Path() if options.policy is not None else None,
    }
    changed_config: classic.AlgorithmConfiguration = attrs.evolve(
        config,
        gates={**config.gates, **_gates(options.gates)},
        **{name: value for name, value in changes.items() if value is not None},
    )
    return changed_config


def _source(options: GivenOptions) -> classic.AlgorithmSource | None:
    if options.policy is not None:
        file = os.fspath(cast(str, options.policy)) if _is_file(options.policy) else None
        return classic.AlgorithmSource(policy=classic.PolicySource(file=file))
    if options.policy_configmap is not None:
        config_map = classic.ConfigMapSource(options.policy_configmap_namespace, options.policy_configmap)
        return classic.AlgorithmSource(policy=classic.PolicySource(config_map=config_map))
    return classic.AlgorithmSource(provider=options.provider) if options.provider else None


def _is_file(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _policy(policy: Any) -> Policy:
    return read_policy(policy) if isinstance(policy, Mapping) else cast(Policy, policy)


def _gates(gates: GivenGates) -> dict[str, bool]:
    return parse_gates(gates) if isinstance(gates, str) else dict(gates or {})
