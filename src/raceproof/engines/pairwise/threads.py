"""The threads of a program as templates: one symbolic execution stands for all instances."""

from __future__ import annotations

from dataclasses import dataclass

from raceproof.analysis.thread_modular import Analysis
from raceproof.engines.pairwise.execution import Execution
from raceproof.engines.pairwise.execution_log import Creation, ExecutionLog
from raceproof.engines.pairwise.instructions import Content
from raceproof.engines.pairwise.shared import NotModelled, World
from raceproof.engines.pairwise.state import PairState, SharedCell
from raceproof.engines.pairwise.values import PairValue, Renaming, chosen
from raceproof.ir import IntConstant, NullPointer, ZeroConstant
from raceproof.smt.terms import Term

_MOST_CREATIONS = 100

TemplateKey = tuple[int, str]
"""The creating call and the function that it starts; -1 for the call of `main`."""


@dataclass(eq=False)
class Template:
    key: TemplateKey
    log: ExecutionLog
    identity: Term
    creations: tuple[Creation, ...] = ()
    """Where `main` creates it; none if others do."""
    site: Term | None = None
    """Which of them it was."""

    @property
    def is_main(self) -> bool:
        return self.key[0] < 0

    def renaming(self, main: ExecutionLog, suffix: str) -> Renaming:
        """To another instance: its own variables, and those of `main` that change between its
        creations, get other names."""
        loops = {creation.nest[0] for creation in self.creations if creation.nest}

        def is_copied(variable: Term) -> bool:
            if variable in self.log.nests:
                return True
            nest = main.nests.get(variable)
            return bool(nest) and nest is not None and nest[0] in loops

        return Renaming(self.log.terms, suffix, is_copied)


def template_keys(analysis: Analysis) -> dict[TemplateKey, set[TemplateKey]]:
    """All templates with those that create them, parents first."""
    keys: list[TemplateKey] = []
    found: dict[TemplateKey, set[TemplateKey]] = {}
    for info in analysis.threads.all:
        if info.is_handler:
            raise NotModelled("a signal handler")
        key = (info.call, info.entry)
        keys.append(key)
        parents = found.setdefault(key, set())
        if info.parent is not None:
            parents.add(keys[info.parent])
    return found


def execute_all(world: World) -> dict[TemplateKey, Template]:
    """Executes `main`, then every thread."""
    found: dict[TemplateKey, Template] = {}
    main: Template | None = None
    for index, (key, parents) in enumerate(template_keys(world.analysis).items()):
        if main is None:
            found[key] = main = _execute_main(world, key)
        else:
            is_mains = parents == {main.key}
            found[key] = _execute_thread(world, key, f"T{index}", main if is_mains else None)
            if not is_mains:
                world.stop_counting()
    for template in found.values():
        for other in found.values():
            if template.creations and not other.is_main and template.key[0] in other.log.creations:
                raise NotModelled("a thread that creates its like")
    return found


def _execute_main(world: World, key: TemplateKey) -> Template:
    terms = world.terms
    log = ExecutionLog(world, "main", terms.true)
    identity = terms.const(0, 32)
    memory = {cell: _initial(log, cell) for cell in world.cells}
    state = PairState(terms.true, memory, {}, {}, (), terms.true)
    run = Execution(log, identity)
    for ghost in run.locking.ghosts:
        ghost.start(state, -1)
    for name in world.program.constructors:
        if world.program.functions[name].is_defined:
            raise NotModelled("code before `main`")
    run.function(world.program.functions[key[1]], [], state, ())
    return Template(key, log, identity)


def _initial(log: ExecutionLog, cell: SharedCell) -> PairValue:
    """What a global starts with."""
    terms, width = log.terms, cell.size * 8
    variable = log.world.program.globals[str(cell.key[1])]
    match variable.initializer:
        case IntConstant(value=value) if cell.offset == 0 and variable.size == cell.size:
            return PairValue(terms.const(value, width))
        case ZeroConstant() | NullPointer():
            return PairValue(terms.const(0, width))
    return PairValue(log.fresh("initial", width))


def _execute_thread(world: World, key: TemplateKey, name: str, main: Template | None) -> Template:
    terms = world.terms
    log = ExecutionLog(world, name, terms.true, key[0])
    identity = log.fresh("self", 32)
    template = Template(key, log, identity)
    argument: PairValue | None = None
    memory = {cell: PairValue(log.fresh("before", cell.size * 8)) for cell in world.cells}
    if main is not None:
        creations = tuple(main.log.creations.get(key[0], ()))
        if not creations:
            raise NotModelled("a thread that is created unseen")
        if len(creations) > _MOST_CREATIONS:
            raise NotModelled("too many creations of one thread")
        template.creations = creations
        template.site = site = log.fresh("site", 8)
        ways = []
        for index, creation in enumerate(creations):
            here = terms.eq(site, terms.const(index, 8))
            ways.append(terms.all([here, creation.guard, creation.facts]))
            given = creation.argument
            if given is None:
                given = PairValue(log.fresh("argument", world.program.layout.pointer_size * 8))
            argument = chosen(terms, here, given, argument) if argument is not None else given
            memory = {c: chosen(terms, here, creation.memory[c], v) for c, v in memory.items()}
        log.facts = terms.any(ways)
    function = world.program.functions[key[1]]
    if not function.is_defined:
        raise NotModelled(f"`{key[1]}` is not defined")
    run = Execution(log, identity)
    arguments: list[Content] = [argument] if argument is not None else []
    state = PairState(terms.true, memory, {}, {}, (), terms.false)
    for ghost in run.locking.ghosts:
        ghost.start(state, key[0])
    run.function(function, arguments, state, ())
    return template
