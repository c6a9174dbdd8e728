//! The stored form of where a program is from and how times were scaled.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use arbiter_plan::provenance::{Provenance, Scale};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProvenanceRow {
    repo: PathBuf,
    revision: String,
    commit: String,
    is_dirty: bool,
    bench: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct ScaleRow {
    reference_nps: f64,
    measured_nps: f64,
}

impl ProvenanceRow {
    pub(super) fn of(provenance: &Provenance) -> ProvenanceRow {
        let Provenance { repo, revision, commit, is_dirty, bench } = provenance.clone();
        ProvenanceRow { repo, revision, commit, is_dirty, bench }
    }

    pub(super) fn into_provenance(self) -> Provenance {
        let ProvenanceRow { repo, revision, commit, is_dirty, bench } = self;
        Provenance { repo, revision, commit, is_dirty, bench }
    }
}

impl ScaleRow {
    pub(super) fn of(scale: Scale) -> ScaleRow {
        let Scale { reference_nps, measured_nps } = scale;
        ScaleRow { reference_nps, measured_nps }
    }

    pub(super) fn into_scale(self) -> Scale {
        let ScaleRow { reference_nps, measured_nps } = self;
        Scale { reference_nps, measured_nps }
    }
}
