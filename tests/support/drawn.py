"""Objects in JSON form that Hypothesis draws from their classes: all fields, of the right types."""

from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Meta

from kubeclassic.api.objects.metadata import FieldWords, Map, OneOf, attributes, is_value, json_names
from kubeclassic.api.objects.quantity import Quantity

TEXTS = st.text("ab-,é\\", max_size=4)
QUANTITIES = st.sampled_from(
    ["0", "1", "1000m", "100m", "1.5Gi", "2Ki", "20E", "1e3", "-1", "+1.0", ".5", 3, 1.5]
)
LEAVES = {
    str: TEXTS,
    bool: st.booleans(),
    int: st.integers(-(2**63), 2**63 - 1),
    Quantity: QUANTITIES,
    Any: st.none() | TEXTS | st.integers(),
}


def documents(annotation, words=None):
    """Values of a type in JSON form, with any of its fields present or absent."""
    origin = get_origin(annotation)
    parts = [part for part in get_args(annotation) if part not in (NoneType, ...)]
    if annotation in LEAVES:
        return LEAVES[annotation]
    if origin is Annotated:
        match parts[1]:
            case OneOf(words=allowed):
                return st.sampled_from(allowed)
            case FieldWords():
                return documents(parts[0], parts[1])
            case Meta(ge=int(least), le=int(most)):
                return st.integers(least, most)
            case Meta(pattern=str()):
                return st.sampled_from(["2026-01-31T12:00:00Z", "2020-02-29T23:59:59Z"])
    if origin in (Union, UnionType):
        return st.one_of(*(documents(part, words) for part in parts))
    if origin is tuple:
        return st.lists(documents(parts[0], words), max_size=2)
    if origin is Map:
        return st.dictionaries(TEXTS, documents(parts[0]), max_size=2)
    assert is_value(annotation), annotation
    hints = get_type_hints(annotation, include_extras=True)
    names = json_names(annotation)
    if words is not None:
        hints |= {name: Annotated[str, one] for name, one in words.fields.items()}
    return st.fixed_dictionaries(
        {}, optional={names[name]: documents(hints[name]) for name in attributes(annotation)}
    )


@st.composite
def marred(draw, documents):
    """A document with nulls, unknown fields and values of other types in some places."""
    document = draw(documents)
    for _ in range(draw(st.integers(0, 3))):
        document = _changed(draw, document)
    return document


def _changed(draw, value):
    if value and isinstance(value, dict) and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: _changed(draw, value[key])}
    if value and isinstance(value, list) and draw(st.integers(0, 5)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _changed(draw, value[place]), *value[place + 1 :]]
    if isinstance(value, dict) and draw(st.booleans()):
        return {**value, "qqq": 1}
    return draw(
        st.sampled_from([None, 1, True, 1.5, "", "x", [], {}, [None], {"a": None}, 2**40, 2**70, "1Gi"])
    )
