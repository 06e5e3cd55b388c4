"""Errors of kubeconfigs."""

from __future__ import annotations

from ...api.reading.addresses import AddressError


class KubeconfigError(AddressError):
    """A kubeconfig, or a file or program that it names, is not usable."""
