//! Kernels in Rust: one construct each.
use std::cell::RefCell;
use std::rc::Rc;

#[no_mangle]
pub extern "C" fn rs_arithmetic(x: f64, y: f64) -> f64 {
    (x.sin() * y.exp() + x.powi(3) / y).sqrt() + x.mul_add(y, 1.0) + x.max(y) + (x - 5.0).abs()
}

#[no_mangle]
pub extern "C" fn rs_vec(x: f64, y: f64) -> f64 {
    let mut v = Vec::new();
    for i in 0..9 {
        v.push(x * i as f64 + y);
    }
    let w: Vec<f64> = v.iter().map(|t| t * x).collect();
    v.extend_from_slice(&w[2..5]);
    v.truncate(10);
    v.swap(0, 3);
    v.iter().zip(w.iter().rev()).map(|(a, b)| a * b).sum()
}

trait Shape {
    fn area(&self) -> f64;
    fn scaled(&self, s: f64) -> f64 {
        self.area() * s
    }
}
struct Circle(f64);
struct Rect {
    a: f64,
    b: f64,
}
impl Shape for Circle {
    fn area(&self) -> f64 {
        3.0 * self.0 * self.0
    }
}
impl Shape for Rect {
    fn area(&self) -> f64 {
        self.a * self.b
    }
    fn scaled(&self, s: f64) -> f64 {
        self.a * self.b * s * s
    }
}
#[no_mangle]
pub extern "C" fn rs_box_dyn(x: f64, y: f64) -> f64 {
    let shapes: Vec<Box<dyn Shape>> = vec![
        Box::new(Circle(x)),
        Box::new(Rect { a: x, b: y }),
        Box::new(Circle(y)),
    ];
    shapes.iter().map(|s| s.scaled(y)).sum()
}

