//! CECP `feature` lines.

use crate::uci::{OptionDeclaration, OptionKind};

/// Splits a string such as `ping=1 myname="Some Engine"` into names and values.
pub(super) fn parse(mut text: &str) -> Vec<(&str, &str)> {
    let mut features = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let rest = rest.trim_start();
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        // Additional words before the name are ignored; they occur, for example, after a missing
        // quotation mark.
        let name = name.split_whitespace().next_back().unwrap_or_default();
        features.push((name, value));
        text = rest;
    }
    features
}

/// Features of an engine. The defaults are the values that the protocol specifies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Features {
    pub(super) ping: bool,
    pub(super) setboard: bool,
    pub(super) san: bool,
    pub(super) usermove: bool,
    /// `true` if the engine does not accept `time` and `otim`.
    pub(super) is_untimed: bool,
    /// `true` if the engine has to be restarted for each game.
    pub(crate) plays_once: bool,
    pub(super) name: bool,
    pub(crate) chess960: bool,
    pub(super) memory: bool,
    pub(super) smp: bool,
}

impl Features {
    /// Stores a feature. Returns `false` if the feature is unsupported and must be rejected.
    pub(super) fn set(&mut self, name: &str, value: &str) -> bool {
        let on = value == "1";
        match name {
            "ping" => self.ping = on,
            "setboard" => self.setboard = on,
            "san" => self.san = on,
            "usermove" => self.usermove = on,
            "time" => self.is_untimed = !on,
            "reuse" => self.plays_once = !on,
            "name" => self.name = on,
            "memory" => self.memory = on,
            "smp" => self.smp = on,
            "variants" => {
                self.chess960 = value.split(',').any(|name| name.trim() == "fischerandom");
            }
            // These features are rejected, because Arbiter sends neither signals nor the commands
            // `white` and `black`.
            "sigint" | "sigterm" | "colors" => return !on,
            // Arbiter never uses these features, but some engines complain if they are rejected.
            "analyze" | "playother" | "draw" | "pause" | "ics" | "debug" => {}
            _ => return false,
        }
        true
    }
}

/// Parses the option in `feature option="NAME -TYPE REST"`.
pub(super) fn option(text: &str) -> Option<OptionDeclaration> {
    let (name, rest) = text.split_once(" -")?;
    let (kind, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let kind = match kind {
        "check" => OptionKind::Check,
        "spin" | "slider" => {
            let mut numbers = rest.split_whitespace().map(|word| word.parse().ok());
            // The current value comes first.
            let mut bound = |index| numbers.nth(index).flatten();
            // A missing bound counts as no restriction, so that no value is rejected because of an
            // incomplete declaration.
            OptionKind::Spin {
                min: bound(1).unwrap_or(i64::MIN),
                max: bound(0).unwrap_or(i64::MAX),
            }
        }
        "combo" => {
            // An asterisk marks the default.
            let values = rest.split("///").map(|value| value.trim().trim_start_matches('*'));
            OptionKind::Combo { values: values.map(str::to_owned).collect() }
        }
        "button" | "save" | "reset" => OptionKind::Button,
        "string" | "file" | "path" => OptionKind::String,
        _ => return None,
    };
    Some(OptionDeclaration { name: name.trim().to_owned(), kind, default: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_split() {
        let check = |text: &str, expect: &[(&str, &str)]| assert_eq!(parse(text), expect, "{text}");
        check("ping=1 setboard=1 done=1", &[("ping", "1"), ("setboard", "1"), ("done", "1")]);
        check(
            r#"myname="A = B 1.0" variants="normal,nocastle"done=1"#,
            &[("myname", "A = B 1.0"), ("variants", "normal,nocastle"), ("done", "1")],
        );
        check("nonsense", &[]);
        check("", &[]);
        check(r#"myname="open"#, &[("myname", "open")]);
        check("a b=1", &[("b", "1")]);
    }

    #[test]
    fn options_are_parsed() {
        let check = |text: &str, kind: Option<OptionKind>| {
            assert_eq!(option(text).map(|o| o.kind), kind, "{text}");
        };
        check("Resign -check 0", Some(OptionKind::Check));
        check("Level -spin 800 200 1200", Some(OptionKind::Spin { min: 200, max: 1200 }));
        check("Level -slider 20 0 100", Some(OptionKind::Spin { min: 0, max: 100 }));
        let values = vec!["Calm".to_owned(), "Wild One".to_owned()];
        check("Style -combo Calm /// *Wild One", Some(OptionKind::Combo { values }));
        check("Clear Hash -button", Some(OptionKind::Button));
        check("Book -file /a/b", Some(OptionKind::String));
        check("Odd -knob 3", None);
        check("Odd", None);
        assert_eq!(option("Clear Hash -button").unwrap().name, "Clear Hash");
    }

    #[test]
    fn useless_features_are_rejected() {
        let mut features = Features::default();
        assert!(features.set("ping", "1") && features.ping);
        assert!(features.set("colors", "0") && features.set("analyze", "1"));
        assert!(!features.set("colors", "1"));
        assert!(!features.set("telepathy", "1"));
        assert!(features.set("variants", "normal, fischerandom") && features.chess960);
    }
}
