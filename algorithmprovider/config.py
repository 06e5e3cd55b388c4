"""A component configuration, the Policy that it points to, and the environment of kube-scheduler.

Upstream: pkg/scheduler/apis/config (v1alpha1, its defaults and validation), initPolicyFromFile and
initPolicyFromConfigMap in pkg/scheduler/scheduler.go.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import attrs

from ..api.objects import DEFAULT_SCHEDULER, MAX_INT64, Int32, JsonObject
from ..api.reading import (
    Document,
    File,
    Mismatch,
    PathLike,
    ReadBy,
    Reader,
    entries,
    flag,
    is_built_in,
    list_of,
    read,
    read_files,
    record,
    shown,
    text,
)
from ..choices import KIND as KIND
from ..core.cycle import Algorithm
from ..core.release import Release
from ..exceptions import ManifestError, PolicyError
from .catalogue import CATALOGUE, Catalogue
from .cells import listed
from .gates import resolved_gates
from .policy import DEFAULT_PROVIDER, Policy, read_policy, resolve

# --- files --------------------------------------------------------------------------------------------------

# Policies and component configurations in files: by themselves, in a ConfigMap, in a List, or beside other
# objects.

API_VERSIONS = ("kubescheduler.config.k8s.io/v1alpha1", "componentconfig/v1alpha1")
FLAT_PROFILE = frozenset({"plugins", "pluginConfig"})
"""The fields of v1alpha1 that belong to a profile in later versions."""
POLICY_KEY = "policy.cfg"
"""The key of a ConfigMap's Policy for the original's ``--policy-configmap``."""
ConfigMaps = Mapping[tuple[str, str], JsonObject]
"""Manifests of ConfigMaps, by namespace and name."""
_IN_ITS_PLACE = f"data[{POLICY_KEY}]"
_POLICIES = ("", "v1", "kubescheduler.config.k8s.io/v1")
_MAY_BE_ONE = re.compile(rf"""kind["']?\s*:\s*["']?({KIND}|Policy)\b""")


def has_profiles(configuration: JsonObject) -> bool:
    """Whether a component configuration configures plugins: it has a version after v1alpha1, or fields of a
    profile."""
    return configuration.get("apiVersion") not in API_VERSIONS or bool(FLAT_PROFILE & set(configuration))


def documents_in(path: PathLike, prefix: str = "") -> list[Document]:
    """The documents in *path* (``-``: standard input): items of lists, and Policies and component
    configurations in ConfigMaps.

    Raises :class:`~kubeclassic.exceptions.PolicyError`, which begins with *prefix*.
    """
    with _refusal_prefix(prefix):
        # Upstream: a file named .json may hold YAML.
        if Path(path).is_fifo():
            status = os.stat(path)
            pieces: Iterable[File] = _files_of_pipe(os.fspath(path), status.st_dev, status.st_ino)
        else:
            pieces = read_files(path)
        files = (
            File(file.where, file.name.removesuffix(".json"), file.found, file.content) for file in pieces
        )
        items = [item for file in files for document in file.documents() for item in _items(document)]
        # Of several objects a ConfigMap may have a text that only looks like a configuration.
        return [
            found_document
            for item in items
            for found_document in (item, *_embedded_documents(item, is_alone=len(items) == 1))
        ]


@lru_cache(8)
def _files_of_pipe(name: str, *_: int) -> tuple[File, ...]:
    """The contents of a pipe, cached: a configuration is first read for its version, and a pipe can be read
    only once."""
    return tuple(read_files(name))


def configurations_among(documents: Iterable[Document]) -> list[Document]:
    """The component configurations among *documents*."""
    return [document for document in documents if document.data.get("kind") == KIND]


def configuration_among(documents: Sequence[Document], path: PathLike) -> Document:
    """The only component configuration; without one, the only document: its reader finds out what it is.

    Raises :class:`~kubeclassic.exceptions.PolicyError`.
    """
    candidates = configurations_among(documents) or [
        document for document in documents if not _is_config_map(document)
    ]
    if len(candidates) != 1:
        description = f"{len(candidates)} documents" if candidates else "a ConfigMap without one"
        raise PolicyError(f"{path}: expected one {KIND}, got {description}")
    return candidates[0]


def policy_among(documents: Sequence[Document], path: PathLike) -> Document:
    """The only Policy; else the only document without a kind. Raises
    :class:`~kubeclassic.exceptions.PolicyError`."""
    candidates = [document for document in documents if is_policy(document)] or [
        document for document in documents if (document.data.get("kind") or "Policy") == "Policy"
    ]
    if len(candidates) == 1:
        return candidates[0]
    got = f"{len(candidates)} documents that may be a Policy"
    configurations = configurations_among(documents)
    if not candidates and len(configurations) == 1:
        got = f"a {KIND}, which {'--profile' if has_profiles(configurations[0].data) else '--config'} takes"
    elif not candidates and [*map(_is_config_map, documents)] == [True]:
        raise _without_policy(documents[0])
    raise PolicyError(f"invalid policy: {path}: expected one Policy or one ConfigMap, got {got}")


def _items(document: Document) -> Iterator[Document]:
    kind = document.data.get("kind")
    items = document.data.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)):
        yield document
        return
    type_meta = {"apiVersion": document.data.get("apiVersion"), "kind": kind.removesuffix("List")}
    for index, item in enumerate(items):
        if isinstance(item, dict):
            prefix = f"items[{index}]."
            item_repeats = tuple(
                path.removeprefix(prefix) for path in document.repeated if path.startswith(prefix)
            )
            yield attrs.evolve(
                document,
                data={**type_meta, **item},
                where=f"{document.where}, item {index + 1}",
                repeated=item_repeats,
            )


