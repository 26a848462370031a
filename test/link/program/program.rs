//! The Rust part of the program: its kernels, and the derivatives of the C kernels, asked for in Rust.
mod kernels;

use std::ffi::c_void;

extern "C" {
    static adjoin_dup: i32;
    static adjoin_const: i32;
    fn __adjoin_fwddiff_rs(f: *const c_void, ...) -> f64;
}

macro_rules! scalar {
    ($f:ident, $d:ident) => {
        extern "C" {
            fn $f(x: f64, y: f64) -> f64;
        }
        #[no_mangle]
        pub extern "C" fn $d(x: f64, dx: f64, y: f64, dy: f64) -> f64 {
            unsafe { __adjoin_fwddiff_rs($f as *const c_void, &raw const adjoin_dup, x, dx, &raw const adjoin_dup, y, dy) }
        }
    };
}
macro_rules! buffer {
    ($f:ident, $d:ident) => {
        extern "C" {
            fn $f(p: *mut f64, n: i32) -> f64;
        }
        #[no_mangle]
        pub extern "C" fn $d(p: *mut f64, dp: *mut f64, n: i32) -> f64 {
            unsafe { __adjoin_fwddiff_rs($f as *const c_void, adjoin_dup, p, dp, adjoin_const, n) }
        }
    };
}
// Made by the runner from kernels.def: scalar!(c_…, derivative_c_…); …
include!(env!("ADJOIN_TEST_KERNELS"));
