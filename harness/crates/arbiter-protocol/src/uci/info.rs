//! UCI `info` lines: information about a search.

use std::num::{IntErrorKind, ParseIntError};
use std::time::Duration;

use shakmaty::uci::UciMove;

use super::score::Score;

/// Word of an `info` line, and the field that contains the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InfoWord<'a> {
    /// Name of the field that contains the word; empty before the first field.
    pub field: &'a str,
    /// Index of the word in the field: 0 for the name of the field, 1 for its value.
    pub place: usize,
    /// Text of the word.
    pub word: &'a str,
}

/// Returns the words after `info`, up to and including `string`: the words after `string` are free
/// text. The fields may be in any order and may lack values.
pub fn info_words(rest: &str) -> impl Iterator<Item = InfoWord<'_>> {
    let (mut field, mut place) = ("", 0);
    rest.split_ascii_whitespace().map_while(move |word| {
        // The words after `string` are free text.
        if field == "string" {
            return None;
        }
        (field, place) = if begins_a_field(word) { (word, 0) } else { (field, place + 1) };
        Some(InfoWord { field, place, word })
    })
}

/// Returns whether a word is the name of a field.
#[inline]
fn begins_a_field(word: &str) -> bool {
    match word {
        // Most words are numbers or moves; the check for a digit avoids comparing them with all
        // names.
        _ if word.as_bytes().last().is_some_and(u8::is_ascii_digit) => false,
        // The most frequent names come first, because they are compared in this order.
        "pv" | "depth" | "seldepth" | "multipv" | "score" | "cp" | "nodes" | "nps" | "hashfull"
        | "tbhits" | "time" | "wdl" | "mate" | "lowerbound" | "upperbound" | "string"
        | "currmove" | "currmovenumber" | "cpuload" | "currline" | "ebf" | "refutation"
        | "sbhits" => true,
        _ => false,
    }
}

/// Maximum number of complete lines that are kept per search, and their maximum total size in
/// bytes, so that excessive output cannot fill the memory.
const MAX_KEPT: (usize, usize) = (400, 1 << 16);

/// Information about a search, merged from its `info` lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Info {
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// Selective depth: length of the longest variation searched, in plies.
    pub seldepth: Option<u32>,
    /// Score from the point of view of the side to move. `lowerbound` and `upperbound` scores are
    /// ignored unless [`Setup::takes_bounds`](crate::Setup::takes_bounds) is set, because such
    /// scores are not exact.
    pub score: Option<Score>,
    /// `true` if the line has a score that is not a whole number.
    pub has_unreadable_score: bool,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Search time, as reported by the engine.
    pub time: Option<Duration>,
    /// Nodes per second, as reported by the engine.
    pub nps: Option<u64>,
    /// Share of the transposition table in use, in per mille.
    pub hashfull: Option<u32>,
    /// Number of positions found in tablebases.
    pub tbhits: Option<u64>,
    /// Principal variation, as the engine wrote it.
    pub pv: Vec<String>,
    /// Word that ended the principal variation, if the word is neither a move nor the name of a
    /// field.
    pub not_a_move: Option<Box<str>>,
    /// Exact score in the last line with a principal variation; `None` if that line has no exact
    /// score.
    pub pv_score: Option<Score>,
    /// `true` if the number of nodes decreased from one line to the next.
    pub has_fewer_nodes: bool,
    /// `true` if the search began as pondering.
    pub has_pondered: bool,
    /// Output lines selected by the user's pattern, as the engine wrote them.
    pub lines: Vec<String>,
    /// `info` lines that are kept so that all variations can be checked; boxed, because few runs
    /// keep these lines.
    pub variations: Option<Box<Variations>>,
}

/// `info` lines with a score and a variation, from one search. If there are too many such lines,
/// only the first lines are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variations(pub Vec<String>);

impl Info {
    /// Parses the words after `info`. Unknown words are skipped, and an unreadable number is
    /// ignored, because an `info` line must never stop a game.
    pub fn parse(rest: &str) -> Info {
        Info::read(rest, false)
    }

    /// Parses the words after `info`. If `takes_bounds` is `true`, bounds count as scores, as in
    /// cutechess-cli.
    pub(super) fn read(rest: &str, takes_bounds: bool) -> Info {
        let (line_number, info) = Info::read_line(rest, takes_bounds);
        // Only the best variation describes the move that will be played, but the node count
        // applies to the complete search.
        // Some engines number the lines from 0.
        if line_number <= 1 { info } else { Info { nodes: info.nodes, ..Info::default() } }
    }

