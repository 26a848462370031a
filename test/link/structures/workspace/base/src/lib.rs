//! The lower of two crates.
#[inline(never)]
pub fn square(x: f64) -> f64 {
    let v: Vec<f64> = vec![x, x];
    v.iter().product()
}
