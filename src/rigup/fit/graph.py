"""A graph of tensors, and the buffers that ggml's allocator would give it: what `compute buffer size` in llama.cpp's log is.

The allocator is repeated here step by step: a node is placed when it is met, over a parent that nobody needs any more where
its operation allows that, else in the smallest free piece that is large enough; it is freed after its last use. How much a
graph takes so depends on the order of its nodes, which is that of a walk from each result to what it is made of.
"""

from collections.abc import Iterable

from rigup.fit.errors import HeaderError
from rigup.language import _

ALIGNMENT = 32
_MOST = 1 << 56
_IN_PLACE = frozenset({"SCALE", "ADD", "ADD_ID", "SUB", "MUL", "DIV", "SQR", "SQRT", "UNARY", "ROPE", "RMS_NORM", "SOFT_MAX"})

Sizes = tuple[int, ...]


class Node:
    """A tensor of a graph: a result, a view of one, or something from outside (weights, caches) that takes no room here.

    Attributes:
        sizes: the innermost first.
        bytes: what it holds.
        of: the tensor whose bytes it shows, for a view.
        plain: it lies as its sizes say, without gaps and in their order.
        given: it is an input, placed before all else.
        outside: it lies in a buffer of its own.
        stays: its bytes are neither given back nor taken over by what follows (an output, in ggml's words).
        place: which device computes it, by number; None: wherever what it is made of lies.

    """

    __slots__ = ("bytes", "given", "of", "op", "outside", "place", "plain", "sizes", "sources", "stays")

    def __init__(
        self,
        op: str,
        sizes: Sizes,
        size: int,
        sources: Iterable["Node"] = (),
        *,
        of: "Node | None" = None,
        plain: bool = True,
        given: bool = False,
        outside: bool = False,
        place: int | None = None,
        stays: bool = False,
    ) -> None:
        self.op, self.sizes, self.bytes, self.sources = op, sizes, size, tuple(sources)
        self.of: Node | None = None if of is None else of.of or of
        self.plain, self.given, self.outside, self.place, self.stays = plain, given, outside, place, stays

    def lies_as(self, other: "Node") -> bool:
        """Sizes, type and strides are those of another."""
        return self.plain and other.plain and self.sizes == other.sizes and self.bytes == other.bytes


class Graph:
    """Nodes in the order in which they are computed."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.first: list[Node] = []
        """Inputs that are placed before all else; some of them nobody uses."""
        self._met: set[int] = set()

    def expand(self, result: Node) -> Node:
        """Add what a result needs, and itself; what is there already stays where it is."""
        waiting: list[tuple[Node, int]] = [(result, 0)]
        while waiting:
            node, number = waiting.pop()
            if number == 0:
                if id(node) in self._met:
                    continue
                self._met.add(id(node))
            if number < len(node.sources):
                waiting += [(node, number + 1), (node.sources[number], 0)]
            elif node.sources:
                self.nodes.append(node)
        return result


class _State:
    """What the allocator knows of a tensor."""

    __slots__ = ("at", "children", "held", "views")

    def __init__(self) -> None:
        self.children = self.views = 0
        self.held = False
        self.at = 0


class _Room:
    """A buffer that grows: free pieces by place, the last without an end."""

    def __init__(self) -> None:
        self.free: list[list[int]] = [[0, 1 << 62]]
        self.most = 0

    def take(self, size: int) -> int:
        if not 0 <= size < _MOST:
            raise HeaderError(_("The header's numbers ask for more memory than any machine has: the file is broken."))
        best = -1
        for number in range(len(self.free) - 1):
            have = self.free[number][1]
            if have >= size and (best < 0 or have < self.free[best][1]):
                best = number
        piece = self.free[best]
        at = piece[0]
        piece[0] += size
        piece[1] -= size
        if not piece[1]:
            del self.free[best]
        self.most = max(self.most, at + size)
        return at

    def give(self, at: int, size: int) -> None:
        if not size:
            return
        free = self.free
        number = next(number for number, piece in enumerate(free) if piece[0] > at)
        if number and sum(free[number - 1]) == at:
            number -= 1
            free[number][1] += size
        else:
            free.insert(number, [at, size])
        if number + 1 < len(free) and sum(free[number]) == free[number + 1][0]:
            free[number][1] += free.pop(number + 1)[1]


class Allocation:
    """The places of a graph's tensors; `most` is what each device's buffer has to hold."""

    def __init__(self, devices: int = 1) -> None:
        self._rooms = [_Room() for _number in range(devices)]
        self._states: dict[int, _State] = {}

    @property
    def most(self) -> list[int]:
        """Bytes of each device's buffer."""
        return [room.most for room in self._rooms]

    def _state(self, node: Node) -> _State:
        state = self._states.get(id(node))
        if state is None:
            state = self._states[id(node)] = _State()
        return state

    def run(self, graph: Graph) -> "Allocation":
        """Place all nodes of a graph."""
        nodes = graph.nodes
        for node in graph.first:
            self._place(node)
        for node in nodes:
            if node.of is not None and node.op != "NONE":
                self._state(node.of).views += 1
            for parent in node.sources:
                self._state(parent).children += 1
                if parent.given:
                    self._place(parent)
        for node in nodes:
            for parent in node.sources:
                self._place(parent)
            self._place(node)
            for parent in node.sources:
                self._used(parent)
        return self

    def _used(self, parent: Node) -> None:
        state = self._state(parent)
        state.children -= 1
        if state.children or state.views:
            return
        if parent.of is None:
            self._release(parent, state)
            return
        root = self._state(parent.of)
        root.views -= 1
        if not root.views and not root.children:
            self._release(parent.of, root)

    def _release(self, node: Node, state: _State) -> None:
        if state.held and not node.stays:
            self._rooms[node.place or 0].give(state.at, _aligned(node.bytes))
            state.held = False

    def _place(self, node: Node) -> None:
        if node.outside or node.of is not None:
            return
        state = self._state(node)
        if state.held:
            return
        state.held = True
        if node.op in _IN_PLACE and (parent := self._reusable(node)) is not None:
            state.at, parent.held = parent.at, False
            return
        state.at = self._rooms[node.place or 0].take(_aligned(node.bytes))

    def _reusable(self, node: Node) -> _State | None:
        """A parent that lies as this node does, and that nobody else waits for."""
        for parent in node.sources:
            if parent.of is not None or parent.outside or parent.stays or not parent.lies_as(node):
                continue
            state = self._state(parent)
            if state.held and state.children == 1 and not state.views and parent.place == node.place:
                return state
        return None


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
