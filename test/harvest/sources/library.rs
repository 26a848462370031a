//! A harvest of Rust's library, which fat LTO brings along. Nothing here is meant to be differentiated.
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, Read, Write};
use std::sync::{mpsc, Arc, Mutex, RwLock};

#[derive(Debug, Clone, PartialEq)]
struct Record {
    name: String,
    value: f64,
    samples: Vec<f32>,
    limit: Option<f64>,
}

#[no_mangle]
pub fn totals(r: &[Record]) -> BTreeMap<String, f64> {
    let mut t = BTreeMap::new();
    for x in r {
        *t.entry(x.name.clone()).or_insert(0.0) += x.value * x.samples.iter().sum::<f32>() as f64;
    }
    t
}
#[no_mangle]
pub fn hashed(r: &[Record]) -> f64 {
    let m: HashMap<&str, f64> = r.iter().map(|x| (x.name.as_str(), x.value)).collect();
    let s: HashSet<u64> = r.iter().map(|x| x.value.to_bits()).collect();
    m.values().fold(0.0f64, |a: f64, b| a.max(*b)) * s.len() as f64
}
#[no_mangle]
pub fn report(r: &[Record]) -> String {
    let mut s = String::new();
    for x in r {
        writeln!(s, "{:>10} {:.4} {:?} {:e}", x.name, x.value, x.limit, x.value).unwrap();
    }
    s
}
#[no_mangle]
pub fn parse(text: &str) -> Result<Vec<f64>, std::num::ParseFloatError> {
    text.split_whitespace().map(str::parse).collect()
}
#[no_mangle]
pub fn median(v: &mut [f64]) -> f64 {
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}
#[no_mangle]
pub fn heap(v: &[f64]) -> Option<i64> {
    let mut h: BinaryHeap<i64> = v.iter().map(|x| (*x * 1e3) as i64).collect();
    h.pop()
}
#[no_mangle]
pub fn threads(v: Vec<f64>) -> f64 {
    let (tx, rx) = mpsc::channel();
    let shared = Arc::new(Mutex::new(0.0));
    let hs: Vec<_> = v
        .into_iter()
        .map(|x| {
            let (tx, shared) = (tx.clone(), Arc::clone(&shared));
            std::thread::spawn(move || {
                *shared.lock().unwrap() += x;
                tx.send(x.sin()).unwrap();
            })
        })
        .collect();
    drop(tx);
    for h in hs {
        h.join().unwrap();
    }
    let r = *shared.lock().unwrap();
    rx.iter().sum::<f64>() + r
}
#[no_mangle]
pub fn files(path: &std::path::Path) -> std::io::Result<f64> {
    let mut text = String::new();
    std::fs::File::open(path)?.read_to_string(&mut text)?;
    let mut total = 0.0;
    for line in text.lines() {
        total += line.trim().parse::<f64>().unwrap_or(0.0);
    }
    std::fs::write(path, format!("{total}"))?;
    for line in std::io::stdin().lock().lines() {
        total *= line?.len() as f64;
    }
    std::io::stdout().flush()?;
    Ok(total)
}
#[no_mangle]
pub fn queue(n: usize, x: f64) -> f64 {
    let mut q: VecDeque<f64> = (0..n).map(|i| i as f64 * x).collect();
    q.rotate_left(n / 2);
    while q.len() > 1 {
        let (a, b) = (q.pop_front().unwrap(), q.pop_back().unwrap());
        q.push_back(a * b - x);
    }
    q[0]
}
#[no_mangle]
pub fn durations(x: f64) -> f64 {
    let d = std::time::Duration::from_secs_f64(x.abs());
    d.mul_f64(2.5).as_secs_f64() + d.as_secs_f32() as f64
}
#[no_mangle]
pub fn lock(l: &RwLock<Vec<f64>>) -> f64 {
    l.write().unwrap().push(1.5);
    l.read().unwrap().iter().product()
}
#[no_mangle]
pub fn special(x: f64, y: f64) -> f64 {
    x.hypot(y) + x.atan2(y) + x.sinh().ln_1p() + y.exp_m1().cbrt() + x.powf(y).rem_euclid(1.5) + x.clamp(0.0, y).to_degrees()
        + x.fract() * y.signum() + x.log(y) + x.recip().mul_add(y, x.trunc())
}
#[no_mangle]
pub fn single(x: f32, y: f32) -> f32 {
    (x.sin_cos().0 * y.exp2()).sqrt() + x.copysign(y).tanh() + (x as f64).acosh() as f32
}

#[no_mangle]
pub fn demonstrate() {
    let r = Record { name: "a".into(), value: 1.5, samples: vec![1.0], limit: None };
    let v = [r.clone(), r];
    println!("{:?} {} {}", totals(&v), hashed(&v), report(&v));
    println!("{:?} {} {:?}", parse("1 2"), median(&mut [1.0, 2.0]), heap(&[1.0]));
    println!("{} {:?} {}", threads(vec![1.0]), files("/nonexistent".as_ref()), queue(3, 1.0));
    println!("{} {} {} {}", durations(1.0), lock(&RwLock::new(vec![])), special(1.0, 2.0), single(1.0, 2.0));
}
