//! Self-play games of the engine from random openings.

use super::Settings;
use super::record::{GameResult, Record};
use super::walks::walk;
use crate::chess::outcome::Outcome;
use crate::chess::{Game, Move};
use crate::eval::Score;
use crate::eval::score::is_mate;
use crate::random::{Random, mix};
use crate::search::{Limits, Memory, Request, SearchResult, Signals, search};
use crate::time::Timer;
use crate::tt::OutOfMemory;

/// Size of the transposition table, in MiB. The table is cleared before each game.
const HASH_MB: usize = 8;

/// Ratio of the hard node limit to the soft node limit. After the soft limit, a search starts no
/// new iteration.
const HARD_PER_SOFT: u64 = 10;

/// Maximum absolute score, in centipawns, of a random opening. Other openings are rejected.
const OPENING_SCORE_MAX: Score = 400;

/// Minimum score, in centipawns, at which a game is adjudicated as a win. The same side must reach
/// the score on [`WIN_PLIES`] consecutive plies.
const WIN_SCORE: Score = 2_000;
const WIN_PLIES: u32 = 5;

/// Maximum absolute score, in centipawns, at which a game is adjudicated as a draw. The score must
/// stay within this limit on [`DRAW_PLIES`] consecutive plies. The first [`DRAW_FROM_PLY`] plies of
/// a game do not count.
const DRAW_SCORE: Score = 8;
const DRAW_PLIES: u32 = 12;
const DRAW_FROM_PLY: usize = 80;

/// Length, in plies, at which a game is adjudicated as a draw.
const PLIES_MAX: usize = 400;

/// Player that plays both sides of a game.
pub(super) struct Player {
    settings: Settings,
    memory: Memory,
    limits: Limits,
    signals: Signals,
}

impl Player {
    pub(super) fn new(settings: Settings) -> Result<Player, OutOfMemory> {
        let limits = Limits {
            soft_nodes: Some(settings.nodes),
            nodes: Some(settings.nodes.saturating_mul(HARD_PER_SOFT)),
            ..Limits::default()
        };
        let memory = Memory::new(HASH_MB)?;
        Ok(Player { settings, memory, limits, signals: Signals::default() })
    }

    /// Plays the game with this number and returns at least one record. If a game gives no record,
    /// a new game is played from another opening. The records depend only on the settings and the
    /// number.
    pub(super) fn play(&mut self, number: u64) -> Vec<Record> {
        let mut random = self.random(number);
        loop {
            let opening = self.fair_opening(&mut random);
            let records = self.continue_game(opening, &mut random);
            if !records.is_empty() {
                return records;
            }
        }
    }

    /// Returns the first opening of the game with this number.
    pub(super) fn first_opening(&mut self, number: u64) -> Game {
        let mut random = self.random(number);
        self.fair_opening(&mut random)
    }

    fn random(&self, number: u64) -> Random {
        // The number is inverted, because an equal seed and number would otherwise cancel out.
        Random::new(mix(self.settings.seed) ^ mix(!number))
    }

    fn fair_opening(&mut self, random: &mut Random) -> Game {
        loop {
            // The memory is cleared because a game must not depend on earlier games: with several
            // threads, any thread may play any game.
            self.memory.clear();
            if let Some(opening) = self.opening(random) {
                return opening;
            }
        }
    }

    fn search(&mut self, game: &Game) -> SearchResult {
        let timer = Timer::start(None);
        let request = Request { game, limits: &self.limits, timer: &timer, signals: &self.signals };
        search(self.settings.eval, request, &mut self.memory, &mut |_| {})
    }

    /// Returns a game after random moves; `None` if the game is over, or if the absolute score
    /// exceeds [`OPENING_SCORE_MAX`].
    fn opening(&mut self, random: &mut Random) -> Option<Game> {
        let mut game = Game::new(crate::chess::Position::startpos());
        // The number of plies varies by one, so that either side may be to move.
        for _ in 0..self.settings.random_plies + random.below(2) {
            let moves = game.position().legal_moves();
            if moves.is_empty() {
                return None;
            }
            game.play(moves[random.below(moves.len())]);
        }
        let is_over = game.position().outcome().is_some();
        (!is_over && self.search(&game).score.abs() <= OPENING_SCORE_MAX).then_some(game)
    }

