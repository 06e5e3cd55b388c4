"""The pages that there are, and how each is made: once in a run of the tests, whichever process needs it first."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from kubeclassic.cli import run
from kubeclassic.simulation.traces.openb import manifests

ROOT = Path(__file__).resolve().parents[2]
OPENB = "OPENB"
"""In the arguments of a subject: the openb trace as manifests, 1,523 nodes and 8,152 pods."""


@attrs.frozen
class Subject:
    """A page: a command line without its form and its file.

    *parts*: what stands in it, by the names of the checks that look at it (``table``, ``map``, ``chart``). *status*: how the command ends.
    """

    name: str
    arguments: tuple[str, ...]
    parts: frozenset[str] = attrs.field(converter=frozenset, default=())
    status: int = 0

    @property
    def needs_shared(self) -> bool:
        """Whether it is about the larger data."""
        return OPENB in self.arguments

    def __str__(self) -> str:
        return self.name


def _subject(name: str, line: str, parts: str, status: int = 0) -> Subject:
    """*line*: its words, where ``examples/...`` is a path of the repository."""
    words = tuple(str(ROOT / word) if word.startswith("examples/") else word for word in line.replace("_ ", "\0").split())
    return Subject(name, tuple(word.replace("\0", " ") for word in words), frozenset(parts.split()), status)


SIDES = ("--a", "release=1.16", "--b", "release=1.27")
EXAMPLES = (Subject("compare", ("compare", str(ROOT / "examples/cluster"), *SIDES), frozenset(), 1),)
LARGE = (Subject("compare-openb", ("compare", OPENB, *SIDES), frozenset(), 1),)
ALL = (*EXAMPLES, *LARGE)


@attrs.frozen
class Workshop:
    """Makes pages in a folder."""

    folder: Path

    def page(self, subject: Subject, shared: Path | None = None) -> Path:
        """The HTML file of *subject*; *shared*: the folder of the larger data."""
        return self._made(subject, "html", shared)

    def record(self, subject: Subject, shared: Path | None = None) -> dict[str, Any]:
        """What ``-o json`` of the same command says."""
        found: dict[str, Any] = json.loads(self._made(subject, "json", shared).read_text(encoding="utf-8"))
        return found

    def _made(self, subject: Subject, form: str, shared: Path | None) -> Path:
        file = self.folder / f"{subject.name}.{form}"
        with self._alone():
            if not file.exists():
                given = {OPENB: str(self._openb(shared))} if shared is not None else {}
                words = [given.get(word, word) for word in subject.arguments]
                status = run([*words, "-o", form, "--output", str(file)])
                assert status == subject.status, f"{' '.join(words)}: exit status {status}"
        return file

    def _openb(self, shared: Path) -> Path:
        file, data = self.folder / "openb.json", shared / "data" / "openb"
        if not file.exists():
            found = manifests(data / "openb_node_list_all_node.csv", data / "openb_pod_list_gpuspec33.csv")
            file.write_text(json.dumps(found), encoding="utf-8")
        return file

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with open(self.folder / "lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
