"""The CEL selectors of classes and requests, each asked once about each model of device.

Expressions are compiled and run by the package ``cel-expr-python``, the language's own implementation in C++.
Comparisons of the driver or an attribute with a text are answered without it. Of Kubernetes's additions to
the language there are quantities, semantic versions, strings, optionals and ``cel.bind``. Upstream:
isSelectable and selectorsMatch in structured/internal/experimental/allocator_experimental.go;
dynamic-resource-allocation/cel.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from attrs import Factory, define, frozen

from ...api.objects import DeviceSelector
from ...exceptions import KubeclassicError
from .celfunctions import FUNCTIONS, METHODS, NO_OVERLOAD, DeviceSelectorError
from .pools import DeviceModel, Values

MISSING = "CEL selectors of devices: the package cel-expr-python is not installed: pip install 'kubeclassic[devices]'"
_SUBSCRIPT = re.compile(r"""\[\s*\??\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\]""")
_NO_KEY = re.compile(r'Key not found in map : "?(.*?)"?', re.DOTALL)
_STATUS = re.compile(r"[A-Z_]+: ")
_TEXT = r"""(?:"[^"\\\n\r]*"|'[^'\\\n\r]*')"""
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_COMPARISON = re.compile(
    rf"\s*device\.(?:driver|attributes\[(?P<domain>{_TEXT})\]\.(?P<name>{_NAME}))\s*==\s*(?P<wanted>{_TEXT})\s*",
    re.ASCII,
)
_KEYWORDS = (
    "as break const continue else false for function if import in let loop namespace null package return true var void"
    " while"
)
_RESERVED = frozenset(_KEYWORDS.split())
"""Words that CEL does not accept as the name of an attribute."""


@frozen(eq=False, repr=False)
class Expression:
    """A compiled expression; *error*: the reason why it cannot be compiled, else empty."""

    text: str
    error: str = ""
    _program: Any = None
    _domains: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Expression {self.text}>"

    def matches(self, model: DeviceModel) -> bool:
        """Whether it is true of devices of *model*. Raises DeviceSelectorError with upstream's text."""
        if self.error:
            raise DeviceSelectorError(f"CEL compile error: {self.error}")
        try:
            device = model.as_input()
            # Upstream: a domain without any entry of the device is an empty object.
            for part in ("attributes", "capacity"):
                absent: Values = {domain: {} for domain in self._domains if domain not in device[part]}
                if absent:
                    device = {**device, part: {**device[part], **absent}}
            try:
                result = self._program.eval(data={"device": device})
                kind = result.type().name().lower()
                if kind == "bool":
                    return bool(result.value())
                if kind == "error":
                    try:
                        raise DeviceSelectorError(_upstream_message(str(result.value())))
                    except TypeError:  # the package has no value for an optional, and calls its type an error
                        return self._optional_flag(device)
                raise self._conversion_error(kind)
            except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
                # The package raises these for results without a Python type; a fault of a selector must not
                # end the program.
                raise DeviceSelectorError(f"CEL result could not be converted to bool: {error}") from None
        except DeviceSelectorError as error:
            raise DeviceSelectorError(f"CEL runtime error: {error}") from None

    def _optional_flag(self, device: Values) -> bool:
        """The flag in an optional. Upstream: ConvertToNative of cel-go's Optional."""
        presence, value = (
            _environment().compile(f"dyn({self.text}).{part}").eval(data={"device": device})
            for part in ("hasValue()", "orValue(null)")
        )
        if not presence.value():
            raise DeviceSelectorError(
                "CEL result of type optional_type could not be converted to bool: optional.none() dereference"
            )
        kind = value.type().name().lower()
        if kind != "bool":
            raise self._conversion_error("optional_type", kind)
        return bool(value.value())

    @staticmethod
    def _conversion_error(kind: str, inner_kind: str = "") -> DeviceSelectorError:
        conversion = f"type conversion error from '{inner_kind or kind}' to 'bool'"
        return DeviceSelectorError(f"CEL result of type {kind} could not be converted to bool: {conversion}")


