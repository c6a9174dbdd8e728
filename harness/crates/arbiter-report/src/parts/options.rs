//! Engine options and option files as text.

use arbiter_plan::Engine;

/// Number of hexadecimal digits shown for a hash.
const HASH_DIGITS: usize = 16;

/// Shortens a hash to its first 16 hexadecimal digits.
pub fn short_hash(hash: &str) -> String {
    hash.chars().take(HASH_DIGITS).collect()
}

/// Returns each option that names a file, with the name and the short hash of the file. `hashes`
/// contains the hashes of the option files, in the order of the options.
fn files<'a>(engine: &'a Engine, hashes: &'a [String]) -> impl Iterator<Item = (&'a str, String)> {
    engine.option_files().zip(hashes).map(|((option, path), hash)| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        (option, format!("{name} {}", short_hash(hash)))
    })
}

/// Formats the options that name files, such as `EvalFile=a.net 0123456789abcdef`.
pub(crate) fn files_text(engine: &Engine, hashes: &[String]) -> String {
    let files = files(engine, hashes).map(|(option, file)| format!("{option}={file}"));
    files.collect::<Vec<_>>().join(", ")
}

/// Formats all options that are sent to an engine, or `none` if no options are sent.
pub(crate) fn options_text(engine: &Engine, hashes: &[String]) -> String {
    let mut files = files(engine, hashes).peekable();
    let shown = engine.sent_options().into_iter().map(|(name, value)| {
        let file = files.next_if(|(option, _)| *option == name);
        format!("{name}={}", file.map_or(value, |(_, file)| file))
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    if shown.is_empty() { "none".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::{EngineSpec, resolve_engine};

    #[test]
    fn option_files_show_name_and_hash() {
        let spec = EngineSpec::parse("cmd=bundled,option.Hash=1,option.User=@@me").unwrap();
        let mut engine = resolve_engine(0, spec).unwrap();
        assert_eq!(options_text(&engine, &[]), "Hash=1, User=@me");
        assert_eq!(files_text(&engine, &[]), "");
        engine.options.push(("EvalFile".into(), "@/nets/a.net".into()));
        let hashes = ["0123456789abcdef0123".to_owned()];
        let shown = "EvalFile=a.net 0123456789abcdef";
        assert_eq!(options_text(&engine, &hashes), format!("Hash=1, User=@me, {shown}"));
        assert_eq!(files_text(&engine, &hashes), shown);
    }
}
