//! A move as people and programs write it: SAN, long algebraic, UCI, and what lies between.
//!
//! shakmaty's reader takes standard SAN only, and files are full of `e8N`, `Ng1-f3`, `0-0`, `!!`.

use shakmaty::{Chess, File, Move, Position, Rank, Role, Square};

/// Ends of a sentence that begins with a move: it does not read as a move at all, no legal move
/// fits, or more than one does.
const NO_MOVE: &str = "is no move";
const ILLEGAL: &str = "is not legal";
const AMBIGUOUS: &str = "fits more than one move";

/// What the text says of the move.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    role: Option<Role>,
    file: Option<File>,
    rank: Option<Rank>,
    to: Square,
    promotion: Option<Role>,
}

/// The legal move that a text means; an error ends a sentence that begins with the text.
pub(super) fn read_move(text: &str, position: &Chess) -> Result<Move, &'static str> {
    let text = bare(text);
    let legal = position.legal_moves();
    if let Some(is_long) = castling(text) {
        let is_meant = |m: &Move| {
            let from = m.from().filter(|_| m.is_castle());
            from.is_some_and(|from| (m.to().file() < from.file()) == is_long)
        };
        return legal.into_iter().find(is_meant).ok_or(ILLEGAL);
    }
    let readings = readings(text);
    if readings.is_empty() {
        return Err(NO_MOVE);
    }
    for wanted in readings {
        let mut fits = legal.iter().filter(|legal| wanted.fits(**legal));
        match (fits.next(), fits.next()) {
            (Some(found), None) => return Ok(*found),
            (Some(_), Some(_)) => return Err(AMBIGUOUS),
            (None, _) => {}
        }
    }
    Err(ILLEGAL)
}

/// Whether a text is castling, and if so, to the queen's side.
fn castling(text: &str) -> Option<bool> {
    let plain: String = text.chars().filter(|c| *c != '-').collect();
    match plain.to_ascii_uppercase().replace('0', "O").as_str() {
        "OO" => Some(false),
        "OOO" => Some(true),
        _ => None,
    }
}

/// The text without move number, annotation, check and mate signs.
fn bare(text: &str) -> &str {
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let text = match text.find('.') {
        Some(dot) if text[..dot].chars().all(|c| c.is_ascii_digit()) => {
            text.trim_start_matches(number)
        }
        _ => text,
    };
    let text = text.strip_suffix("mate").unwrap_or(text);
    let text = text.trim_end_matches(['+', '#', '!', '?', '.', '*', '=', ',']);
    let text = text.strip_suffix("e.p").or_else(|| text.strip_suffix("ep")).unwrap_or(text);
    text.trim_end_matches(['.', '+'])
}

/// What a text may mean, the likeliest first: `bxc3` is a pawn's move before it is a bishop's.
fn readings(text: &str) -> Vec<Wanted> {
    let is_sign = |c: &char| !matches!(c, 'x' | 'X' | '-' | ':' | '=' | '(' | ')' | '/');
    let letters: Vec<char> = text.chars().filter(is_sign).collect();
    let Some((&first, rest)) = letters.split_first() else { return Vec::new() };
    let as_pawn = matches!(first, 'a'..='h').then(|| squares(&letters, None));
    let as_piece = Role::from_char(first).map(|role| squares(rest, Some(role)));
    // A move of two squares may shout, or look like a piece at first: `G1F3`, `B1C3`.
    let has_squares = rest.first().is_some_and(char::is_ascii_digit) && letters.len() >= 4;
    let as_squares = has_squares.then(|| squares(&letters, None));
    [as_pawn, as_piece, as_squares].into_iter().flatten().flatten().collect()
}

/// Reads `[file][rank]square[promotion]`.
fn squares(letters: &[char], role: Option<Role>) -> Option<Wanted> {
    let (letters, promotion) = match letters.split_last() {
        Some((last, rest)) if !last.is_ascii_digit() => (rest, Some(Role::from_char(*last)?)),
        _ => (letters, None),
    };
    let (from, to) = letters.split_at_checked(letters.len().checked_sub(2)?)?;
    let file = |c: char| File::from_char(c.to_ascii_lowercase());
    let to = Square::from_coords(file(to[0])?, Rank::from_char(to[1])?);
    let (file, rank) = match from {
        [] => (None, None),
        [one] => match (file(*one), Rank::from_char(*one)) {
            (None, None) => return None,
            either => either,
        },
        [one, two] => (Some(file(*one)?), Some(Rank::from_char(*two)?)),
        _ => return None,
    };
    Some(Wanted { role, file, rank, to, promotion })
}