def _embedded_documents(document: Document, *, is_alone: bool = True) -> Iterator[Document]:
    """The Policies and configurations in a ConfigMap; texts that cannot be read count only under the key of a
    Policy, or if it *is_alone*."""
    data = document.data.get("data")
    for key, content in data.items() if _is_config_map(document) and isinstance(data, Mapping) else ():
        if isinstance(content, str) and (key == POLICY_KEY or _MAY_BE_ONE.search(content)):
            where = f"{document.where}, data[{key}]"
            try:
                documents = tuple(File(where, given=content.encode("utf-8", "surrogatepass")).documents())
            except ManifestError:
                if key == POLICY_KEY or is_alone:
                    raise
                continue
            yield from (
                attrs.evolve(inner_document, where=where) if len(documents) == 1 else inner_document
                for inner_document in documents
            )


def _is_config_map(document: Document) -> bool:
    return document.data.get("kind") == "ConfigMap" and is_built_in(
        "ConfigMap", document.data.get("apiVersion")
    )


def is_policy(document: Document) -> bool:
    """Whether *document* is a Policy of a scheduler, or is in the place of one."""
    data = document.data
    return _IN_ITS_PLACE in document.where or (
        data.get("kind") == "Policy" and (data.get("apiVersion") or "") in _POLICIES
    )


def _without_policy(config_map: Document) -> PolicyError:
    return PolicyError(f'{config_map.where}: missing policy config map value at key "{POLICY_KEY}"')


@contextmanager
def _refusal_prefix(prefix: str) -> Iterator[None]:
    """Refuses unreadable input in the block, with *prefix* before the message."""
    try:
        yield
    except ManifestError as error:
        raise PolicyError(f"{prefix}{error}") from None


def policy_document(path: PathLike) -> Document:
    """The Policy in the file *path* (``-``: standard input), not decoded yet. Raises
    :class:`~kubeclassic.exceptions.PolicyError`."""
    return policy_among(documents_in(path, "invalid policy: "), path)


def configuration_document(path: PathLike) -> Document:
    """The component configuration in a file. Raises :class:`~kubeclassic.exceptions.PolicyError`."""
    return configuration_among(documents_in(path), path)


