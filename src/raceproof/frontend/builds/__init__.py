"""Builds: what a project's own compilers were told, and what they say about themselves.

command_line  one command of a compiler, taken apart
drivers       asking a compiler for its folders, its target and its defaults
database      `compile_commands.json`
"""
