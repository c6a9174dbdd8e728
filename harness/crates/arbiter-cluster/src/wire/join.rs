//! A worker that would play for a run says what the run's engines are like on its machine, and is
//! told whether it may.

use serde::{Deserialize, Serialize};
use serde_with::{As, Same};

use super::text::{Text, checked_name};
use super::{MAX_NOTE, WireError, invalid, read, write};

/// Most engines of a run.
const MAX_ENGINES: usize = 1_000;

/// The result of an engine's benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// Nodes: the same wherever the program behaves the same.
    pub nodes: u64,
    /// Nodes per second; positive.
    pub nps: f64,
}

/// A worker asks whether it may play for a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Its name.
    #[serde(skip)]
    pub worker: String,
    /// The benchmark of each engine that was asked for one, by its index; an error says why there
    /// is none.
    #[serde(with = "As::<Vec<Option<Result<Same, Text>>>>")]
    pub benches: Vec<Option<Result<BenchResult, String>>>,
}

impl JoinRequest {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        write(self)
    }

    /// As it was sent by a worker.
    pub fn read(worker: &str, bytes: &[u8]) -> Result<JoinRequest, WireError> {
        let JoinRequest { benches, .. } = read(bytes, MAX_NOTE)?;
        if benches.len() > MAX_ENGINES {
            return Err(invalid("benchmarks of more than a thousand engines"));
        }
        let is_speed = |bench: &BenchResult| bench.nps.is_finite() && bench.nps > 0.0;
        if !benches.iter().flatten().flatten().all(is_speed) {
            return Err(invalid("a benchmark without a speed"));
        }
        Ok(JoinRequest { worker: checked_name(worker)?, benches })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nonsense_is_not() {
        let good = BenchResult { nodes: 7, nps: 1e6 };
        let join = JoinRequest {
            worker: "a".into(),
            benches: vec![None, Some(Ok(good)), Some(Err("no such word".into()))],
        };
        let bytes = join.write();
        assert_eq!(JoinRequest::read("a", &bytes), Ok(join));
        for nobody in ["", "a b", "a.", ".a", "a..b", "*", "a.>"] {
            assert!(JoinRequest::read(nobody, &bytes).is_err(), "{nobody}");
        }
        let text = String::from_utf8(bytes).unwrap();
        for (from, to) in [
            ("\"nps\":1000000.0", "\"nps\":0"),
            ("\"nps\":1000000.0", "\"nps\":-1"),
            ("\"v\":2", "\"v\":3"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text, "{from}");
            assert!(JoinRequest::read("a", changed.as_bytes()).is_err(), "{to}");
        }
    }
}
