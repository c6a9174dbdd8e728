//! The options of the engine.

use crate::chess::uci_move::CastlingForm;
use crate::eval::Variant;
use crate::search::{Personality, Player};

const HASH_MAX_MB: usize = 65_536;
const OVERHEAD_MAX_MS: u64 = 10_000;

const NOTHING_DISABLED: &str =
    "Disable is empty again, as its features belonged to the evaluation or search before";

const EVAL_WITHOUT_EFFECT: &str =
    "Eval has no effect on this personality, which has an evaluation of its own";

/// The current values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Size of the transposition table, in MiB.
    pub(super) hash_mb: usize,
    /// Time lost per move between the engine and the arbiter's clock, in milliseconds.
    pub(super) move_overhead_ms: u64,
    /// The search and the evaluation in use, and what of them is switched off.
    pub(super) player: Player,
    /// The evaluation asked for; the personality's own if none was.
    eval: Option<Variant>,
    /// How castling is written.
    pub(super) castling: CastlingForm,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            hash_mb: 16,
            move_overhead_ms: 10,
            player: Player::default(),
            eval: None,
            castling: CastlingForm::KingTo,
        }
    }
}

/// What must happen after an option was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    None,
    /// The user is told something.
    Tell(&'static str),
    /// The memory gets its new size and owner.
    Renew,
    /// The memory gets its new size and owner, and the user is told something.
    RenewAndTell(&'static str),
    /// The memory is cleared.
    Clear,
    /// The memory is cleared and the user told something.
    ClearAndTell(&'static str),
}

impl Options {
    /// The lines that declare the options, in the order of the protocol's answer to `uci`.
    pub(super) fn declarations() -> Vec<String> {
        let defaults = Options::default();
        let variants: String =
            Variant::ALL.iter().map(|variant| format!(" var {}", variant.name())).collect();
        let personalities: String =
            Personality::ALL.iter().map(|one| format!(" var {}", one.name())).collect();
        vec![
            format!(
                "option name Hash type spin default {} min 1 max {HASH_MAX_MB}",
                defaults.hash_mb
            ),
            "option name Threads type spin default 1 min 1 max 1".to_owned(),
            format!(
                "option name Move Overhead type spin default {} min 0 max {OVERHEAD_MAX_MS}",
                defaults.move_overhead_ms
            ),
            format!(
                "option name Eval type combo default {}{variants}",
                defaults.player.eval.variant.name()
            ),
            format!(
                "option name Personality type combo default {}{personalities}",
                defaults.player.personality.name()
            ),
            "option name Disable type string default <empty>".to_owned(),
            "option name UCI_Chess960 type check default false".to_owned(),
            "option name Ponder type check default false".to_owned(),
            "option name Clear Hash type button".to_owned(),
        ]
    }

    /// Sets an option; names are compared without regard to case, as the protocol demands.
    ///
    /// # Errors
    ///
    /// Says what was expected; nothing has changed then.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<Effect, String> {
        match name.to_ascii_lowercase().as_str() {
            "hash" => {
                self.hash_mb = spin(name, value, 1, HASH_MAX_MB as u64)? as usize;
                Ok(Effect::Renew)
            }
            "threads" => spin(name, value, 1, 1).map(|_| Effect::None),
            "move overhead" => {
                self.move_overhead_ms = spin(name, value, 0, OVERHEAD_MAX_MS)?;
                Ok(Effect::None)
            }
            "eval" => {
                self.eval = Some(variant(value)?);
                Ok(self.choose_eval())
            }
            "personality" => {
                let personality = personality(value)?;
                if personality == self.player.personality {
                    return Ok(Effect::None);
                }
                let whole = self.player.is_whole();
                self.player = Player::new(personality, self.eval);
                Ok(if whole { Effect::Renew } else { Effect::RenewAndTell(NOTHING_DISABLED) })
            }
            "disable" => {
                let player = self.player.without(value).map_err(|unknown| unknown.to_string())?;
                let changed = player != self.player;
                self.player = player;
                Ok(if changed { Effect::Clear } else { Effect::None })
            }
            "uci_chess960" => {
                let on = check(name, value)?;
                self.castling = if on { CastlingForm::KingTakesRook } else { CastlingForm::KingTo };
                Ok(Effect::None)
            }
            // Pondering is ordered by `go ponder`; the option only announces that it may be.
            "ponder" => check(name, value).map(|_| Effect::None),
            "clear hash" => Ok(Effect::Clear),
            _ => Err(format!("unknown option \"{name}\"")),
        }
    }

    /// Makes the player use the evaluation asked for, if it can.
    fn choose_eval(&mut self) -> Effect {
        let Player { personality, eval, .. } = self.player;
        if personality.insists_on_evaluation() && self.eval != Some(eval.variant) {
            return Effect::Tell(EVAL_WITHOUT_EFFECT);
        }
        if self.eval == Some(eval.variant) {
            return Effect::None;
        }
        // What one evaluation has found out is wrong for another, and so are the names of its
        // features.
        let whole = self.player.is_whole();
        self.player = Player::new(personality, self.eval);
        if whole { Effect::Clear } else { Effect::ClearAndTell(NOTHING_DISABLED) }
    }
}

/// The personality of that name.
///
/// # Errors
///
/// Lists the names there are.
pub(super) fn personality(name: &str) -> Result<Personality, String> {
    let known = Personality::ALL.map(Personality::name).join(", ");
    Personality::from_name(name)
        .ok_or_else(|| format!("Personality must be one of {known}, not \"{name}\""))
}

/// The evaluation of that name.
///
/// # Errors
///
/// Lists the names there are.
pub(super) fn variant(name: &str) -> Result<Variant, String> {
    let known = Variant::ALL.map(Variant::name).join(", ");
    Variant::from_name(name).ok_or_else(|| format!("Eval must be one of {known}, not \"{name}\""))
}

fn spin(name: &str, value: &str, min: u64, max: u64) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("{name} must be a number from {min} to {max}, not \"{value}\""))
}

