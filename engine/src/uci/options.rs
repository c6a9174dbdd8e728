//! UCI options of the engine.

use std::path::Path;

use crate::chess::uci_move::CastlingForm;
use crate::eval::Variant;
use crate::eval::feature::UnknownFeature;
use crate::eval::nnue::network::Network;
use crate::input;
use crate::search::{Configuration, Personality};

use super::effect::{Change, Effect};
use super::tuning::{tunable, tune};
use super::values::{check, combo_line, spin, spin_line};

/// Maximum size of the hash table, in MiB: 1 TiB.
const HASH_MAX_MB: usize = 1 << 20;
const THREADS_MAX: usize = 256;
/// Maximum number of principal variations. No position has more legal moves.
const LINES_MAX: usize = 256;
const OVERHEAD_MAX_MS: u64 = 10_000;
const NODES_PER_MS_MAX: u64 = 1_000_000;

/// Value of `EvalFile` for the embedded network.
const EMBEDDED: &str = "<embedded>";

const NOTHING_DISABLED: &str = "Disable and Enable are cleared, because they named features of the previous evaluation or search";

const EVAL_WITHOUT_EFFECT: &str =
    "Eval has no effect on this personality, which has its own evaluation";

const SINGLE_THREADED: &str = "this personality ignores Threads and searches with one thread";

const SINGLE_LINE: &str = "this personality ignores MultiPV and reports one line";

/// Current values of the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Requested size of the transposition table, in MiB.
    pub(super) hash_mb: usize,
    /// Number of threads of a search.
    pub(super) threads: usize,
    /// Number of principal variations (MultiPV).
    pub(super) lines: usize,
    /// Time, in milliseconds, that communication between engine and GUI takes for each move.
    pub(super) move_overhead_ms: u64,
    /// Number of nodes that count as 1 ms on the clock; 0 for real time.
    pub(super) nodes_per_ms: u64,
    /// Current search and evaluation, with disabled features and enabled experiments.
    pub(super) configuration: Configuration,
    /// Requested evaluation; `None` for the personality's own evaluation.
    eval: Option<Variant>,
    /// Network in `EvalFile`; `None` for the embedded network.
    network: Option<&'static Network>,
    /// Notation of castling.
    pub(super) castling: CastlingForm,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            hash_mb: 16,
            threads: 1,
            lines: 1,
            move_overhead_ms: 10,
            nodes_per_ms: 0,
            configuration: Configuration::default(),
            eval: None,
            network: None,
            castling: CastlingForm::KingTo,
        }
    }
}

impl Options {
    /// Returns the lines that declare the options, in the order of the reply to `uci`.
    pub(super) fn declarations() -> Vec<String> {
        let defaults = Options::default();
        let Configuration { personality, eval, .. } = defaults.configuration;
        let mut lines = vec![
            spin_line("Hash", defaults.hash_mb, 1, HASH_MAX_MB),
            spin_line("Threads", defaults.threads, 1, THREADS_MAX),
            spin_line("MultiPV", defaults.lines, 1, LINES_MAX),
            spin_line("Move Overhead", defaults.move_overhead_ms, 0, OVERHEAD_MAX_MS),
            spin_line("nodestime", defaults.nodes_per_ms, 0, NODES_PER_MS_MAX),
            combo_line("Eval", eval.variant.name(), &Variant::ALL.map(Variant::name)),
            format!("option name EvalFile type string default {EMBEDDED}"),
            combo_line("Personality", personality.name(), &Personality::ALL.map(Personality::name)),
            "option name Disable type string default <empty>".to_owned(),
            "option name Enable type string default <empty>".to_owned(),
            "option name UCI_Chess960 type check default false".to_owned(),
            "option name Ponder type check default false".to_owned(),
            "option name Clear Hash type button".to_owned(),
        ];
        lines.extend(tunable());
        lines
    }

