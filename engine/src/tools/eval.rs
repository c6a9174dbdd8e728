//! The command `eval`, which prints the static evaluation term by term.

use clap::Args;

use super::{Output, position};
use crate::chess::Game;
use crate::failure::Failure;
use crate::search::Configuration;
use crate::uci::explain;
use crate::uci::options::{personality, variant};

/// Print the static evaluation of a position, term by term
#[derive(Args)]
pub(super) struct EvalArgs {
    /// Evaluation; by default the hand-crafted one, because a network has no terms
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Search; --features also lists its features, and its evaluation is the default
    #[arg(long, value_name = "NAME")]
    personality: Option<String>,
    /// Features to disable, separated by commas
    #[arg(long, value_name = "FEATURES", default_value = "", hide_default_value = true)]
    disable: String,
    /// Experiments to enable, separated by commas
    #[arg(long, value_name = "EXPERIMENTS", default_value = "", hide_default_value = true)]
    enable: String,
    /// List the features that --disable can name
    #[arg(long)]
    features: bool,
    /// List the experiments that --enable can name
    #[arg(long)]
    experiments: bool,
    /// The position; by default the starting position
    fen: Vec<String>,
}

impl EvalArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let configuration = self.configuration()?;
        if self.features || self.experiments {
            self.list(&configuration, output);
            return Ok(());
        }
        let position = position(&self.fen)?;
        output.line(&explain::table(configuration.eval, &Game::new(position)));
        Ok(())
    }

    fn configuration(&self) -> Result<Configuration, Failure> {
        let personality = self.personality.as_deref().map(personality).transpose();
        let variant = self.variant.as_deref().map(variant).transpose();
        let personality = personality.map_err(Failure::input)?.unwrap_or_default();
        Configuration::with_features(personality, variant.map_err(Failure::input)?)
            .without(&self.disable)
            .and_then(|configuration| configuration.trying(&self.enable))
            .map_err(Failure::input)
    }

    /// Prints the names and descriptions of features or experiments.
    fn list(&self, configuration: &Configuration, output: &Output) {
        let variant = configuration.eval.variant;
        let all = if self.features { configuration.features() } else { variant.experiments() };
        for feature in &all {
            output.line(&format!("{:<23}{}", feature.name, feature.about));
        }
        if all.is_empty() {
            output.line(&format!("{} has none.", variant.name()));
        }
    }
}
