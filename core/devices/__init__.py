"""Devices: which nodes reach which, which claims can be served where, and by which devices.

:mod:`.pools` gathers what each node reaches, :mod:`.makes` knows devices that are alike, :mod:`.judging` asks CEL selectors about them
(:mod:`.expressions`), :mod:`.search` looks for a device for each request, :mod:`.devices` keeps what searches came to.
Upstream: k8s.io/dynamic-resource-allocation structured, cel.
"""