    /// Sets an option. As the protocol requires, the case of the name is ignored.
    ///
    /// # Errors
    ///
    /// Returns a message with the expected value; in this case, no option changes.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<Effect, String> {
        match name.to_ascii_lowercase().as_str() {
            "hash" => {
                self.hash_mb = spin(name, value, 1, HASH_MAX_MB)?;
                Ok(Change::Resize.into())
            }
            "threads" => {
                self.threads = spin(name, value, 1, THREADS_MAX)?;
                Ok(self.add_threads_note(Change::SetThreads.into()))
            }
            "multipv" => {
                self.lines = spin(name, value, 1, LINES_MAX)?;
                Ok(self.add_lines_note(Effect::default()))
            }
            "move overhead" => {
                self.move_overhead_ms = spin(name, value, 0, OVERHEAD_MAX_MS)?;
                Ok(Effect::default())
            }
            "nodestime" => {
                self.nodes_per_ms = spin(name, value, 0, NODES_PER_MS_MAX)?;
                Ok(Effect::default())
            }
            "eval" => {
                self.eval = Some(variant(value)?);
                Ok(self.choose_eval())
            }
            "evalfile" => {
                self.network = network(name, value)?;
                self.configuration.eval.network = self.network;
                Ok(Change::Clear.into())
            }
            "personality" => {
                let personality = personality(value)?;
                if personality == self.configuration.personality {
                    return Ok(Effect::default());
                }
                let was_unaltered = self.configuration.is_unaltered();
                self.configure(personality);
                let effect = Effect::from(Change::Personality)
                    .with_note_if(!was_unaltered, NOTHING_DISABLED);
                Ok(self.add_lines_note(self.add_threads_note(effect)))
            }
            "disable" => self.alter(self.configuration.without(value)),
            "enable" => self.alter(self.configuration.trying(value)),
            "uci_chess960" => {
                let on = check(name, value)?;
                self.castling = if on { CastlingForm::KingTakesRook } else { CastlingForm::KingTo };
                Ok(Effect::default())
            }
            // `go ponder` starts pondering. The option only announces that the GUI may send this
            // command.
            "ponder" => check(name, value).map(|_| Effect::default()),
            "clear hash" => Ok(Change::Clear.into()),
            _ => tune(name, value),
        }
    }

    /// Replaces the configuration with `altered`, which can have other features or experiments. If
    /// the configurations differ, the memory is cleared, because the stored scores depend on the
    /// features and experiments.
    fn alter(&mut self, altered: Result<Configuration, UnknownFeature>) -> Result<Effect, String> {
        let altered = altered.map_err(|unknown| self.configuration.refusal(&unknown))?;
        let change = if altered == self.configuration { Change::None } else { Change::Clear };
        self.configuration = altered;
        Ok(change.into())
    }

    /// Sets a personality with the requested evaluation and network. All features are enabled.
    fn configure(&mut self, personality: Personality) {
        self.configuration = Configuration::new(personality, self.eval);
        self.configuration.eval.network = self.network;
    }

    /// Applies the requested evaluation, if the personality allows evaluations other than its own.
    fn choose_eval(&mut self) -> Effect {
        let Configuration { personality, eval, .. } = self.configuration;
        if personality.requires_own_evaluation() && self.eval != Some(eval.variant) {
            return Effect::default().with_note_if(true, EVAL_WITHOUT_EFFECT);
        }
        if self.eval == Some(eval.variant) {
            return Effect::default();
        }
        // Table entries and feature names of one evaluation are invalid for another evaluation.
        let was_unaltered = self.configuration.is_unaltered();
        self.configure(personality);
        Effect::from(Change::Clear).with_note_if(!was_unaltered, NOTHING_DISABLED)
    }

    /// Adds a note if the personality cannot use the requested number of threads.
    fn add_threads_note(&self, effect: Effect) -> Effect {
        let is_single = self.configuration.personality.is_single_threaded();
        effect.with_note_if(is_single && self.threads > 1, SINGLE_THREADED)
    }

    /// Adds a note if the personality cannot find the requested number of lines.
    fn add_lines_note(&self, effect: Effect) -> Effect {
        let is_single = self.configuration.personality.is_single_threaded();
        effect.with_note_if(is_single && self.lines > 1, SINGLE_LINE)
    }
}

/// Returns the personality with this name.
///
/// # Errors
///
/// Returns a message that lists the known names.
pub(crate) fn personality(name: &str) -> Result<Personality, String> {
    let known = Personality::ALL.map(Personality::name).join(", ");
    Personality::from_name(name)
        .ok_or_else(|| format!("Personality must be one of {known}, not \"{name}\""))
}

/// Returns the evaluation with this name.
///
/// # Errors
///
/// Returns a message that lists the known names.
pub(crate) fn variant(name: &str) -> Result<Variant, String> {
    let known = Variant::ALL.map(Variant::name).join(", ");
    Variant::from_name(name).ok_or_else(|| format!("Eval must be one of {known}, not \"{name}\""))
}

