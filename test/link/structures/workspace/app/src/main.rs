//! A program in Rust that asks for the derivative of a C function, which calls Rust back.
use std::ffi::c_void;

// `rate` is called by C only.
extern crate rate;

extern "C" {
    fn model(x: f64) -> f64;
    fn __adjoin_fwddiff_rs(f: *const c_void, ...) -> f64;
    static adjoin_dup: i32;
}

fn main() {
    let x: f64 = 0.7;
    let r = x * x + x.exp();
    let expected = x.cos() * r + x.sin() * (2.0 * x + x.exp());
    let t = unsafe { __adjoin_fwddiff_rs(model as *const c_void, adjoin_dup, x, 1.0f64) };
    println!("{t} expected {expected}");
    assert!((t - expected).abs() < 1e-14);
}
