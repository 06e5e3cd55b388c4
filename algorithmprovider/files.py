"""Policies and component configurations in files: by themselves, in a ConfigMap, in a List, or beside other objects."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import attrs

from ..api.reading.builtin import is_built_in
from ..api.reading.documents import Document, File, PathLike, read_files
from ..choices import KIND as KIND
from ..exceptions import ManifestError, PolicyError

API_VERSIONS = ("kubescheduler.config.k8s.io/v1alpha1", "componentconfig/v1alpha1")
FLAT_PROFILE = frozenset({"plugins", "pluginConfig"})
"""The fields of v1alpha1 that are those of a profile later."""
POLICY_KEY = "policy.cfg"
"""Where a ConfigMap holds its Policy for the original's ``--policy-configmap``."""
ConfigMaps = Mapping[tuple[str, str], Mapping[str, Any]]
"""Manifests of ConfigMaps, by namespace and name."""
_IN_ITS_PLACE = f"data[{POLICY_KEY}]"
_POLICIES = ("", "v1", "kubescheduler.config.k8s.io/v1")
_MAY_BE_ONE = re.compile(rf"""kind["']?\s*:\s*["']?({KIND}|Policy)\b""")


def has_profiles(configuration: Mapping[str, Any]) -> bool:
    """Whether a component configuration is one of plugins: of a version after v1alpha1, or with the fields of a profile."""
    return configuration.get("apiVersion") not in API_VERSIONS or bool(FLAT_PROFILE & set(configuration))


def documents_in(path: PathLike, stdin: IO[Any] | None = None, begins: str = "") -> list[Document]:
    """What *path* (``-``: *stdin*) holds, lists item by item, and after each ConfigMap what in it is a Policy or a component configuration.

    Raises :class:`~kubeclassic.exceptions.PolicyError`, which *begins* so.
    """
    with _refused(begins):
        # Upstream: what is called JSON may be YAML.
        files = (File(file.where, file.name.removesuffix(".json"), file.found, file.content) for file in _files(path, stdin))
        items = (one for file in files for document in file.documents() for one in _items(document))
        return [one for item in items for one in (item, *_inside(item))]


def _files(path: PathLike, stdin: IO[Any] | None) -> Iterable[File]:
    if not Path(path).is_fifo():
        return read_files(path, stdin)
    told = os.stat(path)
    return _files_of_pipe(os.fspath(path), told.st_dev, told.st_ino)


@lru_cache(8)
def _files_of_pipe(name: str, *_: int) -> tuple[File, ...]:
    """What a pipe holds; it is kept, as a configuration is asked for its version first, and nothing comes out of a pipe twice."""
    return tuple(read_files(name))


def configurations_among(found: Iterable[Document]) -> list[Document]:
    """The component configurations among *found*."""
    return [one for one in found if one.data.get("kind") == KIND]


def configuration_among(found: Sequence[Document], path: PathLike) -> Document:
    """The only component configuration; else the only document, of which its reader says what it is.

    Raises :class:`~kubeclassic.exceptions.PolicyError`.
    """
    chosen = configurations_among(found) or [one for one in found if not _is_config_map(one)]
    if len(chosen) != 1:
        got = f"{len(chosen)} documents" if chosen else "a ConfigMap without one"
        raise PolicyError(f"{path}: expected one {KIND}, got {got}")
    return chosen[0]


def policy_among(found: Sequence[Document], path: PathLike) -> Document:
    """The only Policy; else the only document without a kind. Raises :class:`~kubeclassic.exceptions.PolicyError`."""
    chosen = [one for one in found if is_policy(one)] or [one for one in found if (one.data.get("kind") or "Policy") == "Policy"]
    if len(chosen) == 1:
        return chosen[0]
    got, configurations = f"{len(chosen)} documents that may be a Policy", configurations_among(found)
    if not chosen and len(configurations) == 1:
        got = f"a {KIND}, which {'--profile' if has_profiles(configurations[0].data) else '--config'} takes"
    elif not chosen and [*map(_is_config_map, found)] == [True]:
        raise _without_policy(found[0])
    raise PolicyError(f"invalid policy: {path}: expected one Policy or one ConfigMap, got {got}")


def config_maps_among(found: Iterable[Document]) -> ConfigMaps:
    """The ConfigMaps among *found*."""
    maps = ((one.data.get("metadata"), one.data) for one in found if _is_config_map(one))
    named = ((metadata, data) for metadata, data in maps if isinstance(metadata, dict))
    return {(str(metadata.get("namespace") or "default"), str(metadata.get("name"))): data for metadata, data in named}


def _items(document: Document) -> Iterator[Document]:
    kind, items = document.data.get("kind"), document.data.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)):
        yield document
        return
    like = {"apiVersion": document.data.get("apiVersion"), "kind": kind.removesuffix("List")}
    for index, item in enumerate(items):
        if isinstance(item, dict):
            within = f"items[{index}]."
            repeated = tuple(path.removeprefix(within) for path in document.repeated if path.startswith(within))
            yield attrs.evolve(document, data={**like, **item}, where=f"{document.where}, item {index + 1}", repeated=repeated)


def _inside(document: Document) -> Iterator[Document]:
    data = document.data.get("data")
    for key, text in data.items() if _is_config_map(document) and isinstance(data, Mapping) else ():
        if isinstance(text, str) and (key == POLICY_KEY or _MAY_BE_ONE.search(text)):
            where = f"{document.where}, data[{key}]"
            found = tuple(File(where, given=text.encode("utf-8", "surrogatepass")).documents())
            yield from (attrs.evolve(one, where=where) if len(found) == 1 else one for one in found)


def _is_config_map(document: Document) -> bool:
    return document.data.get("kind") == "ConfigMap" and is_built_in("ConfigMap", document.data.get("apiVersion"))


def is_policy(document: Document) -> bool:
    """Whether it is a Policy of a scheduler, or stands where one does."""
    data = document.data
    return _IN_ITS_PLACE in document.where or (data.get("kind") == "Policy" and (data.get("apiVersion") or "") in _POLICIES)


def policy_of_config_map(config_map: Document) -> Document:
    """The Policy that *config_map* holds where the original looks for it. Raises :class:`~kubeclassic.exceptions.PolicyError`."""
    with _refused("invalid policy: "):
        for found in _inside(config_map):
            if _IN_ITS_PLACE in found.where:
                return found
    raise _without_policy(config_map)


def _without_policy(config_map: Document) -> PolicyError:
    return PolicyError(f'{config_map.where}: missing policy config map value at key "{POLICY_KEY}"')


@contextmanager
def _refused(begins: str) -> Iterator[None]:
    """What cannot be read in the block is refused, which *begins* so."""
    try:
        yield
    except ManifestError as error:
        raise PolicyError(f"{begins}{error}") from None


def policy_document(path: PathLike, stdin: IO[Any] | None = None) -> Document:
    """The Policy in the file *path* (``-``: *stdin*), not decoded yet. Raises :class:`~kubeclassic.exceptions.PolicyError`."""
    return policy_among(documents_in(path, stdin, "invalid policy: "), path)


def configuration_document(path: PathLike) -> Document:
    """The component configuration in a file. Raises :class:`~kubeclassic.exceptions.PolicyError`."""
    return configuration_among(documents_in(path), path)
