// The scalar table: one row an operation. ad/rules/README.md says how to read
// and to add rows.
//
// Columns: name, operands, partial derivatives, then where needed: singular
// points of each partial, domain (for tests), definition (for tests).
#include "ad/rules/ScalarRules.h"

using namespace adjoin;

static constexpr ScalarRule Rows[] = {
    // Instructions. A conversion's partial is 1, the incoming value changes
    // its type.
    {"fneg", "x", {"-1"}, {}, "", "-x"},
    {"fadd", "xy", {"1", "1"}, {}, "", "x + y"},
    {"fsub", "xy", {"1", "-1"}, {}, "", "x - y"},
    {"fmul", "xy", {"y", "x"}, {}, "", "x * y"},
    {"fdiv", "xy", {"1 / y", "-(out * (1 / y))"}, {}, "y != 0", "x / y"},
    {"fmod",
     "xy",
     {"1", "-rint((x - out) / y)"},
     {},
     "fabs(x) < 1000000 * fabs(y)"},
    {"fptrunc", "x", {"1"}, {}, "", "x"},
    {"fpext", "x", {"1"}, {}, "", "x"},
    {"canonicalize", "x", {"1"}, {}, "", "x"},
    {"arithmetic.fence", "x", {"1"}, {}, "", "x"},

    // Fused, and with signs.
    {"fma", "xyz", {"y", "x", "1"}},
    {"fabs", "x", {"x == 0 ? 0 : copysign(1, x)"}},
    {"copysign", "xy", {"x == 0 ? 0 : copysign(1, x) * copysign(1, y)", "0"}},
    {"fdim", "xy", {"x > y ? 1 : 0", "x > y ? -1 : 0"}},

    // Extremes: the argument that is returned carries the derivative, on a tie
    // the first. A NaN that is not returned compares unequal.
    {"fmin", "xy", {"out == x ? 1 : 0", "out == x ? 0 : 1"}},
    {"fmax", "xy", {"out == x ? 1 : 0", "out == x ? 0 : 1"}},
    {"fminimum", "xy", {"out == x ? 1 : 0", "out == x ? 0 : 1"}},
    {"fmaximum", "xy", {"out == x ? 1 : 0", "out == x ? 0 : 1"}},
    {"fminimum_num", "xy", {"out == x ? 1 : 0", "out == x ? 0 : 1"}},
    {"fmaximum_num", "xy", {"out == x ? 1 : 0", "out == x ? 0 : 1"}},

    // Piecewise constant.
    {"floor", "x", {"0"}},
    {"ceil", "x", {"0"}},
    {"trunc", "x", {"0"}},
    {"rint", "x", {"0"}},
    {"nearbyint", "x", {"0"}},
    {"round", "x", {"0"}},
    {"roundeven", "x", {"0"}},
    {"logb", "x", {"0"}, {}, "x != 0"},

    // Neighbours and scaling.
    {"nextafter", "xy", {"1", "0"}},
    {"nexttoward", "xw", {"1", "0"}, {}, "", "x"},
    {"ldexp", "xn", {"ldexp(1, n)", "0"}},
    {"remainder",
     "xy",
     {"1", "-rint((x - out) / y)"},
     {},
     "fabs(x) < 1000000 * fabs(y)"},

    // Roots and powers.
    {"sqrt", "x", {"0.5 * (1 / out)"}, {"x == 0"}, "x >= 0"},
    {"rsqrt", "x", {"-0.5 * out / x"}, {}, "x > 0", "1 / sqrt(x)"},
    {"cbrt", "x", {"1 / (3 * (out * out))"}, {"x == 0"}},
    {"hypot",
     "xy",
     {"x / out", "y / out"},
     {"x == 0 && y == 0", "x == 0 && y == 0"}},
    {"pow",
     "xy",
     {"y == 0 ? 0 : y * pow(x, y - 1)", "x == 0 ? 0 : out * log(x)"},
     {"x == 0 && y < 1", "x < 0"},
     "x > 0 || x == 0 && y >= 0 || x < 0 && y == rint(y)"},
    {"powi",
     "xn",
     {"n == 0 ? 0 : n * powi(x, n - 1)", "0"},
     {},
     "x != 0 || n >= 0",
     "pow(x, n)"},

    // Exponentials and logarithms.
    {"exp", "x", {"out"}},
    {"exp2", "x", {"out * ln2"}},
    {"exp10", "x", {"out * ln10"}},
    {"expm1", "x", {"out + 1"}},
    {"exp2m1", "x", {"(out + 1) * ln2"}, {}, "", "expm1(x * ln2)"},
    {"exp10m1", "x", {"(out + 1) * ln10"}, {}, "", "expm1(x * ln10)"},
    {"log", "x", {"1 / x"}, {}, "x > 0"},
    {"log2", "x", {"log2e / x"}, {}, "x > 0"},
    {"log10", "x", {"log10e / x"}, {}, "x > 0"},
    {"log1p", "x", {"1 / (1 + x)"}, {}, "x > -1"},
    {"log2p1", "x", {"log2e / (1 + x)"}, {}, "x > -1", "log1p(x) * log2e"},
    {"log10p1", "x", {"log10e / (1 + x)"}, {}, "x > -1", "log1p(x) * log10e"},

    // Trigonometric functions.
    {"sin", "x", {"cos(x)"}},
    {"cos", "x", {"-sin(x)"}},
    {"tan", "x", {"1 + out * out"}},
    {"asin",
     "x",
     {"1 / sqrt((1 - x) * (1 + x))"},
     {"x == 1 || x == -1"},
     "x >= -1 && x <= 1"},
    {"acos",
     "x",
     {"-1 / sqrt((1 - x) * (1 + x))"},
     {"x == 1 || x == -1"},
     "x >= -1 && x <= 1"},
    {"atan", "x", {"1 / (1 + x * x)"}},
    {"atan2",
     "yx",
     {"x / hypot(x, y) / hypot(x, y)", "-y / hypot(x, y) / hypot(x, y)"},
     {"x == 0 && y == 0", "x == 0 && y == 0"}},
    {"sinpi", "x", {"pi * cospi(x)"}, {}, "", "sin(pi * x)"},
    {"cospi", "x", {"-pi * sinpi(x)"}, {}, "", "cos(pi * x)"},
    {"tanpi",
     "x",
     {"pi * (1 + out * out)"},
     {},
     "fabs(x - rint(x)) != 0.5",
     "tan(pi * x)"},
    {"asinpi",
     "x",
     {"inv_pi / sqrt((1 - x) * (1 + x))"},
     {"x == 1 || x == -1"},
     "x >= -1 && x <= 1",
     "asin(x) * inv_pi"},
    {"acospi",
     "x",
     {"-inv_pi / sqrt((1 - x) * (1 + x))"},
     {"x == 1 || x == -1"},
     "x >= -1 && x <= 1",
     "acos(x) * inv_pi"},
    {"atanpi", "x", {"inv_pi / (1 + x * x)"}, {}, "", "atan(x) * inv_pi"},
    {"atan2pi",
     "yx",
     {"inv_pi * (x / hypot(x, y) / hypot(x, y))",
      "-inv_pi * (y / hypot(x, y) / hypot(x, y))"},
     {"x == 0 && y == 0", "x == 0 && y == 0"},
     "",
     "atan2(y, x) * inv_pi"},

    // Hyperbolic functions.
    {"sinh", "x", {"cosh(x)"}},
    {"cosh", "x", {"sinh(x)"}},
    {"tanh", "x", {"1 - out * out"}},
    {"asinh", "x", {"1 / hypot(1, x)"}},
    {"acosh", "x", {"1 / (sqrt(x - 1) * sqrt(x + 1))"}, {"x == 1"}, "x >= 1"},
    {"atanh", "x", {"1 / ((1 - x) * (1 + x))"}, {}, "x > -1 && x < 1"},

    // Error and gamma functions.
    {"erf", "x", {"two_over_sqrt_pi * exp(-(x * x))"}},
    {"erfc", "x", {"-two_over_sqrt_pi * exp(-(x * x))"}},
    {"tgamma", "x", {"out * digamma(x)"}, {}, "x > 0 || x != rint(x)"},
    {"lgamma", "x", {"digamma(x)"}, {}, "x > 0 || x != rint(x)"},

    // Bessel functions.
    {"j0", "x", {"-j1(x)"}},
    {"j1", "x", {"x == 0 ? 0.5 : j0(x) - out / x"}},
    {"jn", "nx", {"0", "0.5 * (jn(n - 1, x) - jn(n + 1, x))"}},
    {"y0", "x", {"-y1(x)"}, {}, "x > 0"},
    {"y1", "x", {"y0(x) - out / x"}, {}, "x > 0"},
    {"yn", "nx", {"0", "0.5 * (yn(n - 1, x) - yn(n + 1, x))"}, {}, "x > 0"},
};

