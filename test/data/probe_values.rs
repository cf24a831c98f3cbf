// SPDX-License-Identifier: MIT
// probe_values.rs - functions whose parameters test/probe_values.bats compares.
// std::hint::black_box is newer than the compiler of Debian 12.
fn black_box<T: Copy>(x: T) -> T { unsafe { std::ptr::read_volatile(&x) } }
#[derive(Clone, Copy)] pub struct Pair { a: i32, b: i32 }
#[derive(Clone, Copy)] pub struct Big { a: i64, b: i64, c: i64 }
#[derive(Clone, Copy)] pub struct Trip { a: i8, b: i8, c: i8 }
#[derive(Clone, Copy)] pub struct New(i32);
#[derive(Clone, Copy)] pub enum Color { Red = 1, Green = 7 }
#[inline(never)] #[no_mangle] pub fn f(p: Pair, n: i32, s: &str, m: u8, t: bool, ch: char) -> i32 { black_box(p.a + p.b + n + s.len() as i32 + m as i32 + t as i32 + ch as i32) }
#[inline(never)] #[no_mangle] pub fn g(b: Big, n: i32) -> i64 { black_box(b.a + b.b + b.c + n as i64) }
#[inline(never)] #[no_mangle] pub fn h(t: Trip, n: i32) -> i64 { black_box(t.a as i64 + t.b as i64 + t.c as i64 + n as i64) }
#[inline(never)] #[no_mangle] pub fn k(w: New, n: i32, c: Color, x: f64, z: i64) -> Big { black_box(Big { a: w.0 as i64 + n as i64 + c as i64, b: x as i64, c: z }) }
#[inline(never)] #[no_mangle] pub fn l(a: i64, o: Option<i64>, n: i32, u: u128, q: i16) -> i64 { black_box(a + o.unwrap_or(3) + n as i64 + u as i64 + q as i64) }
fn main() {
    let x = f(Pair { a: 11, b: 22 }, 33, "hello", 44, true, 'x');
    let y = g(Big { a: 1, b: 2, c: 3 }, 55);
    let z = h(Trip { a: 1, b: 2, c: 3 }, 66);
    let w = k(New(77), 88, if black_box(1) > 0 { Color::Green } else { Color::Red }, 1.5, 99);
    let v = l(5, Some(6), 7, 8, -9);
    std::process::exit((x as i64 + y + z + w.a + v == 0) as i32)
}
