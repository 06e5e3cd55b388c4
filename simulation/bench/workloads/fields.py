"""Reads the fields of a workload file one by one; each error says where it is, what was got, and what was wanted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

import attrs

from ....api.reading.fields import shown
from ....exceptions import ManifestError, did_you_mean


@attrs.define
class Params:
    """The parameters of one workload, and which of them were asked for."""

    values: Mapping[str, Any]
    asked: set[str] = attrs.field(factory=set)

    def unused(self) -> list[str]:
        """The names that nothing asked for."""
        return [name for name in self.values if name not in self.asked]


@attrs.frozen
class Fields:
    """The fields of an object at *where*, of which all are known. A field that is absent or null has its default."""

    data: Mapping[str, Any]
    where: str

    @classmethod
    def of(cls, value: Any, where: str, known: Collection[str]) -> Fields:
        """*value* as an object that has no fields but the *known*. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
        if not isinstance(value, Mapping):
            raise ManifestError(f"{where}: got {shown(value)}, wanted an object")
        for name in value:
            if name not in known:
                raise ManifestError(f"{where}: unknown field {shown(name)}, wanted {', '.join(known)}{did_you_mean(str(name), known)}")
        return cls(value, where)

    def refuse(self, name: str, wanted: str) -> NoReturn:
        """Raise the error that the field *name* is something else than *wanted*."""
        raise ManifestError(f"{self.where}.{name}: got {shown(self.data.get(name))}, wanted {wanted}")

    def text(self, name: str) -> str | None:
        """A text, if it is there."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, str):
            self.refuse(name, "a text")
        return value

    def needed(self, name: str) -> str:
        """A required text."""
        return self.text(name) or self.refuse(name, "a text")

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.list(name)
        if not all(isinstance(value, str) for value in values):
            self.refuse(name, "a list of texts")
        return tuple(values)

    def flag(self, name: str) -> bool:
        """True or false, which is the default."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, bool):
            self.refuse(name, "true or false")
        return bool(value)

    def whole(self, name: str, default: int = 0) -> int:
        """A whole number, 0 or more."""
        value = self.data.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.refuse(name, "a whole number, 0 or more")
        return value

    def list(self, name: str) -> list[Any]:
        """A list."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, list):
            self.refuse(name, "a list")
        return value or []

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An object whose keys may be any."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, Mapping):
            self.refuse(name, "an object")
        return value or {}

    def param(self, name: str, params: Params) -> Any:
        """The value that the parameter has which the field *name* names, as ``$parameter``; None if the field is absent."""
        written = self.text(name)
        if not written:
            return None
        if not written.startswith("$"):
            self.refuse(name, "the name of a parameter after a $")
        params.asked.add(written[1:])
        if written[1:] not in params.values:
            self.refuse(name, f"a parameter of the workload{did_you_mean(written[1:], params.values)}")
        return params.values[written[1:]]

    def count(self, params: Params) -> int:
        """How many: the parameter that ``countParam`` names, else ``count``."""
        found = self.param("countParam", params)
        if found is None:
            return self.whole("count")
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise ManifestError(f"{self.where}.countParam: got {shown(found)} for it, wanted a whole number, 0 or more")
        return found
