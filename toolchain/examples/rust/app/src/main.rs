//! The Rust macros: attributes, and functions of another crate by name.
use adjoin::*;

#[autodiff_reverse(d_energy, Duplicated, Const, Active)]
#[autodiff_forward(energy_forward, Dual, Const, Dual)]
pub fn energy(x: &[f64], k: f64) -> f64 {
    0.5 * k * x.iter().map(|x| x * x).sum::<f64>()
}

#[autodiff_reverse(d_product, Active, Active, Active)]
#[autodiff_forward(product_forward, Dual, Const, DualOnly)]
#[autodiff_forward(product_lanes, 2, Dual, Dual, Dual)]
fn product(x: f64, y: f32) -> f64 {
    x * x * y as f64
}

struct Square {
    side: f64,
}

impl Square {
    #[autodiff_reverse(d_scaled, Duplicated, Active, Active)]
    fn scaled(&self, factor: f64) -> f64 {
        self.side * self.side * factor
    }
    #[autodiff_forward(grow_forward, Dual, Dual)]
    fn grow(&mut self, factor: f64) {
        self.side *= factor
    }
}

#[autodiff_reverse(d_first, Duplicated, Active)]
fn first<const N: usize>(x: &[f64; N]) -> f64 {
    x[0] * x[N - 1]
}

#[autodiff_reverse(d_generic, Active, Active, Active)]
fn generic<T: Copy + std::ops::Mul<Output = T>>(x: T, y: T) -> T {
    x * y
}

#[autodiff_reverse(d_sum, Duplicated, Active)]
fn sum(x: &Vec<f64>) -> f64 {
    x.iter().sum()
}

#[autodiff_reverse(d_square_all, Duplicated, Duplicated)]
fn square_all(x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = x * x;
    }
}

adjoin::reverse!(d_f1 = phys::f1(x: f64 as Active) -> f64 as Active);
adjoin::forward!(f1_forward = phys::f1(x: f64 as Dual) -> f64 as DualOnly);

fn check(what: &str, found: f64, expected: f64) {
    println!("{what:40} {found:22.15}");
    assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
}

fn main() {
    let x = [1.0, 2.0, 3.0];
    let mut dx = [0.0; 3];
    check("energy", d_energy(&x, &mut dx, 2.0, 1.0), 14.0);
    check("d energy / d x[2]", dx[2], 6.0);
    check(
        "seed 10, added",
        {
            d_energy(&x, &mut dx, 2.0, 10.0);
            dx[1]
        },
        44.0,
    );
    let (value, tangent) = energy_forward(&x, &[1.0, 0.0, 1.0], 2.0);
    check("forward, value", value, 14.0);
    check("forward, tangent", tangent, 8.0);

    let (value, px, py) = d_product(3.0, 2.0, 1.0);
    check("product", value, 18.0);
    check("d product / d x", px, 12.0);
    check("d product / d y", py as f64, 9.0);
    check("forward", product_forward(3.0, 1.0, 2.0), 12.0);
    let (_, lanes) = product_lanes(3.0, 1.0, 0.0, 2.0, 0.0, 1.0);
    check("lane 0", lanes[0], 12.0);
    check("lane 1", lanes[1], 9.0);

    let square = Square { side: 3.0 };
    let mut shadow = Square { side: 0.0 };
    let (_, factor) = square.d_scaled(&mut shadow, 2.0, 1.0);
    check("method, self", shadow.side, 12.0);
    check("method, argument", factor, 9.0);
    let (mut square, mut shadow) = (Square { side: 3.0 }, Square { side: 1.0 });
    square.grow_forward(&mut shadow, 2.0, 10.0);
    check("&mut self, value", square.side, 6.0);
    check("&mut self, tangent", shadow.side, 32.0);

    let mut first = [0.0; 4];
    d_first(&[2.0, 0.0, 0.0, 5.0], &mut first, 1.0);
    check("array", first[0], 5.0);
    let (_, gx, gy) = d_generic(2.0, 3.0, 1.0);
    check("generic", gx + 10.0 * gy, 23.0);
    let mut shadow = vec![0.0; 3];
    check("&Vec", d_sum(&vec![1.0, 2.0, 3.0], &mut shadow, 1.0), 6.0);
    check("&Vec, adjoint", shadow[1], 1.0);
    let (mut dx, mut y, mut seed) = ([0.0; 3], [0.0; 3], [1.0; 3]);
    d_square_all(&x, &mut dx, &mut y, &mut seed);
    check("output slice", y[2], 9.0);
    check("output slice, adjoint", dx[2], 6.0);

    let h = 1e-5;
    let slope = (phys::f1(0.5 + h) - phys::f1(0.5 - h)) / (2.0 * h);
    let (value, gradient) = d_f1(0.5, 1.0);
    check("other crate", value, phys::f1(0.5));
    assert!((gradient - slope).abs() < 1e-8);
    check("other crate, forward", f1_forward(0.5, 1.0), gradient);
}
