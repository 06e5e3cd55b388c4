"""The URL of a request without names and values, as metrics of some releases are broken down by it.

Upstream: finalURLTemplate of k8s.io/client-go/rest/request.go.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode

from .transport import Request

PREFIX = "/%7Bprefix%7D"
"""What releases show whose client takes every path for one that it does not know."""
_OWN = ("finalize", "status")
"""What comes after the name of an object without a namespace, or is not a name itself."""


def url_template(request: Request) -> str:
    """The path and query of *request* with placeholders.

    >>> url_template(Request("GET", "/api/v1/nodes", "limit=500&resourceVersion=0"))
    '/api/v1/nodes?limit=%7Bvalue%7D&resourceVersion=%7Bvalue%7D'
    >>> url_template(Request("POST", "/api/v1/namespaces/shop/pods/web-1/binding"))
    '/api/v1/namespaces/%7Bnamespace%7D/pods/%7Bname%7D/binding'
    >>> url_template(Request("PATCH", "/api/v1/nodes/a/status")), url_template(Request("GET", "/version"))
    ('/api/v1/nodes/%7Bname%7D/status', '/version')
    """
    segments = request.path.split("/")
    query = urlencode(sorted(dict.fromkeys((key for key, _ in parse_qsl(request.query, keep_blank_values=True)), "{value}").items()))
    asked = f"?{query}" if query else ""
    if len(segments) <= 2:  # a path of one part
        return f"{quote(request.path)}{asked}"
    if segments[1] not in ("api", "apis"):
        return PREFIX
    index = 3 if segments[1] == "api" else 4
    _replace(segments, index)
    return f"{quote('/'.join(segments))}{asked}"


def _replace(segments: list[str], index: int) -> None:
    """Put placeholders into *segments*, of which that at *index* is the resource, or ``namespaces``."""
    left = len(segments) - index
    if left == 2:  # resource, name
        segments[index + 1] = "{name}"
    elif left == 3:  # resource, name, its part; or namespaces, namespace, resource
        segments[index + 1] = "{name}" if segments[index + 2] in _OWN else "{namespace}"
    elif left > 3:  # namespaces, namespace, resource, name
        segments[index + 1] = "{namespace}"
        if segments[index + 3] not in _OWN:
            segments[index + 3] = "{name}"