    /// Plays a game to its end and returns the records of quiet positions, or of the last positions
    /// of random walks.
    fn continue_game(&mut self, mut game: Game, random: &mut Random) -> Vec<Record> {
        let mut records = Vec::new();
        let mut adjudication = Adjudication::default();
        let result = loop {
            if let Some(result) = result_of(&game) {
                break result;
            }
            let SearchResult { line, score, .. } = self.search(&game);
            let &best = line.first().expect("a game that is not over has a legal move");
            let turn = game.position().turn();
            let white_score = if turn == crate::chess::Color::White { score } else { -score };
            if self.settings.walks > 0 {
                records.append(&mut walk(self.settings, &game, random));
            } else if is_quiet(&game, best) && !is_mate(score) {
                records.push(Record::new(game.position(), white_score));
            }
            if let Some(result) = adjudication.add(white_score, game.moves().len()) {
                break result;
            }
            game.play(best);
        };
        records.iter_mut().for_each(|record| record.set_result(result));
        records.iter_mut().take(1).for_each(Record::set_first);
        records
    }
}

/// Returns whether a position is quiet: the side to move is not in check, and the best move is
/// quiet. In other positions, the static evaluation says little about the search score.
fn is_quiet(game: &Game, best: Move) -> bool {
    !game.position().in_check() && best.is_quiet()
}

/// Returns the result by the rules of chess, including threefold repetition, or a draw after
/// [`PLIES_MAX`] plies; `None` if the game is not over.
fn result_of(game: &Game) -> Option<GameResult> {
    let position = game.position();
    match position.outcome() {
        Some(Outcome::Checkmate) => return Some(GameResult::won_by(!position.turn())),
        Some(_) => return Some(GameResult::Draw),
        None => {}
    }
    let earlier = game.keys().iter().filter(|&&key| key == position.key()).count();
    (earlier >= 2 || game.moves().len() >= PLIES_MAX).then_some(GameResult::Draw)
}

/// Numbers of consecutive plies with decisive or drawish scores.
#[derive(Default)]
struct Adjudication {
    /// Number of consecutive plies with a winning score; negative if Black is winning.
    winning: i32,
    drawn: u32,
}

impl Adjudication {
    /// Adds the score at a ply, and returns the result if the game is adjudicated.
    fn add(&mut self, white_score: Score, ply: usize) -> Option<GameResult> {
        use crate::chess::Color;
        let side = if white_score.abs() >= WIN_SCORE { white_score.signum() } else { 0 };
        self.winning = if self.winning.signum() == side { self.winning + side } else { side };
        let is_level = white_score.abs() <= DRAW_SCORE && ply >= DRAW_FROM_PLY;
        self.drawn = if is_level { self.drawn + 1 } else { 0 };
        if self.winning.unsigned_abs() >= WIN_PLIES {
            let winner = if side > 0 { Color::White } else { Color::Black };
            return Some(GameResult::won_by(winner));
        }
        (self.drawn >= DRAW_PLIES).then_some(GameResult::Draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;

    #[test]
    fn games_are_adjudicated_after_consecutive_scores() {
        let ended = |scores: &[(Score, usize)]| {
            let mut adjudication = Adjudication::default();
            let added = scores.iter().enumerate();
            added
                .flat_map(|(at, &(score, times))| std::iter::repeat_n((at, score), times))
                .zip(70..)
                .find_map(|((_, score), ply)| adjudication.add(score, ply).map(|end| (end, ply)))
        };
        assert_eq!(ended(&[(2_500, 5)]), Some((GameResult::WhiteWon, 74)));
        assert_eq!(ended(&[(2_500, 4), (-2_500, 5)]), Some((GameResult::BlackWon, 78)));
        assert_eq!(ended(&[(2_500, 4), (1_999, 1), (2_500, 4)]), None);
        assert_eq!(ended(&[(0, 25)]), Some((GameResult::Draw, 91)), "from ply 80 on");
        assert_eq!(ended(&[(0, 15), (9, 1), (-8, 11)]), None);
    }

    #[test]
    fn games_depend_on_their_number_alone() {
        for walks in [0, 3] {
            let settings = Settings { nodes: 200, walks, ..Settings::default() };
            let mut one = Player::new(settings).unwrap();
            let mut other = Player::new(settings).unwrap();
            let (first, second) = (one.play(1), one.play(2));
            assert_ne!(first, second);
            assert_eq!(other.play(2), second, "whatever was played before");
            let firsts = |records: &[Record]| records.iter().filter(|one| one.is_first()).count();
            assert!(first[0].is_first() && firsts(&first) == 1);
            for record in first.iter().chain(&second) {
                let position: Position = record.position().unwrap();
                assert!(!position.in_check());
                assert_eq!(Record::from_bytes(*record.bytes()), Ok(*record));
            }
        }
    }
}
