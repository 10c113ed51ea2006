"""The OpenAPI description of `/api/admin/`."""

from __future__ import annotations

from typing import Any, Final

from emu.admin.web.dashboard import ACTIONS, DashboardAction
from emu.admin.web.requests import FORM, JSON
from emu.admin.web.views import VIEWS

Schema = dict[str, Any]

SECURITY: Final[Schema] = {
    "session": {"type": "apiKey", "in": "cookie", "name": "emu-session-PORT",
                "description": "behind TLS: __Host-emu-session"},
    "token": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token",
              "description": "csrf of the session; the field csrf of the body has the same effect"},
}  # fmt: skip
_TEXT: Final[Schema] = {"type": "string"}
_SESSION: Final[Schema] = {
    "enabled": {"type": "boolean"},
    "signed_in": {"type": "boolean"},
    "name": _TEXT,
    "rank": {"type": "integer"},
    "csrf": _TEXT,
    "actions": {"type": "array", "items": _TEXT},
}
_DONE: Final[Schema] = {"ok": {"type": "boolean"}, "text": _TEXT}
_ORIGIN: Final[Schema] = {
    "name": "Origin", "in": "header", "required": True, "schema": _TEXT,
    "description": "the page's origin, as browsers send it",
}  # fmt: skip
_REFUSALS: Final = {
    "400": "A field is missing or wrong.",
    "401": "Nobody is signed in.",
    "403": "Not from the page, wrong token or password, or the rank is too low.",
    "413": "The body is too large.",
    "415": "The body is neither JSON nor a form.",
    "422": "The command failed; the text has the reason.",
    "429": "Too many attempts; see Retry-After.",
    "503": "Busy, or the database does not answer.",
}


def paths() -> dict[str, Schema]:
    """Return the paths. Except for the session's, they need `web.admin`."""
    listed: dict[str, Schema] = {
        "/api/admin/session": {
            "get": {
                "summary": "The signed-in user and its allowed actions.",
                "responses": {"200": _answer("Without web.admin: enabled is false.", _SESSION)},
            }
        },
        "/api/admin/sign-in": _post(
            "Sign in with an account whose characters have a rank.",
            {"name": _TEXT, "password": _TEXT}, ["name", "password"], _SESSION | _DONE, security=[],
        ),
        "/api/admin/sign-out": _post("Sign out.", {}, [], _DONE),
    }  # fmt: skip
    listed |= {f"/api/views/{name}": _view(one) for name, one in VIEWS.items()}
    return listed | {f"/api/admin/actions/{name}": _action(one) for name, one in ACTIONS.items()}


def _view(view: DashboardAction) -> Schema:
    fields = [
        {"name": field.name, "in": "query", "required": field.default is None,
         "schema": {"type": "string", "pattern": f"^({field.pattern})$"},
         "description": field.about}
        for field in view.fields
    ]  # fmt: skip
    answer = _answer(f"The data of the command {view.command}.", _DONE | {"data": {}})
    return {"get": {"summary": view.about, "parameters": fields, "responses": {"200": answer}}}


def _action(action: DashboardAction) -> Schema:
    fields = {
        field.name: {
            "type": "string",
            "pattern": f"^({field.pattern})$",
            "description": field.about,
        }
        | ({"default": field.default} if field.default else {})
        for field in action.fields
    }
    required = [field.name for field in action.fields if field.default is None]
    return _post(action.about, fields, required, _DONE)


def _post(
    about: str,
    fields: Schema,
    required: list[str],
    text: Schema,
    *,
    security: list[Schema] | None = None,
) -> Schema:
    schema = {"type": "object", "properties": fields, "required": required}
    refusals = {code: _answer(text, _DONE) for code, text in _REFUSALS.items()}
    return {
        "post": {
            "summary": about,
            "parameters": [_ORIGIN],
            "security": [{"session": [], "token": []}] if security is None else security,
            "requestBody": {"content": {kind: {"schema": schema} for kind in (JSON, FORM)}},
            "responses": {"200": _answer("Done.", text), **refusals},
        }
    }


def _answer(about: str, fields: Schema) -> Schema:
    content = {JSON: {"schema": {"type": "object", "properties": fields}}}
    return {"description": about, "content": content}
