//! Sums over many games: the results of each pair of players, counted in game pairs where possible.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::scan::{Block, Game, RejectReason, UncountedGame};
use arbiter_schedule::seed::fnv1a;
use arbiter_stats::ratings::Meeting;
use arbiter_stats::{Calibration, GameResult, Trinomial};

/// Maximum number of games that wait for a partner game, for each pair of players and each opening.
/// Without a limit, all games of a file without pairs would wait in memory.
const MAX_WAITING: usize = 64;

/// Maximum number of rejected games that are listed; additional rejected games are only counted.
const MAX_NAMED: usize = 20;

/// Maximum number of endings that are counted separately. The number is limited because a PGN file
/// may contain any text as a termination.
const MAX_ENDINGS: usize = 64;

/// Name under which all endings beyond the first [`MAX_ENDINGS`] are counted.
const OTHER_ENDINGS: &str = "other";

/// Player, with sums over the player's games.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Player {
    /// Name of the player in the games, after aliases have been applied.
    pub name: String,
    /// Results as White and as Black.
    pub by_colour: [Trinomial; 2],
    /// Total time, in milliseconds, of the moves whose comments contain a time.
    pub time_ms: f64,
    /// Number of moves whose comments contain a time.
    pub timed_moves: u64,
    /// Calibration of the evaluations in the player's games.
    pub calibration: Calibration,
}

impl Player {
    /// Returns the results as White and as Black, added up.
    pub fn results(&self) -> Trinomial {
        self.by_colour[0] + self.by_colour[1]
    }
}

/// Opening with the results of its games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Starting position and book moves.
    pub name: String,
    /// White's results.
    pub results: Trinomial,
}

/// Game that does not count, with its file and line number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedGame {
    /// Name of the file.
    pub file: String,
    /// Number of the line in the file, counted from 1, that contains the move that caused the
    /// rejection. If no move caused the rejection, the value is the number of the line on which the
    /// game starts.
    pub line: u64,
    /// Number of the game in the file, counted from 1.
    pub number: u64,
    /// Players and result.
    pub title: String,
    /// Reason why the game does not count.
    pub reason: RejectReason,
    /// Move that caused the rejection, if any.
    pub culprit: Option<String>,
}

/// Unpaired games of two players from one opening: the colour of the first player in these games,
/// and the results of the first player.
#[derive(Debug, Default)]
struct UnpairedGames {
    first_is_white: bool,
    results: VecDeque<GameResult>,
}

/// Selection of the games that count, and the aliases of players.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Names of players, by alias.
    pub aliases: HashMap<String, String>,
    /// Players whose games against each other count; if the list is empty, the games of all players
    /// count.
    pub include: Vec<String>,
    /// Players whose games do not count.
    pub exclude: Vec<String>,
    /// `true` if draws do not count.
    pub ignores_draws: bool,
    /// `true` if duplicates of a game also count.
    pub counts_copies: bool,
    /// `true` if games are counted individually instead of in pairs.
    pub counts_singles: bool,
}

impl Choice {
    fn selects(&self, players: [&str; 2], result: GameResult) -> bool {
        let is_in = |list: &[String], name: &str| list.iter().any(|other| other == name);
        let is_wanted = |name: &str| {
            (self.include.is_empty() || is_in(&self.include, name)) && !is_in(&self.exclude, name)
        };
        players.into_iter().all(is_wanted) && !(self.ignores_draws && result == GameResult::Draw)
    }
}

