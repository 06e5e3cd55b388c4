"""The pages of the JSON Schemas: every field of what the commands print with ``-o json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from making.markdown import block, code, escaped, table

from kubeclassic.cli.schema import names, text_of

FOLDER = "reference/schemas"
Json = dict[str, Any]


def pages() -> Iterator[tuple[str, str]]:
    """(path, text) of the list of schemas and of the page of each."""
    schemas: dict[str, Json] = {name: json.loads(text_of(name)) for name in names()}
    rows = [
        [f"[{name}]({name}.md)", escaped(schema.get("description", ""))] for name, schema in schemas.items()
    ]
    about = "`kubeclassic schema NAME` prints a schema (draft 2020-12). Here each has a table of its fields."
    yield f"{FOLDER}/index.md", f"# JSON schemas\n\n{about}\n\n{table(['schema', 'what it describes'], rows)}"
    for name, schema in schemas.items():
        yield f"{FOLDER}/{name}.md", _page(name, schema)


def _page(name: str, schema: Json) -> str:
    fields = table(["field", "type", "always", "what it is"], _rows(schema, schema, ""))
    shown = block(json.dumps(schema, indent=2, ensure_ascii=False), "json")
    head = f"# {name}\n\n**{schema['title']}**, as `kubeclassic schema {name}` prints it."
    return f"{head}\n\n{escaped(schema.get('description', ''))}\n\n{fields}\n## The schema\n\n{shown}"


def _rows(schema: Json, whole: Json, path: str, depth: int = 0) -> Iterator[list[str]]:
    """A row for each field of the objects in *schema*; those of a definition that holds itself are there once."""
    for part in _parts(schema, whole):
        for name, field in part.get("properties", {}).items():
            where = f"{path}.{name}" if path else name
            always = "yes" if name in part.get("required", ()) else "no"
            yield [code(where), escaped(_type(field, whole)), always, escaped(_words(field, whole))]
            if depth < 6:
                yield from _rows(
                    _items(field, whole), whole, where + ("[]" if _is_list(field, whole) else ""), depth + 1
                )
        inner = part.get("additionalProperties")
        if isinstance(inner, dict) and depth < 6:
            yield from _rows(
                _items(inner, whole), whole, f"{path}.*" + ("[]" if _is_list(inner, whole) else ""), depth + 1
            )


def _parts(schema: Json, whole: Json) -> Iterator[Json]:
    """*schema* and its alternatives, with references followed."""
    found = _followed(schema, whole)
    yield found
    for word in ("allOf", "anyOf", "oneOf"):
        for part in found.get(word, ()):
            yield from _parts(part, whole)


def _followed(schema: Json, whole: Json) -> Json:
    """What a reference stands for, with what stands beside it."""
    if "$ref" not in schema:
        return schema
    found: Any = whole
    for step in schema["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return {**_followed(found, whole), **{key: value for key, value in schema.items() if key != "$ref"}}


def _is_list(field: Json, whole: Json) -> bool:
    return any("items" in part for part in _parts(field, whole))


def _items(field: Json, whole: Json) -> Json:
    found = next((part["items"] for part in _parts(field, whole) if "items" in part), field)
    return found if isinstance(found, dict) else {}


def _words(field: Json, whole: Json) -> str:
    words: str = _followed(field, whole).get("description", "")
    return words


def _type(field: Json, whole: Json) -> str:
    found = _followed(field, whole)
    if "const" in found:
        return json.dumps(found["const"])
    if "enum" in found:
        return ", ".join(json.dumps(value) for value in found["enum"])
    if "items" in found:
        inner = _type(found["items"], whole) if isinstance(found["items"], dict) else "any"
        return f"list of {inner}" + (" or null" if "null" in found.get("type", ()) else "")
    kinds = found.get("type")
    if kinds is not None:
        return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    parts = [part for word in ("anyOf", "oneOf") for part in found.get(word, ())]
    return " or ".join(dict.fromkeys(_type(part, whole) for part in parts)) or "any"
