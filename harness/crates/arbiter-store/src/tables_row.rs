//! The stored form of what endgame tables decide.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use arbiter_game::adjudicate::{Scope, TablebaseRule};

/// Where tables are, and which games they end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TablesRow {
    paths: Vec<PathBuf>,
    pieces: u32,
    ignore_fifty: bool,
    scope: String,
}

impl TablesRow {
    pub(super) fn of(rule: TablebaseRule, paths: &[PathBuf]) -> TablesRow {
        let TablebaseRule { pieces, ignores_fifty, scope } = rule;
        let scope = scope.as_str().to_owned();
        TablesRow { paths: paths.to_vec(), pieces, ignore_fifty: ignores_fifty, scope }
    }

    pub(super) fn into_rule(self) -> Result<(TablebaseRule, Vec<PathBuf>), String> {
        let TablesRow { paths, pieces, ignore_fifty, scope } = self;
        let scope: Scope =
            scope.parse().map_err(|_| format!("plan: '{scope}' is no scope of tables"))?;
        Ok((TablebaseRule { pieces, ignores_fifty: ignore_fifty, scope }, paths))
    }
}
