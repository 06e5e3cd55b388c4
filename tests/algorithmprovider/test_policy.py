"""Reading Policies: null and absent, what cannot be read, what nobody reads, extenders."""

import pytest
import yaml

from kubeclassic import Classic, Cluster, Framework, Scheduler
from kubeclassic.algorithmprovider import RELEASES, read_policy, resolve
from kubeclassic.algorithmprovider.extenders import ExtenderConfig, ManagedResource, TlsConfig
from kubeclassic.algorithmprovider.policy import (
    LabelsPresence,
    PredicateArgument,
    PredicateEntry,
    unknown_keys,
)
from kubeclassic.exceptions import PolicyError
from tests.support.refusals import refusal_text

LAST = RELEASES["1.16"]


def extender(**fields):
    """One extender as it is read."""
    return read_policy({"extenders": [fields]}).extenders[0]


# --- Read policy --------------------------------------------------------------------------------------------


def test_null_and_empty():
    """Null and absent lists are None, an empty list is empty."""
    assert read_policy({}).predicates is read_policy({"predicates": None}).predicates is None
    assert read_policy({"predicates": []}).predicates == ()


def test_null_inside():
    """A null argument is none; null items and fields are empty ones."""
    argument = {"labelsPresence": {"labels": None}, "serviceAffinity": None}
    read = read_policy(
        {"predicates": [None, {"name": "A1", "argument": None}, {"argument": argument}]}
    ).predicates
    assert read == (
        PredicateEntry(),
        PredicateEntry("A1"),
        PredicateEntry("", PredicateArgument(None, LabelsPresence())),
    )


def test_keys_are_case_sensitive():
    """Outside extenders a key in the wrong case is an unknown key."""
    assert read_policy({"Predicates": []}).predicates is None


@pytest.mark.parametrize(
    "document, message",
    [
        ("predicates: {}", "invalid policy: predicates: expected a list, got an empty object"),
        ("predicates: [{name: 3}]", "invalid policy: predicates[0].name: expected a string, got 3"),
        (
            "priorities: [{weight: '1'}]",
            'invalid policy: priorities[0].weight: expected a whole number, got "1"',
        ),
        (
            "extenders: [{httpTimeout: 5s}]",
            'invalid policy: extenders[0].httpTimeout: expected a whole number, got "5s"',
        ),
        ("{kind: Pod, apiVersion: v1}", 'invalid policy: no kind "Pod" is registered for version "v1"'),
        ("{kind: Policy, apiVersion: v2}", 'invalid policy: no kind "Policy" is registered for version "v2"'),
    ],
)
def test_unreadable(document, message):
    """An unreadable field is refused with the path to it."""
    assert refusal_text(PolicyError, read_policy, yaml.safe_load(document)) == message


def test_unknown_keys():
    """Unknown keys are found wherever they are; those of extenders may be written in any case."""
    entry = yaml.safe_load("{name: A1, args: 1, argument: {serviceAffinity: {label: 1}}}")
    document = {"Kind": "Policy", "predicates": [entry], "extenders": [{"x": 1, "URLPREFIX": "http://a"}]}
    assert list(unknown_keys(document)) == [
        "Kind",
        "predicates[0].args",
        "predicates[0].argument.serviceAffinity.label",
        "extenders[0].x",
    ]


# --- Extender config ----------------------------------------------------------------------------------------


def test_defaults():
    """An extender without fields takes no calls and has five seconds."""
    assert extender() == ExtenderConfig()
    assert extender(httpTimeout=0).timeout == 5.0


def test_timeout_is_in_nanoseconds():
    """httpTimeout is a number of nanoseconds."""
    assert extender(httpTimeout=100_000_000).timeout == 0.1


def test_keys_in_any_case():
    """Keys of extenders, and below, may be in any case; the right case wins."""
    resources = [{"Name": "x/y"}]
    read = extender(
        URLPREFIX="http://a",
        BindVerb="b1",
        bindVerb="b2",
        TLSConfig={"CAFile": "ca"},
        managedResources=resources,
    )
    assert (read.url_prefix, read.bind_verb, read.tls) == ("http://a", "b2", TlsConfig(ca_file="ca"))
    assert read.managed_resources == (ManagedResource("x/y"),)


def test_bytes_are_base64():
    """Certificates given by value are base64."""
    assert extender(tlsConfig={"caData": "Zm9v"}).tls.ca_data == b"foo"
    with pytest.raises(
        PolicyError, match=r"extenders\[0\].tlsConfig.caData: expected bytes in base64, got \"\(hidden\)\""
    ):
        extender(tlsConfig={"caData": "!"})


def test_a_key_is_not_shown():
    """The private key is no part of what an error or a log would show."""
    assert "secret" not in repr(TlsConfig(key_data=b"secret"))


def test_order():
    """From 1.15 on extenders that may be ignored come last."""
    written = {"extenders": [{"urlPrefix": name, "ignorable": name in "ac"} for name in "abcd"]}
    called = {version: resolve(release, policy=written).extenders for version, release in RELEASES.items()}
    order = {
        version: "".join(extender.url_prefix for extender in extenders)
        for version, extenders in called.items()
    }
    assert order == {"1.12": "abcd", "1.13": "abcd", "1.14": "abcd", "1.15": "bdac", "1.16": "bdac"}


def test_ignored_resources():
    """The resources with ignoredByScheduler are collected over all extenders."""
    managed = yaml.safe_load("[{name: example.com/x, ignoredByScheduler: true}, {name: example.com/y}]")
    more = [{"name": "example.com/z", "ignoredByScheduler": True}]
    written = {"extenders": [{"managedResources": managed}, {"managedResources": more}]}
    assert resolve(LAST, policy=written).ignored_resources == {"example.com/x", "example.com/z"}


# --- Versions -----------------------------------------------------------------------------------------------

# The versions of the API that a Policy may name.


NEWER = yaml.safe_load("{kind: Policy, apiVersion: kubescheduler.config.k8s.io/v1, predicates: []}")


def test_plugins_are_made_of_the_newer_one():
    """Releases that make plugins of a Policy read the version of the component configuration's group,
    too."""
    assert Scheduler(Cluster([]), Framework(release="1.20", policy=NEWER)).algorithm.release.version == "1.20"


def test_older_releases_do_not_know_it():
    """Releases with predicates know version v1 alone."""
    with pytest.raises(
        PolicyError, match=r'no kind "Policy" is registered for version "kubescheduler\.config\.k8s\.io/v1"'
    ):
        Scheduler(Cluster([]), Classic(release="1.16", policy=NEWER))