llvm::ArrayRef<ScalarRule> adjoin::scalarRules() { return Rows; }

static constexpr int Ret = MultiRule::Result::Returned;

// Operations with several results. Columns: name, operands, then each result:
// where it goes (an operand's number, or the member of what is returned),
// whether it is a float, partial derivatives.
static constexpr MultiRule MultiRows[] = {
    {"sincos", "xpp", {{{1, true, {"out1"}}, {2, true, {"-out0"}}}}},
    {"sincospi",
     "xpp",
     {{{1, true, {"pi * out1"}}, {2, true, {"-pi * out0"}}}}},
    {"llvm.sincos", "x", {{{Ret, true, {"out1"}}, {Ret + 1, true, {"-out0"}}}}},
    {"llvm.sincospi",
     "x",
     {{{Ret, true, {"pi * out1"}}, {Ret + 1, true, {"-pi * out0"}}}}},
    {"frexp", "xp", {{{Ret, true, {"x == 0 ? 1 : out / x"}}, {1, false, {}}}}},
    {"llvm.frexp",
     "x",
     {{{Ret, true, {"x == 0 ? 1 : out / x"}}, {Ret + 1, false, {}}}}},
    {"modf", "xp", {{{Ret, true, {"1"}}, {1, true, {"0"}}}}},
    {"llvm.modf", "x", {{{Ret, true, {"1"}}, {Ret + 1, true, {"0"}}}}},
    {"remquo",
     "xyp",
     {{{Ret, true, {"1", "-rint((x - out) / y)"}}, {2, false, {}}}}},
    {"lgamma_r", "xp", {{{Ret, true, {"digamma(x)"}}, {1, false, {}}}}},
};

llvm::ArrayRef<MultiRule> adjoin::multiRules() { return MultiRows; }