/// Sums over all games so far.
#[derive(Debug, Default)]
pub struct Tally {
    /// Number of games read, including rejected games, but excluding ignored duplicates and games
    /// that the [`Choice`] excludes.
    pub games: u64,
    /// Number of ignored duplicates: games with the same players, starting position, moves and
    /// result as an earlier game. A game without moves is never a duplicate.
    pub copies: u64,
    /// Number of games replayed after impossible castling or en passant rights were removed from
    /// their FEN tags.
    pub corrected: u64,
    /// Number of plies in all counted games.
    pub plies: u64,
    /// Number of complete pairs of games.
    pub pairs: u64,
    /// Players, in order of appearance.
    pub players: Vec<Player>,
    /// Openings, in order of appearance.
    pub openings: Vec<Opening>,
    /// Numbers of counted games by ending.
    pub endings: BTreeMap<String, u64>,
    /// Numbers of rejected games by reason.
    pub bad: BTreeMap<RejectReason, u64>,
    /// First rejected games, at most 20.
    pub named: Vec<RejectedGame>,
    by_name: HashMap<String, usize>,
    by_opening: HashMap<u64, usize>,
    meetings: BTreeMap<[usize; 2], Meeting>,
    waiting: HashMap<([usize; 2], usize), UnpairedGames>,
    /// Hashes of the games that count, to recognize duplicates.
    game_hashes: HashSet<u64>,
    /// Name of the file that is being read.
    file: String,
    /// Number of games read from this file.
    file_games: u64,
    /// Number of lines of this file in the blocks before the current block.
    file_lines: u64,
    choice: Choice,
}

impl Tally {
    /// Creates an empty tally for the games that `choice` selects.
    pub fn new(choice: Choice) -> Tally {
        Tally { choice, ..Tally::default() }
    }

    /// Sets the name of the file from which the following games come.
    pub fn begin_file(&mut self, name: &str) {
        name.clone_into(&mut self.file);
        (self.file_games, self.file_lines) = (0, 0);
    }

    /// Adds the games of a block; blocks must be added in the order of the file.
    pub fn add(&mut self, block: &Block) {
        self.corrected += block.corrected;
        let players: Vec<_> = block.players.iter().map(|name| self.player(name)).collect();
        for game in &block.games {
            self.file_games += 1;
            let game = match game {
                Ok(game) => game,
                Err(bad) => {
                    self.reject(bad);
                    continue;
                }
            };
            let both = [game.white, game.black].map(|n| players[n as usize]);
            let names = both.map(|player| self.players[player].name.as_str());
            if !self.choice.selects(names, game.result) {
                continue;
            }
            if self.is_copy(game, both) {
                self.copies += 1;
                continue;
            }
            // Aliases may map both names to one player.
            if both[0] == both[1] {
                let [white, black] = [game.white, game.black].map(|n| &block.players[n as usize]);
                let result = ["0-1", "1/2-1/2", "1-0"][game.result.half_points()];
                let title = format!("{white} - {black} {result}");
                let reason = RejectReason::SamePlayer;
                self.reject(&UncountedGame { reason, title, culprit: None, line: game.line });
                continue;
            }
            self.games += 1;
            // Only openings of games that count are listed.
            let opening = self.opening(&block.openings[game.opening as usize]);
            let ending = &block.endings[game.termination as usize];
            self.count(game, both, opening, ending);
        }
        // A block numbers its lines from 0, but messages contain lines of the file.
        self.file_lines += block.lines;
    }

    fn reject(&mut self, bad: &UncountedGame) {
        self.games += 1;
        *self.bad.entry(bad.reason).or_default() += 1;
        if self.named.len() < MAX_NAMED {
            self.named.push(RejectedGame {
                file: self.file.clone(),
                line: self.file_lines + bad.line + 1,
                number: self.file_games,
                title: bad.title.clone(),
                reason: bad.reason,
                culprit: bad.culprit.clone(),
            });
        }
    }

    /// Returns whether a game is a duplicate that is ignored.
    fn is_copy(&mut self, game: &Game, players: [usize; 2]) -> bool {
        // Games without moves, such as the rows of a results table, would all be duplicates.
        if self.choice.counts_copies || game.plies == 0 {
            return false;
        }
        let [white, black] = players.map(usize::to_le_bytes);
        let key = [&white[..], &black, &[game.result.half_points() as u8]].concat();
        !self.game_hashes.insert(fnv1a(game.moves, &key))
    }

    /// Returns the results of each pair of players; games without a partner game count as single
    /// games.
    pub fn meetings(&self) -> Vec<Meeting> {
        // More games may follow, so the waiting games are not removed.
        let mut meetings = self.meetings.clone();
        for ((players, _), waiting) in &self.waiting {
            let meeting = meetings.entry(*players).or_insert_with(|| Meeting::new(*players));
            for result in &waiting.results {
                meeting.singles[usize::from(!waiting.first_is_white)][result.half_points()] += 1;
            }
        }
        meetings.into_values().collect()
    }

