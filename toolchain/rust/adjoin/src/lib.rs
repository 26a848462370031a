//! Derivatives of Rust functions, made while the program is linked by the Adjoin plugin.
//!
//! ```ignore
//! use adjoin::*;
//!
//! #[autodiff_reverse(d_energy, Duplicated, Const, Active)]
//! pub fn energy(x: &[f64], k: f64) -> f64 {
//!     0.5 * k * x.iter().map(|x| x * x).sum::<f64>()
//! }
//! // fn d_energy(x: &[f64], dx: &mut [f64], k: f64, seed: f64) -> f64   (the primal value)
//! ```
//!
//! The activities are those of `std::autodiff`. Forward mode: `Const`, `Dual`, `DualOnly`, `Dualv`, with an optional width
//! as second argument; reverse mode: `Const`, `Active`, `ActiveOnly`, `Duplicated`, `DuplicatedOnly`. The last one is the
//! return value's.
//!
//! The macros expand to a call of a marker, a function that is declared and never defined: without the plugin the link
//! fails. Build with `cargo adjoin build`, which loads it.
#![no_std]

/// Forward mode: makes a function that returns value and tangent. Each `Dual` argument is followed by its tangent (`W` of
/// them in width `W`), of the argument's own type.
pub use adjoin_macros::autodiff_forward;
/// Reverse mode: makes a function that returns the value and one adjoint for each `Active` argument. Each `Duplicated`
/// argument is followed by the memory of its adjoints, to which is added; the last parameter is the seed.
pub use adjoin_macros::autodiff_reverse;
/// Forward mode of a function that is defined elsewhere:
/// `adjoin::forward!(pub fwd = phys::f(x: f64 as Dual) -> f64 as Dual);`
pub use adjoin_macros::forward;
/// Reverse mode of a function that is defined elsewhere:
/// `adjoin::reverse!(pub d_f = phys::f(x: f64 as Active) -> f64 as Active);`
pub use adjoin_macros::reverse;

/// Custom forward rule of this function, which takes scalars and pointers: `#[adjoin::derivative(f_forward)]`. The rule takes
/// each float and pointer followed by its tangent or shadow, and returns a `repr(C)` pair of value and tangent.
pub use adjoin_macros::derivative;
/// Custom reverse rule of this function, which takes scalars and pointers: `#[adjoin::gradient(f_augmented, f_gradient)]`.
pub use adjoin_macros::gradient;
/// Calls of this function carry no derivative.
pub use adjoin_macros::inactive;
/// This function has the derivative of a known one: `#[adjoin::like("log1p")]`.
pub use adjoin_macros::like;
/// This function frees nothing.
pub use adjoin_macros::nofree;
