//! Files named by option values, as in `option.EvalFile=@nets/a.nnue`.

use std::path::{Path, PathBuf};

use crate::Engine;

/// Maximum size of an option file, in bytes. The size is limited because the complete file is in
/// memory while the file is sent to workers.
const MAX_BYTES: u64 = 1 << 30;

/// Returns the path in a value of the form `@PATH`; `None` for a literal value, in which a leading
/// `@@` stands for `@`.
pub(crate) fn named_file(value: &str) -> Option<&str> {
    value.strip_prefix('@').filter(|path| !path.starts_with('@'))
}

/// Returns the value, with an absolute path if the value has the form `@PATH`. The error is the
/// reason why the file cannot be used.
pub(crate) fn resolved(value: &str) -> Result<String, String> {
    let Some(path) = named_file(value) else { return Ok(value.to_owned()) };
    let data = std::fs::metadata(path)
        .map_err(|error| format!("{path}: {error}; write @@ for a value that begins with @"))?;
    if !data.is_file() {
        return Err(format!("{path} is not a file"));
    }
    if data.len() > MAX_BYTES {
        return Err(format!("{path} has {} bytes, more than the limit of {MAX_BYTES}", data.len()));
    }
    let absolute = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
    let utf8 = absolute.to_str().ok_or_else(|| format!("{} is not UTF-8", absolute.display()))?;
    Ok(format!("@{utf8}"))
}

impl Engine {
    /// Returns the name of each option whose value names a file, and the path of this file.
    pub fn option_files(&self) -> impl Iterator<Item = (&str, &Path)> {
        let options = self.options.iter();
        options.filter_map(|(name, value)| Some((name.as_str(), Path::new(named_file(value)?))))
    }

    /// Returns the engine with `paths` in place of the paths of the option files, in the order of
    /// the options.
    pub fn with_option_files(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Engine {
        let mut values = self.options.iter_mut().map(|(_, value)| value);
        for path in paths {
            let Some(value) = values.find(|value| named_file(value).is_some()) else { break };
            *value = format!("@{}", path.display());
        }
        self
    }

    /// Returns the options in the form that is sent to the engine: `@PATH` as the path, and `@@` at
    /// the start of a value as `@`.
    pub fn sent_options(&self) -> Vec<(String, String)> {
        // The first `@` is removed in both cases: `@PATH` names a file, and `@@TEXT` stands for the
        // text `@TEXT`.
        let without_escape = |value: &String| value.strip_prefix('@').unwrap_or(value).to_owned();
        self.options.iter().map(|(name, value)| (name.clone(), without_escape(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineSpec, resolve_engine};

    #[test]
    fn an_option_names_a_file_or_is_text() {
        let dir = tempfile::tempdir().unwrap();
        let net = dir.path().join("a.net");
        std::fs::write(&net, "weights").unwrap();
        let text = format!(
            "cmd=bundled,option.EvalFile=@{},option.User=@@me,option.Hash=1",
            net.display()
        );
        let engine = resolve_engine(0, EngineSpec::parse(&text).unwrap()).unwrap();
        assert_eq!(engine.option_files().collect::<Vec<_>>(), [("EvalFile", net.as_path())]);
        let values: Vec<String> =
            engine.sent_options().into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [net.to_str().unwrap(), "@me", "1"]);
        let moved = engine.with_option_files(["/cache/b.net".into()]);
        assert_eq!(moved.sent_options()[0].1, "/cache/b.net");
        assert_eq!(moved.sent_options()[1].1, "@me");
    }

    #[test]
    fn unusable_option_files_are_named_in_the_error() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |path: &Path, part: &str| {
            let text = format!("cmd=bundled,option.EvalFile=@{}", path.display());
            let error =
                resolve_engine(0, EngineSpec::parse(&text).unwrap()).unwrap_err().to_string();
            assert!(error.contains("option EvalFile") && error.contains(part), "{error}");
            assert!(error.contains(path.to_str().unwrap()), "{error}");
        };
        refused(&dir.path().join("none.net"), "No such file");
        refused(dir.path(), "is not a file");
        let large = dir.path().join("large.net");
        std::fs::File::create(&large).unwrap().set_len(MAX_BYTES + 1).unwrap();
        refused(&large, "more than the limit");
    }

    #[test]
    fn default_engine_names_include_option_files() {
        let dir = tempfile::tempdir().unwrap();
        let net = dir.path().join("a.net");
        std::fs::write(&net, "weights").unwrap();
        let text = format!("cmd=bundled,option.EvalFile=@{}", net.display());
        let engine = resolve_engine(0, EngineSpec::parse(&text).unwrap()).unwrap();
        assert_eq!(engine.name, "palimpsest-a");
    }
}
