"""The pages of Policies, component configurations and profiles, from the classes that they are read into."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
from making.fieldwords import WORDS
from making.markdown import block, code, escaped, prose, table

from kubeclassic.algorithmprovider.config import API_VERSIONS
from kubeclassic.algorithmprovider.config import AlgorithmConfiguration as OlderConfiguration
from kubeclassic.algorithmprovider.gates import resolved_gates
from kubeclassic.algorithmprovider.policy import Policy
from kubeclassic.api.objects.metadata import attributes, is_value, json_names
from kubeclassic.framework.config import args as arguments
from kubeclassic.framework.config.args import takes_args
from kubeclassic.framework.config.configuration import KubeSchedulerConfiguration
from kubeclassic.framework.config.fielderrors import Context
from kubeclassic.framework.config.profiles import GROUP, PluginEntry, PluginSet
from kubeclassic.framework.registry import DEFAULT_REGISTRY
from kubeclassic.framework.releases import FRAMEWORK_RELEASES

FOLDER = "reference/configuration"
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = {
    "policy": "examples/policies/bin-packing.json",
    "component": "examples/policies/scheduler-config.yaml",
    "profile": "examples/profiles/two-profiles.yaml",
}
"""Page -> a file that it shows."""
KINDS: Mapping[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "number",
    float: "duration",
    bytes: "base64",
    dict: "object",
}


def pages() -> Iterator[tuple[str, str]]:
    """(path, text) of the three pages."""
    yield f"{FOLDER}/policy.md", _page("A Policy", _POLICY, "policy", _tables(Policy))
    tables = _tables(OlderConfiguration)
    told = _COMPONENT.format(versions=" or ".join(map(code, API_VERSIONS)))
    yield f"{FOLDER}/component.md", _page("The component configuration", told, "component", tables)
    read = {release.version: release.configuration.api_versions for release in FRAMEWORK_RELEASES.values()}
    versions = dict.fromkeys(version for known in read.values() for version in known)
    told = ", ".join(
        f"{code(f'{GROUP}/{version}')} ({_span([name for name in read if version in read[name]])})"
        for version in versions
    )
    about = _PROFILE.format(first=next(iter(read)), versions=told)
    yield f"{FOLDER}/profile.md", _page("Profiles", about, "profile", _profile_tables())


def _span(releases: list[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


_POLICY = """Releases 1.12 to 1.22 take a Policy in place of a provider: `--policy FILE` (JSON or YAML), or `--policy-configmap NAME`, a
ConfigMap with the key `policy.cfg`. From 1.17 on plugins are made of it, and 1.23 and later read none. Keys that nobody reads are
ignored, as the original does; `kubeclassic policy check` names them. The names of rules are on the pages of
[predicates](../predicates/index.md) and [priorities](../priorities/index.md)."""
_COMPONENT = """The configuration of kube-scheduler 1.12 to 1.16: `--config FILE`, `apiVersion` {versions}. Here are the fields that a
decision depends on; `kubeclassic run` also reads those of elections, endpoints and the client, as flags do ([run](../commands/run.md))."""
_PROFILE = """The configuration of kube-scheduler from {first} on: `--profile FILE` (or `--config FILE`), `apiVersion` {versions}.
Unknown fields are refused; in v1alpha1 they are ignored, with a warning. Versions differ in fields, arguments and defaults:
`kubeclassic policy check FILE --release RELEASE` says what runs, and the fields here are those of the newest. The names of plugins are on
the page of [plugins](../plugins/index.md)."""


def _page(title: str, about: str, name: str, tables: Iterator[str]) -> str:
    path = EXAMPLES[name]
    shown = block((ROOT / path).read_text(encoding="utf-8"), "yaml", path)
    return "\n\n".join([f"# {title}", about, "## An example", shown.rstrip(), "## Fields", *tables]) + "\n"


def _profile_tables() -> Iterator[str]:
    yield from _tables(KubeSchedulerConfiguration, PluginSet, PluginEntry)
    yield "## Arguments of plugins"
    seen: set[type[Any]] = set()
    release = list(FRAMEWORK_RELEASES.values())[-1]
    newest = Context(release, resolved_gates(release))
    for plugin in DEFAULT_REGISTRY:
        if takes_args(plugin, newest):
            yield from _tables(getattr(arguments, f"{plugin}Args"), told=seen)


def _tables(*kinds: type[Any], told: set[type[Any]] | None = None) -> Iterator[str]:
    """A heading and a table for each of *kinds*, after it for each class of its fields; those that were *told* are left out."""
    seen = set() if told is None else told
    for first in kinds:
        waiting = [first]
        while waiting:
            kind = waiting.pop(0)
            if kind not in seen:
                seen.add(kind)
                rows, found = _rows(kind)
                waiting += found
                yield f"### {kind.__name__}"
                yield prose(kind.__doc__)
                yield table(["field", "type", "default", "what it is"], rows).rstrip()


def _rows(kind: type[Any]) -> tuple[list[list[str]], list[type[Any]]]:
    """A row for each field of *kind* that is read, and the classes of their values."""
    rows, classes = [], []
    hints, words = get_type_hints(kind), _attribute_words(kind)
    names = json_names(kind)
    for name, default in attributes(kind).items():
        own, shown = _kind_of(hints[name])
        classes += own
        told = words.get(name) or WORDS[f"{kind.__name__}.{name}"]
        rows.append([code(names[name]), shown, _default(default), told])
    return rows, classes


def _attribute_words(kind: type[Any]) -> dict[str, str]:
    """Attribute -> the text that stands below it in the source."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for before, after in zip(body.body, body.body[1:], strict=False):
        is_text = (
            isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        )
        if is_text and isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name):
            found[before.target.id] = prose(ast.literal_eval(after.value))  # type: ignore[attr-defined]
    return found


def _kind_of(hint: Any) -> tuple[list[type[Any]], str]:
    """The classes of our own in a type, and the type in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _kind_of(next(part for part in inner if part is not type(None)))
    if origin is tuple:
        own, words = _kind_of(inner[0])
        return own, f"list of {words}"
    if origin is not None and issubclass(origin, Mapping):
        return [], "object"
    if is_value(hint):
        of_kubernetes = hint.__module__.startswith("kubeclassic.api.objects")
        return ([] if of_kubernetes else [hint]), (
            hint.__name__ if of_kubernetes else f"[{hint.__name__}](#{hint.__name__.lower()})"
        )
    return [], KINDS.get(hint, KINDS[int] if "Int" in str(hint) else "any")


def _default(value: Any) -> str:
    if value is None or value is attrs.NOTHING or isinstance(value, attrs.Factory) or is_value(type(value)):  # type: ignore[arg-type]
        return "-"
    if value in ("", (), b""):
        return "-"
    return code(json.dumps(value)) if isinstance(value, bool | int | float | str) else escaped(str(value))