fn check(name: &str, value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("{name} must be true or false, not \"{value}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_set() {
        let mut options = Options::default();
        assert_eq!(options.set("HASH", "64"), Ok(Effect::Renew));
        assert_eq!(options.set("Move Overhead", "25"), Ok(Effect::None));
        assert_eq!(options.set("Eval", "material"), Ok(Effect::Clear));
        assert_eq!(options.set("eval", "Material"), Ok(Effect::None));
        assert_eq!(options.set("UCI_Chess960", "true"), Ok(Effect::None));
        assert_eq!(options.set("Clear Hash", ""), Ok(Effect::Clear));
        let expected = Options {
            hash_mb: 64,
            move_overhead_ms: 25,
            player: Variant::Material.into(),
            eval: Some(Variant::Material),
            castling: CastlingForm::KingTakesRook,
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn features_belong_to_an_evaluation() {
        let mut options = Options::default();
        assert_eq!(options.set("Disable", "tempo, OUTPOST"), Ok(Effect::Clear));
        assert_eq!(options.set("Disable", "outpost,tempo"), Ok(Effect::None));
        let error = options.set("Disable", "unstoppable").unwrap_err();
        assert!(error.contains("king_attack"), "{error}");
        assert!(!options.player.is_whole());
        let told = Ok(Effect::ClearAndTell(NOTHING_DISABLED));
        assert_eq!(options.set("Eval", "rybka-1.0-beta"), told);
        assert!(options.player.is_whole());
        assert_eq!(options.set("Disable", "unstoppable"), Ok(Effect::Clear));
        assert_eq!(options.set("Disable", "<empty>"), Ok(Effect::Clear));
        assert_eq!(options.player, Variant::Rybka1_0Beta.into());
    }

    #[test]
    fn a_personality_brings_its_evaluation_unless_another_is_asked_for() {
        let mut options = Options::default();
        assert_eq!(options.set("Personality", "MicroMax"), Ok(Effect::Renew));
        assert_eq!(options.player.eval, Variant::Micromax.into());
        assert_eq!(options.set("Disable", "castling,recapture_extension"), Ok(Effect::Clear));
        assert!(options.set("Disable", "tempo").is_err());
        assert_eq!(options.set("Eval", "blunder"), Ok(Effect::Tell(EVAL_WITHOUT_EFFECT)));
        assert_eq!(options.player.eval.variant, Variant::Micromax);
        let told = Ok(Effect::RenewAndTell(NOTHING_DISABLED));
        assert_eq!(options.set("Personality", "palimpsest"), told);
        assert_eq!(options.player, Variant::Blunder.into());
    }

    #[test]
    fn bad_values_change_nothing() {
        let mut options = Options::default();
        for (name, value) in [
            ("Hash", "0"),
            ("Hash", "70000"),
            ("Hash", "many"),
            ("Threads", "2"),
            ("Eval", "psychic"),
            ("Personality", "psychic"),
            ("Ponder", "maybe"),
            ("Disable", "moon"),
            ("Disable", "tempo,moon"),
            ("Moon", "full"),
        ] {
            assert!(options.set(name, value).is_err(), "{name} {value}");
        }
        assert_eq!(options, Options::default());
    }
}
