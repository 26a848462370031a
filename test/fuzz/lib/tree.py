"""The tree of statements of a function: nodes that can be dropped one by one when a failing program is reduced."""


class Node:
    """A statement, or a head, children and a tail that stay or go together."""

    __slots__ = ("head", "kids", "tail", "number", "keep")

    def __init__(self, head, kids=None, tail=None, keep=False):
        self.head, self.kids, self.tail, self.number = head, kids, tail, None
        # It cannot be dropped: a result, the end of a recursion.
        self.keep = keep or head.startswith("return")

    def count(self, start):
        """Numbers this node and its children in preorder; returns the next number."""
        self.number = start
        start += 1
        for kid in self.kids or ():
            start = kid.count(start)
        return start

    def lines(self, dropped, indent=1):
        if self.number in dropped:
            return
        pad = "  " * indent
        for line in self.head.split("\n"):
            yield pad + line
        if self.kids is None:
            return
        for kid in self.kids:
            yield from kid.lines(dropped, indent + 1)
        for line in (self.tail or "}").split("\n"):
            yield pad + line


class Array:
    """An array in scope: elements in [-2, 2], of which at least `size` may be touched. Arrays with no object in
    common never overlap."""

    __slots__ = ("name", "size", "writable", "flt", "objects")

    def __init__(self, name, size, writable=True, flt=False, objects=None):
        self.name, self.size, self.writable, self.flt = name, size, writable, flt
        self.objects = frozenset(objects or (name,))


class Scope:
    """What can be read and written at a place of a function."""

    def __init__(self):
        self.reals = []  # Expr: scalars and record fields, readable
        self.targets = []  # text of writable double scalars
        self.floats = []  # as reals, of type float
        self.float_targets = []
        self.arrays = []
        self.ints = []  # (text, greatest value); the least is 0
        self.records = []  # text of pointers to records
        self.repeats = 1  # how often this place runs, at most
        self.in_loop = False  # `break` and `continue` are possible
        self.in_nest = False  # within any loop
        self.cleanup = ""  # what an early return has to do
        self.returns = True  # an early return is possible
        self.depth = 0

    def copy(self):
        other = Scope()
        for name, value in vars(self).items():
            setattr(other, name, list(value) if isinstance(value, list) else value)
        return other
