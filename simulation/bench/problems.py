"""The case that is timed: read or made, with another release, profile or percentage where they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...algorithmprovider.releases import DEFAULT_RELEASE
from ...api.reading.documents import read_documents
from ...exceptions import UnknownNameError
from ...framework.config.configuration import load_configuration
from ...framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, find_any_release
from .bench import Json, read_case
from .cases import CaseSize

PERCENTAGE = "percentageOfNodesToScore"


def case_of(
    asked: Path | CaseSize, *, release: str | None = None, profile: Path | None = None, percentage: int | None = None,
    preempts: bool = True, say: Callable[[str], None] = print,
) -> Json:  # fmt: skip
    """The case in a file, or one of that size, changed as the others say; *say* is called with what of the case does not count."""
    release = _version(release, profile)
    default = release or DEFAULT_RELEASE
    found = asked.case(default) if isinstance(asked, CaseSize) else read_case(asked, default)
    found = found if release is None else _with_release(found, release, say)
    return found | {"config": _config(found.get("config") or {}, profile, percentage, preempts)}


def _version(release: str | None, profile: Path | None) -> str | None:
    """The wanted release, if any; with a profile alone, the one that has profiles."""
    if release is None:
        return None if profile is None else DEFAULT_FRAMEWORK
    version = find_any_release(release).version
    if profile is not None and version not in FRAMEWORK_RELEASES:
        raise UnknownNameError(f"--profile: got {profile}, which release {version} does not have, wanted --release {DEFAULT_FRAMEWORK}")
    return version


def _config(config: dict[str, Any], file: Path | None, percentage: int | None, preempts: bool) -> dict[str, Any]:
    """The case's *config*, and over it what is asked for."""
    changes: dict[str, Any] = {} if preempts else {"preemption": False}
    profile = config.get("profile")
    if file is not None:
        load_configuration(file)
        profile = next(iter(read_documents(file))).data
    if percentage is not None:
        changes[PERCENTAGE] = percentage
        profile = profile and _with_percentage(profile, percentage)
    return config | changes | ({"profile": profile} if profile else {})


def _with_percentage(configuration: Mapping[str, Any], percentage: int) -> dict[str, Any]:
    """A configuration whose profiles all have this share."""
    profiles = [{key: value for key, value in profile.items() if key != PERCENTAGE} for profile in configuration.get("profiles") or ()]
    return {**configuration, PERCENTAGE: percentage} | ({"profiles": profiles} if profiles else {})


def _with_release(case: Json, release: str, say: Callable[[str], None]) -> Json:
    """A case of any release, changed to *release*, without the gates that this one does not know."""
    config, gates = case.get("config") or {}, find_any_release(release).gates
    kept = {name: value for name, value in (config.get("featureGates") or {}).items() if name in gates}
    left_out = [name for name in config.get("featureGates") or {} if name not in kept]
    if left_out:
        say(f"left out, as release {release} has no such gates: {', '.join(left_out)}")
    return case | {"version": release, "config": {**config, "featureGates": kept}}
