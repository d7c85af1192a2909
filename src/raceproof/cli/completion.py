"""``raceproof completion``: makes the shell complete commands, options and file names."""

from argparse import Action, ArgumentParser, Namespace

import shtab

from raceproof.cli.registry import COMMANDS

EPILOG = """\
examples:
  raceproof completion bash > ~/.local/share/bash-completion/completions/raceproof
  raceproof completion zsh > ~/.zfunc/_raceproof      (a folder of your $fpath)
  raceproof completion tcsh > ~/.raceproof.tcsh       (then source it in ~/.tcshrc)
"""

_COMPLETIONS = {
    "FILE": shtab.FILE,
    "PATH": shtab.FILE,
    "SCHEDULE": shtab.FILE,
    "DIR": shtab.DIRECTORY,
}
"""What to offer for a value, by the name that the help gives it."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=shtab.SUPPORTED_SHELLS, help="the shell you use")


def run(arguments: Namespace) -> int:
    from raceproof.cli.shell import build_parser

    parser, commands = build_parser(COMMANDS)
    for command in commands.values():
        for action in command._actions:
            _complete_paths(action)
    print(shtab.complete(parser, arguments.shell))
    return 0


def _complete_paths(action: Action) -> None:
    if isinstance(action.metavar, str) and action.metavar in _COMPLETIONS:
        vars(action)["complete"] = _COMPLETIONS[action.metavar]
