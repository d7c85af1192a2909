"""Creations, joins and ends of threads, as a walk sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.analysis.facets.facet import Creation
from raceproof.analysis.walk.layout import WalkLayout
from raceproof.analysis.walk.point import Point
from raceproof.concurrency import events as ev
from raceproof.concurrency.model import Success, Wait
from raceproof.ir import Call

if TYPE_CHECKING:
    from raceproof.analysis.walk.steps import WalkSteps
    from raceproof.analysis.walk.walker import Visit


class ThreadSteps:
    def __init__(self, steps: WalkSteps) -> None:
        self.steps = steps

    def handlers(self) -> dict[type[ev.Event], Callable[..., Point | None]]:
        return {
            ev.ThreadCreate: self._create,
            ev.ThreadJoin: self._join,
            ev.ThreadExit: self._exit,
            ev.ProcessExit: self._end,
        }

    def _create(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.ThreadCreate, point: Point
    ) -> Point:
        threads, creator = self.steps.walk.threads, self.steps.walker.info
        before = point.facets.may_parallel
        names = self.steps.backend.entries(visit.name, call)
        for name in names:
            info = self.steps.walk.created(creator, visit.context, call, name)
            if point.depends or len(names) > 1:
                self.steps.walk.dependent_starts |= info.bit
            if info is creator or before & info.bit or not creator.is_unique:
                threads.not_unique(info)
            is_repeated = not self.steps.walk.once.is_once(call.number)
            threads.created(info, before, is_repeated, point.facets.may_lockset)
            others = before | creator.bit
            threads.together(info, others & ~info.bit if info.is_unique else others | info.bit)
            for child in list(threads.all):
                if info.children >> child.index & 1:
                    threads.together(child, others)
            created = Creation(info.index, info.bit | info.children, is_sure=True)
            point = point.with_facets(point.facets.create(created))
        return point

    def _join(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.ThreadJoin, point: Point
    ) -> Point:
        self.steps.walker.has_joins = True
        point = point.depending()
        if event.wait is not Wait.BLOCK or event.success not in (Success.ALWAYS, Success.ZERO):
            return point
        site = self.steps.backend.created_at(visit.name, event.thread, event.is_indirect)
        infos = [i for i in self.steps.walk.threads.all if i.call == site and i.index]
        if site is None or len(infos) != 1 or not infos[0].is_unique:
            return point
        info = infos[0]
        if info.parent != self.steps.thread and not self.steps.walk.once.is_once(site):
            return point
        info.joins[call.number] = None
        gone = info.bit
        if info.left is not None and not self.steps.walk.has_cancellation:
            gone |= info.children & ~info.left
        return point.with_facets(point.facets.ended(gone))

    def _exit(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.ThreadExit, point: Point
    ) -> None:
        self.steps.walk.threads.ended(self.steps.walker.info, point.facets.may_parallel)

    def _end(
        self, visit: Visit, layout: WalkLayout, call: Call, event: ev.ProcessExit, point: Point
    ) -> None:
        return None
