// Wrong use of the Rust macros: each case, one line, must fail to compile with the sentence above it.

// 4 activities for 2 parameters and a result: 3 are needed
#[autodiff_reverse(d, Active, Active, Active, Active)] fn f(x: f64, y: f64) -> f64 { x * y }
// no activity of reverse mode: Dual (there are
#[autodiff_reverse(d, Dual, Active)] fn f(x: f64) -> f64 { x }
// no activity of forward mode: Active (there are
#[autodiff_forward(d, Active, Dual)] fn f(x: f64) -> f64 { x }
// a float by value is Active or Const
#[autodiff_reverse(d, Duplicated, Active)] fn f(x: f64) -> f64 { x }
// `n` is no float: its activity is Const
#[autodiff_reverse(d, Active, Active)] fn f(n: usize) -> f64 { n as f64 }
// a slice is Duplicated or Const: only values are Active
#[autodiff_reverse(d, Active, Active)] fn f(x: &[f64]) -> f64 { x[0] }
// a reference is Duplicated or Const: only values are Active
#[autodiff_reverse(d, Active, Active)] fn f(x: &f64) -> f64 { *x }
// the function returns nothing: leave off the last activity
#[autodiff_reverse(d, Duplicated, Active)] fn f(x: &mut f64) { *x = 1.0 }
// reverse mode has no width
#[autodiff_reverse(d, 4, Active, Active)] fn f(x: f64) -> f64 { x }
// the width is at least 1
#[autodiff_forward(d, 0, Dual, Dual)] fn f(x: f64) -> f64 { x }
// an async function cannot be differentiated
#[autodiff_forward(d, Dual, Dual)] async fn f(x: f64) -> f64 { x }
// this attribute is for functions
#[autodiff_forward(d, Dual)] struct S;
// expected the name of the derivative
#[autodiff_forward(4)] fn f(x: f64) -> f64 { x }
// a generic function cannot be registered
#[inactive] fn f<T>(_: T) {}
// this attribute takes 2 arguments
#[gradient(f)] fn f(x: f64) -> f64 { x }
// expected `type as Activity`
adjoin::forward!(d = f(x: f64) -> f64 as Dual);