#[derive(Clone)]
enum Expr {
    Const(f64),
    X,
    Add(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
    Pow(Box<Expr>, i32),
}
fn eval(e: &Expr, x: f64) -> f64 {
    match e {
        Expr::Const(c) => *c,
        Expr::X => x,
        Expr::Add(a, b) => eval(a, x) + eval(b, x),
        Expr::Mul(a, b) => eval(a, x) * eval(b, x),
        Expr::Pow(a, n) => eval(a, x).powi(*n),
    }
}
#[no_mangle]
pub extern "C" fn rs_enum(x: f64, y: f64) -> f64 {
    let e = Expr::Add(
        Box::new(Expr::Mul(Box::new(Expr::X), Box::new(Expr::Const(y)))),
        Box::new(Expr::Pow(Box::new(Expr::X), 3)),
    );
    eval(&e, x) + eval(&e.clone(), y)
}

fn checked(x: f64) -> Option<f64> {
    if x > 0.0 {
        Some(x.ln())
    } else {
        None
    }
}
#[no_mangle]
pub extern "C" fn rs_option(x: f64, y: f64) -> f64 {
    let a = checked(x).and_then(|t| checked(t + y)).unwrap_or(1.0);
    let b: Result<f64, String> = checked(-x).ok_or_else(|| "negative".to_string());
    a * y + b.unwrap_or(x)
}

#[inline(never)]
fn rotate(v: [f64; 4], s: f64) -> [f64; 4] {
    [v[1] * s, v[2], v[3], v[0]]
}
#[no_mangle]
pub extern "C" fn rs_array(x: f64, y: f64) -> f64 {
    let v = rotate(rotate([x, y, x * y, 1.0], x), y);
    v[0] * v[1] + v[2] * v[3]
}

#[inline(never)]
fn flip(v: [f32; 2]) -> [f32; 2] {
    [v[1] * v[0], v[0]]
}
#[no_mangle]
pub extern "C" fn rs_float_pair(x: f64, y: f64) -> f64 {
    let v = flip(flip([x as f32, y as f32]));
    (v[0] * v[1]) as f64
}

#[no_mangle]
pub extern "C" fn rs_closure(x: f64, y: f64) -> f64 {
    let add = |t: f64| t + x * y;
    let twice = |f: &dyn Fn(f64) -> f64, t: f64| f(f(t));
    let boxed: Box<dyn Fn(f64) -> f64> = Box::new(move |t| t * x);
    twice(&add, y) * boxed(y)
}

fn dot<T, const N: usize>(a: [T; N], b: [T; N]) -> T
where
    T: Copy + std::ops::Mul<Output = T> + std::iter::Sum<T>,
{
    a.iter().zip(b.iter()).map(|(p, q)| *p * *q).sum()
}
#[no_mangle]
pub extern "C" fn rs_generic(x: f64, y: f64) -> f64 {
    dot([x, y, 1.0], [y, y, x])
}

#[no_mangle]
pub extern "C" fn rs_format(x: f64, y: f64) -> f64 {
    let s = format!("{}-{}", "text", 42);
    if x > 1e6 {
        println!("large: {s} {x}");
    }
    x * y * s.len() as f64
}

#[no_mangle]
pub extern "C" fn rs_rc(x: f64, y: f64) -> f64 {
    let a = Rc::new(RefCell::new(vec![x, y]));
    let b = Rc::clone(&a);
    b.borrow_mut()[0] *= y;
    let r = a.borrow().iter().product::<f64>();
    r * Rc::strong_count(&a) as f64
}

#[inline(never)]
fn split(x: f64, y: f64) -> (f64, i32, f64) {
    (x * y, 3, x - y)
}
#[no_mangle]
pub extern "C" fn rs_tuple(x: f64, y: f64) -> f64 {
    let (a, k, b) = split(x, y);
    a * k as f64 * b
}

#[inline(never)]
fn power(x: f64, n: u32) -> f64 {
    if n == 0 {
        1.0
    } else {
        power(x, n - 1) * x
    }
}
#[no_mangle]
pub extern "C" fn rs_recursion(x: f64, y: f64) -> f64 {
    power(x, 4) * power(y, 2)
}

struct Node {
    v: f64,
    next: Option<Box<Node>>,
}
#[no_mangle]
pub extern "C" fn rs_box_list(x: f64, y: f64) -> f64 {
    let mut head: Option<Box<Node>> = None;
    for i in 0..5 {
        head = Some(Box::new(Node { v: x + y * i as f64, next: head }));
    }
    let mut r = 1.0;
    let mut p = &mut head;
    while let Some(n) = p {
        n.v *= x;
        r = r * 0.5 + n.v;
        p = &mut n.next;
    }
    r
}

/// A panic that is caught outside of what is differentiated is not reached.
#[no_mangle]
pub extern "C" fn rs_catch(x: f64, y: f64) -> f64 {
    let v = [x, y, x + y];
    let i = (x * 0.5) as usize + 1;
    assert!(y < 1e3, "too large: {}", i);
    v[i] * v[0]
}

unsafe fn slice<'a>(p: *mut f64, n: i32) -> &'a mut [f64] {
    std::slice::from_raw_parts_mut(p, n as usize)
}

/// # Safety
/// `p` points to `n` numbers.
#[no_mangle]
pub unsafe extern "C" fn rs_iterators(p: *mut f64, n: i32) -> f64 {
    let v = slice(p, n);
    let a: f64 = v.iter().filter(|t| **t > 0.5).map(|t| t * t).sum();
    let b = v.iter().enumerate().fold(1.0, |s, (i, t)| s + t * i as f64);
    let c = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let d: f64 = v.chunks(2).map(|c| c.iter().product::<f64>()).sum();
    a * b + c + d
}

/// # Safety
/// `p` points to `n` numbers.
#[no_mangle]
pub unsafe extern "C" fn rs_windows(p: *mut f64, n: i32) -> f64 {
    slice(p, n).windows(2).map(|w| (w[1] - w[0]).powi(2) * w[0]).sum()
}

/// # Safety
/// `p` points to `n` numbers.
#[no_mangle]
pub unsafe extern "C" fn rs_sort(p: *mut f64, n: i32) -> f64 {
    let v = slice(p, n);
    v.sort_by(|a, b| b.partial_cmp(a).unwrap());
    v.iter().fold(0.0, |s, t| s * 0.5 + t * t)
}

/// # Safety
/// `p` points to `n` numbers.
#[no_mangle]
pub unsafe extern "C" fn rs_in_place(p: *mut f64, n: i32) -> f64 {
    let v = slice(p, n);
    for t in v.iter_mut() {
        *t = t.sin() * *t;
    }
    let (a, b) = v.split_at_mut(n as usize / 2);
    for (s, t) in a.iter_mut().zip(b) {
        std::mem::swap(s, t);
        *s *= *t;
    }
    v[0] + v[n as usize - 1]
}

/// # Safety
/// `p` points to `n` numbers.
#[no_mangle]
pub unsafe extern "C" fn rs_matrix(p: *mut f64, n: i32) -> f64 {
    let v = slice(p, n);
    let m: Vec<Vec<f64>> = (0..3)
        .map(|i| (0..3).map(|j| v[(i * 3 + j) % v.len()] + if i == j { 2.0 } else { 0.0 }).collect())
        .collect();
    let mut a = m.clone();
    let mut det = 1.0;
    for k in 0..3 {
        det *= a[k][k];
        for i in k + 1..3 {
            let f = a[i][k] / a[k][k];
            for j in k..3 {
                let t = a[k][j];
                a[i][j] -= f * t;
            }
        }
    }
    det
}

/// # Safety
/// `p` points to `n` numbers.
#[no_mangle]
pub unsafe extern "C" fn rs_string_of_checks(p: *mut f64, n: i32) -> f64 {
    let v = slice(p, n);
    let first = v.first().copied().expect("empty");
    let last = v.last().copied().unwrap_or_default();
    let mid = v.get(n as usize / 2).map_or(0.0, |t| t * first);
    let i = v.iter().position(|t| *t > 1.0).unwrap_or(0);
    v[i] * mid + last
}

extern "C" {
    fn c_next_cxx(x: f64, y: f64) -> f64;
    fn cxx_next_c(x: f64, y: f64) -> f64;
    fn cxx_leaf(x: f64, y: f64) -> f64;
    fn c_leaf(x: f64, y: f64) -> f64;
    fn cxx_ring(x: f64, y: f64, n: i32) -> f64;
}
#[no_mangle]
pub extern "C" fn rs_leaf(x: f64, y: f64) -> f64 {
    x.exp() * y
}
#[no_mangle]
pub extern "C" fn rs_calls_c_calls_cxx(x: f64, y: f64) -> f64 {
    unsafe { c_next_cxx(x * y, x) * y }
}
#[no_mangle]
pub extern "C" fn rs_calls_cxx_calls_c(x: f64, y: f64) -> f64 {
    unsafe { cxx_next_c(x * y, x) * y }
}
#[no_mangle]
pub extern "C" fn rs_next_cxx(x: f64, y: f64) -> f64 {
    unsafe { cxx_leaf(x, y) * x }
}
#[no_mangle]
pub extern "C" fn rs_next_c(x: f64, y: f64) -> f64 {
    unsafe { c_leaf(x, y) * x }
}
#[no_mangle]
pub extern "C" fn rs_ring(x: f64, y: f64, n: i32) -> f64 {
    if n <= 0 {
        x * y
    } else {
        unsafe { cxx_ring(y, x, n - 1) + x * x }
    }
}
/// # Safety
/// `p` points to `n` numbers.
#[no_mangle]
pub unsafe extern "C" fn rs_scale(p: *mut f64, n: usize, s: f64) {
    for t in std::slice::from_raw_parts_mut(p, n) {
        *t *= s;
    }
}
