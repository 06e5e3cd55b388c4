"""The documents of files: YAML, JSON, JSON Lines or output of ``kubectl``, gzipped or not; from directories,
tar, zip and standard input."""

from __future__ import annotations

import io
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any, TypeAlias

from attrs import frozen

from ...exceptions import ManifestError
from ..objects import JsonObject
from .formats.files import (
    MARKS_OF_UTF_16,
    as_text,
    is_archive,
    manifests_in,
    manifests_of,
    pieces_of,
    read_file,
    read_stream,
    unpacked,
)
from .formats.jsonvalues import LongList, Repeats, is_list_without_kind, json_values, long_list
from .typed import shown, without_kind

PathLike: TypeAlias = "str | os.PathLike[str]"
Paths: TypeAlias = "PathLike | Iterable[PathLike]"

_HEAD = 1 << 12
_LONG = 1 << 18
_LONG_PACKED = 1 << 14

_FOR_PEOPLE = {
    "table of kubectl get": re.compile(rb"\s*(?:NAMESPACE +)?NAME +[A-Z][A-Z0-9() -]*\r?\n"),
    "text of kubectl describe": re.compile(rb"\s*Name: {2,}\S+\r?\n(?:[A-Z][A-Za-z -]*:|No )"),
}
"""Kind of text that kubectl prints for people -> the pattern of its beginning."""
_ERROR = re.compile(rb"\s*((?:error: |Error from server|Unable to connect to|The connection to)[^\r\n]*)")
_CHATTER = re.compile(rb"\A((Warning: |[EIW]\d{4} )[^\n]*\n)+")
"""Messages of kubectl on standard error, before the objects."""
_TEMPLATE = re.compile(rb"\{(?=\{[^{}]*\}\}|%[^\n]*%\}).")
_SWALLOWS = re.compile(r"(?:items\[\d+\]\.)?(kind|apiVersion|metadata|spec|items)\Z")
"""Keys that are never written twice by intention: a second one begins another object."""


@frozen(repr=False)
class Document:
    """One document of a file; *found*: the file was found in a directory, not given by name."""

    data: JsonObject
    where: str
    found: bool = False
    repeated: tuple[str, ...] = ()
    """The paths of keys that an object has twice; the last one counts."""
    is_yaml: bool = False


@frozen(repr=False)
class File:
    """A file. *where* is its name in messages, *found* as in :class:`Document`."""

    where: str
    name: str = ""
    found: bool = False
    given: bytes | None = None
    """The unpacked content; None: it is read on demand."""

    @property
    def content(self) -> bytes:
        """The unpacked content. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
        return unpacked(read_file(self.name), self.where) if self.given is None else self.given

    def documents(self) -> Iterator[Document]:
        """Each object; each object of an array is a document of its own."""
        number = 0
        content = self.content
        try:
            values, is_yaml = (
                _values(content, self.where, self.name.removesuffix(".gz")) if content else ((), False)
            )
            for value, repeats in values:
                for data in value if isinstance(value, list) else [value]:
                    number += 1
                    place = f"{self.where}, document {number}"
                    if not isinstance(data, dict):
                        raise ManifestError(f"{place}: expected a Kubernetes object, got {shown(data)}")
                    repeated = repeats.paths(data) if repeats.found else ()
                    for path in filter(_SWALLOWS.match, repeated):
                        raise ManifestError(
                            f"{place}: {path}: given twice, expected once; put a line with --- between two objects"
                        )
                    yield Document(data, place, self.found, repeated, is_yaml)
        except ManifestError as error:
            if (template := _TEMPLATE.search(content)) is None:
                raise
            marks = "{{ ... }}" if template[0] == b"{{" else "{% ... %}"
            raise ManifestError(
                f"{error}; if it is a template ({marks}), render it first, as `helm template` does"
            ) from None

    def refuse_without_kind(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.ManifestError` for a long list without a kind, before all of
        it is read."""
        if self.given is not None or self.found or self.name.endswith(".gz"):
            return
        with suppress(OSError), pieces_of(self.name) as stream:
            if is_list_without_kind(stream):
                raise without_kind(f"{self.where}, document 1")

    @contextmanager
    def long_list(self) -> Iterator[LongList | None]:
        """The only document, still in the file, if it is a long list in JSON; None too where only
        :meth:`documents` can read it."""
        if self.given is None:
            with pieces_of(self.name) as stream:
                yield long_list(stream)
        else:
            yield (
                long_list(io.BytesIO(self.given))
                if len(self.given) >= _LONG and _looks_like_json(self.given)
                else None
            )


def read_documents(paths: Paths, stdin: IO[Any] | None = None) -> Iterator[Document]:
    """The documents of files, directories and ``-`` (standard input), in order.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for missing, unreadable and broken files, with line
    and column, and for an object with two kinds, specs and so on: a line with ``---`` is missing there.
    """
    for file in read_files(paths, stdin):
        yield from file.documents()


def only_document(path: PathLike, noun: str) -> Document:
    """The document of a file that has one; *noun* names it in messages. Raises
    :class:`~kubeclassic.exceptions.ManifestError`."""
    documents = list(read_documents(path))
    if len(documents) != 1:
        raise ManifestError(f"{path}: expected one {noun}, got {len(documents)} documents")
    return documents[0]


