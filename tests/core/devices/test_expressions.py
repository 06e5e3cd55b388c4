"""CEL expressions over a device: what they see of it, quantities and versions, and their errors in upstream's
words."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.reading.decode import decode
from kubeclassic.core.devices import claimjudging
from kubeclassic.core.devices.celfunctions import DeviceSelectorError
from kubeclassic.core.devices.claimjudging import TextComparison, compiled, compiled_whole
from kubeclassic.core.devices.pools import DeviceModels
from kubeclassic.exceptions import KubeclassicError
from tests.support.devicebuild import DRIVER
from tests.support.examples import examples
from tests.support.manifests import manifest
from tests.support.refusals import refusal_text

ATTRIBUTES = {
    "model": {"string": "a100"},
    "index": {"int": 1},
    "healthy": {"bool": True},
    "version": {"version": "1.10.0-rc.1+build"},
    "example.com/root": {"string": "pci0"},
}
OWN = f'device.attributes["{DRIVER}"]'
MEMORY = f'device.capacity["{DRIVER}"].memory'


def make(attributes=ATTRIBUTES):
    """The model of a device with 40Gi of memory."""
    devices = [{"name": "d", "attributes": attributes, "capacity": {"memory": {"value": "40Gi"}}}]
    found = decode(manifest("ResourceSlice", "s", spec={"driver": DRIVER, "devices": devices}))
    first = found.spec.devices[0]
    return DeviceModels().of(DRIVER, first)


TRUE = (
    f'device.driver == "{DRIVER}"',
    f'{OWN}.model in ["a100", "h100"]',
    f"{OWN}.index < 2 && {OWN}.healthy",
    f'"model" in {OWN} && has({OWN}.index) && !has({OWN}.absent)',
    'device.attributes["example.com"].root == "pci0"',
    'device.attributes["example.com"].?root.orValue("") == "pci0"',
    'device.attributes["other.com"].?root.orValue("none") == "none" && !("root" in device.attributes["other.com"])',
    f'{MEMORY}.compareTo(quantity("40Gi")) == 0 && {MEMORY} == quantity("40960Mi")',
    f'{MEMORY}.isGreaterThan(quantity("1G")) && {MEMORY}.isLessThan(quantity("1Ti")) && {MEMORY}.sign() == 1',
    f'{MEMORY}.sub(quantity("39Gi")).asInteger() == 1073741824 && {MEMORY}.add(1).isInteger()',
    'isQuantity("1.5Gi") && !isQuantity("much") && quantity("1500m").asApproximateFloat() > 1.4',
    f'{OWN}.version.isGreaterThan(semver("1.9.9")) && {OWN}.version.isLessThan(semver("1.10.0")) && {OWN}.version.minor() == 10',
    f'{OWN}.version == semver("1.10.0-rc.1") && {OWN}.version.compareTo(semver("1.10.0-rc.0")) > 0',
    'semver("v1.02", true) == semver("1.2.0") && isSemver("1.2.3") && !isSemver("v1.2") && isSemver("v1.2", true)',
    f'cel.bind(own, {OWN}, own.index == 1 && own.model.startsWith("a"))',
    f'{OWN}.model.matches("^a[0-9]+$") && "a,b".split(",").exists(one, one == "b")',
    f"{OWN}.absent == 1 || true",
    "dyn(optional.of(true))",
    f"dyn({OWN}.?healthy)",
)
ERRORS = {
    f"{OWN}.absent": "CEL runtime error: no such key: absent",
    'device.attributes["other.com"].absent == 1': "CEL runtime error: no such key: absent",
    f"{MEMORY}.compareTo({OWN}.model) == 0": "CEL runtime error: no such overload",
    f'{OWN}.version.compareTo(quantity("1")) == 0': "CEL runtime error: no such overload",
    f"{OWN}.model < 2": "CEL runtime error: no such overload",
    f"{OWN}.index / 0 == 1": "CEL runtime error: division by zero",
    f"{OWN}.model": (
        "CEL runtime error: CEL result of type string could not be converted to bool: type conversion error from 'string' to 'bool'"
    ),
    "dyn(optional.none())": (
        "CEL runtime error: CEL result of type optional_type could not be converted to bool: optional.none() dereference"
    ),
    f"dyn({OWN}.?model)": (
        "CEL runtime error: CEL result of type optional_type could not be converted to bool: type conversion error from 'string' to 'bool'"
    ),
    '"text"': "CEL compile error: must evaluate to bool or the unknown type, not string",
}


@pytest.mark.parametrize("text", TRUE)
def test_what_is_true(text):
    """Attributes by domain and type, capacity, quantities, versions, optionals and bindings are as in
    Kubernetes."""
    assert compiled(text).matches(make()) is True


@pytest.mark.parametrize("text", ERRORS, ids=range(len(ERRORS)))
def test_errors(text):
    """Errors have upstream's words."""
    assert refusal_text(DeviceSelectorError, lambda: compiled(text).matches(make())) == ERRORS[text]


