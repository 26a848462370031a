"""Random expressions whose values and sensitivities are bounded by construction.

Every expression carries an interval that holds its value and a bound of its sensitivity: by how much it can change
when each leaf changes by at most 1. What is stored is fitted into [-2, 2] with a sensitivity of about 1, so that any
composition, of any length, stays well-conditioned."""

import math

BOUND = 2.0  # of all that is stored


class Expr:
    """A piece of C with its interval and its sensitivity."""

    __slots__ = ("text", "lo", "hi", "lip")

    def __init__(self, text, lo=-BOUND, hi=BOUND, lip=1.0):
        self.text, self.lo, self.hi, self.lip = text, lo, hi, lip

    def size(self):
        return max(abs(self.lo), abs(self.hi))


# name: (value, the interval to which the operand is brought)
UNARY = {
    "sin": (math.sin, -6, 6),
    "cos": (math.cos, -6, 6),
    "tan": (math.tan, -1.1, 1.1),
    "asin": (math.asin, -0.8, 0.8),
    "acos": (math.acos, -0.8, 0.8),
    "atan": (math.atan, -6, 6),
    "sinh": (math.sinh, -2, 2),
    "cosh": (math.cosh, -2, 2),
    "tanh": (math.tanh, -3, 3),
    "asinh": (math.asinh, -6, 6),
    "acosh": (math.acosh, 1.4, 6),
    "atanh": (math.atanh, -0.8, 0.8),
    "exp": (math.exp, -3, 1.5),
    "exp2": (lambda x: 2.0**x, -3, 2),
    "expm1": (math.expm1, -3, 1.5),
    "log": (math.log, 0.3, 6),
    "log2": (math.log2, 0.4, 6),
    "log10": (math.log10, 0.3, 6),
    "log1p": (math.log1p, -0.6, 5),
    "sqrt": (math.sqrt, 0.2, 6),
    "cbrt": (lambda x: x ** (1 / 3), 0.2, 6),
    "erf": (math.erf, -2, 2),
    "erfc": (math.erfc, -2, 2),
    "tgamma": (math.gamma, 1.2, 3),
    "lgamma": (math.lgamma, 1.2, 4),
}
BINARY = {
    "pow": (math.pow, (0.3, 3), (-2, 2)),
    "hypot": (math.hypot, (0.3, 4), (-4, 4)),
    "atan2": (math.atan2, (-4, 4), (0.3, 4)),
}
COMMON = ["sin", "cos", "exp", "log", "sqrt", "tanh"]


def number(value, flt=False):
    """A constant of four digits."""
    text = f"{value:.4g}"
    if "." not in text and "e" not in text:
        text += ".0"
    return text + "f" if flt else text


