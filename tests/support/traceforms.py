"""What tests of readers of traces share."""

from __future__ import annotations

from pathlib import Path

from kubeclassic.questions.importing.rows import Manifest

CREATED, DELETED, RUNS = (f"kubeclassic/{name}-time" for name in ("creation", "deletion", "run"))


def write(folder: Path, name: str, text: str) -> Path:
    """A file with *text*."""
    (folder / name).write_text(text)
    return folder / name


def requests(pod: Manifest) -> dict[str, str]:
    """What a pod's container requests."""
    found: dict[str, str] = pod["spec"]["containers"][0]["resources"]["requests"]
    return found


def times(item: Manifest) -> dict[str, str]:
    """The annotations of an object."""
    found: dict[str, str] = item["metadata"].get("annotations", {})
    return found
