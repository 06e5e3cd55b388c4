"""Devices: which nodes reach which, which claims can be served where, and by which devices.

:mod:`.pools` gathers what each node reaches, which are alike, :mod:`.claimjudging` asks CEL selectors about
them, :mod:`.devicesearch` looks for a device for each request, :mod:`.nodedevices` keeps what searches came
to. :mod:`.extendedresources` is of later releases. Upstream: k8s.io/dynamic-resource-allocation structured,
cel."""