    /// Returns the number of rejected games.
    pub fn bad_games(&self) -> u64 {
        self.bad.values().sum()
    }

    fn count(&mut self, game: &Game, players: [usize; 2], opening: usize, ending: &str) {
        self.plies += u64::from(game.plies);
        for (side, player) in players.into_iter().enumerate() {
            let player = &mut self.players[player];
            let result = if side == 0 { game.result } else { game.result.reversed() };
            player.by_colour[side].record(result);
            player.time_ms += game.time_ms[side];
            player.timed_moves += u64::from(game.timed[side]);
            player.calibration.add(game.seen[side], result);
        }
        self.openings[opening].results.record(game.result);
        self.count_ending(ending);
        // The opening of a game without moves is unknown, so such a game has no partner.
        let is_single = self.choice.counts_singles || game.plies == 0;
        self.pair(players, opening, game.result, is_single);
    }

    fn count_ending(&mut self, ending: &str) {
        if let Some(count) = self.endings.get_mut(ending) {
            *count += 1;
            return;
        }
        // The termination tag may contain any text, such as the time of day.
        let name = if self.endings.len() < MAX_ENDINGS { ending } else { OTHER_ENDINGS };
        *self.endings.entry(name.to_owned()).or_default() += 1;
    }

    /// Counts a game. If a partner game is waiting, the two games count as a pair. The partner game
    /// is the earliest unpaired game of the same players from the same opening with colours
    /// reversed. If `is_single` is `true`, the game counts individually.
    fn pair(
        &mut self,
        [white, black]: [usize; 2],
        opening: usize,
        result: GameResult,
        is_single: bool,
    ) {
        // The player with the lower index counts as the first player, so that both games of a pair
        // have the same key.
        let first_is_white = white < black;
        let players = [white.min(black), white.max(black)];
        let result = if first_is_white { result } else { result.reversed() };
        let meeting = self.meetings.entry(players).or_insert_with(|| Meeting::new(players));
        let single = |meeting: &mut Meeting, result: GameResult| {
            meeting.singles[usize::from(!first_is_white)][result.half_points()] += 1;
        };
        if is_single {
            single(meeting, result);
            return;
        }
        let waiting = self.waiting.entry((players, opening)).or_default();
        if waiting.first_is_white != first_is_white
            && let Some(partner) = waiting.results.pop_front()
        {
            let (with_white, with_black) =
                if first_is_white { (result, partner) } else { (partner, result) };
            meeting.pairs[with_white.half_points()][with_black.half_points()] += 1;
            self.pairs += 1;
            return;
        }
        waiting.first_is_white = first_is_white;
        waiting.results.push_back(result);
        if waiting.results.len() > MAX_WAITING
            && let Some(oldest) = waiting.results.pop_front()
        {
            single(meeting, oldest);
        }
    }

    /// Returns the index of a player; a new player is added.
    fn player(&mut self, name: &str) -> usize {
        let name = self.choice.aliases.get(name).map_or(name, String::as_str);
        *self.by_name.entry(name.to_owned()).or_insert_with(|| {
            self.players.push(Player { name: name.to_owned(), ..Player::default() });
            self.players.len() - 1
        })
    }