def load_policy(path: PathLike) -> Policy:
    """The Policy in the file *path*, as :func:`policy_document` finds it."""
    return decode_policy(policy_document(path))


def decode_policy(document: Document) -> Policy:
    """The Policy that *document* holds; errors say where."""
    try:
        return read_policy(document)
    except PolicyError as error:
        raise PolicyError(f"{document.where}: {error}") from None


# --- the component configuration ----------------------------------------------------------------------------


def _switches(value: Any) -> dict[str, bool]:
    return {name: flag(setting) for name, setting in entries(value).items()}


def _path(value: Any) -> str:
    read_file: Reader[dict[str, str]] = record(dict, {"path": ("path", text)})
    return read_file(value).get("path", "")


def _plugin_names(value: Any) -> dict[str, tuple[str, ...]]:
    """Extension point -> the plugins that are enabled there."""
    names = list_of(lambda entry: text(entries(entry).get("name", "")), "")
    return {
        point: names(entries(plugin_set or {}).get("enabled") or [])
        for point, plugin_set in entries(value).items()
    }


def _or_default(value: Any) -> str:
    return text(value) or "kube-system"


@attrs.frozen(repr=False)
class ConfigMapSource:
    """The ConfigMap that holds the Policy."""

    namespace: Annotated[str, ReadBy(_or_default)] = "kube-system"
    name: str = ""


@attrs.frozen(repr=False)
class PolicySource:
    """The place of the Policy: a file, else a ConfigMap."""

    file: Annotated[str | None, ReadBy(_path)] = None
    config_map: ConfigMapSource | None = None

    def where(self, folder: Path) -> str:
        """The file as seen from *folder*, or the ConfigMap, for messages."""
        if self.file is not None or self.config_map is None:
            return str(folder / (self.file or ""))
        return f"ConfigMap {self.config_map.namespace}/{self.config_map.name}"


@attrs.frozen(repr=False)
class AlgorithmSource:
    """A provider's name, or where the Policy is; a provider wins over a Policy."""

    provider: str | None = None
    policy: PolicySource | None = None