/// Returns the network in a file; `None` for the embedded network. The network is leaked, because a
/// search may use the network until the process ends.
pub(crate) fn network(name: &str, value: &str) -> Result<Option<&'static Network>, String> {
    if value.is_empty() || value == EMBEDDED {
        return Ok(None);
    }
    let message = |reason: String| format!("{name}: {value}: {reason}");
    let bytes = input::read(Path::new(value)).map_err(|error| message(error.to_string()))?;
    let network = Network::read(&bytes).map_err(|error| message(error.to_string()))?;
    Ok(Some(Box::leak(Box::new(network))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(change: Change) -> Result<Effect, String> {
        applied_with_notes(change, &[])
    }

    fn applied_with_notes(change: Change, notes: &[&'static str]) -> Result<Effect, String> {
        Ok(Effect { change, notes: notes.to_vec() })
    }

    #[test]
    fn options_are_set() {
        let mut options = Options::default();
        assert_eq!(options.set("HASH", "64"), applied(Change::Resize));
        assert_eq!(options.set("threads", "256"), applied(Change::SetThreads));
        assert_eq!(options.set("MultiPV", "3"), applied(Change::None));
        assert_eq!(options.set("Move Overhead", "25"), applied(Change::None));
        assert_eq!(options.set("NodesTime", "600"), applied(Change::None));
        assert_eq!(options.set("Eval", "material"), applied(Change::Clear));
        assert_eq!(options.set("eval", "Material"), applied(Change::None));
        assert_eq!(options.set("UCI_Chess960", "true"), applied(Change::None));
        assert_eq!(options.set("Clear Hash", ""), applied(Change::Clear));
        let expected = Options {
            hash_mb: 64,
            threads: 256,
            lines: 3,
            move_overhead_ms: 25,
            nodes_per_ms: 600,
            configuration: Variant::Material.into(),
            eval: Some(Variant::Material),
            network: None,
            castling: CastlingForm::KingTakesRook,
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn features_belong_to_an_evaluation() {
        let mut options = Options::default();
        let error = options.set("Disable", "tempo").unwrap_err();
        assert!(error.ends_with("there are none with Eval nnue"), "{error}");
        assert_eq!(options.set("Eval", "palimpsest"), applied(Change::Clear));
        assert_eq!(options.set("Disable", "tempo, OUTPOST"), applied(Change::Clear));
        assert_eq!(options.set("Disable", "outpost,tempo"), applied(Change::None));
        let error = options.set("Disable", "unstoppable").unwrap_err();
        assert!(error.contains("king_attack"), "{error}");
        assert!(!options.configuration.is_unaltered());
        let expected = applied_with_notes(Change::Clear, &[NOTHING_DISABLED]);
        assert_eq!(options.set("Eval", "rybka-1.0-beta"), expected);
        assert!(options.configuration.is_unaltered());
        assert_eq!(options.set("Disable", "unstoppable"), applied(Change::Clear));
        assert_eq!(options.set("Disable", "<empty>"), applied(Change::Clear));
        assert_eq!(options.configuration, Variant::Rybka1_0Beta.into());
    }

    #[test]
    fn a_personality_sets_its_evaluation_unless_one_is_given() {
        let mut options = Options::default();
        assert_eq!(options.set("Personality", "MicroMax"), applied(Change::Personality));
        assert_eq!(options.configuration.eval, Variant::Micromax.into());
        assert_eq!(options.set("Disable", "castling,recapture_extension"), applied(Change::Clear));
        assert!(options.set("Disable", "tempo").is_err());
        assert_eq!(
            options.set("Eval", "blunder"),
            applied_with_notes(Change::None, &[EVAL_WITHOUT_EFFECT])
        );
        assert_eq!(options.configuration.eval.variant, Variant::Micromax);
        let expected = applied_with_notes(Change::Personality, &[NOTHING_DISABLED]);
        assert_eq!(options.set("Personality", "palimpsest"), expected);
        assert_eq!(options.configuration, Variant::Blunder.into());
    }

    #[test]
    fn unsupported_features_of_a_personality_are_errors() {
        let mut options = Options::default();
        assert_eq!(options.set("Threads", "2"), applied(Change::SetThreads));
        let one_note = applied_with_notes(Change::Personality, &[SINGLE_THREADED]);
        assert_eq!(options.set("Personality", "rdchess"), one_note);
        assert_eq!(options.set("Threads", "1"), applied(Change::SetThreads));
        assert_eq!(options.set("MultiPV", "2"), applied_with_notes(Change::None, &[SINGLE_LINE]));
        assert_eq!(
            options.set("Threads", "3"),
            applied_with_notes(Change::SetThreads, &[SINGLE_THREADED])
        );
        let two_notes = applied_with_notes(Change::Personality, &[SINGLE_THREADED, SINGLE_LINE]);
        assert_eq!(options.set("Personality", "micromax"), two_notes);
        assert_eq!(options.set("Personality", "palimpsest"), applied(Change::Personality));
    }

    #[test]
    fn bad_values_change_nothing() {
        let mut options = Options::default();
        for (name, value) in [
            ("Hash", "0"),
            ("Hash", "1048577"),
            ("Hash", "many"),
            ("Threads", "0"),
            ("Threads", "257"),
            ("MultiPV", "0"),
            ("MultiPV", "999999999999999999999"),
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