    /// Parses the words after `info`, even if the line has a `multipv` number above 1.
    pub fn parse_any(rest: &str) -> Info {
        Info::read_line(rest, false).1
    }

    /// Keeps a line that contains a score, so that the variation in the line can be checked later.
    /// Lines beyond the limits [`MAX_KEPT`] are not kept. A line without a mate score is skipped if
    /// it repeats the variation of the last kept line.
    pub(super) fn keep_variation(&mut self, rest: &str) {
        let parts = rest.split_once(" pv ").filter(|(before, _)| before.contains("score "));
        let Some((before, pv)) = parts else { return };
        let kept = &mut self.variations.get_or_insert_default().0;
        let last = kept.last().and_then(|last| last.split_once(" pv "));
        // An engine often repeats its variation at each depth, and checking each line would repeat
        // the findings. A line with a mate score is always kept, because its distance to mate is
        // checked.
        let is_same = last.is_some_and(|(_, same)| same == pv) && !before.contains(" mate ");
        let has_room =
            kept.len() < MAX_KEPT.0 && kept.iter().map(String::len).sum::<usize>() < MAX_KEPT.1;
        if !is_same && has_room {
            kept.push(rest.to_owned());
        }
    }

    /// Returns the kept `info` lines, whose variations the caller can check.
    pub fn variations(&self) -> &[String] {
        self.variations.as_ref().map_or(&[], |kept| &kept.0)
    }

    fn read_line(rest: &str, takes_bounds: bool) -> (u32, Info) {
        let mut info = Info::default();
        let mut line_number = 1;
        let mut is_bound = false;
        let mut has_score = false;
        for InfoWord { field, place, word } in info_words(rest) {
            has_score |= place == 1 && matches!(field, "score" | "cp" | "mate");
            match place {
                0 => is_bound |= matches!(word, "lowerbound" | "upperbound"),
                // Most words are moves.
                _ if field == "pv" => info.continue_pv(word),
                1 => match field {
                    // The selective depth may follow, as in `9/15`.
                    "depth" => info.depth = word.split('/').next().and_then(|d| d.parse().ok()),
                    "seldepth" => info.seldepth = word.parse().ok(),
                    "nodes" => info.nodes = word.parse().ok(),
                    "time" => info.time = word.parse().ok().map(Duration::from_millis),
                    "nps" => info.nps = word.parse().ok(),
                    "hashfull" => info.hashfull = word.parse().ok(),
                    "tbhits" => info.tbhits = word.parse().ok(),
                    "multipv" => line_number = word.parse().unwrap_or(1),
                    "cp" => info.score = clamped(word).map(Score::Centipawns),
                    "mate" => info.score = clamped(word).map(Score::Mate),
                    _ => {}
                },
                _ => {}
            }
        }
        info.has_unreadable_score = has_score && info.score.is_none() && !is_bound;
        info.pv_score = info.score.filter(|_| !is_bound && info.has_pv());
        info.score = info.score.filter(|_| takes_bounds || !is_bound);
        (line_number, info)
    }

    /// Appends a word to the variation. The variation ends at the first word that is not a move.
    fn continue_pv(&mut self, word: &str) {
        let is_move = |text: &str| text.parse::<UciMove>().is_ok();
        if self.not_a_move.is_some() {
            // The variation has already ended at a word that is not a move.
        } else if is_move(word) || is_move(&word.to_ascii_lowercase()) {
            self.pv.push(word.to_owned());
        } else {
            self.not_a_move = Some(word.into());
        }
    }

    fn has_pv(&self) -> bool {
        !self.pv.is_empty() || self.not_a_move.is_some()
    }

    /// Merges the information of a later line. After an exact score, a line without an exact score
    /// updates only nodes and time, because depth and variation must match the score. An unreadable
    /// score replaces an earlier score. Otherwise, a score that the engine no longer reports could
    /// decide the adjudication of a game.
    pub fn update(&mut self, later: Info) {
        self.has_fewer_nodes |=
            later.nodes.zip(self.nodes).is_some_and(|(now, before)| now < before);
        self.nodes = later.nodes.or(self.nodes);
        self.time = later.time.or(self.time);
        if later.has_pv() {
            self.pv_score = later.pv_score;
        }
        if self.score.is_some() && later.score.is_none() && !later.has_unreadable_score {
            return;
        }
        self.depth = later.depth.or(self.depth);
        self.seldepth = later.seldepth.or(self.seldepth);
        self.score = later.score;
        self.nps = later.nps.or(self.nps);
        self.hashfull = later.hashfull.or(self.hashfull);
        self.tbhits = later.tbhits.or(self.tbhits);
        if later.has_pv() {
            (self.pv, self.not_a_move) = (later.pv, later.not_a_move);
        }
    }
}