@attrs.frozen(repr=False)
class AlgorithmConfiguration:
    """The part of a component configuration that the algorithm depends on, as written: without defaults
    yet."""

    kind: str = KIND
    api_version: str = API_VERSIONS[0]
    scheduler_name: str = DEFAULT_SCHEDULER
    source: AlgorithmSource = attrs.field(default=AlgorithmSource(), metadata={"name": "algorithmSource"})
    hard_pod_affinity_weight: Int32 = attrs.field(
        default=0, metadata={"name": "hardPodAffinitySymmetricWeight"}
    )
    percentage: Int32 = attrs.field(default=0, metadata={"name": "percentageOfNodesToScore"})
    disable_preemption: bool = False
    bind_timeout: int = attrs.field(default=600, metadata={"name": "bindTimeoutSeconds"})
    """Seconds."""
    gates: Annotated[Mapping[str, bool], ReadBy(_switches)] = attrs.field(
        factory=dict, metadata={"name": "featureGates"}
    )
    """featureGates; upstream takes them from its flag ``--feature-gates`` only."""
    plugins: Annotated[Mapping[str, tuple[str, ...]], ReadBy(_plugin_names)] = attrs.Factory(dict)
    """The enabled plugins by extension point; releases that read them have none."""
    written: JsonObject = attrs.field(factory=dict, metadata={"unread": True})
    """The whole configuration in JSON form, if it was read."""
    folder: Path = attrs.field(default=Path(), metadata={"unread": True})
    """The folder that relative paths of Policy files start from."""
    beside: ConfigMaps = attrs.field(factory=dict, metadata={"unread": True})
    """The ConfigMaps that are in the same file."""

    def with_defaults(self, release: Release) -> AlgorithmConfiguration:
        """The same with the defaults that the configuration API of *release* sets for zeros and absent
        fields."""
        source = self.source
        if source.policy is None and not source.provider:
            source = AlgorithmSource(provider=DEFAULT_PROVIDER)
        return attrs.evolve(
            self,
            source=source,
            scheduler_name=self.scheduler_name or DEFAULT_SCHEDULER,
            hard_pod_affinity_weight=self.hard_pod_affinity_weight or 1,
            percentage=self.percentage or release.default_percentage,
        )

    def policy(self, config_maps: ConfigMaps | None = None) -> Policy | None:
        """The Policy that the configuration points to, None where a provider is named; raises as
        :meth:`policy_document`."""
        document = self.policy_document(config_maps)
        return None if document is None else decode_policy(document)

    def policy_document(self, config_maps: ConfigMaps | None = None) -> Document | None:
        """The Policy, not decoded yet; it may be in one of *config_maps*. Raises
        :class:`~kubeclassic.exceptions.PolicyError`."""
        source = self.source.policy
        if self.source.provider is not None or source is None:
            return None
        if source.file is not None:
            if not (self.folder / source.file).exists():
                raise PolicyError(f"missing policy config file {source.file}")
            return policy_document(self.folder / source.file)
        if source.config_map is None:
            raise PolicyError("algorithmSource.policy: expected file or configMap, got no source")
        namespace = source.config_map.namespace
        name = source.config_map.name
        manifest = {**self.beside, **(config_maps or {})}.get((namespace, name))
        if manifest is None:
            reason = f'configmaps "{name}" not found'
            raise PolicyError(f"couldn't get policy config map {namespace}/{name}: {reason}")
        config_map = Document(manifest, f"ConfigMap {namespace}/{name}")
        with _refusal_prefix("invalid policy: "):
            for document in _embedded_documents(config_map):
                if _IN_ITS_PLACE in document.where:
                    return document
        raise _without_policy(config_map)

    def resolve(
        self,
        release: Release,
        *,
        config_maps: ConfigMaps | None = None,
        catalogue: Catalogue = CATALOGUE,
        policy: Policy | None = None,
        hard_pod_affinity_weight: int | None = None,
    ) -> Algorithm:
        """The algorithm that *release* runs when started with this configuration, its defaults included.

        A *policy* or a *hard_pod_affinity_weight* that is given counts in place of that of the configuration.
        Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text; for a refused Policy the
        text begins with its place.
        """
        config = self.with_defaults(release)
        config.validate(release)
        gates = resolved_gates(release, config.gates)
        weight = hard_pod_affinity_weight
        source = None
        if policy is None:
            source = config.source.policy
            policy = config.policy(config_maps)
        try:
            return resolve(
                release,
                gates=gates,
                policy=policy,
                provider=config.source.provider or DEFAULT_PROVIDER,
                catalogue=catalogue,
                hard_pod_affinity_weight=config.hard_pod_affinity_weight if weight is None else weight,
                percentage=config.percentage,
                preemption=not config.disable_preemption,
            )
        except PolicyError as error:
            place = source.where(self.folder) if policy is not None and source is not None else ""
            raise PolicyError(f"{place}: {error}" if place else str(error)) from None

    def validate(self, release: Release) -> None:
        """Raise :class:`~kubeclassic.exceptions.PolicyError` for numbers out of range, all of them in one
        text, and for plugins."""
        numbers = {
            "hardPodAffinitySymmetricWeight": self.hard_pod_affinity_weight,
            "percentageOfNodesToScore": self.percentage,
        }
        invalid = [
            f"{name}: Invalid value: {value}: not in valid range 0-100"
            for name, value in numbers.items()
            if not 0 <= value <= 100
        ]
        if invalid:
            raise PolicyError(listed(invalid))
        for point, refusal in release.missing_plugins.items():
            for name in self.plugins.get(point, ()):
                raise PolicyError(f"error initializing the scheduling framework: {refusal.format(name=name)}")


# --- reading ------------------------------------------------------------------------------------------------


