//! Any bytes in place of a message of a worker or a coordinator are read or refused, in little time
//! and memory. Inputs begin with complete messages; most changes are to values of their JSON.

#![no_main]

use arbiter_cluster::wire::fuzz;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    fuzz::read_one(bytes);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut dice = Dice(u64::from(seed) + 1);
    let changed = match dice.roll(64) {
        0 => Some(dice.one_of(fuzz::samples())),
        1..48 => with_other_values(&data[..size], &mut dice),
        _ => None,
    };
    match changed.filter(|changed| changed.len() <= max_size) {
        Some(changed) => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
});

/// Random numbers, by the generator of Steele, Lea and Flood (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides.max(1) as u64) as usize
    }

    fn one_of<T>(&mut self, mut all: Vec<T>) -> T {
        all.swap_remove(self.roll(all.len()))
    }
}

/// The same input with up to four other values, if there is JSON in it.
fn with_other_values(input: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    let (head, text) = input.split_at(input.iter().position(|byte| *byte == b'{')?);
    let mut document: Value = serde_json::from_slice(text).ok()?;
    for _ in 0..=dice.roll(4) {
        let whole = document.clone();
        let place = dice.roll(count(&whole));
        change(nth(&mut document, &mut { place })?, &whole, dice);
    }
    Some([head, &serde_json::to_vec(&document).ok()?].concat())
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    }
}

fn count(value: &Value) -> usize {
    1 + children(value).into_iter().map(count).sum::<usize>()
}

/// The value at this place, in the order of the text.
fn nth<'a>(value: &'a mut Value, place: &mut usize) -> Option<&'a mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, place)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, place)),
        _ => None,
    }
}

fn change(value: &mut Value, document: &Value, dice: &mut Dice) {
    if dice.roll(4) == 0 {
        let place = dice.roll(count(document));
        *value = nth(&mut document.clone(), &mut { place }).cloned().unwrap_or_default();
        return;
    }
    match value {
        Value::Null => *value = dice.one_of(vec![0.into(), "".into(), Value::Array(Vec::new())]),
        Value::Bool(is_so) => *is_so = !*is_so,
        Value::Number(_) => *value = number(dice),
        Value::String(text) => *text = other_text(text, dice),
        Value::Array(items) if !items.is_empty() => {
            let place = dice.roll(items.len());
            match dice.roll(3) {
                0 => drop(items.remove(place)),
                1 => items.truncate(place),
                _ => {
                    let item = items[place].clone();
                    let times = 1 << dice.roll(8);
                    items.splice(place..place, std::iter::repeat_n(item, times));
                }
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let (name, other) = (dice.one_of(names.clone()), dice.one_of(names));
            let field = fields.remove(&name).unwrap_or_default();
            if dice.roll(2) == 0 {
                fields.insert(other, field);
            }
        }
        Value::Array(_) | Value::Object(_) => *value = Value::Null,
    }
}

fn number(dice: &mut Dice) -> Value {
    let small = dice.roll(1_000) as i64;
    let large = u64::MAX >> dice.roll(64);
    let decimal = 10f64.powi(dice.roll(600) as i32 - 300);
    dice.one_of(vec![small.into(), (-small).into(), large.into(), i64::MIN.into(), decimal.into()])
}

fn other_text(text: &str, dice: &mut Dice) -> String {
    match dice.roll(4) {
        0 => text.repeat(dice.roll(40)),
        1 => dice
            .one_of(vec!["", "\u{7}\u{1b}[2J", "0", "e1g1", "e7e8q", "@", "\u{10ffff}"])
            .to_owned(),
        2 => match text.parse::<f64>() {
            Ok(_) => number(dice).to_string(),
            Err(_) => text.chars().skip(dice.roll(text.len())).collect(),
        },
        _ => {
            let mut bytes = text.as_bytes().to_vec();
            let length = bytes.len();
            bytes.resize(length + 16, 0);
            let changed = fuzzer_mutate(&mut bytes, length, length + 16);
            String::from_utf8_lossy(&bytes[..changed]).into_owned()
        }
    }
}
