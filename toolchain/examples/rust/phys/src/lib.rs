//! A crate that knows nothing of derivatives.

/// exp(x) / sqrt(sin(x)³ + cos(x)³)
pub fn f1(x: f64) -> f64 {
    x.exp() / (x.sin().powi(3) + x.cos().powi(3)).sqrt()
}