    /// Returns the index of an opening, given by key and name; a new opening is added.
    fn opening(&mut self, (key, name): &(u64, String)) -> usize {
        *self.by_opening.entry(*key).or_insert_with(|| {
            self.openings.push(Opening { name: name.clone(), results: Trinomial::default() });
            self.openings.len() - 1
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::scan::{ScanOptions, scan};
    use super::*;

    const OPTIONS: ScanOptions =
        ScanOptions { opening_plies: 4, replay: false, evaluations: false };

    fn game(white: &str, black: &str, opening: &str, result: &str) -> String {
        format!(
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n{opening} {result}\n\n"
        )
    }

    /// Creates a tally that counts duplicates, because many of the short games in these tests are
    /// identical.
    fn empty(pair: bool) -> Tally {
        Tally::new(Choice { counts_copies: true, counts_singles: !pair, ..Choice::default() })
    }

    fn tally(text: &str, pair: bool) -> Tally {
        let mut tally = empty(pair);
        tally.add(&scan(text.as_bytes(), OPTIONS));
        tally
    }

    #[test]
    fn pairs_share_opening_and_reverse_colours() {
        let text = [
            game("A", "B", "1. e4", "1-0"),
            game("A", "B", "1. d4", "1/2-1/2"),
            game("B", "A", "1. e4", "1/2-1/2"),
            game("A", "B", "1. e4", "0-1"),
            game("B", "A", "1. c4", "1-0"),
            game("A", "B", "", "1-0"),
            game("B", "A", "", "0-1"),
        ]
        .concat();
        let found = tally(&text, true);
        assert_eq!((found.games, found.pairs), (7, 1));
        let meetings = found.meetings();
        // A won as White and drew as Black.
        assert_eq!(meetings[0].pairs[2][1], 1);
        assert_eq!(meetings[0].singles, [[1, 1, 1], [1, 0, 1]]);
        let single = tally(&text, false).meetings();
        assert_eq!(single[0].pairs, [[0; 3]; 3]);
        assert_eq!(single[0].results(), meetings[0].results());
        assert_eq!(found.openings.len(), 4);
        assert_eq!(found.players[0].by_colour[0], Trinomial { losses: 1, draws: 1, wins: 2 });
    }

    #[test]
    fn player_indices_do_not_depend_on_the_order_of_blocks() {
        let (a, b) = (game("A", "B", "1. e4", "1-0"), game("C", "A", "1. e4", "0-1"));
        let combined = tally(&[a.clone(), b.clone()].concat(), true);
        let mut separate = empty(true);
        separate.add(&scan(a.as_bytes(), OPTIONS));
        separate.add(&scan(b.as_bytes(), OPTIONS));
        assert_eq!(combined.meetings(), separate.meetings());
        assert_eq!(combined.players, separate.players);
    }

    #[test]
    fn aliases_and_selections_of_players_apply() {
        let text = [
            game("A  1", "B", "1. e4", "1-0"),
            game("A 1 ", "Caf\u{e9}", "1. e4", "1/2-1/2"),
            game("A 1", "A one", "1. e4", "1-0"),
            game("B", "A one", "1. e4", "0-1"),
        ]
        .concat();
        // The text is encoded as Latin-1.
        let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
        let chosen = |choice: Choice| {
            let mut tally = Tally::new(choice);
            tally.add(&scan(&bytes, OPTIONS));
            let players = tally.players.iter().filter(|p| p.results().games() > 0);
            let players = players.map(|p| (p.name.clone(), p.results().games())).collect();
            (tally.games, tally.bad_games(), players)
        };
        let named = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
            list.iter().map(|(name, games)| ((*name).to_owned(), *games)).collect()
        };
        let all = named(&[("A 1", 3), ("B", 2), ("Caf\u{e9}", 1), ("A one", 2)]);
        assert_eq!(chosen(Choice::default()), (4, 0, all));
        let aliases = HashMap::from([("A one".to_owned(), "A 1".to_owned())]);
        let one = Choice { aliases, ..Choice::default() };
        let merged = named(&[("A 1", 3), ("B", 2), ("Caf\u{e9}", 1)]);
        assert_eq!(chosen(one.clone()), (4, 1, merged));
        let mut tally = Tally::new(one.clone());
        tally.begin_file("x.pgn");
        tally.add(&scan(&bytes, OPTIONS));
        let RejectedGame { file, line, number, title, .. } = &tally.named[0];
        assert_eq!((file.as_str(), *line, *number), ("x.pgn", 13, 3));
        assert_eq!(title, "A 1 - A one 1-0");
        let fewer = Choice { exclude: vec!["Caf\u{e9}".into()], ..one };
        assert_eq!(chosen(fewer), (3, 1, named(&[("A 1", 2), ("B", 2)])));
        let two = Choice { include: vec!["A 1".into(), "B".into()], ..Choice::default() };
        assert_eq!(chosen(two), (1, 0, named(&[("A 1", 1), ("B", 1)])));
        let decided = Choice { ignores_draws: true, ..Choice::default() };
        assert_eq!(chosen(decided).0, 3);
    }

    #[test]
    fn only_the_openings_of_counted_games_are_listed() {
        let text = [
            game("A", "B", "1. e4", "1/2-1/2"),
            game("A", "C", "1. d4", "1-0"),
            game("A", "B", "1. c4", "1-0"),
        ]
        .concat();
        let mut tally = Tally::new(Choice {
            exclude: vec!["C".to_owned()],
            ignores_draws: true,
            ..Choice::default()
        });
        tally.add(&scan(text.as_bytes(), OPTIONS));
        let names: Vec<_> = tally.openings.iter().map(|opening| opening.name.as_str()).collect();
        assert_eq!(names, ["c4"]);
    }

    #[test]
    fn identical_games_of_the_same_players_count_once() {
        let text = [
            game("A", "B", "1. e4 e5", "1-0"),
            game("A", "B", "1. e4 {again} e5 $1", "1-0"),
            game("B", "A", "1. e4 e5", "1-0"),
            game("A", "C", "1. e4 e5", "1-0"),
            game("A", "B", "1. e4 c5", "1-0"),
            game("A", "B", "1. e4 e5", "0-1"),
            game("A", "B", "", "1-0"),
            game("A", "B", "", "1-0"),
        ]
        .concat();
        let mut once = Tally::default();
        once.add(&scan(text.as_bytes(), OPTIONS));
        assert_eq!((once.games, once.copies), (7, 1));
        once.add(&scan(text.as_bytes(), OPTIONS));
        assert_eq!((once.games, once.copies), (9, 7));
        let all = tally(&text.repeat(2), true);
        assert_eq!((all.games, all.copies), (16, 0));
    }

    #[test]
    fn copies_in_another_notation_are_recognized() {
        let initial = "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha -\"]\n";
        let fen = "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n";
        let same = "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w HAha -\"]\n";
        for [one, other] in [
            [("", "1. e4 d5 2. exd5 Nf6"), ("", "1. e2e4 d7d5 2. e4d5 g8f6")],
            [("", "1. e4 d5 2. exd5 Nf6"), ("", "1. e4 d5 2. ed5 Nf6")],
            [("", "1. e4 d5 2. exd5 Nf6"), (initial, "1. e2-e4 d7-d5 2. e4xd5 Ng8-f6")],
            [(fen, "1. O-O"), (same, "1. e1g1")],
        ] {
            let mut tally = Tally::default();
            for (tag, moves) in [one, other] {
                tally.add(&scan(
                    (tag.to_owned() + &game("A", "B", moves, "1-0")).as_bytes(),
                    OPTIONS,
                ));
            }
            assert_eq!((tally.games, tally.copies, tally.openings.len()), (1, 1, 1), "{other:?}");
        }
    }

    #[test]
    fn the_number_of_waiting_games_is_limited() {
        let text = game("A", "B", "1. e4", "1-0").repeat(1000);
        let found = tally(&text, true);
        assert!(found.waiting.values().all(|waiting| waiting.results.len() <= MAX_WAITING));
        assert_eq!(found.meetings()[0].singles[0], [0, 0, 1000]);
    }

    #[test]
    fn rejected_games_are_counted_and_the_first_are_listed() {
        let text = game("A", "A", "1. e4", "1-0").repeat(30);
        let found = tally(&text, true);
        assert_eq!((found.bad_games(), found.named.len()), (30, MAX_NAMED));
        assert_eq!((found.named[1].number, found.named[1].title.as_str()), (2, "A - A 1-0"));
        assert!(found.meetings().is_empty());
        let mut tally = empty(true);
        let (good, bad) = (game("A", "B", "1. e4", "1-0"), game("A", "A", "1. e4", "1-0"));
        for name in ["x.pgn", "y.pgn"] {
            tally.begin_file(name);
            for block in [&good, &bad, &good, &bad] {
                tally.add(&scan(block.as_bytes(), OPTIONS));
            }
        }
        let places: Vec<_> =
            tally.named.iter().map(|n| (n.file.as_str(), n.line, n.number)).collect();
        assert_eq!(places[..3], [("x.pgn", 7, 2), ("x.pgn", 19, 4), ("y.pgn", 7, 2)]);
    }
}
