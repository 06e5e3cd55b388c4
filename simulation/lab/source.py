"""Where the rules of a configuration come from: a provider, a Policy, or a profile; and their JSON form."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import attrs

from ...algorithmprovider.catalogue import Catalogue
from ...algorithmprovider.registry import DEFAULT_PROVIDER, PROVIDERS, Registry
from ...api.reading.documents import parsed
from ...core.release import Gates, Release
from ...exceptions import KubeclassicError
from ...framework.config.configuration import KIND
from ...framework.releases import ALL_RELEASES, FRAMEWORK_RELEASES

Json = dict[str, Any]
PROVIDER, POLICY, PROFILE = "provider", "policy", "profile"
DEFAULT_PROFILE = "the default profile"


class LabError(KubeclassicError):
    """Something that the lab was asked and cannot do; *field* names the part of the page that it is about."""

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field


@attrs.frozen(eq=False)
class Source:
    """A provider by name, or a Policy or a profile with its document."""

    kind: str
    """:data:`PROVIDER`, :data:`POLICY` or :data:`PROFILE`."""
    name: str
    document: Mapping[str, Any] | None = None
    """The JSON form; None for a provider, and for the default profile, which each release has in its own version."""
    file: str | None = None
    """The file that it was read from, as it was given; None if a page sent it."""

    @property
    def key(self) -> str:
        """Its identity among the others."""
        return f"{self.kind}:{self.name}"

    def runs_on(self, version: str) -> bool:
        """Whether release *version* reads it."""
        release = FRAMEWORK_RELEASES.get(version)
        if release is None or self.kind != PROFILE:
            return release is None and self.kind != PROFILE
        return self.document is None or version_of(self.document) in release.configuration.api_versions

    def record(self) -> Json:
        """As plain data."""
        return {"key": self.key, "kind": self.kind, "name": self.name}


def check_release(version: str) -> None:
    """Raise :class:`LabError` for a release that there is not."""
    if version not in ALL_RELEASES:
        raise LabError(f'release: got "{version}", wanted one of {", ".join(ALL_RELEASES)}', "release")


def providers() -> list[Source]:
    """The sources that need no file: the providers, and the default profile."""
    return [*(Source(PROVIDER, name) for name in PROVIDERS), Source(PROFILE, DEFAULT_PROFILE)]


def default_source(version: str) -> Source:
    """What release *version* runs if nothing is said."""
    return next(source for source in providers() if source.runs_on(version))


def version_of(document: Mapping[str, Any]) -> str:
    """The version of the configuration that *document* is in."""
    return str(document.get("apiVersion", "")).rpartition("/")[2]


def read_source(text: str, name: str) -> Source:
    """The Policy or profile that *text* holds, JSON or YAML. Raises :class:`LabError`."""
    try:
        values = parsed(text, name)
    except KubeclassicError as error:
        raise LabError(str(error), "source") from None
    if len(values) != 1 or not isinstance(values[0], dict):
        raise LabError(f"{name}: got {len(values)} documents, wanted one Policy or one {KIND}", "source")
    (document,) = values
    kind = document.get("kind", "Policy")
    if kind not in ("Policy", KIND):
        raise LabError(f'{name}: got kind "{kind}", wanted Policy or {KIND}', "source")
    return Source(PROFILE if kind == KIND else POLICY, name, document)


def policy_of(source: Source, release: Release, gates: Gates, catalogue: Catalogue) -> Json:
    """The Policy that means what *source* means on *release*, with both lists written out."""
    registry = Registry.of(release, gates, catalogue)
    named = source.name if source.kind == PROVIDER else DEFAULT_PROVIDER
    predicates, priorities = registry.provider(named)
    written: Json = {"kind": "Policy", "apiVersion": "v1", **copy.deepcopy(dict(source.document or {}))}
    if written.get("predicates") is None:
        written["predicates"] = [{"name": name} for name in predicates]
    if written.get("priorities") is None:
        written["priorities"] = [{"name": name, "weight": registry.weights[name]} for name in dict.fromkeys(priorities)]
    return written
