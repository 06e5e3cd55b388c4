"""Reads files into documents: YAML, JSON, JSON Lines, what ``kubectl`` prints, gzipped or not, whole directories, standard input."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Any, TypeAlias

import attrs
import yaml

from ...exceptions import ManifestError
from .fields import shown

PathLike: TypeAlias = "str | os.PathLike[str]"

SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")
_HEAD = 1 << 12
_START_OF_LOGS = "==== START logs"
_LOGS = re.compile(rf"^{_START_OF_LOGS}.*?(?:^==== END logs[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*")


@attrs.frozen
class Document:
    """One document of a file; *found*: the file was found in a directory, not given by name."""

    data: Mapping[str, Any]
    where: str
    found: bool = False


def read_documents(paths: PathLike | Iterable[PathLike], stdin: IO[Any] | None = None) -> Iterator[Document]:
    """The documents of files, directories and ``-`` (standard input), in order.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for missing, unreadable and broken files, with line and column.
    """
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        if os.fspath(path) == "-":
            yield from _documents(_read_stream(stdin), "standard input", "", found=False)
        elif os.path.isdir(path):
            for file in manifest_files(Path(path)):
                yield from _documents(_read_file(file), str(file), file.name, found=True)
        else:
            yield from _documents(_read_file(Path(path)), os.fspath(path), os.path.basename(path), found=False)


# --- bytes ----------------------------------------------------------------------------------------------------------


def manifest_files(folder: Path) -> list[Path]:
    """The manifests below *folder*, sorted; hidden files and folders are skipped."""
    wanted = tuple(suffix + packed for suffix in SUFFIXES for packed in ("", ".gz"))
    files = [file for file in folder.rglob("*") if file.name.endswith(wanted) and file.is_file()]
    shown_files = sorted(file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts))
    if not shown_files:
        raise ManifestError(f"{folder}: got a directory without manifests, wanted *{', *'.join(SUFFIXES)} or these with .gz")
    return shown_files


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ManifestError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None


def _read_stream(stream: IO[Any] | None) -> bytes:
    content = (stream or sys.stdin.buffer).read()
    return content.encode() if isinstance(content, str) else bytes(content)


def _unpacked(content: bytes, where: str) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise ManifestError(f"{where}: broken gzip data") from None


def _as_text(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(f"{where}: byte {error.start}: got bytes that are no text, wanted UTF-8") from None


# --- documents ------------------------------------------------------------------------------------------------------


def _documents(content: bytes, where: str, name: str, *, found: bool) -> Iterator[Document]:
    """Each object of a file; each object of an array is a document of its own."""
    number = 0
    for value in _values(_unpacked(content, where), where, name.removesuffix(".gz")):
        for data in value if isinstance(value, list) else [value]:
            number += 1
            if not isinstance(data, dict):
                raise ManifestError(f"{where}, document {number}: got {shown(data)}, wanted a Kubernetes object")
            yield Document(data, f"{where}, document {number}", found)


def _values(content: bytes, where: str, name: str) -> Iterable[Any]:
    """The values of a file: JSON if it looks like that, else YAML. YAML would include JSON, but is slower to read."""
    if content[:_HEAD].lstrip()[:1] not in (b"{", b"[") and not name.endswith((".json", ".jsonl")):
        return _yaml_values(_as_text(content, where), where)
    if not name.endswith((".yaml", ".yml")):
        return _json_values(content, where)
    try:
        return list(_json_values(content, where))
    except ManifestError:
        return _yaml_values(_as_text(content, where), where)


def _fast_json() -> Callable[[bytes], Any] | None:
    """A faster JSON reader, if one is installed."""
    try:
        loads: Callable[[bytes], Any] = import_module("orjson").loads
    except ImportError:
        return None
    return loads


def _json_values(content: bytes, where: str) -> Iterator[Any]:
    """One or more JSON values; log blocks of ``kubectl cluster-info dump`` are skipped."""
    fast = _fast_json()
    if fast is not None:
        try:
            yield fast(content)
            return
        except ValueError:
            pass  # several values, or broken: the standard library finds out
    text = _as_text(content, where)
    yield from _json_stream(_LOGS.sub(_blank_lines, text) if _START_OF_LOGS in text else text, where)


def _blank_lines(logs: re.Match[str]) -> str:
    """The line ends of *logs*, so that later lines keep their numbers."""
    return "\n" * logs.group().count("\n")


def _json_stream(text: str, where: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    position = _end_of_blank(text, 0)
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise ManifestError(f"{where}, line {error.lineno}, column {error.colno}: broken JSON: {_lower(error.msg)}") from None
        except RecursionError:
            raise ManifestError(f"{where}: JSON nested too deeply") from None
        yield value
        position = _end_of_blank(text, position)


def _end_of_blank(text: str, position: int) -> int:
    matched = _BLANK.match(text, position)
    return matched.end() if matched else position


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


# --- YAML -----------------------------------------------------------------------------------------------------------

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _ManifestLoader(_Loader):  # type: ignore[misc]  # its base is chosen at run time
    """YAML as the API reads it: dates and times stay texts, and there are no numbers in base 60."""


_DROPPED = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:value"}
_ManifestLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _DROPPED]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
_ManifestLoader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0b[01]+|0x[0-9a-fA-F]+|0[0-7]+|0|[1-9][0-9]*)\Z"), list("-+0123456789")
)
_ManifestLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z"), list("-+.0123456789")
)


def _yaml_values(text: str, where: str) -> Iterator[Any]:
    try:
        yield from (value for value in yaml.load_all(text, _ManifestLoader) if value is not None)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ManifestError(f"{where}{place}: broken YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise ManifestError(f"{where}: broken YAML: {str(error).splitlines()[0] if str(error) else 'nested too deeply'}") from None