@frozen(eq=False)
class TextComparison:
    """An expression that compares the driver, or one attribute, with a text, as most do. It is answered
    without the package.

    >>> TextComparison.of('device.driver == "gpu.example"')
    TextComparison(text='device.driver == "gpu.example"', wanted='gpu.example', domain=None, name='')
    >>> TextComparison.of('device.driver == "a" || true') is None
    True
    """

    text: str
    wanted: str
    domain: str | None = None
    """The domain of the attribute; None: the driver is compared."""
    name: str = ""

    @classmethod
    def of(cls, text: str) -> TextComparison | None:
        """*text* in this form; None if it has another one."""
        match = _COMPARISON.fullmatch(text)
        if match is None or match["name"] in _RESERVED:
            return None
        return cls(
            text,
            match["wanted"][1:-1],
            None if match["domain"] is None else match["domain"][1:-1],
            match["name"] or "",
        )

    def matches(self, model: DeviceModel) -> bool:
        """As for :class:`Expression`, which answers for attributes that are no text."""
        try:
            device = model.as_input()
        except DeviceSelectorError as error:
            raise DeviceSelectorError(f"CEL runtime error: {error}") from None
        text = device["driver"]
        if self.domain is not None:
            text = device["attributes"].get(self.domain, {}).get(self.name)
        if text is None:
            raise DeviceSelectorError(f"CEL runtime error: no such key: {self.name}")
        return (
            bool(text == self.wanted) if isinstance(text, str) else compiled_whole(self.text).matches(model)
        )


@lru_cache(1 << 12)
def compiled(text: str) -> Expression | TextComparison:
    """The expression *text*, compiled only if needed. Raises as :func:`compiled_whole`."""
    return TextComparison.of(text) or compiled_whole(text)


def compiled_whole(text: str) -> Expression:
    """The expression *text*. Raises :class:`~kubeclassic.exceptions.KubeclassicError` where the package is
    missing."""
    try:
        program = _environment().compile(text)
    except (RuntimeError, ValueError) as error:
        message = _STATUS.sub("", str(error), count=1).removesuffix("[INVALID_ARGUMENT]").strip()
        return Expression(text, f"compilation failed: {message}")
    kind = program.return_type().name().lower()
    if kind not in ("bool", "dyn"):
        return Expression(text, f"must evaluate to bool or the unknown type, not {kind}")
    return Expression(
        text, "", program, tuple(dict.fromkeys(left or right for left, right in _SUBSCRIPT.findall(text)))
    )


def _upstream_message(text: str) -> str:
    message = _STATUS.sub("", text, count=1)
    if (key := _NO_KEY.fullmatch(message)) is not None:
        return f"no such key: {key[1]}"
    if message.startswith("No matching overloads found") or message == NO_OVERLOAD:
        return NO_OVERLOAD
    return "division by zero" if message == "divide by zero" else message


@cache
def _environment() -> Any:
    try:
        cel, ext_bindings, ext_optional, ext_strings = (
            import_module(f"cel_expr_python.{name}")
            for name in ("cel", "ext.ext_bindings", "ext.ext_optional", "ext.ext_strings")
        )
    except ImportError:
        raise KubeclassicError(MISSING) from None
    types = cel.Type
    kinds = {
        "string": types.STRING,
        "bool": types.BOOL,
        "int": types.INT,
        "double": types.DOUBLE,
        "value": types.Map(types.STRING, types.DYN),
    }

    def declared(name: str, overloads: Any, is_method: bool) -> Any:
        return cel.FunctionDecl(
            name,
            [
                cel.Overload(
                    f"{name}_{'_'.join(takes)}",
                    return_type=kinds[gives],
                    parameters=[kinds[kind] for kind in takes],
                    is_member=is_method,
                    impl=does,
                )
                for takes, gives, does in overloads
            ],
        )

    functions = [declared(name, overloads, False) for name, overloads in FUNCTIONS.items()]
    functions += [declared(name, overloads, True) for name, overloads in METHODS.items()]
    return cel.NewEnv(
        variables={"device": kinds["value"]},
        extensions=[ext_optional.ExtOptional(), ext_bindings.ExtBindings(), ext_strings.ExtStrings()],
        functions=functions,
    )


MOST_KEPT = 1 << 20
"""The most answers that are kept."""


class AllocationError(Exception):
    """An allocation ends with an error; the text is upstream's."""


@define(eq=False, repr=False)
class Judge:
    """The evaluation of selectors, which remembers their answers."""

    _answers: dict[tuple[str, int], bool | str] = Factory(dict)
    """Expression and number of a model -> whether it matches, or the text of the error."""

    def first_mismatch(
        self, model: DeviceModel, selectors: Sequence[DeviceSelector], where: str
    ) -> int | None:
        """The first of *selectors* that does not match *model*; None if all do. Raises AllocationError, which
        begins with *where*."""
        for number, selector in enumerate(selectors):
            expression = selector.expression or ""
            answer = self._answers.get((expression, model.number))
            if answer is None:
                try:
                    answer = compiled(expression).matches(model)
                except DeviceSelectorError as error:
                    answer = str(error)
                if len(self._answers) >= MOST_KEPT:
                    self._answers.clear()
                self._answers[expression, model.number] = answer
            if isinstance(answer, str):
                raise AllocationError(f"{where}: selector #{number}: {answer}")
            if not answer:
                return number
        return None
