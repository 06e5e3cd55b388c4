"""The manifests of workloads as controllers find them: each has a name, and of two with one name the last
counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ...exceptions import ManifestError
from ..objects import KINDS, JsonObject
from ..reading.notices import Notice

Identity: TypeAlias = tuple[str, str, str]
"""Kind, namespace, name."""

GIVEN_BEFORE = "was given before, the last one counts"


def each_once(given: Iterable[JsonObject]) -> tuple[tuple[JsonObject, ...], tuple[Notice, ...]]:
    """*given* without those that are given again later; ones with only a ``generateName`` get a number. And a
    notice for each of those.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for one without both.
    """
    found: dict[Identity, JsonObject] = {}
    numbers: Counter[Identity] = Counter()
    twice: dict[Identity, None] = {}
    for manifest in given:
        kind, namespace, name = identity_of(manifest)
        prefix = prefix_of(manifest, kind)
        if not name and prefix:
            numbers[kind, namespace, prefix] += 1
            name = f"{prefix}{numbers[kind, namespace, prefix]}"
            manifest = {**manifest, "metadata": {**metadata_of(manifest), "name": name}}
        identity = kind, namespace, name
        if identity in found and kind not in KINDS:  # of kinds that become objects, loading has said so
            twice[identity] = None
        found[identity] = manifest
    return tuple(found.values()), tuple(
        Notice(f"{kind} {namespace}/{name}", GIVEN_BEFORE) for kind, namespace, name in twice
    )


def identity_of(manifest: JsonObject) -> Identity:
    """Kind, namespace and name of a manifest; no name is an empty one."""
    metadata = metadata_of(manifest)
    namespace, name = (
        value if isinstance(value, str) else "" for value in (metadata.get("namespace"), metadata.get("name"))
    )
    return str(manifest.get("kind", "")), namespace or "default", name


def prefix_of(manifest: JsonObject, where: object) -> str:
    """The ``generateName`` of a manifest. Raises :class:`~kubeclassic.exceptions.ManifestError` with *where*
    for one without any name."""
    metadata = metadata_of(manifest)
    found = metadata.get("generateName")
    prefix = found if isinstance(found, str) else ""
    if not prefix and metadata.get("name") in (None, ""):
        raise ManifestError(f"{where}: metadata.name: expected a name, got nothing")
    return prefix


def metadata_of(manifest: JsonObject) -> JsonObject:
    """The metadata of a manifest or a list."""
    metadata = manifest.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}
