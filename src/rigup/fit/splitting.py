"""A graph over several devices, as ggml's scheduler cuts it: which device computes a node, and what is copied to it first."""

from rigup.fit.graph import Graph, Node

_COPIES = 4  # of every input, where batches run through several devices one behind another


def split(graph: Graph, devices: int, in_turn: bool = False) -> Graph:
    """The graph with a place for every node and the copies that devices need of what lies elsewhere.

    Args:
        graph: nodes whose weights and caches have a place; the last device is the processor, where inputs lie.
        devices: how many there are, the processor among them.
        in_turn: batches run through the devices one behind another, so that inputs are there several times.

    """
    _assign(graph.nodes, devices - 1)
    return _Cut(graph, devices - 1, _COPIES if in_turn else 1).made()


def _assign(nodes: list[Node], host: int) -> None:
    """Where the weights are; what has none goes with its neighbours, with devices before the processor."""
    computed = [node for node in nodes if node.op != "VIEW"]
    for node in computed:
        if node.of is not None:
            node.place = node.of.place
        elif node.place is None:
            node.place = next((source.place for source in node.sources if source.op == "WEIGHT"), None)
    for skipped in (host, -1):
        for order in (computed, computed[::-1]):
            _spread(order, skipped)
    for node in computed:
        node.place = host if node.place is None else node.place


def _spread(order: list[Node], skipped: int) -> None:
    current = None
    for node in order:
        if node.place is None:
            node.place = current
        else:
            current = None if node.place == skipped else node.place


class _Cut:
    """A graph that is being cut."""

    def __init__(self, graph: Graph, host: int, copies: int) -> None:
        self.graph, self.host, self.copies = graph, host, copies
        self.nodes: list[Node] = []
        self.first: list[Node] = []
        self.there: dict[tuple[int, int], Node] = {}
        self.doubled: set[int] = set()

    def made(self) -> Graph:
        for node in self.graph.first:
            node.place = self.host
            self.first.append(node)
            self._double(node)
        begin, place = 0, None
        for number, node in enumerate(self.graph.nodes):
            if node.op == "VIEW" or node.place == place:
                continue
            self._part(self.graph.nodes[begin:number], place)
            begin, place = number, node.place
        self._part(self.graph.nodes[begin:], place)
        graph = Graph()
        graph.nodes, graph.first = self.nodes, self.first
        return graph

    def _double(self, node: Node) -> None:
        """More of an input that the person gives, for the batches that follow."""
        if self.copies > 1 and id(node) not in self.doubled:
            self.doubled.add(id(node))
            node.stays = True
            self.first += self._more(node, self.host)

    def _more(self, node: Node, place: int) -> list[Node]:
        """Its like for the batches that follow, which nothing may take over."""
        return [Node("COPY", node.sizes, node.bytes, place=place, stays=True) for _number in range(self.copies - 1)]

    def _part(self, nodes: list[Node], place: int | None) -> None:
        """What one device computes in a row, after copies of what it needs."""
        if place is None:
            self.nodes += nodes
            return
        before: list[Node] = []
        for node in nodes:
            if node.op != "VIEW":
                node.sources = tuple(self._here(source, place, before) for source in node.sources)
        self.nodes += before + nodes

    def _here(self, node: Node, place: int, before: list[Node]) -> Node:
        root = node.of or node
        if root.given:
            root.place = self.host
            self._double(root)
        where = root.place
        if where is None or where == place:
            return node
        key = (id(node), place)
        if key not in self.there:
            waits = Node("NONE", node.sizes, 0, (node,), of=node)
            copy = Node("COPY", node.sizes, node.bytes, place=place, stays=self.copies > 1)
            before += [waits, copy]
            self.there[key] = copy
            if self.copies > 1:
                self.first += [copy, *self._more(node, place)]
        return self.there[key]