/// Parses an integer, clamped to 32 bits.
fn clamped(word: &str) -> Option<i32> {
    let number = word.parse().or_else(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => Ok(i32::MAX),
        IntErrorKind::NegOverflow => Ok(i32::MIN),
        _ => Err(error),
    });
    number.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_be_numbered_from_0() {
        let score = |line: &str| Info::parse(line).score;
        assert_eq!(score("multipv 0 score cp 7"), Some(Score::Centipawns(7)));
        assert_eq!(score("multipv 2 score cp 7"), None);
    }

    #[test]
    fn a_normal_info_line_is_parsed() {
        let line = "depth 12 seldepth 18 score cp -34 nodes 9999 nps 7 hashfull 31 tbhits 2 time 45 \
                    pv e2e4 e7e5";
        let info = Info::parse(line);
        assert_eq!(
            info,
            Info {
                depth: Some(12),
                seldepth: Some(18),
                score: Some(Score::Centipawns(-34)),
                nodes: Some(9999),
                time: Some(Duration::from_millis(45)),
                nps: Some(7),
                hashfull: Some(31),
                tbhits: Some(2),
                pv: vec!["e2e4".into(), "e7e5".into()],
                pv_score: Some(Score::Centipawns(-34)),
                ..Info::default()
            }
        );
    }

    #[test]
    fn malformed_info_lines_are_ignored() {
        let check = |line: &str, expect: Info| assert_eq!(Info::parse(line), expect, "{line}");
        check("", Info::default());
        check("depth", Info::default());
        check("depth x score cp", Info::default());
        check("depth x score cp x lowerbound", Info::default());
        check("string depth 5", Info::default());
        let unreadable = Info { has_unreadable_score: true, ..Info::default() };
        check("score cp 12.5", unreadable.clone());
        check("score 34", unreadable);
        check("nodes -5 time 1.5 nps 1e6 hashfull x tbhits", Info::default());
        let depth = |depth| Info { depth: Some(depth), ..Info::default() };
        check("depth\t5\tstring score cp 9 pv e2e4", depth(5));
        check("depth 5/9", depth(5));
        check("depth 5 currmove e2e4 currmovenumber 1 refutation d1h5 g6h5", depth(5));
        check("currline 1 e2e4 e7e5 depth 5 wdl 1 998 1 foo 7", depth(5));
    }

    #[test]
    fn scores_beyond_32_bits_are_clamped() {
        let score = |line: &str| Info::parse(line).score;
        assert_eq!(score("score cp 99999999999"), Some(Score::Centipawns(i32::MAX)));
        assert_eq!(score("score cp -99999999999"), Some(Score::Centipawns(i32::MIN)));
        assert_eq!(score(&format!("score mate -{}", "9".repeat(400))), Some(Score::Mate(i32::MIN)));
    }

    #[test]
    fn info_fields_are_parsed_in_any_order_and_may_lack_values() {
        let expect = Info {
            depth: Some(6),
            score: Some(Score::Centipawns(1020)),
            nodes: Some(3955),
            nps: Some(439_444),
            pv: vec!["e2e4".into(), "e7e5".into()],
            pv_score: Some(Score::Centipawns(1020)),
            ..Info::default()
        };
        for line in [
            "depth 6 nodes 3955 pv e2e4 e7e5 nps 439444 score cp 1020",
            "pv e2e4 e7e5 score cp +1020 depth 6 nodes 3955 nps 439444 string pv a2a3",
            "nps 439444\tscore\tcp 1020 wdl 900 99 1\tpv e2e4 e7e5\tdepth 6 nodes 3955",
            "time depth 6 seldepth nodes 3955 score cp 1020 hashfull nps 439444 pv e2e4 e7e5 tbhits",
            "score mate nodes 3955 cp 1020 nps 439444 depth 6 multipv 1 pv e2e4 e7e5 currmove",
        ] {
            assert_eq!(Info::parse(line), expect, "{line}");
        }
        let bound = Info::read("score lowerbound cp 20 pv a2a3", true);
        assert_eq!((bound.score, bound.pv_score), (Some(Score::Centipawns(20)), None));
        assert_eq!(Info::parse("score mate -3 nodes 5").score, Some(Score::Mate(-3)));
    }

    #[test]
    fn a_variation_ends_where_its_moves_end() {
        let read = |line: &str| {
            let Info { pv, not_a_move, nodes, .. } = Info::parse(line);
            (pv.join(" "), not_a_move.unwrap_or_default().into_string(), nodes)
        };
        let pv = |pv: &str, end: &str| (pv.to_owned(), end.to_owned(), Some(5));
        assert_eq!(read("pv e2e4 e7e5 (book) d2d4 nodes 5"), pv("e2e4 e7e5", "(book)"));
        assert_eq!(read("pv Nf3 e5 nodes 5"), pv("", "Nf3"));
        assert_eq!(read("nodes 5 pv e7e8Q 0000"), pv("e7e8Q 0000", ""));
        assert_eq!(read("pv nodes 5"), pv("", ""));
    }

    #[test]
    fn a_bound_does_not_replace_the_last_exact_score() {
        let mut info = Info::parse("depth 8 score cp 20 nodes 5 pv a2a3");
        info.update(Info::parse("depth 9 score cp 9000 lowerbound nodes 9 pv h2h3"));
        info.update(Info::parse("depth 9 score mate -1 upperbound nodes 10"));
        info.update(Info::parse("depth 10 currmove e2e4"));
        // Depth and variation belong to the line of the score; the variation of a bound is not
        // checked.
        assert_eq!((info.score, info.depth), (Some(Score::Centipawns(20)), Some(8)));
        assert_eq!((info.pv, info.pv_score, info.nodes), (vec!["a2a3".into()], None, Some(10)));
        assert_eq!(Info::parse("depth 1 lowerbound score cp 5").score, None);
        let bound = Info::read("score cp -47 upperbound pv a2a3", true);
        assert_eq!((bound.score, bound.pv_score), (Some(Score::Centipawns(-47)), None));
    }

    #[test]
    fn an_unreadable_score_replaces_the_last_score() {
        for line in ["score cp -0.33", "score -INFINITE", "score cp 9,", "score mate x"] {
            let mut info = Info::parse("depth 8 score cp 900 nodes 5 pv a2a3");
            info.update(Info::parse(&format!("depth 9 {line} nodes 9 pv h2h3")));
            assert_eq!((info.score, info.pv_score, info.depth), (None, None, Some(9)), "{line}");
        }
    }

    #[test]
    fn repeated_variations_are_kept_once_and_the_number_is_limited() {
        let mut info = Info::default();
        let mut keep = |line: &str| {
            info.keep_variation(line);
            info.variations().len()
        };
        let kept = [
            "depth 1 score cp 5 pv e2e4",
            "depth 2 score cp 9 pv e2e4",
            "depth 2 nodes 9",
            "depth 3 score cp 9 nodes 9",
            "depth 3 pv e2e4 e7e5",
            "depth 3 score mate 3 pv e2e4",
            "depth 3 score mate 2 pv e2e4",
            "depth 3 score cp 9 multipv 2 pv d2d4",
        ]
        .map(&mut keep);
        assert_eq!(kept, [1, 1, 1, 1, 1, 2, 3, 4]);
        let flood: Vec<usize> =
            (0..1_000).map(|n| keep(&format!("score cp {n} pv a{n}"))).collect();
        assert_eq!(flood.last(), Some(&MAX_KEPT.0));
        let mut info = Info::default();
        let long = "e2e4 ".repeat(1_000);
        (0..100).for_each(|n| info.keep_variation(&format!("score mate {n} pv {long}")));
        assert_eq!(info.variations().len(), 14);
    }

    #[test]
    fn second_best_lines_do_not_overwrite_the_best() {
        let mut info = Info::parse("depth 5 multipv 1 score cp 20 pv a2a3");
        info.update(Info::parse("depth 5 multipv 2 score cp -90 nodes 77 pv h2h3"));
        assert_eq!(info.score, Some(Score::Centipawns(20)));
        assert_eq!(info.nodes, Some(77));
        assert_eq!(info.pv, ["a2a3"]);
    }
}
