"""``raceproof schema``: JSON schemas, for editors and for those who read our JSON."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import is_dataclass
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

EPILOG = """\
`settings` describes raceproof.toml. An editor that knows the schema completes and checks the file:
write it once, and name it in the first line of raceproof.toml:

  #:schema ./raceproof.schema.json

examples:
  raceproof schema settings > raceproof.schema.json
  raceproof schema verdict > verdict.schema.json
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "what", choices=["settings", "verdict"], help="raceproof.toml, or what --format json writes"
    )


def run(arguments: Namespace) -> int:
    print(json.dumps(settings() if arguments.what == "settings" else verdict(), indent=2))
    return 0


def verdict() -> Any:
    from raceproof.report.json import schema

    return schema()


def settings() -> dict[str, Any]:
    """What `raceproof.cli.configuration` reads."""
    from raceproof.cli.configuration import configurable

    said = _help()
    properties = {}
    for key, kind in configurable().items():
        found = _schema(kind)
        if key in said:
            found["description"] = said[key]
        properties[key] = found
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:raceproof:schema:settings-1",
        "title": "raceproof.toml",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _schema(get_args(kind)[0])}
    if is_dataclass(kind):
        fields = {name: _schema(one) for name, one in get_type_hints(kind).items()}
        return {"type": "object", "properties": fields, "additionalProperties": False}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"enum": [one.value for one in kind]}
    words = {str: "string", Path: "string", bool: "boolean", int: "integer", float: "number"}
    return {"type": words[kind]}


def _help() -> dict[str, str]:
    """The help of the option that a setting has on the command line."""
    from raceproof.cli.shell import build_parser

    _, commands = build_parser(["check", "scan"])
    return {
        action.dest.replace("_", "-"): action.help.replace("%%", "%")
        for command in reversed(commands.values())
        for action in command._actions
        if action.help and action.option_strings
    }