def read_configuration(
    document: JsonObject, where: str = "configuration", folder: Path = Path()
) -> AlgorithmConfiguration:
    """The component configuration that *document* (its JSON form) describes; unknown keys are ignored.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with *where* and the path to the wrong field.
    """
    try:
        config = read(AlgorithmConfiguration, document)
    except Mismatch as mismatch:
        raise PolicyError(f"{where}: {mismatch}") from None
    if config.kind != KIND:
        raise PolicyError(f"{where}: kind: expected {KIND}, got {shown(config.kind)}")
    if config.api_version not in API_VERSIONS:
        raise PolicyError(
            f"{where}: apiVersion: expected {' or '.join(API_VERSIONS)}, got {shown(config.api_version)}"
        )
    return attrs.evolve(config, folder=folder, written=document)


def load_configuration(path: PathLike) -> AlgorithmConfiguration:
    """The component configuration in the file *path*, JSON or YAML; relative paths in it start from the
    file's folder."""
    return _configuration(documents_in(path), path)


def _configuration(documents: Sequence[Document], path: PathLike) -> AlgorithmConfiguration:
    configuration = configuration_among(documents, path)
    beside = {
        (str(metadata.get("namespace") or "default"), str(metadata.get("name"))): document.data
        for document in documents
        if _is_config_map(document) and isinstance(metadata := document.data.get("metadata"), dict)
    }
    return attrs.evolve(
        read_configuration(configuration.data, configuration.where, Path(path).parent), beside=beside
    )


MAX_PD_VOLS = "KUBE_MAX_PD_VOLS"
"""The number of cloud disks of each type for nodes without a limit of their own."""
_DIGITS = re.compile(r"\+?0*([0-9]{1,19})", re.ASCII)


def max_pd_vols(environment: Mapping[str, str]) -> int | None:
    """The limit in *environment*; None if there is none, or if it is no whole number above 0 of 64 bits.

    Upstream: getMaxVolLimitFromEnv in predicates.go, later in nodevolumelimits; a value that cannot be read
    is logged and ignored.
    """
    match = _DIGITS.fullmatch(environment.get(MAX_PD_VOLS, ""))
    limit = int(match[1]) if match else 0
    return limit if 0 < limit <= MAX_INT64 else None


def ignored_limit(environment: Mapping[str, str]) -> str | None:
    """A line about a limit that is set but does not count; None without one."""
    setting = environment.get(MAX_PD_VOLS, "")
    if not setting or max_pd_vols(environment) is not None:
        return None
    text = setting[:40] + "..." * (len(setting) > 40)
    return (
        f"{MAX_PD_VOLS}: expected a whole number above 0, got {text!r}; it is ignored, as the original does"
    )


@attrs.frozen(repr=False)
class PolicyFile:
    """A Policy (None: a provider's rules run) and the component configuration that it is a part of."""

    document: Document | None
    config: AlgorithmConfiguration
    configuration: Document | None = None
    """The component configuration as it was written, where the file is one."""

    @property
    def profile(self) -> Document | None:
        """The component configuration, if it has profiles of plugins."""
        if self.configuration is not None and has_profiles(self.configuration.data):
            return self.configuration
        return None

    @property
    def policy(self) -> Policy | None:
        """The Policy, decoded; raises :class:`~kubeclassic.exceptions.PolicyError`."""
        return None if self.document is None else decode_policy(self.document)


def read_policy_file(path: Path) -> PolicyFile:
    """The contents of the file *path* (``-``: standard input). Raises
    :class:`~kubeclassic.exceptions.PolicyError` with file and place."""
    documents = documents_in(path, "invalid policy: ")
    if not configurations_among(documents):
        return PolicyFile(policy_among(documents, path), AlgorithmConfiguration())
    configuration = configuration_among(documents, path)
    is_first = configuration.data.get("apiVersion") in API_VERSIONS
    config = _configuration(documents, path) if is_first else AlgorithmConfiguration()
    policies = [document.where for document in documents if is_policy(document)]
    if policies and config.source.policy is None:
        raise PolicyError(
            f"{path}: expected a {KIND} or a Policy, got both, and it does not point to this Policy ({', '.join(policies)})"
        )
    return PolicyFile(config.policy_document(), config, configuration)
