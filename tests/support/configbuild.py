"""Configurations of one profile in any version, as a release reads, builds and refuses them."""

from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.profile import build_profiles
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support import frameworkbuild
from tests.support.refusals import refusal_text

GROUP = "kubescheduler.config.k8s.io"


def configuration(release, api, profile=None, *, gates="", **fields):
    """A configuration of one profile in version *api*, as *release* reads it."""
    given = dict(profile or {}) if api == "v1alpha1" else {"profiles": [profile or {}]}
    document = {"apiVersion": f"{GROUP}/{api}", "kind": "KubeSchedulerConfiguration", **given, **fields}
    return read_configuration(document, gates, FRAMEWORK_RELEASES[release])


def built(*given, **fields):
    """The one profile of such a configuration, built."""
    config = configuration(*given, **fields)
    (found,) = build_profiles(config, registry_of(config.release)).values()
    return found


def refusal(*given, **fields):
    """The refusal of such a configuration."""
    return refusal_text(PolicyError, built, *given, **fields)


def enabled(point, *names, **weights):
    """A profile with plugins at a point: *names* without a weight, then *weights*."""
    return {"plugins": {point: frameworkbuild.enabled(*names, **weights)}}


def arguments(plugin, **args):
    """A profile with arguments of a plugin."""
    return {"pluginConfig": [{"name": plugin, "args": args}]}