def each_path(paths: Paths) -> list[PathLike]:
    """One path or several, as a list."""
    return [paths] if isinstance(paths, str | os.PathLike) else list(paths)


def read_files(paths: Paths, stdin: IO[Any] | None = None) -> Iterator[File]:
    """Files, all files in directories and in archives, and ``-`` (standard input), in order.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for missing and unreadable files.
    """
    for path in each_path(paths):
        name = os.fspath(path)
        if name == "-":
            yield from _files_of(read_stream(stdin), "standard input", "")
        elif "\0" not in name and os.path.isdir(name):
            for file in manifests_in(name):
                yield from _in_pieces(file, found=True) or [
                    File(file, file, True, unpacked(read_file(file), file))
                ]
        else:
            yield from _in_pieces(name) or _files_of(read_file(name), name, name)


def _in_pieces(name: str, found: bool = False) -> list[File]:
    """The file, to be read piece by piece, if it is regular and may be one long list in JSON."""
    try:
        status = os.stat(name)  # before it is opened: a FIFO can be opened only once
        if not stat.S_ISREG(status.st_mode) or status.st_size < (
            _LONG_PACKED if name.endswith(".gz") else _LONG
        ):
            return []
        with pieces_of(name) as stream:
            return [File(name, name, found)] if _looks_like_json(stream.read(_HEAD)) else []
    except (ManifestError, OSError, EOFError, ValueError, zlib.error):
        return []


def _files_of(raw: bytes, where: str, name: str) -> Iterator[File]:
    """The file that these bytes are, or those in the archive that they are, as if that were a directory."""
    content = unpacked(raw, where)
    if not is_archive(content, where):
        yield File(where, name, given=content)
        return
    for path, data in manifests_of(content, where):
        place = f"{where}: {path}"
        yield File(place, path, True, unpacked(data, place))


def json_lines(path: PathLike) -> Iterator[tuple[str, Any]]:
    """(file and line, value) for each line of a JSON Lines file, gzipped or not; blank lines are skipped.

    Raises :class:`~kubeclassic.exceptions.ManifestError`.
    """
    name = os.fspath(path)
    for number, line in enumerate(io.BytesIO(unpacked(read_file(name), name)), 1):
        for value, _ in json_values(line, name, number):
            yield f"{name}, line {number}", value


def parsed(content: str | bytes, where: str) -> list[Any]:
    """The values of a text, JSON or YAML, within all the bounds that files have. Raises
    :class:`~kubeclassic.exceptions.ManifestError`."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    return [value for value, _ in _values(unpacked(content, where), where, ".yaml")[0]]


def _values(content: bytes, where: str, name: str) -> tuple[Iterable[tuple[Any, Repeats]], bool]:
    """The values of a file, and whether it is YAML: JSON if it looks like that. YAML would include JSON, but
    is slower to read."""
    content = _CHATTER.sub(lambda lines: b"\n" * lines[0].count(b"\n"), content)
    if content.startswith(MARKS_OF_UTF_16):
        content = as_text(content, where).encode("utf-8", "surrogatepass")
    if not _looks_like_json(content):
        if error := _ERROR.match(content):
            raise ManifestError(f"{where}: expected objects, got kubectl's error: {as_text(error[1], where)}")
        for form, text in _FOR_PEOPLE.items():
            if text.match(content):
                raise ManifestError(
                    f"{where}: expected objects, got the {form}, which is for people: use kubectl get ... -o json"
                )
        if not name.endswith((".json", ".jsonl")):
            return _yaml_values(content, where), True
    if not name.endswith((".yaml", ".yml")):
        return json_values(content, where), False
    try:
        return list(json_values(content, where)), False
    except ManifestError:
        return _yaml_values(content, where), True


def _yaml_values(content: bytes, where: str) -> Iterable[tuple[Any, Repeats]]:
    from .formats.yamlvalues import yaml_values  # JSON needs no PyYAML

    return yaml_values(as_text(content, where), where)


def _looks_like_json(content: bytes) -> bool:
    return content[:_HEAD].lstrip()[:1] in (b"{", b"[")


# --- Exports of kube-scheduler-simulator: one object with a list for each kind ------------------------------


LISTS: Mapping[str, tuple[str, str]] = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
}
"""A list of the export -> apiVersion and kind of its objects, in the order in which they are taken."""
CONFIG = "schedulerConfig"
NOT_READ = f"the scheduler's configuration in it is not read: make a file of `{CONFIG}` for --profile"


def is_simulator_export(data: JsonObject) -> bool:
    """Whether *data* is an export: it has nodes and pods, no kind, and nothing else than what exports
    have."""
    return "kind" not in data and {"nodes", "pods"} <= data.keys() <= {*LISTS, CONFIG}


def simulator_items(data: JsonObject, where: str) -> list[JsonObject]:
    """The objects of an export, with their kinds. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    items: list[JsonObject] = []
    for name, (api_version, kind) in LISTS.items():
        members = data.get(name) or []
        if not isinstance(members, list):
            raise ManifestError(f"{where}: {name}: expected a list, got {shown(members)}")
        for number, item in enumerate(members, 1):
            if not isinstance(item, dict):
                raise ManifestError(
                    f"{where}: {name}: item {number}: expected a Kubernetes object, got {shown(item)}"
                )
            items.append({"apiVersion": api_version, **item, "kind": kind})
    return items
