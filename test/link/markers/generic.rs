//! Generic helpers, closures as function pointers, tags by value and by address.
use std::ffi::c_void;

unsafe extern "C" {
    static adjoin_dup: i32;
    static adjoin_const: i32;
    fn __adjoin_fwddiff_rs(f: *const c_void, ...) -> f64;
    fn __adjoin_autodiff_rs(f: *const c_void, ...) -> f64;
}

fn derivative(f: fn(f64) -> f64, x: f64) -> f64 {
    unsafe { __adjoin_fwddiff_rs(f as *const c_void, &raw const adjoin_dup, x, 1.0f64) }
}

/// The function is the type.
fn tangent<F: Fn(f64) -> f64 + Copy>(_: F, x: f64) -> f64 {
    fn call<F: Fn(f64) -> f64>(x: f64) -> f64 {
        // Closures without captures have no bytes.
        let f: F = unsafe { std::mem::zeroed() };
        f(x)
    }
    unsafe { __adjoin_fwddiff_rs(call::<F> as *const c_void, adjoin_dup, x, 1.0f64) }
}

struct Problem {
    f: fn(&[f64], f64) -> f64,
}
impl Problem {
    fn gradient(&self, x: &[f64], dx: &mut [f64], k: f64) -> f64 {
        unsafe {
            __adjoin_autodiff_rs(
                self.f as *const c_void,
                adjoin_dup, x.as_ptr(), x.len(), dx.as_mut_ptr(), dx.len(),
                adjoin_const, k,
            )
        }
    }
}

fn sum_of_squares(x: &[f64], k: f64) -> f64 {
    x.iter().map(|v| k * v * v).sum()
}

fn main() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} is not {b}");
    close(derivative(|x| x * x, 3.0), 6.0);
    close(derivative(f64::sin, 3.0), 3.0f64.cos());
    close(tangent(|x| x * x * x, 3.0), 27.0);
    let x = [1.0, 2.0, 3.0];
    let mut dx = [0.0; 3];
    Problem { f: sum_of_squares }.gradient(&x, &mut dx, 2.0);
    close(dx[2], 12.0);
}
