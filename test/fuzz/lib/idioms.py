"""Idioms of memory and of calls that C programs are full of, as statements with random contents."""

from .expressions import BOUND, Expr, number
from .statements import CAP, Body
from .tree import Array, Node


class Writer(Body):
    """A body with idioms. Each idiom returns a list of nodes; an empty one when it does not fit here."""

    def __init__(self, program, function):
        super().__init__(program, function)
        # idiom, weight, the greatest depth of nesting at which it appears
        self.idioms = [
            (self.local_array, 6, 2),
            (self.swapped_buffers, 2, 1),
            (self.heap, 4, 1),
            (self.growth, 3, 1),
            (self.chain, 2, 1),
            (self.stack_chain, 1, 1),
            (self.copies, 7, 2),
            (self.integer_copy, 4, 2),
            (self.union_move, 3, 2),
            (self.sign_bits, 1, 2),
            (self.function_table, 3, 2),
            (self.static_workspace, 2, 1),
            (self.held_workspace, 2, 1),
            (self.static_table, 1, 2),
            (self.printing, 3, 1),
            (self.matrix, 2, 1),
            (self.sorting, 1, 1),
            (self.interpolation, 1, 1),
            (self.newton, 1, 1),
            (self.structs, 5, 2),
            (self.two_results, 2, 2),
            (self.chosen_pointer, 4, 2),
            (self.variable_array, 2, 1),
            (self.indices, 2, 1),
            (self.zeros, 1, 1),
            (self.record, 4, 1),
            (self.records, 2, 1),
            (self.volatile, 1, 2),
            (self.tagged, 3, 1),
            (self.moved_call, 2, 2),
            (self.allocated_result, 2, 1),
            (self.pointer_result, 2, 2),
            (self.passed_function, 2, 2),
        ]
        if program.floats and function.floats:
            self.idioms += [(self.float_array, 3, 1), (self.float_pair, 2, 2)]

    # Helpers.

    def reads(self, arrays=(), reals=(), ints=(), targets=(), count=None, write=None, loop=0, **more):
        """A nested block in which those can be used too."""
        s = self.scope
        changes = dict(
            arrays=s.arrays + list(arrays),
            reals=s.reals + list(reals),
            ints=s.ints + list(ints),
            targets=s.targets + list(targets),
        )
        changes.update(more)
        if not loop:
            changes.setdefault("in_loop", False)
        write = write or (lambda: self.block(count if count is not None else self.rng.choice((1, 2, 2, 3))))
        return self.within(write, loop, **changes)

    def any_array(self, writable=False, size=CAP):
        return self.pass_array(size, writable)

    def filled(self, name, size, i="i"):
        """A loop that sets all elements."""
        value = self.within(lambda: self.e(1), loop=size, ints=self.scope.ints + [(i, size - 1)])
        return f"for (int {i} = 0; {i} < {size}; ++{i}) {name}[{i}] = {value};"

    def use(self):
        """Statements that read what is in scope: an assignment or a store."""
        return self.assign() + self.store()

    # Arrays.

    def local_array(self):
        w, size = self.name("w"), self.rng.randrange(CAP, 20)
        start = self.rng.choice((" = {0}", " = {0}", " = {0.25, -0.5, 1.125}"))
        kids = [Node(self.filled(w, size))] if self.maybe(0.7) else []
        array = Array(w, size)
        kids += self.reads(arrays=[array])
        kids += self.reads(arrays=[array], write=self.use)
        return [Node(f"{{\ndouble {w}[{size}]{start};", kids)]

    def float_array(self):
        w = self.name("fw")
        size = self.rng.randrange(CAP, 16)
        array = Array(w, size, flt=True)
        kids = [Node(self.filled(w, size))]
        kids += self.reads(arrays=[array])
        kids += self.reads(arrays=[array], write=self.use)
        return [Node(f"{{\nfloat {w}[{size}] = {{0}};", kids)]

    def swapped_buffers(self):
        if self.scope.repeats > 10:
            return []
        u, v, p, q, h, k, j = (self.name(s) for s in ("u", "v", "p", "q", "h", "k", "j"))
        size, rounds = self.rng.randrange(CAP, 16), self.rng.randrange(1, 6)
        if self.maybe(0.3) and self.scope.ints:
            rounds = f"{self.scope.ints[0][0]} / 2"
        at = lambda: self.e(1, bound=0.4, lip=0.25)
        step = self.within(at, loop=size * 4, ints=self.scope.ints + [(j, size - 1)])
        fill = f"for (int {j} = 0; {j} < {size}; ++{j}) {{ {u}[{j}] = {self.within(at, ints=self.scope.ints + [(j, size - 1)])}; {v}[{j}] = 0.0; }}"
        line = self.rng.choice(
            (
                f"{q}[{j}] = 0.3 * {p}[{j} > 0 ? {j} - 1 : {size - 1}] + 0.4 * {p}[{j}] + {step};",
                f"{q}[{j}] = 0.35 * ({p}[({j} + 1) % {size}] - {p}[{j}]) + {step};",
                f"{q}[{j}] = sin(0.7 * {p}[{size - 1} - {j}]) + {step};",
            )
        )
        swap = f"{{ double *{h} = {p}; {p} = {q}; {q} = {h}; }}"
        kids = [
            Node(fill),
            Node(
                f"for (int {k} = 0; {k} < {rounds}; ++{k}) {{",
                [Node(f"for (int {j} = 0; {j} < {size}; ++{j}) {line}"), Node(swap)],
            ),
        ]
        kids += self.reads(arrays=[Array(p, size, objects=(u, v))], write=self.use)
        return [Node(f"{{\ndouble {u}[{size}] = {{0}}, {v}[{size}] = {{0}};\ndouble *{p} = {u}, *{q} = {v};", kids)]

    def variable_array(self):
        w, n = self.name("w"), self.scope.ints[0][0] if self.scope.ints else "3"
        fill = self.within(lambda: self.e(1), loop=CAP, ints=self.scope.ints + [("i", CAP)])
        head = f"{{\ndouble {w}[{n} + {CAP}];\nfor (int i = 0; i < {n} + {CAP}; ++i) {w}[i] = {fill};"
        return [Node(head, self.reads(arrays=[Array(w, CAP)]))]

    def matrix(self):
        if self.scope.repeats > 10:
            return []
        m, rows = self.name("m"), self.name("rows")
        h, w = self.rng.randrange(2, 5), self.rng.randrange(2, 5)
        x = self.any_array()
        if not x:
            return []
        ints = self.scope.ints + [("i", h - 1), ("j", w - 1)]
        fill = self.within(lambda: self.e(1, bound=1.0, lip=0.5), loop=h * w, ints=ints)
        head = f"{{\ndouble {m}[{h}][{w}] = {{{{0}}}}, *{rows}[{h}];\nfor (int i = 0; i < {h}; ++i) {rows}[i] = {m}[i];"
        kids = [Node(f"for (int i = 0; i < {h}; ++i)\n  for (int j = 0; j < {w}; ++j) {m}[i][j] = {fill};")]
        s = self.name("s")
        if self.maybe(0.4):
            kids.append(Node(f"{{ double *h = {rows}[0]; {rows}[0] = {rows}[{h - 1}]; {rows}[{h - 1}] = h; }}"))
        self.locals.append(f"double {s} = 0.0;")
        kids.append(
            Node(
                f"{s} = 0.0;\nfor (int i = 0; i < {h}; ++i)\n  for (int j = 0; j < {w}; ++j) {s} += {rows}[i][j] * {x.name}[(i + j) % {x.size}];"
            )
        )
        self.charge(h * w * 6)
        terms = h * w
        self.scope.reals.append(Expr(s, -2 * terms, 2 * terms, 2.0 * terms))
        triangular = f"for (int i = 0; i < {h}; ++i)\n  for (int j = 0; j <= i && j < {w}; ++j) {rows}[i][j] = 0.5 * {rows}[i][j] + 0.4 * {m}[j % {h}][i % {w}];"
        if self.maybe(0.5):
            kids.insert(1, Node(triangular))
        return [Node(head, kids)]

    def copies(self):
        """memcpy, memmove and memset, also of a part and onto itself."""
        r = self.rng
        y = self.any_array(writable=True)
        if not y:
            return []
        kind = r.randrange(6)
        n = self.integer(CAP // 2 + 1)
        if kind == 0:
            value = r.choice(("0", "0", "0"))
            at = r.randrange(0, CAP // 2)
            return [Node(f"memset({y.name} + {at}, {value}, ({n}) * sizeof *{y.name});")]
        if kind == 1:
            a, b = r.randrange(0, CAP // 2), r.randrange(0, CAP // 2)
            return [Node(f"memmove({y.name} + {a}, {y.name} + {b}, ({n}) * sizeof *{y.name});")]
        x = self.any_array()
        copy = "memcpy" if not x.objects & y.objects else "memmove"
        if kind == 2:
            return [Node(f"{copy}({y.name}, {x.name}, {r.randrange(1, CAP + 1)} * sizeof(double));")]
        if kind == 3:
            return [Node(f"{copy}({y.name} + ({n}), {x.name}, {r.randrange(1, CAP // 2 + 1)} * sizeof(double));")]
        if kind == 4:
            w = self.name("w")
            kids = self.reads(arrays=[Array(w, CAP)])
            return [Node(f"{{\ndouble {w}[{CAP}];\nmemcpy({w}, {x.name}, sizeof {w});", kids)]
        i = self.name("i")
        return [Node(f"for (int {i} = 0; {i} < {CAP}; ++{i}) {y.name}[{i}] = {x.name}[{i}];")]

    def integer_copy(self):
        """Doubles that move as integers."""
        r = self.rng
        x, y = self.any_array(), self.any_array(writable=True)
        if not y:
            return []
        i, b = self.name("i"), self.name("b")
        place = self.integer(CAP)
        return r.choice(
            (
                [Node(f"for (int {i} = 0; {i} < {CAP}; ++{i}) ((bits *){y.name})[{i}] = ((const bits *){x.name})[{i}];")],
                [
                    Node(
                        f"{{ bits {b}; memcpy(&{b}, &{x.name}[{place}], sizeof {b}); memcpy(&{y.name}[{self.integer(CAP)}], &{b}, sizeof {b}); }}"
                    )
                ],
                [
                    Node(
                        f"{{\nbits {b}[{CAP}];\nmemcpy({b}, {x.name}, sizeof {b});\nfor (int {i} = 0; {i} < {CAP}; ++{i}) memcpy(&{y.name}[{i}], &{b}[{CAP - 1} - {i}], sizeof *{b});\n}}"
                    )
                ],
                [
                    Node(
                        f"for (int {i} = 0; {i} < {CAP // 2}; ++{i}) {{ bits {b} = ((const bits *){y.name})[{i}]; ((bits *){y.name})[{i}] = ((const bits *){y.name})[{CAP - 1} - {i}]; ((bits *){y.name})[{CAP - 1} - {i}] = {b}; }}"
                    )
                ],
            )
        )

    def union_move(self):
        s = self.scope
        if not s.targets:
            return []
        u, v, t = self.name("u"), self.name("v"), self.rng.choice(s.targets)
        leaf = self.e(1)
        kind = self.rng.randrange(3)
        if kind == 0:
            return [Node(f"{{ union cell {u}, {v}; {u}.d = {leaf}; {v}.b = {u}.b; {t} = {v}.d; }}")]
        if kind == 1:  # an integer and a double share the memory, one after the other
            return [
                Node(
                    f"{{ union cell {u}; {u}.k = {self.integer(9)}; int k = {u}.k; {u}.d = {leaf}; {t} = k > 3 ? {u}.d : 0.5 * {u}.d; {u}.k = k; {self.rng.choice(s.targets)} = {number(0.1)} * {u}.k; }}"
                )
            ]
        w = self.name("w")
        kids = self.reads(reals=[Expr(f"{w}[{k}].d") for k in range(3)], write=self.use)
        head = f"{{\nunion cell {w}[4];\nfor (int i = 0; i < 4; ++i) {w}[i].d = {self.e(1)};\n{w}[{self.integer(3)}].b = {w}[3].b;"
        return [Node(head, kids)]

    def sign_bits(self):
        """What is a sign or an absolute value in disguise."""
        if not self.scope.targets:
            return []
        t = self.rng.choice(self.scope.targets)
        return [Node(f"{t} = {self.rng.choice(('FLIP_SIGN', 'CLEAR_SIGN', 'SET_SIGN'))}({self.e(1)});")]

    def chosen_pointer(self):
        """A pointer that is one of several arrays, known at run time."""
        r = self.rng
        a, b = self.any_array(writable=True), self.any_array(writable=True)
        if not a or not b:
            return []
        p = self.name("p")
        objects = a.objects | b.objects
        kind = r.randrange(4)
        if kind == 0:
            head = f"{{\ndouble *{p} = {self.condition()} ? {a.name} : {b.name};"
        elif kind == 1:
            head = f"{{\ndouble *{p}s[2] = {{{a.name}, {b.name}}};\ndouble *{p} = {p}s[{self.integer(2)}];"
        elif kind == 2:
            x = self.any_array()
            objects = a.objects | x.objects
            head = f"{{\nconst double *{p} = {self.condition()} ? {x.name} : {a.name};"
        else:
            head = f"{{\ndouble *{p} = {a.name}, **{p}p = &{p};\nif ({self.condition()}) *{p}p = {b.name};"
        array = Array(p, CAP, writable=kind != 2, objects=objects)
        return [Node(head, self.reads(arrays=[array]) + self.reads(arrays=[array], write=self.use))]

    def indices(self):
        """Indices in memory that is overwritten after their use."""
        if self.scope.repeats > 20:
            return []
        idx, i = self.name("idx"), self.name("i")
        y, x = self.any_array(writable=True), self.any_array()
        if not y:
            return []
        a, b = self.rng.choice((1, 5, 7, 11)), self.integer(CAP)
        e = self.within(lambda: self.e(1, bound=0.5, lip=0.4), loop=CAP, ints=self.scope.ints + [(i, CAP - 1)])
        head = f"{{\nint {idx}[{CAP}];\nfor (int {i} = 0; {i} < {CAP}; ++{i}) {idx}[{i}] = ({i} * {a} + ({b})) % {CAP};"
        kids = [
            Node(
                f"for (int {i} = 0; {i} < {CAP}; ++{i}) {{\n  {y.name}[{idx}[{i}]] = 0.5 * {x.name}[{idx}[{CAP - 1} - {i}]] + {e};\n  {idx}[{i}] = 0;\n}}"
            )
        ]
        return [Node(head, kids)]

    def zeros(self):
        """The singular point of sqrt, met by values that have no derivative."""
        w, s = self.name("w"), self.name("s")
        self.locals.append(f"double {s} = 0.0;")
        size = self.rng.randrange(3, 9)
        f = self.rng.choice(("sqrt", "cbrt", "fabs"))
        self.scope.reals.append(Expr(s))
        return [
            Node(
                f"{{\ndouble {w}[{size}];\nmemset({w}, 0, sizeof {w});\n{w}[{self.rng.randrange(size)}] = {self.into(0.5, 1.5)};\n{s} = 0.0;\nfor (int i = 0; i < {size}; ++i) {s} += {f}({w}[i]);\n{s} *= 0.5;\n}}"
            )
        ]

    def into(self, lo, hi):
        from .expressions import Expressions

        e = Expressions(self.rng, self.leaf).into(self.fit(self.make(1)), lo, hi)
        return e.text

    def sorting(self):
        if self.scope.repeats > 3:
            return []
        w, x = self.name("w"), self.any_array()
        if not x:
            return []
        m = self.rng.randrange(3, 7)
        kids = [
            Node(
                f"for (int i = 1; i < {m}; ++i)\n  for (int j = i; j > 0 && {w}[j] < {w}[j - 1]; --j) {{ double h = {w}[j]; {w}[j] = {w}[j - 1]; {w}[j - 1] = h; }}"
            )
        ] + self.reads(reals=[Expr(f"{w}[{k}]") for k in range(m)], write=self.use)
        self.charge(m * m * 4)
        head = f"{{\ndouble {w}[{m}];\nfor (int i = 0; i < {m}; ++i) {w}[i] = 0.99 * {x.name}[i] + 0.001 * i;"
        return [Node(head, kids)]

    def interpolation(self):
        if not self.scope.targets:
            return []
        t, k, u = self.rng.choice(self.scope.targets), self.name("k"), self.name("u")
        knots = sorted(self.rng.uniform(-1.9, 1.9) for _ in range(6))
        values = [self.rng.uniform(-0.9, 0.9) for _ in range(7)]
        table = self.name("knots_" + self.function.name)
        self.statics.append(f"static const double {table}[6] = {{{', '.join(number(v) for v in knots)}}};")
        self.statics.append(f"static const double {table}_y[7] = {{{', '.join(number(v) for v in values)}}};")
        return [
            Node(
                f"{{\ndouble {u} = {self.e(1)};\nint {k} = 0;\nwhile ({k} < 6 && {table}[{k}] < {u}) ++{k};\n{t} = {table}_y[{k}] + 0.2 * {table}_y[({k} + 3) % 7] * {u};\n}}"
            )
        ]

    def newton(self):
        if not self.scope.targets or self.scope.repeats > 12:
            return []
        t, z, o, u = self.rng.choice(self.scope.targets), self.name("z"), self.name("o"), self.name("u")
        self.charge(30)
        return [
            Node(
                f"{{\ndouble {u} = {self.into(0.6, 2.5)}, {z} = 1.0, {o};\nint k = 0;\ndo {{ {o} = {z}; {z} = 0.5 * ({z} + {u} / {z}); }} while (fabs({z} - {o}) > 1e-6 && ++k < 12);\n{z} = 0.5 * ({z} + {u} / {z});\n{t} = {z};\n}}"
            )
        ]

    # The heap.

    def heap(self):
        if self.scope.repeats > 20:
            return []
        h, size = self.name("h"), self.rng.randrange(CAP, 20)
        count = f"{size}" if self.maybe(0.5) or not self.scope.ints else f"({self.scope.ints[0][0]} + {CAP})"
        size = size if count == str(size) else CAP
        if self.maybe(0.35):
            head = f"{{\ndouble *{h} = calloc({count}, sizeof *{h});\nif (!{h}) abort();"
        else:
            fill = self.within(lambda: self.e(1), loop=size, ints=self.scope.ints + [("i", 19)])
            head = f"{{\ndouble *{h} = malloc({count} * sizeof(double));\nif (!{h}) abort();\nfor (int i = 0; i < {count}; ++i) {h}[i] = {fill};"
        array = Array(h, size)
        free = f"free({h}); "
        kids = self.reads(arrays=[array], cleanup=free + self.scope.cleanup)
        kids += self.reads(arrays=[array], write=self.use, cleanup=free + self.scope.cleanup)
        return [Node(head, kids, f"  free({h});\n}}")]

    def growth(self):
        if self.scope.repeats > 8:
            return []
        h, m, cap, s, i = (self.name(x) for x in ("h", "m", "cap", "s", "i"))
        n = self.scope.ints[0][0] if self.scope.ints else "7"
        e = self.within(lambda: self.e(1), loop=CAP, ints=self.scope.ints + [(i, CAP + 2)])
        self.locals.append(f"double {s} = 0.0;")
        self.scope.reals.append(Expr(s, -BOUND * (CAP + 3), BOUND * (CAP + 3), CAP + 3))
        if self.maybe(0.5):
            head = f"{{\nint {m} = 0, {cap} = 3;\ndouble *{h} = malloc({cap} * sizeof(double));\nif (!{h}) abort();\n{s} = 0.0;"
        else:
            head = f"{{\nint {m} = 0, {cap} = 0;\ndouble *{h} = NULL;\n{s} = 0.0;"
        push = f"for (int {i} = 0; {i} < {n} + 2; ++{i}) {{\n  if ({m} == {cap}) {{\n    {cap} = {cap} ? 2 * {cap} : {self.rng.randrange(1, 4)};\n    {h} = realloc({h}, {cap} * sizeof *{h});\n    if (!{h}) abort();\n  }}\n  {h}[{m}++] = {e};\n}}"
        kids = [Node(push), Node(f"for (int {i} = 0; {i} < {m}; ++{i}) {s} += {h}[{i}]{self.rng.choice(('', ' * 0.5', f' * {h}[{i}] * 0.25'))};")]
        if self.maybe(0.3):
            kids.insert(1, Node(f"while ({m} > 2 && {h}[{m} - 1] > 0.4137) --{m};"))
        return [Node(head, kids, f"  free({h});\n}}")]

    def chain(self):
        """A linked list on the heap."""
        if self.scope.repeats > 4:
            return []
        top, p, s, i = (self.name(x) for x in ("top", "p", "s", "i"))
        n = self.scope.ints[0][0] if self.scope.ints else "4"
        e = self.within(lambda: self.e(1), loop=CAP, ints=self.scope.ints + [(i, CAP)])
        keep = self.within(lambda: self.e(1, bound=0.6, lip=0.4), loop=CAP)
        self.locals.append(f"double {s} = 0.0;")
        self.scope.reals.append(Expr(s, -BOUND * CAP, BOUND * CAP, CAP))
        build = f"for (int {i} = 0; {i} < {n}; ++{i}) {{\n  struct link *{p} = malloc(sizeof *{p});\n  if (!{p}) abort();\n  {p}->v = {e};\n  {p}->k = {i};\n  {p}->next = {top};\n  {top} = {p};\n}}"
        update = f"for (struct link *{p} = {top}; {p}; {p} = {p}->next) {p}->v = 0.6 * {p}->v + {keep};"
        neighbour = f"for (struct link *{p} = {top}; {p} && {p}->next; {p} = {p}->next) {p}->next->v = 0.5 * {p}->next->v + 0.4 * {p}->v;"
        total = f"for (struct link *{p} = {top}; {p}; {p} = {p}->next) {s} += ({p}->k % 3 == 1 ? 0.5 : 1.0) * {p}->v;"
        free = f"while ({top}) {{ struct link *{p} = {top}->next; free({top}); {top} = {p}; }}"
        middle = [Node(line) for line in (update, neighbour) if self.maybe(0.5)]
        head = f"{{\nstruct link *{top} = NULL;\n{s} = 0.0;"
        return [Node(head, [Node(build)] + middle + [Node(total)], f"  {free}\n}}")]

    def stack_chain(self):
        w, s, p = self.name("w"), self.name("s"), self.name("p")
        self.locals.append(f"double {s} = 0.0;")
        self.scope.reals.append(Expr(s, -8, 8, 4))
        e = self.within(lambda: self.e(1), loop=4, ints=self.scope.ints + [("i", 3)])
        head = f"{{\nstruct link {w}[4];\nfor (int i = 0; i < 4; ++i) {{ {w}[i].v = {e}; {w}[i].k = i; {w}[i].next = i < 3 ? &{w}[i + 1] : NULL; }}\n{s} = 0.0;"
        kids = [Node(f"{w}[0].next = {self.condition()} ? &{w}[2] : &{w}[1];")] if self.maybe(0.6) else []
        kids.append(Node(f"for (struct link *{p} = {w}; {p}; {p} = {p}->next) {s} += {p}->v;"))
        return [Node(head, kids)]

    # Globals and statics.

    def static_workspace(self):
        ws = self.name("ws_" + self.function.name + "_")
        size = self.rng.randrange(CAP, 16)
        array = Array(ws, size)
        if self.function.recursive:
            return []
        if self.maybe(0.5):
            self.statics.append(f"static double {ws}[{size}];")
            head = "{"
        else:
            head = f"{{\nstatic double {ws}[{size}];"
        kids = self.reads(arrays=[array]) + self.reads(arrays=[array], write=self.use)
        return [Node(f"{head}\n{self.filled(ws, size)}", kids)]

    def held_workspace(self):
        """A workspace behind a global pointer, which an earlier call may have allocated."""
        if not self.function.shared or self.function.recursive:
            return []
        h, owner = self.name("h"), self.function.object
        self.function.touch(f"held_{owner}")
        head = f"{{\ndouble *{h} = hold_{owner}();\n{self.filled(h, CAP)}"
        return [Node(head, self.reads(arrays=[Array(h, CAP, objects=(f"held_{owner}",))]))]

    def static_table(self):
        """A table that the first call makes."""
        if not self.scope.targets:
            return []
        made, table = self.name("made"), self.name("table")
        t = self.rng.choice(self.scope.targets)
        return [
            Node(
                f"{{\nstatic int {made};\nstatic double {table}[6];\nif (!{made}) {{\n  for (int i = 0; i < 6; ++i) {table}[i] = sin(0.7 * i + {self.c(0.1, 0.6)});\n  {made} = 1;\n}}\n{t} = {table}[{self.integer(6)}] * {self.e(1)};\n}}"
            )
        ]

    def printing(self):
        s = self.scope
        if s.repeats > 4:
            return []
        self.charge(60)
        leaf = self.leaf().text
        k = self.integer(9)
        if self.maybe(0.4) and s.ints:
            buf = self.name("buf")
            return [
                Node(
                    f"{{ char {buf}[64]; int length = snprintf({buf}, sizeof {buf}, \"%d \" REAL, {k}, REAL_ARG({leaf})); if (length < 0 || !strlen({buf})) abort(); }}"
                )
            ]
        return [
            Node(
                self.rng.choice(
                    (
                        f'fprintf(sink, "%d " REAL "\\n", {k}, REAL_ARG({leaf}));',
                        f'fputs("{self.function.name}\\n", sink);',
                        f'if ({self.condition()}) fprintf(sink, "%s: " REAL " " REAL "\\n", "{self.function.name}", REAL_ARG({leaf}), REAL_ARG({self.leaf().text}));',
                    )
                )
            )
        ]

    # Records, and structs by value.

    def record(self):
        """A local record whose pointer goes to an array."""
        r, x = self.name("r"), self.any_array(writable=True)
        if not x:
            return []
        head = f"{{\nstruct rec {r} = {{0}};\n{r}.tag = {self.integer(4)};\n{r}.k = {self.integer(8)};\n{r}.p = {x.name};\n{r}.d = {self.e(1)};"
        inner = self.program.inner_indices
        kids = self.reads(
            arrays=[Array(f"{r}.p", CAP, objects=x.objects)] + ([Array(f"{r}.v", 3)] if inner else []),
            reals=[Expr(f"{r}.d"), Expr(f"{r}.v[0]"), Expr(f"{r}.v[2]")],
            ints=[(f"{r}.tag", 3), (f"{r}.k", 7)],
            targets=[f"{r}.d", f"{r}.v[1]"],
            records=self.scope.records + [f"&{r}"],
        )
        if self.maybe(0.4):
            c = self.name("c")
            kids.append(Node(f"{{ struct rec {c} = {r}; {c}.d = 0.5 * {c}.d + 0.5 * {c}.v[{self.integer(3) if inner else 1}]; {r} = {c}; }}"))
        if self.maybe(0.4):
            q = self.name("q")
            head += f"\nstruct rec {q};\nmemcpy(&{q}, &{r}, sizeof {q});\n{r}.next = &{q};"
        if self.scope.targets:
            kids.append(Node(f"{self.rng.choice(self.scope.targets)} = {r}.d;"))
        return [Node(head, kids)]

    def records(self):
        """An array of records, worked on through a pointer."""
        if self.scope.repeats > 10:
            return []
        rs, r, s = self.name("rs"), self.name("r"), self.name("s")
        x = self.any_array(writable=True)
        if not x:
            return []
        count = self.rng.randrange(2, 5)
        e = self.within(lambda: self.e(1), loop=count, ints=self.scope.ints + [("i", count - 1)])
        head = f"{{\nstruct rec {rs}[{count}];\nmemset({rs}, 0, sizeof {rs});\nfor (int i = 0; i < {count}; ++i) {{ {rs}[i].d = {e}; {rs}[i].p = {x.name}; {rs}[i].tag = i % 3; {rs}[i].v[{'i % 3' if self.program.inner_indices else '1'}] = 0.5 * {x.name}[i]; }}"
        kids = self.reads(
            reals=[Expr(f"{r}->d"), Expr(f"{r}->v[1]"), Expr(f"{r}->p[2]")],
            targets=[f"{r}->d", f"{r}->v[2]"],
            ints=[(f"{r}->tag", 2)],
            records=self.scope.records + [r],
            loop=count,
        )
        self.locals.append(f"double {s} = 0.0;")
        self.scope.reals.append(Expr(s, -BOUND * count * 1.5, BOUND * count * 1.5, 1.5 * count))
        walk = Node(f"for (struct rec *{r} = {rs}; {r} != {rs} + {count}; ++{r}) {{", kids)
        total = Node(f"{s} = 0.0;\nfor (int i = 0; i < {count}; ++i) {s} += {rs}[i].d + 0.5 * {rs}[i].v[{self.rng.randrange(3)}];")
        return [Node(head, [walk, total])]

    def structs(self):
        """A struct by value through a function, and what it returns."""
        callee = self.program.pick_callee(self, "struct")
        if not callee or not self.scope.targets:
            return []
        self.note_call(callee)
        u, t = self.name("u"), self.rng.choice(self.scope.targets)
        kind = callee.struct
        sets = " ".join(f"{u}.{field} = {self.e(1)};" for field in kind.reals)
        sets += "".join(f" {u}.{field} = {self.integer(5)};" for field in kind.ints)
        field = self.rng.choice(kind.reals)
        if callee.result.startswith("struct"):
            call = f"{callee.name}({u}, {self.e(1)})"
            if self.maybe(0.4):
                call = f"{callee.name}({call}, {self.e(0)})"
                self.note_call(callee)
            return [Node(f"{{ struct {kind.name} {u} = {{0}}; {sets} {u} = {call}; {t} = {u}.{field}; }}")]
        return [Node(f"{{ struct {kind.name} {u} = {{0}}; {sets} {t} = {callee.name}({u}, {self.e(1)}); }}")]

    def float_pair(self):
        """Two floats that move as one integer."""
        if not self.scope.targets:
            return []
        u, v = self.name("u"), self.name("v")
        t = self.rng.choice(self.scope.targets)
        return [
            Node(
                f"{{ struct fpair {u}, {v}; {u}.x = {self.e(1, flt=True)}; {u}.y = (float)({self.e(1)}); MOVE_PAIR(&{v}, &{u}); {t} = 0.5 * {v}.x - 0.5 * {v}.y; }}"
            )
        ]

    def tagged(self):
        """Cells that hold an integer or a double, as a tag says."""
        if self.scope.repeats > 10:
            return []
        w, s = self.name("w"), self.name("s")
        count = self.rng.randrange(2, 6)
        e = self.within(lambda: self.e(1), loop=count, ints=self.scope.ints + [("i", count - 1)])
        test = self.within(self.condition, ints=self.scope.ints + [("i", count - 1)])
        self.locals.append(f"double {s} = 0.0;")
        self.scope.reals.append(Expr(s, -BOUND * count, BOUND * count, count))
        head = f"{{\nstruct tagged {w}[{count}];\nfor (int i = 0; i < {count}; ++i) {{\n  if ({test}) {{ {w}[i].real = 1; {w}[i].u.d = {e}; }}\n  else {{ {w}[i].real = 0; {w}[i].u.k = i + {self.rng.randrange(3)}; }}\n}}\n{s} = 0.0;"
        kids = [Node(f"for (int i = 0; i < {count}; ++i) {s} += {w}[i].real ? {w}[i].u.d : 0.1 * {w}[i].u.k;")]
        if self.maybe(0.4):
            kids.insert(0, Node(f"{{ struct tagged h = {w}[0]; {w}[0] = {w}[{count - 1}]; {w}[{count - 1}] = h; }}"))
        return [Node(head, kids)]

    # Calls.

    def function_table(self):
        callees = [c for c in (self.program.pick_callee(self, "scalar", arity=2) for _ in range(4)) if c]
        if len(callees) < 2 or not self.scope.targets:
            return []
        table, t = self.name("table_" + self.function.name + "_"), self.rng.choice(self.scope.targets)
        constant = self.rng.choice(("const ", ""))
        for callee in callees:
            self.note_call(callee)
        names = ", ".join(c.name for c in callees)
        local = self.maybe(0.3)
        line = f"static double (*{constant}{table}[{len(callees)}])(double, double) = {{{names}}};"
        call = f"{t} = {table}[{self.integer(len(callees))}]({self.e(1)}, {self.e(1)});"
        if local:
            line = f"double (*{table}[{len(callees)}])(double, double) = {{{names}}};"
            return [Node(f"{{ {line} {call} }}")]
        self.statics.append(line)
        return [Node(call)]

    def passed_function(self):
        callee = self.program.pick_callee(self, "applier")
        if not callee or not self.scope.targets:
            return []
        options = [c for c in (self.program.pick_callee(self, "scalar", arity=2) for _ in range(2)) if c]
        if not options:
            return []
        self.note_call(callee)
        for c in options:
            self.note_call(c)
            self.charge(c.cost * 4)
        what = options[0].name if len(options) == 1 else f"{self.condition()} ? {options[0].name} : {options[1].name}"
        t = self.rng.choice(self.scope.targets)
        return [Node(f"{t} = {callee.name}({what}, {self.e(1)}, {self.e(1)});")]

    def moved_call(self):
        """A function of vectors on parts of arrays that may overlap."""
        callee = self.program.pick_callee(self, "strict")
        y, x = self.any_array(writable=True), self.any_array()
        if not callee or not y or not self.scope.targets:
            return []
        if not callee.aliases and x.objects & y.objects:
            return []
        self.note_call(callee)
        k = self.rng.randrange(0, 5)
        n = self.integer(CAP - k + 1)
        t = self.rng.choice(self.scope.targets)
        args = []
        for p in callee.params:
            args.append({"cx": f"{x.name} + {k}", "iy": f"{y.name} + {self.rng.randrange(0, k + 1)}", "n": n, "a": None}[p.kind])
            if p.kind == "a":
                args[-1] = self.e(1)
        return [Node(f"{t} = {callee.name}({', '.join(args)});")]

    def allocated_result(self):
        callee = self.program.pick_callee(self, "maker")
        x = self.any_array()
        if not callee or not x:
            return []
        self.note_call(callee)
        h = self.name("h")
        head = f"{{\ndouble *{h} = {callee.name}({x.name}, {self.e(1)});"
        free = f"free({h}); "
        kids = self.reads(arrays=[Array(h, CAP)], cleanup=free + self.scope.cleanup)
        return [Node(head, kids, f"  free({h});\n}}")]

    def pointer_result(self):
        callee = self.program.pick_callee(self, "picker")
        x, y = self.any_array(writable=True), self.any_array(writable=True)
        if not callee or not x:
            return []
        self.note_call(callee)
        p = self.name("p")
        kids = self.reads(arrays=[Array(p, CAP, objects=x.objects | y.objects)], write=self.use)
        return [Node(f"{{\ndouble *{p} = {callee.name}({x.name}, {y.name}, {self.integer(7)});", kids)]

    def two_results(self):
        """Library functions with two results."""
        if not self.scope.targets:
            return []
        t = self.rng.choice(self.scope.targets)
        e = self.e(1)
        return self.rng.choice(
            (
                [Node(f"{{ int k; double m = frexp({e} + 2.7137, &k); {t} = m + 0.1 * k; }}")],
                [Node(f"{{ double whole, part = modf({e} * 1.3 + 0.17, &whole); {t} = 0.5 * part + 0.1 * whole; }}")],
                [Node(f"{{ double s, c; sincos({e}, &s, &c); {t} = 0.6 * s - 0.4 * c; }}")],
                [Node(f"{t} = ldexp({e}, -({self.integer(3)}));")],
                [Node(f"{{ int k; {t} = remquo({e}, 0.7137, &k) + 0.01 * (k & 3); }}")],
                [Node(f"{t} = scalbn({e}, -1);")],
            )
        )

    def volatile(self):
        if not self.scope.targets:
            return []
        t = self.rng.choice(self.scope.targets)
        return [Node(f"{{ volatile double v = {self.e(1)}; {t} = v; }}")]
