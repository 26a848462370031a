//! The middle, in Rust: calls C, is called by C++.

extern "C" {
    fn stiffness(strain: f64) -> f64;
}

/// Energy of one spring of rest length `rest`, stretched to `length`.
#[no_mangle]
pub extern "C" fn spring_energy(length: f64, rest: f64) -> f64 {
    let strain = (length - rest) / rest;
    0.5 * unsafe { stiffness(strain) } * strain.powi(2)
}
