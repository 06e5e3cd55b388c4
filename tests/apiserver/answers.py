"""The server's answers: a status, headers and JSON, or a watch; and the Status bodies of errors, word for
word."""

import json

import attrs

JSON_HEADERS = {"content-type": "application/json"}
TEXT_HEADERS = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}

encode_text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False).encode
"""JSON as the server writes it, without spaces."""


@attrs.frozen
class Answer:
    """A whole answer, or with ``watch`` the beginning of one that goes on."""

    status: int
    body: dict = None
    headers: dict = JSON_HEADERS
    watch: object = None

    def encoded(self):
        """The body as bytes; text stays as it is."""
        if self.body is None:
            return b""
        return (self.body if isinstance(self.body, str) else encode_text(self.body) + "\n").encode()


class ApiFault(Exception):
    """An error answer."""

    def __init__(self, answer):
        super().__init__(answer.body)
        self.answer = answer


def status_body(code, reason, message, details=None, metadata=None):
    """The Status of a failure. An empty *reason* and absent *details* are left out."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": metadata or {},
        "status": "Failure",
        "message": message,
    }
    if reason:
        body["reason"] = reason
    if details is not None:
        body["details"] = details
    return {**body, "code": code}


def fault(code, reason, message, details=None, metadata=None):
    """A fault with the Status body of a failure."""
    return ApiFault(Answer(code, status_body(code, reason, message, details, metadata)))


def success(code, details=None):
    """The Status of a success. Upstream: that of a deletion has details and no code."""
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return Answer(code, {**body, "code": code} if details is None else {**body, "details": details})


def text(code, message):
    """A plain text."""
    return Answer(code, message, TEXT_HEADERS)


def bad_request(message):
    """400."""
    return fault(400, "BadRequest", message)


def not_served():
    """404 for a resource that this version does not have."""
    return fault(404, "NotFound", "the server could not find the requested resource", {})


def not_allowed():
    """405."""
    return fault(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}
    )