impl Wanted {
    fn fits(&self, legal: Move) -> bool {
        let Some(from) = legal.from() else { return false };
        // The text of a UCI move does not name the piece, that of SAN omits the pawn only.
        let is_role = match self.role {
            Some(role) => legal.role() == role,
            None => legal.role() == Role::Pawn || (self.file.is_some() && self.rank.is_some()),
        };
        // UCI has two ways to write castling; a king that takes its own rook is one of them.
        let castled_to =
            legal.castling_side().map(|side| Square::from_coords(side.king_to_file(), from.rank()));
        is_role
            && (legal.to() == self.to || castled_to == Some(self.to))
            && legal.promotion() == self.promotion
            && self.file.is_none_or(|file| from.file() == file)
            && self.rank.is_none_or(|rank| from.rank() == rank)
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;
    use arbiter_position::Start;

    fn meant(fen: &str, text: &str) -> Result<String, &'static str> {
        let start = Start::read(fen, false).unwrap();
        read_move(text, &start.position).map(|m| m.to_uci(CastlingMode::Standard).to_string())
    }

    #[test]
    fn one_move_in_many_spellings() {
        let fen = "r3k2r/1P3ppp/8/3pP3/1b6/2N5/PPP3PP/R3K1NR w KQkq d6 0 1";
        for (expect, spellings) in [
            (
                "g1f3",
                "Nf3 Nf3! Nf3!! Nf3?! Ng1f3 Ng1-f3 Ngf3 N1f3 g1f3 g1-f3 nf3 1.Nf3 12...Nf3 G1F3 G1-F3",
            ),
            ("b7a8n", "bxa8=N bxa8N ba8N bxa8(N) b7a8n b7xa8=N+ b7a8=n bxa8=n bxa8/N"),
            ("b7b8q", "b8=Q b8Q+ b8(Q)+ b7b8q b7-b8=Q b8=Q++ b8=Q#"),
            ("e1c1", "O-O-O 0-0-0 OOO o-o-o O-O-O+ e1c1 e1a1 Kc1 Ke1-c1"),
            ("e5d6", "exd6 ed6 exd6ep exd6e.p. e5d6 e5xd6 e5:d6 exd6!!"),
            ("a2a3", "a3 a2a3 a2-a3 Pa3 a3,"),
        ] {
            for spelling in spellings.split(' ') {
                assert_eq!(meant(fen, spelling).as_deref(), Ok(expect), "{spelling}");
            }
        }
    }

    #[test]
    fn a_small_b_is_a_pawn_first() {
        let both = "4k3/8/8/8/8/2p5/1P1B4/4K3 w - - 0 1";
        assert_eq!(meant(both, "bxc3").as_deref(), Ok("b2c3"));
        assert_eq!(meant(both, "Bxc3").as_deref(), Ok("d2c3"));
        let bishop = "4k3/8/8/8/8/2p5/3B4/4K3 w - - 0 1";
        assert_eq!(meant(bishop, "bxc3").as_deref(), Ok("d2c3"));
    }

    #[test]
    fn castling_in_chess960_is_found_either_way() {
        let start = Start::read("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", false).unwrap();
        let name =
            |text| read_move(text, &start.position).map(|m| m.to_uci(CastlingMode::Chess960));
        assert_eq!(name("O-O"), name("e1g1"));
        assert_eq!(name("O-O-O").map(|m| m.to_string()).as_deref(), Ok("e1b1"));
    }

    #[test]
    fn what_is_not_understood_is_not_guessed() {
        let fen = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
        let check = |text: &str, error: &str| {
            assert_eq!(meant(fen, text), Err(error), "{text}");
        };
        check("Nf3", ILLEGAL);
        check("e1e8", ILLEGAL);
        check("xyz", NO_MOVE);
        check("", NO_MOVE);
        check("best", NO_MOVE);
        check("e9", NO_MOVE);
        let rooks = "4k3/8/8/8/8/8/R6R/4K3 w - - 0 1";
        assert_eq!(meant(rooks, "Rd2"), Err(AMBIGUOUS));
    }
}
