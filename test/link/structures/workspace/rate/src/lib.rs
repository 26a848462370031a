//! A crate that C calls and that calls another crate.
#[no_mangle]
pub extern "C" fn rate(x: f64) -> f64 {
    base::square(x) + x.exp()
}
