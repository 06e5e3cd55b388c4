"""The reference of the Python API: every public name, from its signature and docstring."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from making.markdown import block, code, first_sentence, prose, table

import kubeclassic
from kubeclassic.exports import homes

FOLDER = "reference/python"
WIDTH = 100
"""The longest signature on one line."""
_FIELD = re.compile(r"^:(?:param )?([\w, *]+):\s*", re.MULTILINE)


def names() -> dict[ModuleType, list[str]]:
    """The public modules, each with its public names, classes first. Each name is in one of them."""
    modules = (getattr(kubeclassic, name) for name, home in homes("kubeclassic").items() if home is None)
    return {
        module: sorted(_public(module), key=partial(_is_no_class, module))
        for module in (kubeclassic, *modules)
    }


def _is_no_class(module: ModuleType, name: str) -> bool:
    return not isinstance(getattr(module, name), type)


def _public(module: ModuleType) -> list[str]:
    if module is not kubeclassic.exceptions:
        return [name for name, home in homes(module.__name__).items() if home is not None]
    base = kubeclassic.KubeclassicError
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, base) and value is not base
    ]


def pages() -> Iterator[tuple[str, str]]:
    """(path, text) of the list of names and of each module's page."""
    parts = [f"# Python API\n\n{prose(kubeclassic.__doc__)}"]
    for module, public in names().items():
        page = module.__name__.rpartition(".")[2]
        rows = [
            [f"[{name}]({page}.md#{name.lower()})", first_sentence(_doc(getattr(module, name)))]
            for name in public
        ]
        parts.append(f"## {module.__name__}\n\n{table(['name', 'what it is'], rows)}".rstrip())
        entries = (part for name in public for part in _entry(name, getattr(module, name)))
        yield (
            f"{FOLDER}/{page}.md",
            "\n\n".join([f"# {module.__name__}", prose(module.__doc__), *entries]) + "\n",
        )
    yield f"{FOLDER}/index.md", "\n\n".join(parts) + "\n"


def _doc(found: Any) -> str | None:
    return inspect.getdoc(found) if callable(found) else type(found).__doc__


def _entry(name: str, found: Any) -> Iterator[str]:
    yield f"## {name}"
    if isinstance(found, type):
        yield from _class(name, found)
    elif callable(found):
        yield block(f"{name}{_signature(found)}").rstrip()
        yield _documented(found)
    else:
        yield f"A {code(type(found).__name__)}: {prose(_doc(found))}"


def _documented(found: Any) -> str:
    """A docstring; ``:param`` lines become a list, examples a block that a test runs."""
    lines = prose(inspect.getdoc(getattr(found, "__func__", found)))
    lines = _FIELD.sub(lambda field: f"* `{field[1].strip()}`: ", lines)
    lines = re.sub(r"(?<=[^\n])\n(\* `)", r"\n\n\1", lines, count=1)
    return re.sub(
        r"((?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*)",
        lambda shown: block(shown[1], "python"),
        lines,
        flags=re.MULTILINE,
    )


def _class(name: str, found: type[Any]) -> Iterator[str]:
    if not issubclass(found, BaseException | enum.Enum | dict):
        yield block(f"class {name}{_signature(found)}").rstrip()
    yield _documented(found)
    if issubclass(found, enum.Enum):
        yield f"Members: {', '.join(code(member.name or '') for member in found)}."
    rows = [
        [f"`{member}{_call(value)}`", first_sentence(_member_doc(value))] for member, value in _members(found)
    ]
    if rows:
        yield table(["member", "what it is"], rows).rstrip()
    for member, value in _members(found):
        if prose(_member_doc(value)) != first_sentence(_member_doc(value)):
            yield f"### {name}.{member}"
            yield from [block(f"{name}.{member}{_call(value, short=False)}").rstrip()] if _call(value) else []
            yield _documented(value)


def _members(found: type[Any]) -> Iterator[tuple[str, Any]]:
    """Public methods and properties with a docstring, in the order of the classes; those of the base of all errors are left out."""
    if issubclass(found, BaseException):
        return
    seen: set[str] = set()
    for owner in (kind for kind in found.__mro__ if kind.__module__.startswith("kubeclassic")):
        for member, value in vars(owner).items():
            if not member.startswith("_") and member not in seen and _member_doc(value):
                seen.add(member)
                yield member, value


def _member_doc(value: Any) -> str | None:
    inner = getattr(value, "__func__", value)
    documented = callable(inner) or isinstance(inner, property) or hasattr(inner, "func")
    if isinstance(inner, type) or not documented:
        return None
    found: str | None = getattr(inner, "__doc__", None)
    return found


def _call(value: Any, *, short: bool = True) -> str:
    inner = getattr(value, "__func__", value)
    return _signature(inner, short=short) if inspect.isfunction(inner) else ""


def _signature(found: Any, *, short: bool = False) -> str:
    """The parameters without *self*; with *short* only their names."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return "(...)"
    kept = [parameter for name, parameter in signature.parameters.items() if name not in ("self", "cls")]
    if short:
        return f"({', '.join(_name(parameter) for parameter in kept)})"
    plain = [parameter.replace(annotation=_plain(parameter.annotation)) for parameter in kept]
    whole = signature.replace(parameters=plain, return_annotation=_plain(signature.return_annotation))
    text = _written(whole)
    return text if len(text) < WIDTH else _broken(plain, text.rpartition(")")[2])


def _written(part: inspect.Signature | inspect.Parameter) -> str:
    """A signature or a parameter as text, without quotes; a default that has no text but its place in memory is three dots."""
    return re.sub(r"<[^=]*? at 0x\w+>", "...", str(part).replace("'", ""))


def _broken(parameters: Sequence[inspect.Parameter], tail: str) -> str:
    """The parameters, one a line."""
    lines, starred = [], False
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            lines.append("*")
        starred = starred or parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD
        lines.append(_written(parameter))
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f"){tail}"


def _name(parameter: inspect.Parameter) -> str:
    return str(parameter.replace(annotation=inspect.Parameter.empty)).partition("=")[0]


def _plain(annotation: Any) -> Any:
    is_plain = isinstance(annotation, str) or annotation is inspect.Parameter.empty
    return annotation if is_plain else getattr(annotation, "__name__", annotation)
