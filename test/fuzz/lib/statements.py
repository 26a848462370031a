"""The body of a function: assignments, branches, loops and calls."""

from .expressions import BOUND, Expr, Expressions, number
from .tree import Array, Node, Scope

CAP = 12  # elements that every array parameter has at least; no n is larger


class Body:
    """Writes statements into a function. Idioms of memory are in idioms.py."""

    def __init__(self, program, function):
        self.program, self.function = program, function
        self.rng = program.rng
        self.scope = Scope()
        self.locals = []  # declarations at the start of the function
        self.statics = []  # declarations before the function
        self.names = 0
        self.idioms = []  # set by idioms.py
        self.use_floats = program.floats and function.floats

    # Names, numbers and places.

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def c(self, lo, hi):
        return number(self.rng.uniform(lo, hi))

    def maybe(self, chance):
        return self.rng.random() < chance

    def integer(self, limit):
        """The text of an int in [0, limit)."""
        r, ints = self.rng, self.scope.ints
        if not ints or r.random() < 0.2:
            return str(r.randrange(limit))
        text, top = r.choice(ints)
        if r.random() < 0.5:
            text, top = r.choice(ints[-2:])
        if top < limit and r.random() < 0.6:
            return text
        kind = r.randrange(5)
        if kind == 0:
            return f"({text} + {r.randrange(1, 9)}) % {limit}"
        if kind == 1:
            other, _ = r.choice(ints)
            return f"({text} * {r.randrange(2, 6)} + {other}) % {limit}"
        if kind == 2 and top < limit:
            return f"({text} > 0 ? {text} - 1 : 0)"
        if kind == 3:
            return f"({text} < {limit} ? {text} : {limit - 1})"
        if kind == 4 and limit >= CAP and r.random() < 0.5:
            return f"scatter[{text} % {CAP}]"
        return f"{text} % {limit}"

    def condition(self):
        """Of integers, or of reals at a threshold that no value hits."""
        r = self.rng
        kind = r.randrange(10)
        if kind < 4 and self.scope.ints:
            text, top = r.choice(self.scope.ints)
            return r.choice(
                (
                    f"{text} % {r.randrange(2, 4)} == {r.randrange(2)}",
                    f"{text} > {r.randrange(0, max(top, 1))}",
                    f"({text} & {r.randrange(1, 4)})",
                    f"{text} < {r.randrange(1, max(top, 2))}",
                )
            )
        if kind == 4:
            return f"({self.condition()} {r.choice(('&&', '||'))} {self.condition()})"
        if kind == 5:
            return f"!({self.condition()})"
        e = self.leaf() if kind < 9 else self.make(1)
        span = max(e.hi - e.lo, 0.1)
        at = r.uniform(e.lo + 0.3 * span, e.hi - 0.3 * span)
        if abs(at) < 0.01:
            at = 0.0137
        return f"{e.text} {r.choice('<>')} {number(at)}"

    def element(self, array):
        return f"{array.name}[{self.integer(array.size)}]"

    def leaf(self):
        r, s = self.rng, self.scope
        kind = r.random()
        if self.use_floats and s.floats and kind < 0.15:
            return r.choice(s.floats)
        arrays = [a for a in s.arrays if self.use_floats or not a.flt]
        if arrays and kind < 0.55:
            array = r.choice(arrays) if r.random() < 0.5 else r.choice(arrays[-3:])
            return Expr(self.element(array))
        if s.ints and kind < 0.6:
            text, top = r.choice(s.ints)
            return Expr(f"{number(float(f'{0.5 / max(top, 1):.4g}'))} * {text}", 0, 0.55, 0)
        if s.reals:
            return r.choice(s.reals) if r.random() < 0.5 else r.choice(s.reals[-4:])
        return Expr(self.c(0.2, 1.8), 0.2, 1.8, 0)

    def float_leaf(self):
        r, s = self.rng, self.scope
        if s.floats and r.random() < 0.5:
            return r.choice(s.floats)
        arrays = [a for a in s.arrays if a.flt]
        if arrays and r.random() < 0.7:
            return Expr(self.element(r.choice(arrays)))
        e = self.leaf()
        return Expr(f"(float)({e.text})", e.lo, e.hi, e.lip)

    # Expressions.

    def make(self, depth, flt=False):
        leaf = self.float_leaf if flt else self.leaf
        call = None if flt else self.call_in_expression
        return Expressions(self.rng, leaf, call, flt, self.condition).make(depth)

    def fit(self, e, bound=BOUND, lip=1.0, flt=False):
        return Expressions(self.rng, self.leaf, flt=flt).fit(e, bound, lip)

    def e(self, depth=None, bound=BOUND, lip=None, flt=False):
        """The text of an expression that may be stored."""
        if depth is None:
            depth = self.rng.choice((1, 1, 2, 2, 3))
        if lip is None:
            lip = 1.0 if self.scope.in_nest else 1.25
        e = self.fit(self.make(depth, flt), bound, lip, flt)
        self.charge(1 + len(e.text) // 12)
        return e.text

    def charge(self, cost):
        self.function.cost += cost * self.scope.repeats

    def call_in_expression(self, maker, depth):
        callee = self.program.pick_callee(self, "scalar")
        if not callee or depth < 1:
            return None
        self.note_call(callee)
        args = [maker.fit(maker.make(depth - 1)) for _ in range(callee.arity)]
        return Expr(f"{callee.name}({', '.join(a.text for a in args)})", lip=max(a.lip for a in args))

    def note_call(self, callee):
        self.function.calls(callee)
        self.charge(callee.cost)

    # Locals.

    def local(self, init=None, flt=False):
        name = self.name("q" if flt else "t")
        init = init if init is not None else self.e(1, flt=flt)
        self.locals.append(f"{'float' if flt else 'double'} {name} = {init};")
        (self.scope.floats if flt else self.scope.reals).append(Expr(name))
        (self.scope.float_targets if flt else self.scope.targets).append(name)
        return name

    # Statements. Each returns a list of nodes.

    def block(self, count):
        nodes = []
        for _ in range(count):
            nodes += self.statement()
        return nodes

    def statement(self):
        r, s = self.rng, self.scope
        choices = [(self.assign, 30), (self.store, 26)]
        if s.depth < 3 and s.repeats < 300:
            choices += [(self.branch, 8), (self.loop, 14), (self.accumulate, 9), (self.switch, 3), (self.sweep, 6)]
            choices += [(self.descent, 2), (self.halving, 1), (self.tangle, 1), (self.far_loop, 1)]
        if s.in_loop:
            choices += [(self.leave, 5)]
        if s.returns:
            choices += [(self.early_return, 2)]
        choices += [(self.call_statement, 9)]
        choices += [(idiom, weight) for idiom, weight, depth in self.idioms if s.depth <= depth and s.repeats <= 40]
        for _ in range(8):
            make = r.choices([c for c, _ in choices], [w for _, w in choices])[0]
            nodes = make()
            if nodes:
                return nodes
        return self.assign()

    def nested(self, count, loop=0, **changes):
        """The statements of a nested block, in a scope of their own."""
        return self.within(lambda: self.block(count() if callable(count) else count), loop, **changes)

    def within(self, write, loop=0, **changes):
        """Runs write() in a nested scope and returns its result."""
        outer = self.scope
        self.scope = outer.copy()
        self.scope.depth += 1
        if loop:
            self.scope.repeats *= loop
            self.scope.in_loop = self.scope.in_nest = True
        for name, value in changes.items():
            setattr(self.scope, name, value)
        try:
            return write()
        finally:
            self.scope = outer

    def assign(self):
        s = self.scope
        if self.use_floats and s.float_targets and self.maybe(0.25):
            target = self.rng.choice(s.float_targets)
            flt = self.maybe(0.5)
            return [Node(f"{target} = {'' if flt else '(float)'}({self.e(flt=flt)});")]
        if not s.targets:
            return []
        target = self.rng.choice(s.targets)
        if self.maybe(0.2):
            keep = float(f"{self.rng.uniform(0.2, 0.8):.3g}")
            rest = self.e(bound=BOUND * (1 - keep) * 0.99, lip=(1 - keep) * 0.99)
            return [Node(f"{target} *= {number(keep)};\n{target} += {rest};")]
        return [Node(f"{target} = {self.e()};")]

    def store(self):
        arrays = [a for a in self.scope.arrays if a.writable and (self.use_floats or not a.flt)]
        if not arrays:
            return []
        array = self.rng.choice(arrays)
        place = self.element(array)
        if self.maybe(0.25):  # in place
            keep = float(f"{self.rng.uniform(0.2, 0.8):.3g}")
            rest = self.e(bound=BOUND * (1 - keep) * 0.99, lip=(1 - keep) * 0.99)
            return [Node(f"{place} = {number(keep)} * {place} + {rest};")]
        return [Node(f"{place} = {self.e(flt=array.flt and self.maybe(0.5))};")]

    def branch(self):
        few = lambda: self.rng.choice((1, 1, 2, 3))
        condition = self.condition()
        kids = self.nested(few)
        if self.maybe(0.5):
            kids.append(Node("} else {", self.nested(few), "  /* end of else */"))
        return [Node(f"if ({condition}) {{", kids)]

    def trips(self):
        """A bound of a loop: its text, and the greatest number of trips."""
        r = self.rng
        kind = r.randrange(7)
        if kind == 0:
            k = r.choice((0, 1, 2, 3, 4, 7))
            return str(k), max(k, 1)
        if kind == 1 or not self.scope.ints:
            k = r.randrange(1, 6)
            return str(k), k
        text, top = r.choice(self.scope.ints)
        if kind < 4:
            text, top = self.scope.ints[0]
        if kind == 4:
            return f"{text} / 2", max(top // 2, 1)
        if kind == 5:
            e = self.leaf()
            return f"(int)({number(1.5)} * fabs({e.text}) + {self.c(0.1, 0.8)})", int(1.5 * e.size() + 0.8) + 1
        return text, max(top, 1)

    def loop_head(self):
        """A counted loop: its head, its variable, its greatest number of trips."""
        r = self.rng
        i = self.name("i")
        bound, top = self.trips()
        step = r.choice((1, 1, 1, 1, 2, 3))
        kind = r.randrange(8)
        unsigned = r.choice(("int", "int", "int", "long", "size_t", "unsigned"))
        if kind == 0:
            return f"for (int {i} = ({bound}) - 1; {i} >= 0; {i} -= {step}) {{", i, top, top - 1
        if kind == 1 and top <= CAP:
            return f"for (int {i} = {r.randrange(0, 3)}; {i} < {bound}; ++{i}) {{", i, top, top - 1
        return f"for ({unsigned} {i} = 0; {i} < ({unsigned})({bound}); {i} += {step}) {{", i, top, top - 1

    def loop(self):
        head, i, trips, top = self.loop_head()
        if self.scope.repeats * trips > 400:
            return []
        kids = self.nested(
            lambda: self.rng.choice((1, 2, 2, 3)), loop=trips, ints=self.scope.ints + [(f"(int){i}", max(top, 0))]
        )
        return [Node(head, kids)]

    def accumulate(self):
        """A sum, a product or an extremum over a loop."""
        r = self.rng
        head, i, trips, top = self.loop_head()
        if self.scope.repeats * trips > 400:
            return []
        s = self.name("s")
        kind = r.choice(("sum", "sum", "sum", "product", "extreme"))
        ints = self.scope.ints + [(f"(int){i}", max(top, 0))]

        def write():
            kids = []
            if self.maybe(0.25):
                kids += self.leave()
            if kind == "sum":
                part = self.fit(self.make(2), 1.0, 1.0)
                kids.append(Node(f"{s} += {part.text};" if self.maybe(0.7) else f"{s} = {part.text} + {s};"))
                result = Expr(s, -trips * part.size(), trips * part.size(), trips * part.lip)
            elif kind == "product":
                part = self.fit(self.make(2), 0.3, 0.3)
                kids.append(Node(f"{s} *= {number(0.8)} + {part.text};"))
                grow = 1.1**trips
                result = Expr(s, -grow, grow, grow * trips * part.lip)
            else:
                part = self.fit(self.make(2))
                test = r.choice((f"{s} = fmax({s}, {part.text});", f"if ({part.text} > {s} + 0.0137) {s} = {part.text};"))
                kids.append(Node(test))
                result = Expr(s, -BOUND, BOUND, 1)
            self.charge(2 + len(part.text) // 12)
            return kids, result

        kids, result = self.within(write, loop=trips, ints=ints)
        start = {"sum": "0.0", "product": "1.0", "extreme": self.c(-1.9, -1.2)}[kind]
        self.locals.append(f"double {s} = {start};")
        self.scope.reals.append(result)
        return [Node(f"{s} = {start};\n{head}", kids)]

    def sweep(self):
        """A pass over an array, in place, that looks at neighbours."""
        r = self.rng
        others = [a for a in self.scope.arrays if not a.flt and a.size >= CAP]
        arrays = [a for a in others if a.writable]
        if not arrays:
            return []
        array = r.choice(arrays)
        w, v = array.name, r.choice(others).name
        n = self.scope.ints[0][0] if self.scope.ints and self.maybe(0.7) else str(CAP)
        i = self.name("i")
        if self.scope.repeats * CAP > 500:
            return []

        def write():
            rest = self.e(1, bound=0.4, lip=0.3)
            return r.choice(
                (
                    (f"for (int {i} = 1; {i} < {n}; ++{i})", f"{w}[{i}] = 0.4 * {w}[{i} - 1] + 0.3 * {w}[{i}] + {rest};"),
                    (f"for (int {i} = 0; {i} + 1 < {n}; ++{i})", f"{w}[{i}] = 0.35 * {w}[{i} + 1] + 0.3 * {v}[{i}] + {rest};"),
                    (f"for (int {i} = {n} - 1; {i} > 0; --{i})", f"{w}[{i}] = 0.6 * {w}[{i}] - 0.1 * {v}[{i} - 1] + {rest};"),
                    (
                        f"for (int {i} = 1; {i} < {n} - 1; ++{i})",
                        f"{w}[{i}] = 0.25 * ({v}[{i} - 1] + {v}[{i} + 1]) - 0.2 * {w}[{i}] + {rest};",
                    ),
                    (f"for (int {i} = 0; {i} < {n}; ++{i})", f"{w}[{i}] = sin(0.6 * {w}[{i}]) + {rest};"),
                )
            )

        head, line = self.within(write, loop=CAP, ints=self.scope.ints + [(i, CAP - 1)])
        return [Node(head + " {", [Node(line)])]

    def descent(self):
        """A loop whose trip count depends on data."""
        r = self.rng
        if self.scope.repeats > 40:
            return []
        t, k = self.name("t"), self.name("k")
        start, limit = self.e(1), r.randrange(4, 16)
        rate = float(f"{r.uniform(0.5, 0.85):.3g}")

        def write():
            step = self.e(1, bound=BOUND * (1 - rate) * 0.9, lip=(1 - rate) * 0.9)
            kids = [Node(f"{t} = {number(rate)} * {t} + {step};")]
            return kids + self.block(r.choice((0, 0, 1)))

        reals = self.scope.reals + [Expr(t)]
        kids = self.within(write, loop=limit, reals=reals, ints=self.scope.ints + [(k, limit)], in_loop=False)
        self.locals += [f"double {t} = 0.0;", f"int {k} = 0;"]
        self.scope.reals.append(Expr(t))
        self.scope.ints.append((k, limit))
        condition = f"fabs({t}) > {self.c(0.05, 0.4)}"
        if self.maybe(0.3):
            return [Node(f"{t} = {start};\n{k} = 0;\ndo {{", kids, f"}} while ({condition} && ++{k} < {limit});")]
        return [Node(f"{t} = {start};\n{k} = 0;\nwhile ({condition} && {k} < {limit}) {{", kids, f"  ++{k};\n}}")]

    def halving(self):
        """A trip count that the loop itself overwrites."""
        m = self.name("m")
        n = self.scope.ints[0][0] if self.scope.ints else "9"
        kids = self.nested(1, loop=4, ints=self.scope.ints + [(m, CAP)], in_loop=False)
        self.locals.append(f"int {m} = 0;")
        return [Node(f"for ({m} = {n}; {m} > 0; {m} /= 2) {{", kids)]

    def far_loop(self):
        """A bound of 10^12, left by a break."""
        i = self.name("i")
        n = self.scope.ints[0][0] if self.scope.ints else "5"
        if self.scope.repeats > 20:
            return []
        kids = self.nested(2, loop=CAP, ints=self.scope.ints + [(f"(int){i}", CAP)])
        return [Node(f"for (long {i} = 0; {i} < 1000000000000L; ++{i}) {{\n  if ({i} >= {n}) break;", kids)]

    def tangle(self):
        """A loop with two entries."""
        if self.scope.repeats > 40 or len(self.scope.targets) < 2:
            return []
        k, top, middle = self.name("k"), self.name("top"), self.name("middle")
        self.locals.append(f"int {k} = 0;")
        condition = self.condition()
        ints = self.scope.ints + [(k, 5)]
        first = self.within(lambda: self.assign() + self.store(), loop=4, ints=ints, in_loop=False)
        second = self.within(lambda: self.assign() + self.store(), loop=4, ints=ints, in_loop=False)
        again = f"if (++{k} < {self.rng.randrange(2, 5)}) goto {top};"
        head = f"{k} = 0;\nif ({condition}) goto {middle};\n{top}:;"
        return [Node(head, first + [Node(f"{middle}:;", second, again)], ";")]

    def switch(self):
        r = self.rng
        cases = r.randrange(2, 6)
        selector = self.integer(cases + 1)
        kids = []
        inner = self.scope.in_loop
        for case in range(cases):
            body = self.nested(r.choice((1, 1, 2)), in_loop=False)
            end = r.choice(("  break;", "  break;", "  break;", "  /* falls through */"))
            if inner and self.maybe(0.15):
                end = "  continue;"
            kids.append(Node(f"case {case if case or self.maybe(.8) else 7}:;", body, end if case + 1 < cases else "  break;"))
        if self.maybe(0.5):
            kids.append(Node("default:;", self.nested(1, in_loop=False), "  break;"))
        return [Node(f"switch ({selector}) {{", kids)]

    def leave(self):
        return [Node(f"if ({self.condition()}) {self.rng.choice(('break', 'continue', 'continue'))};")]

    def early_return(self):
        s, f = self.scope, self.function
        if s.depth == 0 and self.maybe(0.7):
            return []
        test = f"if ({self.condition()} && {self.condition()})"
        if f.result == "void":
            return [Node(f"{test} {{ {s.cleanup}return; }}")]
        value = self.e(1, flt=f.result == "float")
        if not s.cleanup:
            return [Node(f"{test} return {value};")]
        return [Node(f"{test} {{ {f.result} early = {value}; {s.cleanup}return early; }}")]

    # Calls.

    def pass_array(self, size=CAP, writable=False, flt=False):
        """An array with at least that many elements."""
        arrays = [
            a for a in self.scope.arrays if a.size >= size and a.flt == flt and (a.writable or not writable)
        ]
        return self.rng.choice(arrays) if arrays else None

    def call_statement(self):
        callee = self.program.pick_callee(self, None)
        if not callee:
            return []
        call = self.call_text(callee)
        if not call:
            return []
        self.note_call(callee)
        targets = self.scope.targets
        if callee.result == "void":
            return [Node(f"{call};")]
        if not targets or self.maybe(0.15):
            return [Node(f"(void){call};")]
        target = self.rng.choice(targets)
        if self.maybe(0.4):
            return [Node(f"{target} = 0.5 * {target} + 0.5 * {call};")]
        return [Node(f"{target} = {call};")]

    def call_text(self, callee):
        """A call with the arguments that the callee's parameters ask for."""
        args, used = [], set()
        for p in callee.params:
            if p.kind == "n":
                limit = self.scope.ints[0] if self.scope.ints else ("7", 7)
                args.append(self.rng.choice((limit[0], self.integer(CAP + 1), str(self.rng.randrange(0, CAP + 1)))))
            elif p.kind == "a":
                args.append(self.e(self.rng.choice((0, 1, 2))))
            elif p.kind == "fa":
                args.append(self.e(self.rng.choice((0, 1)), flt=self.maybe(0.5)))
            elif p.kind in ("cx", "iy", "fx", "fy"):
                array = None
                for _ in range(6):
                    array = self.pass_array(CAP, p.kind in ("iy", "fy"), p.kind in ("fx", "fy"))
                    if array and (callee.aliases or not array.objects & used):
                        break
                    array = None
                if not array:
                    return None
                used |= array.objects
                args.append(array.name)
            elif p.kind == "o":
                options = [f"&{t}" for t in self.scope.targets if not t.startswith("(") and f"&{t}" not in used]
                if not options:
                    return None
                args.append(self.rng.choice(options))
                used.add(args[-1])
            elif p.kind == "rec":
                if not self.scope.records:
                    return None
                args.append(self.rng.choice(self.scope.records))
            else:
                raise AssertionError(p.kind)
        return f"{callee.name}({', '.join(args)})"
