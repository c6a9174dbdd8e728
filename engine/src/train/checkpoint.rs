//! State of a training run, saved after each epoch.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::model::PARAMETERS;
use super::{Data, EpochErrors, Settings};
use crate::datagen::sync_folder;

/// State of a training run.
pub(super) struct Checkpoint {
    pub(super) weights: Vec<f32>,
    /// Exponential moving average of the gradients (Adam).
    pub(super) mean: Vec<f32>,
    /// Exponential moving average of the squared gradients (Adam).
    pub(super) square: Vec<f32>,
    pub(super) steps: u32,
    /// Errors of each epoch.
    pub(super) errors: Vec<EpochErrors>,
}

/// Returns the header line, which identifies the data and settings of the training run.
fn header(data: &Data, settings: Settings) -> String {
    let Settings { epochs, batch, rate, result_share, seed, start, .. } = settings;
    let [training, validation, games] = data.counts();
    let start = start.map_or(String::new(), |network| format!(", from {network:?}"));
    format!(
        "palimpsest checkpoint 1: {training} + {validation} positions of {games} games ({:016x}), \
         {epochs} epochs, batch {batch}, rate {rate}, results {result_share}, seed {seed}, \
         {PARAMETERS} parameters{start}\n",
        data.hash
    )
}

impl Checkpoint {
    /// Returns the state before the first epoch.
    pub(super) fn start(weights: Vec<f32>) -> Checkpoint {
        let zero = vec![0.0; PARAMETERS];
        Checkpoint { weights, mean: zero.clone(), square: zero, steps: 0, errors: Vec::new() }
    }

    /// Returns the state stored in a file; `None` if the file does not exist. Returns an error if
    /// the file belongs to a training run with other data or settings.
    pub(super) fn read(
        path: &Path,
        data: &Data,
        settings: Settings,
    ) -> io::Result<Option<Checkpoint>> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let header = header(data, settings);
        let Some(rest) = bytes.strip_prefix(header.as_bytes()) else {
            let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let found = String::from_utf8_lossy(&line[..line.len().min(400)]);
            return Err(io::Error::other(format!(
                "the checkpoint belongs to '{found}', not to '{}'; remove the file to start again",
                header.trim_end()
            )));
        };
        Checkpoint::parse(rest).map(Some).ok_or_else(|| io::Error::other("it is damaged"))
    }

    fn parse(bytes: &[u8]) -> Option<Checkpoint> {
        let (steps, rest) = bytes.split_first_chunk()?;
        let (numbers, errors) = rest.split_at_checked(3 * PARAMETERS * 4)?;
        let (numbers, _) = numbers.as_chunks();
        let mut parts = numbers.chunks_exact(PARAMETERS).map(|part| -> Vec<f32> {
            part.iter().map(|number| f32::from_le_bytes(*number)).collect()
        });
        let [weights, mean, square] = [parts.next()?, parts.next()?, parts.next()?];
        let (errors, trailing) = errors.as_chunks::<16>();
        let errors = errors.iter().map(|pair| {
            let number_at = |at: usize| {
                pair[at..at + 8].try_into().map(f64::from_le_bytes).expect("eight bytes")
            };
            EpochErrors { training: number_at(0), validation: number_at(8) }
        });
        let steps = u32::from_le_bytes(*steps);
        let errors = errors.collect();
        trailing.is_empty().then_some(Checkpoint { weights, mean, square, steps, errors })
    }

    /// Replaces the checkpoint file atomically.
    pub(super) fn write(&self, path: &Path, data: &Data, settings: Settings) -> io::Result<()> {
        let mut bytes = header(data, settings).into_bytes();
        bytes.extend(self.steps.to_le_bytes());
        for number in [&self.weights, &self.mean, &self.square].into_iter().flatten() {
            bytes.extend(number.to_le_bytes());
        }
        for errors in &self.errors {
            bytes.extend(errors.training.to_le_bytes());
            bytes.extend(errors.validation.to_le_bytes());
        }
        replace(path, &bytes)
    }
}

/// Replaces the contents of `path`. The contents are first written to a temporary file, which is
/// then renamed, so that `path` never contains an incomplete file, even after a power failure.
/// Returns an error if `path` is a folder or a device.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A rename would replace a device such as `/dev/null` with a file.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    let beside = temporary_path(path);
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    // The contents must reach the disk before the rename. Otherwise, a power failure could leave
    // `path` without contents.
    fs::rename(beside, path)?;
    // The rename is on disk only after the folder has been synchronized. Before the
    // synchronization, a power failure could restore the old file.
    sync_folder(path)
}

/// Returns the path of the temporary file that [`replace`] writes.
pub(crate) fn temporary_path(path: &Path) -> PathBuf {
    path.with_added_extension("new")
}
