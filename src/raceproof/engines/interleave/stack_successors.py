"""Where threads of the threading model may stand: through calls, from point to point."""

from __future__ import annotations

from dataclasses import replace

from raceproof.engines.interleave.model_state import NOWHERE, ModelFrame, ModelState, Stack
from raceproof.engines.interleave.skeleton import Key, ModelPlace, Points
from raceproof.ir import Call, Function, Return

MOST_FRAMES = 24


class TooDeep(Exception):
    """Recursion: the model has no bound."""


class StackSuccessors:
    """The stacks that follow each other, and the addresses that are known on them."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self._skeleton = points.skeleton
        self._settlements: dict[tuple[Stack, ...], list[Stack]] = {}

    def entered(
        self, below: Stack, function: Function, keys: tuple[Key | None, ...]
    ) -> list[Stack]:
        """Where a thread may stand that has just entered a function."""
        return self._settled(self._first(below, function, keys))

    def stepped(self, stack: Stack, blocks: list[int] | None = None) -> list[Stack]:
        """Where a thread may stand after the point on top; never nothing, for it is past it."""
        return self._settled(self._after(stack, blocks)) or [(ModelFrame(NOWHERE),)]

    def _first(self, below: Stack, function: Function, keys: tuple[Key | None, ...]) -> list[Stack]:
        if len(below) >= MOST_FRAMES:
            raise TooDeep
        return [(*below, ModelFrame(point, keys)) for point in self._points.first(function)]

    def _after(self, stack: Stack, blocks: list[int] | None = None) -> list[Stack]:
        points = self._points.after(stack[-1].point, blocks)
        return [(*stack[:-1], replace(stack[-1], point=point)) for point in points]

    def _settled(self, stacks: list[Stack]) -> list[Stack]:
        """Through calls and returns, to points where something happens."""
        key = tuple(stacks)
        found = self._settlements.get(key)
        if found is None:
            standing: list[Stack] = []
            seen = set(stacks)
            work = list(stacks)
            while work:
                stack = work.pop()
                through = self._through(stack)
                if through is None:
                    standing.append(stack)
                    continue
                for following in through:
                    if following not in seen:
                        seen.add(following)
                        work.append(following)
            found = self._settlements[key] = standing
        return found

    def _through(self, stack: Stack) -> list[Stack] | None:
        """What follows a call or return that is no step of its own; None for all else."""
        skeleton = self._skeleton
        point = stack[-1].point
        if isinstance(skeleton.program.instruction(point), Return):
            if len(stack) == 1 or self.is_atomic_call(stack[-2].point):
                return None
            return self._after(stack[:-1])
        entered = skeleton.entered(point)
        if not entered or skeleton.event(point) is not None or self.is_atomic_call(point):
            return None
        found: list[Stack] = []
        for function in entered:
            found += self._first(stack, function, self.keys(stack, point, function))
        if skeleton.may_skip(point):
            found += self._after(stack)
        return found

    def is_atomic_call(self, point: int) -> bool:
        return any(
            self._skeleton.is_atomic_function(point, function.name)
            for function in self._skeleton.entered(point)
        )

    def keys(self, stack: Stack, point: int, function: Function) -> tuple[Key | None, ...]:
        call = self._skeleton.program.instruction(point)
        assert isinstance(call, Call)
        if function.name not in self._skeleton.objects.callees(call):
            return tuple(None for _ in function.parameters)  # a callback: who knows its arguments
        copied = {index for index, _ in call.by_value}
        return tuple(
            None if index in copied else self._key_in(stack, self._skeleton.place(argument))
            for index, argument in enumerate(call.arguments[: len(function.parameters)])
        )

    def _key_in(self, stack: Stack, place: ModelPlace | None) -> Key | None:
        if place is None:
            return None
        match place.kind:
            case "global":
                return ("global", place.name, place.offset)
            case "parameter":
                function = self._skeleton.program.function_of(stack[-1].point)
                for index, parameter in enumerate(function.parameters):
                    if parameter.index == place.name and index < len(stack[-1].keys):
                        key = stack[-1].keys[index]
                        return None if key is None else (key[0], key[1], key[2] + place.offset)
        return None

    def key(self, state: ModelState, thread: int, place: ModelPlace | None) -> Key | None:
        """The exact address; a slot belongs to the thread and the depth of its frame.

        Below the top frame a slot is not followed, so that stacks of equal shape are equal.
        """
        stack = state.threads[thread].stack
        if place is not None and place.kind == "slot":
            return (f"slot {thread} {len(stack)}", place.name, place.offset)
        return self._key_in(stack, place)
