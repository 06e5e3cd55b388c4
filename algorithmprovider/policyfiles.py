"""Files that say which rules run: a Policy, a ConfigMap with one, or a component configuration."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any

import attrs

from ..api.reading.documents import Document, read_documents
from ..api.reading.formats.files import read_stream
from ..core.release import Release
from ..exceptions import ManifestError, UnknownNameError
from .config import KIND, AlgorithmConfiguration, decode_policy, load_configuration, policy_document
from .policy import Policy
from .releases import RELEASES, find_release

LAST_MINOR = 22
"""Upstream: 1.22 was the last release that read Policies; 1.23 removed them."""


@attrs.frozen
class PolicyFile:
    """A Policy (None: a provider's rules run) and the component configuration that it is a part of."""

    document: Document | None
    config: AlgorithmConfiguration

    @property
    def policy(self) -> Policy | None:
        """The Policy, decoded; raises :class:`~kubeclassic.exceptions.PolicyError`."""
        return None if self.document is None else decode_policy(self.document)


def read_policy_file(file: Path) -> PolicyFile:
    """What is in *file* (``-``: standard input). Raises :class:`~kubeclassic.exceptions.PolicyError` with file and place."""
    again = _stream(file)
    if not _is_configuration(file, again()):
        return PolicyFile(policy_document(file, again()), AlgorithmConfiguration())
    config = load_configuration(file, again())
    if config.policy() is None or config.source.policy is None or config.source.policy.file is None:
        return PolicyFile(None, config)
    return PolicyFile(policy_document(config.folder / config.source.policy.file), config)


def _stream(file: Path) -> Any:
    """A function that opens standard input from its start each time; None where *file* is another file."""
    if str(file) != "-":
        return lambda: None
    content = read_stream(None)
    return lambda: io.BytesIO(content)


def _is_configuration(file: Path, stdin: IO[Any] | None) -> bool:
    try:
        return next((document.data.get("kind") for document in read_documents(file, stdin)), None) == KIND
    except ManifestError:
        return False  # the reader of Policies says what is wrong


def release_of_policies(release: str, instead: str = "") -> Release:
    """The release called *release*; *instead* says what else is wanted where it has no Policies. Raises
    :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    major, _, rest = release.removeprefix("v").partition(".")
    minor = rest.partition(".")[0]
    if major == "1" and minor.isdecimal() and int(minor) > LAST_MINOR:
        raise UnknownNameError(f"--release: got {release}, but Policies ended with 1.{LAST_MINOR}; wanted {', '.join(RELEASES)}{instead}")
    return find_release(release)