ATOMS = st.sampled_from(
    (
        "true",
        "1",
        "2u",
        "1.5",
        '"a"',
        "null",
        'b"a"',
        "[1]",
        '{"a": 1}',
        "optional.none()",
        "optional.of(true)",
        "optional.of(1)",
        "type(1)",
        'timestamp("2020-01-01T00:00:00Z")',
        'timestamp("x")',
        'duration("1s")',
        "device",
        "device.driver",
        f"{OWN}.model",
        f"{OWN}.?model",
        f"{OWN}[?'index']",
        "device.attributes[?'none']",
        MEMORY,
        'quantity("1")',
        'quantity("x")',
        'semver("1.0.0")',
        "1 / 0",
        "[][1]",
    )
)
SHAPES = st.sampled_from(
    (
        "dyn({})",
        "dyn([{}])",
        "dyn(optional.of({}))",
        "{} == {}",
        "dyn({}) < dyn({})",
        "has({}.a)",
        "dyn({}).value()",
        "dyn({}).orValue({})",
        "true ? dyn({}) : dyn({})",
        "dyn({}) || {}",
    )
)


@given(shape=SHAPES, atoms=st.lists(ATOMS, min_size=2, max_size=2))
@examples(4)
def test_whatever_a_selector_gives(shape, atoms):
    """A selector matches, does not, or has an error of the decision; a claim of one user ends no
    scheduler."""
    with contextlib.suppress(DeviceSelectorError):
        assert compiled(shape.format(*atoms)).matches(make()) in (True, False)


def test_what_cannot_be_read():
    """An expression that is none is an error once a device is judged."""
    with pytest.raises(
        DeviceSelectorError, match=r"^CEL compile error: compilation failed: ERROR: <input>:1:3: Syntax error"
    ):
        compiled("1+").matches(make())


@pytest.mark.parametrize(
    "attribute, told",
    [
        ({"version": "one"}, "parse semantic version: invalid semantic version 'one'"),
        ({}, "unsupported attribute value"),
    ],
)
def test_attributes_without_a_value(attribute, told):
    """A device with an attribute that has no value cannot be judged, whatever the expression asks for."""
    with pytest.raises(DeviceSelectorError, match=f"^CEL runtime error: attribute odd: {told}$"):
        compiled("true").matches(make({"odd": attribute}))


def test_without_the_package(monkeypatch):
    """Without the package an error says what to install."""

    def lacking(name):
        raise ImportError(name)

    claimjudging._environment.cache_clear()
    compiled.cache_clear()
    monkeypatch.setattr(claimjudging, "import_module", lacking)
    with pytest.raises(KubeclassicError, match=r"is not installed: pip install 'kubeclassic\[devices\]'$"):
        compiled("true")


COMPARED = (
    f'device.driver == "{DRIVER}"',
    "device.driver=='other'",
    f'{OWN}.model == "a100"',
    f"{OWN}.model == 'h100'",
    f'{OWN}.absent == "a"',
    f'{OWN}.index == "1"',
    f'{OWN}.version == "1.10.0-rc.1"',
    f'{OWN}.healthy == "true"',
    'device.attributes["other.com"].root == "pci0"',
    f' {OWN.replace(chr(34), chr(39))}.model  ==  "a100" ',
)


def outcome(expression):
    """The value of *expression* for a device, or its error."""
    try:
        return bool(expression.matches(make()))
    except DeviceSelectorError as error:
        return str(error)


@pytest.mark.parametrize("text", COMPARED)
def test_comparisons_with_a_text(text):
    """A comparison with a text, which takes no package, answers as the language does, errors among it."""
    found = compiled(text)
    assert isinstance(found, TextComparison)
    assert outcome(found) == outcome(compiled_whole(text))


@pytest.mark.parametrize(
    "text",
    [
        f'{OWN}.in == "a"',
        f'{OWN}.model != "a"',
        r'device.driver == "a\x62"',
        f'"a" == {OWN}.model',
        f"{OWN}.index == 1",
    ],
)
def test_what_is_no_plain_comparison(text):
    """Everything else is left to the language."""
    assert TextComparison.of(text) is None
