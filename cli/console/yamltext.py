"""YAML for people and programs, on any console."""

from __future__ import annotations

from typing import IO, Any

import yaml

from .output import takes_unicode


def _text(dumper: Any, value: str) -> Any:
    """A text; lone surrogates, which YAML cannot have, are written as a console shows them."""
    return dumper.represent_str(value.encode("utf-8", "backslashreplace").decode("utf-8"))


_AnyText: Any = type("_AnyText", (getattr(yaml, "CSafeDumper", yaml.SafeDumper),), {})
_AnyText.add_representer(str, _text)


def write_yaml(document: Any, stream: IO[str]) -> None:
    """Write *document* as it is ordered; characters that *stream* cannot have are written as escapes, which YAML reads back."""
    yaml.dump(document, stream, Dumper=_AnyText, sort_keys=False, allow_unicode=takes_unicode(stream))