class Expressions:
    """Makes expressions over the leaves of a scope, in double or in float."""

    def __init__(self, rng, leaf, call=None, flt=False, condition=None):
        self.rng, self.leaf, self.call, self.flt, self.condition = rng, leaf, call, flt, condition

    def num(self, value):
        return number(value, self.flt)

    def fn(self, name):
        return name + "f" if self.flt else name

    def constant(self):
        value = self.rng.uniform(0.1, 1.9) * self.rng.choice((-1, 1))
        value = float(f"{value:.4g}")
        return Expr(self.num(value), value, value, 0.0)

    def into(self, e, lo, hi):
        """Brings an expression into [lo, hi] by an affine map, if it is not there."""
        if e.lo >= lo and e.hi <= hi:
            return e
        if e.hi - e.lo < 1e-3:
            middle = self.rng.uniform(lo, hi)
            return Expr(f"({self.num(middle)} + {self.num(0.01)} * {e.text})", lo, hi, 0.01 * e.lip)
        c1 = 0.97 * (hi - lo) / (e.hi - e.lo)
        c0 = lo - c1 * e.lo + 0.015 * (hi - lo)
        return Expr(f"({self.num(c0)} + {self.num(c1)} * {e.text})", lo, hi, c1 * e.lip * 1.001)

    def fit(self, e, bound=BOUND, lip=1.0):
        """Makes it storable: a value in [-bound, bound], a sensitivity of at most lip."""
        scale = min(1.0, bound / max(e.size(), 1e-9), lip / max(e.lip, 1e-9))
        if scale >= 0.999:
            return e
        scale = float(f"{scale * 0.999:.3g}")
        squash = self.rng.random()
        if squash < 0.15 and bound >= 1:
            name = self.rng.choice(("sin", "tanh", "atan"))
            inner = min(1.0, lip / max(e.lip, 1e-9))
            inner = float(f"{inner * 0.999:.3g}")
            top = 1.0 if name != "atan" else 1.5708
            if top <= bound:
                return Expr(f"{self.fn(name)}({self.num(inner)} * {e.text})", -top, top, lip)
        return Expr(f"({self.num(scale)} * {e.text})", e.lo * scale, e.hi * scale, e.lip * scale)

    def make(self, depth):
        r = self.rng
        if depth <= 0 or r.random() < 0.12:
            return self.leaf() if r.random() < 0.9 else self.constant()
        kind = r.choices(
            ("add", "mul", "div", "unary", "binary", "fma", "minmax", "abs", "pick", "step", "call", "neg", "odd"),
            (22, 18, 7, 24, 5, 2, 4, 2, 4, 1, 7, 2, 2),
        )[0]
        return getattr(self, "make_" + kind)(depth)

    def make_add(self, depth):
        a, b = self.make(depth - 1), self.make(depth - 1)
        if self.rng.random() < 0.6:
            return Expr(f"({a.text} + {b.text})", a.lo + b.lo, a.hi + b.hi, a.lip + b.lip)
        return Expr(f"({a.text} - {b.text})", a.lo - b.hi, a.hi - b.lo, a.lip + b.lip)

    def make_mul(self, depth):
        a, b = self.make(depth - 1), self.make(depth - 1)
        if self.rng.random() < 0.15 and a.text != b.text:
            b = a
        ends = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi]
        return Expr(f"({a.text} * {b.text})", min(ends), max(ends), a.size() * b.lip + b.size() * a.lip)

    def make_div(self, depth):
        a, b = self.make(depth - 1), self.make(depth - 1)
        if b.lo > 0.4 or b.hi < -0.4:
            pass
        elif self.rng.random() < 0.5:
            c = float(f"{self.rng.uniform(0.8, 2.5):.4g}")
            b = Expr(f"({self.num(c)} + {b.text} * {b.text})", c, c + b.size() ** 2, 2 * b.size() * b.lip)
        else:
            b = self.into(b, 0.6, 3)
        least = min(abs(b.lo), abs(b.hi))
        ends = [a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi]
        return Expr(
            f"({a.text} / {b.text})", min(ends), max(ends), a.lip / least + a.size() * b.lip / (least * least)
        )

    def make_unary(self, depth):
        name = self.rng.choice(COMMON) if self.rng.random() < 0.6 else self.rng.choice(list(UNARY))
        f, lo, hi = UNARY[name]
        e = self.into(self.make(depth - 1), lo, hi)
        points = [e.lo + (e.hi - e.lo) * k / 32 for k in range(33)]
        values = [f(p) for p in points]
        step = max((e.hi - e.lo) / 32, 1e-9)
        slope = max(abs(v - u) for u, v in zip(values, values[1:])) / step
        margin = 0.02 + 0.02 * (max(values) - min(values))
        return Expr(
            f"{self.fn(name)}({e.text})", min(values) - margin, max(values) + margin, e.lip * (1.15 * slope + 0.01)
        )

    def make_binary(self, depth):
        if self.rng.random() < 0.3:  # integer powers, in several spellings
            power = self.rng.choice((2, 3, -1, 0.5, 1.5))
            e = self.make(depth - 1)
            e = self.into(e, 0.4, 2) if power in (-1, 0.5, 1.5) else self.into(e, -1.6, 1.6)
            least = min(abs(e.lo), abs(e.hi))
            slope = abs(power) * (e.size() if power > 1 else least) ** (power - 1)
            top = max(e.size() ** power, least**power if least else 0)
            return Expr(f"{self.fn('pow')}({e.text}, {self.num(power)})", -top if power == 3 else 0, top, e.lip * slope)
        name = self.rng.choice(list(BINARY))
        f, da, db = BINARY[name]
        a, b = self.into(self.make(depth - 1), *da), self.into(self.make(depth - 1), *db)
        steps = 8
        xs = [a.lo + (a.hi - a.lo) * k / steps for k in range(steps + 1)]
        ys = [b.lo + (b.hi - b.lo) * k / steps for k in range(steps + 1)]
        grid = [[f(x, y) for y in ys] for x in xs]
        flat = [v for row in grid for v in row]
        dx, dy = max((a.hi - a.lo) / steps, 1e-9), max((b.hi - b.lo) / steps, 1e-9)
        sx = max(abs(p - q) for r0, r1 in zip(grid, grid[1:]) for p, q in zip(r0, r1)) / dx
        sy = max(abs(p - q) for row in grid for p, q in zip(row, row[1:])) / dy
        margin = 0.05 + 0.08 * (max(flat) - min(flat))
        return Expr(
            f"{self.fn(name)}({a.text}, {b.text})",
            min(flat) - margin,
            max(flat) + margin,
            1.3 * (sx * a.lip + sy * b.lip) + 0.02,
        )

    def make_fma(self, depth):
        a, b, c = (self.make(depth - 1) for _ in range(3))
        top = a.size() * b.size() + c.size()
        lip = a.size() * b.lip + b.size() * a.lip + c.lip
        return Expr(f"{self.fn('fma')}({a.text}, {b.text}, {c.text})", -top, top, lip)

    def make_minmax(self, depth):
        a, b = self.make(depth - 1), self.make(depth - 1)
        name = self.rng.choice(("fmin", "fmax", "fdim"))
        if name == "fdim":
            return Expr(
                f"{self.fn(name)}({a.text}, {b.text} + {self.num(self.rng.uniform(-0.9, 0.9))})",
                0.0,
                max(0.0, a.hi - b.lo + 1),
                a.lip + b.lip,
            )
        low, high = (min, min) if name == "fmin" else (max, max)
        return Expr(f"{self.fn(name)}({a.text}, {b.text})", low(a.lo, b.lo), high(a.hi, b.hi), max(a.lip, b.lip))

    def make_abs(self, depth):
        a = self.make(depth - 1)
        if self.rng.random() < 0.5:
            return Expr(f"{self.fn('fabs')}({a.text})", 0.0, a.size(), a.lip)
        c = self.num(self.rng.uniform(-0.9, 0.9))
        b = self.make(depth - 1)
        return Expr(f"{self.fn('copysign')}({a.text}, {b.text} - {c})", -a.size(), a.size(), a.lip)

    def make_pick(self, depth):
        if not self.condition:
            return self.make_add(depth)
        a, b = self.make(depth - 1), self.make(depth - 1)
        return Expr(
            f"({self.condition()} ? {a.text} : {b.text})", min(a.lo, b.lo), max(a.hi, b.hi), max(a.lip, b.lip)
        )

    def make_step(self, depth):
        """Steps, whose derivative is zero, and remainders."""
        a, b = self.make(depth - 1), self.fit(self.make(depth - 1))
        c, off = self.num(self.rng.uniform(0.6, 1.9)), self.num(self.rng.uniform(0.05, 0.45))
        name = self.rng.choice(("floor", "ceil", "trunc", "rint", "round", "cast", "fmod", "remainder"))
        if name == "fmod" or name == "remainder":
            step = float(f"{self.rng.uniform(0.7, 1.4):.4g}")
            return Expr(f"({a.text} + {self.fn(name)}({b.text}, {self.num(step)}))", a.lo - step, a.hi + step, a.lip + b.lip)
        inner = f"{b.text} * {c} + {off}"
        stepped = f"(int)({inner})" if name == "cast" else f"{self.fn(name)}({inner})"
        return Expr(f"({a.text} + {self.num(0.125)} * {stepped})", a.lo - 0.7, a.hi + 0.7, a.lip)

    def make_call(self, depth):
        made = self.call(self, depth) if self.call else None
        return made or self.make_add(depth)

    def make_neg(self, depth):
        a = self.make(depth - 1)
        return Expr(f"(- {a.text})", -a.hi, -a.lo, a.lip)

    def make_odd(self, depth):
        """A NaN or an infinity in the branch that is never taken, and moves that change nothing."""
        a, b = self.fit(self.make(depth - 1)), self.make(depth - 1)
        limit = self.num(self.rng.uniform(2.2, 3.0))
        bad = self.rng.choice(
            (
                f"{self.fn('sqrt')}({self.num(-1.5)} - {a.text} * {a.text})",
                f"{self.fn('log')}({self.num(-0.5)} - {a.text} * {a.text})",
                f"({a.text} + {self.num(2.0)}) * {self.num(1e30)}",
            )
        )
        return Expr(f"({a.text} < {limit} ? {b.text} : {bad})", b.lo, b.hi, b.lip)
