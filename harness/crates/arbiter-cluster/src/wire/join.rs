//! A worker that would play for a run says what the run's engines are like on its machine, and is
//! told whether it may.

use serde::{Deserialize, Serialize};

use super::{MAX_NOTE, VERSION, WireError, checked_name, invalid, printable, read, write};

/// Most engines of a run.
const MAX_ENGINES: usize = 1_000;

/// The result of an engine's benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BenchResult {
    /// Nodes: the same wherever the program behaves the same.
    pub nodes: u64,
    /// Nodes per second; positive.
    pub nps: f64,
}

/// A worker asks whether it may play for a run.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinRequest {
    /// Its name.
    pub worker: String,
    /// The benchmark of each engine that was asked for one, by its index; an error says why there
    /// is none.
    pub benches: Vec<Option<Result<BenchResult, String>>>,
}

#[derive(Serialize, Deserialize)]
struct JoinRequestMessage {
    v: u32,
    benches: Vec<Option<BenchResultMessage>>,
}

#[derive(Serialize, Deserialize)]
struct BenchResultMessage {
    #[serde(default)]
    nodes: u64,
    #[serde(default)]
    nps: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl BenchResultMessage {
    fn of(bench: Result<BenchResult, String>) -> BenchResultMessage {
        match bench {
            Ok(BenchResult { nodes, nps }) => BenchResultMessage { nodes, nps, error: None },
            Err(error) => BenchResultMessage { nodes: 0, nps: 0.0, error: Some(error) },
        }
    }

    fn into_bench(self) -> Result<Result<BenchResult, String>, WireError> {
        match self.error {
            Some(error) => Ok(Err(printable(&error))),
            None if self.nps.is_finite() && self.nps > 0.0 => {
                Ok(Ok(BenchResult { nodes: self.nodes, nps: self.nps }))
            }
            None => Err(invalid("a benchmark without a speed")),
        }
    }
}

impl JoinRequest {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        let benches = self.benches.iter().cloned();
        let benches = benches.map(|bench| bench.map(BenchResultMessage::of)).collect();
        write(&JoinRequestMessage { v: VERSION, benches })
    }

    /// As it was sent by a worker.
    pub fn read(worker: &str, bytes: &[u8]) -> Result<JoinRequest, WireError> {
        let JoinRequestMessage { benches, .. } = read(bytes, MAX_NOTE)?;
        if benches.len() > MAX_ENGINES {
            return Err(invalid("benchmarks of more than a thousand engines"));
        }
        let benches = benches.into_iter().map(|bench| bench.map(BenchResultMessage::into_bench));
        let benches = benches.map(Option::transpose).collect::<Result<_, _>>()?;
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
            ("\"v\":1", "\"v\":2"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text, "{from}");
            assert!(JoinRequest::read("a", changed.as_bytes()).is_err(), "{to}");
        }
    }
}
