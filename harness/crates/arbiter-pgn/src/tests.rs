//! Tests that read PGN texts in the forms that programs write.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use expect_test::{Expect, expect};

use super::*;

/// Visitor that writes all parts of a game into one line.
#[derive(Default)]
struct GameText(String);

impl GameVisitor for GameText {
    fn begin(&mut self, tags: &Tags) -> ControlFlow<()> {
        self.0.clear();
        let tags = [&tags.white, &tags.black, &tags.result, &tags.fen].map(|tag| text_of(tag));
        for tag in tags.iter().filter(|tag| !tag.is_empty()) {
            let _ = write!(self.0, "[{tag}] ");
        }
        ControlFlow::Continue(())
    }

    fn san(&mut self, san: San) -> ControlFlow<()> {
        let _ = write!(self.0, "{san} ");
        ControlFlow::Continue(())
    }

    fn unknown(&mut self, word: &[u8]) -> ControlFlow<()> {
        let _ = write!(self.0, "?{} ", String::from_utf8_lossy(word));
        ControlFlow::Continue(())
    }

    fn comment(&mut self, comment: &[u8]) {
        let _ = match comment.len() {
            0..60 => write!(self.0, "{{{}}} ", text_of(comment)),
            length => write!(self.0, "{{{length}}} "),
        };
    }

    fn outcome(&mut self, outcome: Outcome) {
        let _ = write!(self.0, "{outcome} ");
    }
}

/// Returns all games in a text, one per line, each with its line numbers.
fn games_text(text: impl AsRef<[u8]>) -> String {
    let mut games = String::new();
    let mut lines_before = 0;
    for block in Blocks::new(text.as_ref()) {
        let block = block.expect("memory can be read");
        let text = Text::new(&block);
        let mut reader = Games::new(&text);
        let mut game = GameText::default();
        while reader.read(&mut game) {
            let Lines { first, last } = reader.lines();
            let lines = (first + lines_before + 1, last + lines_before + 1);
            let _ = writeln!(games, "{}-{}: {}", lines.0, lines.1, game.0.trim_end());
        }
        lines_before += reader.lines().last;
    }
    games
}

/// Compares the games in each text with the expected games.
fn check(texts: &[&str], expected: Expect) {
    let mut all = String::new();
    for text in texts {
        let _ = write!(all, "{text:?}\n{}", games_text(text));
    }
    expected.assert_eq(&all);
}

#[test]
fn comments_and_variations_do_not_interrupt_the_main_line() {
    check(
        &[
            "1. e4 {Best by test} e5 2. Nf3 Nc6 *\n",
            "1. e4 e5 (1... c5 (1... d5 {a ) b} 2. exd5 ; a )\n Qxd5) 2. Nc3) 2. Nf3 Nc6 *\n",
            "1. e4! e5?! 2. Nf3$1 Nc6$14$2 $3 *\n",
            "1. e4 $1e5 2.Nf3!?$5Nc6 *\n",
            "1.e4 e5 2.Nf3 1... Nc6 *\n",
            "1 e4 e5 2 Nf3 Nc6 *\n",
            "e4 e5 Nf3 Nc6 *\n",
            "1. ... e5 2. Nf3\n",
            "1. e4 {(e7e5 g1f3) +0.10/12 3} e5 {d=30, sd=40, pv=e4 e5 Nf3} 2. Nf3 Nc6 *\n",
            "1. e4 ; 1. d4 {\ne5 {a;b} 2. Nf3\n% 2. d4 (\nNc6 *\n",
            "{before} 1. e4 {after} e5 (2. d4) 1-0 {the end}\n",
            "1. e4 +- e5 = 2. Nf3 ± N Nc6 □ 1/2-1/2\n",
            "1. e4 e5 2. Nf3 Nc6 (never closed 3. Bb5 *\n\n[White \"next\"]\n\n1. d4 *\n",
            "1. e4 (1. d4\n\n1... d5) 1... e5 *\n",
            "1. e4 (1. d4\n\n1... d5)\n1... e5 *\n",
            "1. e4 e5 2. Nf3 (2. d4 {\n[%eval 25,16]} exd4)\n2... Nc6 *\n",
        ],
        expect![[r#"
            "1. e4 {Best by test} e5 2. Nf3 Nc6 *\n"
            1-2: e4 {Best by test} e5 Nf3 Nc6 *
            "1. e4 e5 (1... c5 (1... d5 {a ) b} 2. exd5 ; a )\n Qxd5) 2. Nc3) 2. Nf3 Nc6 *\n"
            1-3: e4 e5 Nf3 Nc6 *
            "1. e4! e5?! 2. Nf3$1 Nc6$14$2 $3 *\n"
            1-2: e4 e5 Nf3 Nc6 *
            "1. e4 $1e5 2.Nf3!?$5Nc6 *\n"
            1-2: e4 e5 Nf3 Nc6 *
            "1.e4 e5 2.Nf3 1... Nc6 *\n"
            1-2: e4 e5 Nf3 Nc6 *
            "1 e4 e5 2 Nf3 Nc6 *\n"
            1-2: e4 e5 Nf3 Nc6 *
            "e4 e5 Nf3 Nc6 *\n"
            1-2: e4 e5 Nf3 Nc6 *
            "1. ... e5 2. Nf3\n"
            1-2: e5 Nf3
            "1. e4 {(e7e5 g1f3) +0.10/12 3} e5 {d=30, sd=40, pv=e4 e5 Nf3} 2. Nf3 Nc6 *\n"
            1-2: e4 {(e7e5 g1f3) +0.10/12 3} e5 {d=30, sd=40, pv=e4 e5 Nf3} Nf3 Nc6 *
            "1. e4 ; 1. d4 {\ne5 {a;b} 2. Nf3\n% 2. d4 (\nNc6 *\n"
            1-5: e4 e5 {a;b} Nf3 Nc6 *
            "{before} 1. e4 {after} e5 (2. d4) 1-0 {the end}\n"
            1-2: {before} e4 {after} e5 1-0 {the end}
            "1. e4 +- e5 = 2. Nf3 ± N Nc6 □ 1/2-1/2\n"
            1-2: e4 e5 Nf3 Nc6 1/2-1/2
            "1. e4 e5 2. Nf3 Nc6 (never closed 3. Bb5 *\n\n[White \"next\"]\n\n1. d4 *\n"
            1-3: e4 e5 Nf3 Nc6 ?{
            3-6: [next] d4 *
            "1. e4 (1. d4\n\n1... d5) 1... e5 *\n"
            1-4: e4 e5 *
            "1. e4 (1. d4\n\n1... d5)\n1... e5 *\n"
            1-5: e4 e5 *
            "1. e4 e5 2. Nf3 (2. d4 {\n[%eval 25,16]} exd4)\n2... Nc6 *\n"
            1-4: e4 e5 Nf3 Nc6 *
        "#]],
    );
}

#[test]
fn moves_are_read_in_every_notation() {
    check(
        &[
            "1. b8Q c1=N 2. axb8/R dxc1(B)+ 3. b8(q) e7e8q 4. b8=q# b7-b8=Q *\n",
            "1. O-O 0-0 2. O-O-O+ 0-0-0# 3. o-o 0–0–0 *\n",
            "1. e2e4 e7e5 2. g1f3 b8c6 3. e1g1 e8h8 *\n",
            "1… e5 2. Nf3 … Nc6 3.…e4 2…d5 *\n",
            "1. e2-e4 Ng8-f6 2. Ng1xf3 e5:d4 3. Raxb1+ N1d2 *\n",
            "1. exd6 e.p. Nf3 2. exd6e.p. Nc6 3. exd6ep Nf3 4. exd6 ep Nc6 *\n",
            "1. e4 -- 2. Z0 @@@@ 3. 0000 null *\n",
            "1. Qh5++ Qxf7#+ 2. Nf3+- d4= *\n",
            "1. Qxf7mate exd6/ep 2. exd6 EP hxg8 = Q 3. hxg8(=Q)+ О-О 4. d4 = e5 *\n",
            "1. a8= Q b1= N+ 2. c8= d1= Kd2 *\n",
            "1. Sf3 e4, 2. nf3 hello 3. Ng9 e4e5e6 *\n",
        ],
        expect![[r#"
            "1. b8Q c1=N 2. axb8/R dxc1(B)+ 3. b8(q) e7e8q 4. b8=q# b7-b8=Q *\n"
            1-2: b8=Q c1=N axb8=R dxc1=B b8=Q e7e8=Q b8=Q b7b8=Q *
            "1. O-O 0-0 2. O-O-O+ 0-0-0# 3. o-o 0–0–0 *\n"
            1-2: O-O O-O O-O-O O-O-O O-O O-O-O *
            "1. e2e4 e7e5 2. g1f3 b8c6 3. e1g1 e8h8 *\n"
            1-2: e2e4 e7e5 g1f3 b8c6 e1g1 e8h8 *
            "1… e5 2. Nf3 … Nc6 3.…e4 2…d5 *\n"
            1-2: e5 Nf3 Nc6 e4 d5 *
            "1. e2-e4 Ng8-f6 2. Ng1xf3 e5:d4 3. Raxb1+ N1d2 *\n"
            1-2: e2e4 Ng8f6 Ng1xf3 e5xd4 Raxb1 N1d2 *
            "1. exd6 e.p. Nf3 2. exd6e.p. Nc6 3. exd6ep Nf3 4. exd6 ep Nc6 *\n"
            1-2: exd6 Nf3 exd6 Nc6 exd6 Nf3 exd6 Nc6 *
            "1. e4 -- 2. Z0 @@@@ 3. 0000 null *\n"
            1-2: e4 -- -- -- -- -- *
            "1. Qh5++ Qxf7#+ 2. Nf3+- d4= *\n"
            1-2: Qh5 Qxf7 Nf3 d4 *
            "1. Qxf7mate exd6/ep 2. exd6 EP hxg8 = Q 3. hxg8(=Q)+ О-О 4. d4 = e5 *\n"
            1-2: Qxf7 exd6 exd6 hxg8=Q hxg8=Q O-O d4 e5 *
            "1. a8= Q b1= N+ 2. c8= d1= Kd2 *\n"
            1-2: a8=Q b1=N c8 d1 Kd2 *
            "1. Sf3 e4, 2. nf3 hello 3. Ng9 e4e5e6 *\n"
            1-2: ?Sf3 ?e4, ?nf3 ?hello ?Ng9 ?e4e5e6 *
        "#]],
    );
}

#[test]
fn results_are_read_in_every_format() {
    check(
        &[
            "1. e4 1-0\n",
            "1. e4 0–1\n",
            "1. e4 ½-½\n",
            "1. e4 1/2\n",
            "1. e4 1:0\n",
            "1. e4 1 - 0\n\n1. d4 0 \u{2013}1\n\n1. c4 1/2 - 1/2\n",
            "1. e4 1 : 0\n\n1. d4 0 :1\n\n1. c4 0 \u{2011} 1\n",
            "1. e4\n",
            "1. e4 *",
            "1. e41-0",
            "1. e4 1-0 White resigns\n\n[Event \"x\"]\n\n1. d4 * adjourned",
            "[pgn] 1. e4 [] e5 [+] 2. Nf3 1-0[/pgn]",
        ],
        expect![[r#"
            "1. e4 1-0\n"
            1-2: e4 1-0
            "1. e4 0–1\n"
            1-2: e4 0-1
            "1. e4 ½-½\n"
            1-2: e4 1/2-1/2
            "1. e4 1/2\n"
            1-2: e4 1/2-1/2
            "1. e4 1:0\n"
            1-2: e4 1-0
            "1. e4 1 - 0\n\n1. d4 0 –1\n\n1. c4 1/2 - 1/2\n"
            1-2: e4 1-0
            3-4: d4 0-1
            5-6: c4 1/2-1/2 1/2-1/2
            "1. e4 1 : 0\n\n1. d4 0 :1\n\n1. c4 0 ‑ 1\n"
            1-2: e4 1-0
            3-4: d4 0-1
            5-6: c4 0-1
            "1. e4\n"
            1-2: e4
            "1. e4 *"
            1-1: e4 *
            "1. e41-0"
            1-1: ?e41-0
            "1. e4 1-0 White resigns\n\n[Event \"x\"]\n\n1. d4 * adjourned"
            1-2: e4 1-0
            3-5: d4 *
            "[pgn] 1. e4 [] e5 [+] 2. Nf3 1-0[/pgn]"
            1-1: e4 e5 Nf3 1-0
        "#]],
    );
}

#[test]
fn games_end_where_the_next_one_begins() {
    check(
        &[
            "1. e4 e5\n\n2. Nf3 Nc6 *\n",
            "1. e4 e5\r\n \r\n\r\n2. Nf3 Nc6 *\r\n",
            "1. e4 e5\n\n1... c5\n\n1-0\n\n1. d4 *\n",
            "1. e4 e5\n\n1. d4 d5\n",
            "1. e4 1-0 1. d4 0-1\n1. c4 *\n",
            "{a book}\n\n1. e4 1-0\n\n{a remark}\n\n0-1\n\n1. d4 *\n",
            "[White \"a\"]\n1. e4 *\n[White \"b\"]\n1. d4 *\n",
            "[White \"a\"] 1. e4 1-0 [White \"b\"] 1. d4 *",
            "[White \"a\"]\n\n1. e4 *\n  \n\t[White \"b\"]\n\n1. d4 *\n",
            "[Event \"1\"]\n[White \"a\"]\n\n[Event \"2\"]\n[White \"b\"]\n\n1. d4 *\n",
            "[White \"a\"]\n\n[Black \"b\"]\n\n\n1. e4 *\n",
            "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n \n[Site \"?\"]\n[White \"c\"]\n\n\
             [White \"d\"]\n\n[Black \"e\"]\n\n1. e4 *\n",
            "1. e4 e5\n\n1. ... c5\n\n1. \u{2026} d5 1-0\n",
            "[White \"a\"]\n\n{a comment}\n\n1. e4 *\n",
            "[event \"1\"]\n[White \"a\"]\n[Event\"2\"]\n[White \"b\"]\n",
        ],
        expect![[r#"
            "1. e4 e5\n\n2. Nf3 Nc6 *\n"
            1-4: e4 e5 Nf3 Nc6 *
            "1. e4 e5\r\n \r\n\r\n2. Nf3 Nc6 *\r\n"
            1-5: e4 e5 Nf3 Nc6 *
            "1. e4 e5\n\n1... c5\n\n1-0\n\n1. d4 *\n"
            1-6: e4 e5 c5 1-0
            7-8: d4 *
            "1. e4 e5\n\n1. d4 d5\n"
            1-2: e4 e5
            3-4: d4 d5
            "1. e4 1-0 1. d4 0-1\n1. c4 *\n"
            1-1: e4 1-0
            1-2: d4 0-1
            2-3: c4 *
            "{a book}\n\n1. e4 1-0\n\n{a remark}\n\n0-1\n\n1. d4 *\n"
            1-4: {a book} e4 1-0
            9-10: d4 *
            "[White \"a\"]\n1. e4 *\n[White \"b\"]\n1. d4 *\n"
            1-3: [a] e4 *
            3-5: [b] d4 *
            "[White \"a\"] 1. e4 1-0 [White \"b\"] 1. d4 *"
            1-1: [a] e4 1-0
            1-1: [b] d4 *
            "[White \"a\"]\n\n1. e4 *\n  \n\t[White \"b\"]\n\n1. d4 *\n"
            1-4: [a] e4 *
            5-8: [b] d4 *
            "[Event \"1\"]\n[White \"a\"]\n\n[Event \"2\"]\n[White \"b\"]\n\n1. d4 *\n"
            1-4: [a]
            4-8: [b] d4 *
            "[White \"a\"]\n\n[Black \"b\"]\n\n\n1. e4 *\n"
            1-7: [a] [b] e4 *
            "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n \n[Site \"?\"]\n[White \"c\"]\n\n[White \"d\"]\n\n[Black \"e\"]\n\n1. e4 *\n"
            1-5: [a] [b] [1-0]
            5-8: [c]
            8-13: [d] [e] e4 *
            "1. e4 e5\n\n1. ... c5\n\n1. … d5 1-0\n"
            1-6: e4 e5 c5 d5 1-0
            "[White \"a\"]\n\n{a comment}\n\n1. e4 *\n"
            1-6: [a] {a comment} e4 *
            "[event \"1\"]\n[White \"a\"]\n[Event\"2\"]\n[White \"b\"]\n"
            1-3: [a]
            3-5: [b]
        "#]],
    );
}

#[test]
fn junk_between_games_loses_no_game() {
    check(
        &[
            "hello world\n\n[White \"a\"]\n\n1. e4 *\n\nmore of that\n\n[White \"b\"]\n\n*\n",
            "1. e4 {never closed\n\n[White \"a\"]\n\n1. d4 {closed} *\n",
            "1. e4 {as in\n\n[White \"a\"]\n\n1. d4 *} e5 (1... c5 {\n\n[White \"b\"]\n}) 2. Nf3 *\n",
            "[Event \"w\"]\n[White \"a\"]\n[Elo \"27[Event \"x\"]\n[White \"b\"]\n\n1. e4 *\n",
            "1. e4 {+0.3[Event \"x\"]\n[White \"b\"]\n\n1. e4 {[Event \"y\"]} *\n",
            "1. e4 (1. d4\n[Event \"x\"]\n[White \"b\"]\n\n1. e4 (1. d4) *\n",
            "1. e4 {the end is missing",
            "[White \"a\"]\n[Black \"b",
            "1. e4 e5 [%clk 0:01] 2. Nf3\n[%eval 1] Nc6 *\n",
            "{a {nested} comment} 1. e4 } e5 *\n",
        ],
        expect![[r#"
            "hello world\n\n[White \"a\"]\n\n1. e4 *\n\nmore of that\n\n[White \"b\"]\n\n*\n"
            1-2: ?hello ?world
            3-6: [a] e4 *
            7-8: ?more ?of ?that
            9-12: [b] *
            "1. e4 {never closed\n\n[White \"a\"]\n\n1. d4 {closed} *\n"
            1-3: e4 {never closed} ?{
            3-6: [a] d4 {closed} *
            "1. e4 {as in\n\n[White \"a\"]\n\n1. d4 *} e5 (1... c5 {\n\n[White \"b\"]\n}) 2. Nf3 *\n"
            1-9: e4 {as in [White "a"] 1. d4 *} e5 Nf3 *
            "[Event \"w\"]\n[White \"a\"]\n[Elo \"27[Event \"x\"]\n[White \"b\"]\n\n1. e4 *\n"
            1-3: [a]
            3-7: [b] e4 *
            "1. e4 {+0.3[Event \"x\"]\n[White \"b\"]\n\n1. e4 {[Event \"y\"]} *\n"
            1-1: e4 {+0.3} ?{
            1-5: [b] e4 {[Event "y"]} *
            "1. e4 (1. d4\n[Event \"x\"]\n[White \"b\"]\n\n1. e4 (1. d4) *\n"
            1-2: e4 ?{
            2-6: [b] e4 *
            "1. e4 {the end is missing"
            1-1: e4 {the end is missing} ?{
            "[White \"a\"]\n[Black \"b"
            1-2: [a] [b]
            "1. e4 e5 [%clk 0:01] 2. Nf3\n[%eval 1] Nc6 *\n"
            1-3: e4 e5 ?[%clk 0:01] Nf3 ?[%eval 1] Nc6 *
            "{a {nested} comment} 1. e4 } e5 *\n"
            1-2: {a {nested} ?comment e4 e5 *
        "#]],
    );
}

#[test]
fn tags_are_read_in_every_format() {
    check(
        &[
            "[White\t \"a\"]\n[ Black   \"b\" ]\n[Result\u{b}\"1-0\" ]\n\n1-0\n",
            "[\nWhite\n\"a\"\n]\n[Black \"b\"] [Result \"0-1\"][FEN \"c\"]\n\n1. e4 0-1\n",
            "[white \"a\"]\n[BLACK \"b\"]\n\n*\n",
            "[White \"John \\\"J\\\" Doe\"]\n[Black \"C:\\\\x\\y\\\"]\n\n*\n",
            "[White \"John \"J\" Doe\"]\n[Black \"b\"]\n\n*\n",
            "[White \"a]\n[Black \"b]\"]\n\n1. e4 *\n",
            "[White \"a\"\n[Result \"1-0\"\n\n1. e4 1-0\n",
            "[White \"a\nlong name\"]\n[Black \"b\"]\n\n1. e4 *\n",
            "[White \"a\"]\n; a note\n[Black \"b\"] ; another\n% escaped\n\n1. e4 *\n",
            "\u{feff}[White \"a\"]\n\n1. e4 *\n\n\u{feff}[White \"b\"]\n\n1. d4 *\n",
            "[White \"a\"]\r[Black \"b\"]\r\r1. e4\re5 *\r\r[White \"c\"]\r\r1. d4 *\r",
            "[White a]\n[]\n[Black \"b\"]\n\n1. e4 *\n",
            "[White \u{201c}a\u{201d}]\n[Black \u{201e}b \"c\"\"]\n[Elo \u{201c}1\u{201d}]\n[FEN \"startpos\"]\n\n*\n",
            "[White \"a\"]\u{c}\n\u{b}\n1. e4\u{b}e5\u{a0} 2. Nf3 *\n",
            "[ White \u{201c}a\u{201d}]\n[\tBlack\u{201c}b\u{201d} ]\n[Result \u{ab} 1-0 \u{bb}]\n\n1-0\n",
            "[White 'a']\n[Black 'b c']\n[Result '1-0']\n\n1. e4 1-0\n",
            "[White \u{2018}a\u{2019}]\n\n1. e4 [White\u{2019}s best] [ \u{201c}x\u{201d}] e5 *\n",
        ],
        expect![[r#"
            "[White\t \"a\"]\n[ Black   \"b\" ]\n[Result\u{b}\"1-0\" ]\n\n1-0\n"
            1-6: [a] [b] [1-0] 1-0
            "[\nWhite\n\"a\"\n]\n[Black \"b\"] [Result \"0-1\"][FEN \"c\"]\n\n1. e4 0-1\n"
            1-8: [a] [b] [0-1] [c] e4 0-1
            "[white \"a\"]\n[BLACK \"b\"]\n\n*\n"
            1-5: [a] [b] *
            "[White \"John \\\"J\\\" Doe\"]\n[Black \"C:\\\\x\\y\\\"]\n\n*\n"
            1-5: [John "J" Doe] [C:\x\y\] *
            "[White \"John \"J\" Doe\"]\n[Black \"b\"]\n\n*\n"
            1-5: [John "J" Doe] [b] *
            "[White \"a]\n[Black \"b]\"]\n\n1. e4 *\n"
            1-5: [a] [b]] e4 *
            "[White \"a\"\n[Result \"1-0\"\n\n1. e4 1-0\n"
            1-5: [a] [1-0] e4 1-0
            "[White \"a\nlong name\"]\n[Black \"b\"]\n\n1. e4 *\n"
            1-6: [a long name] [b] e4 *
            "[White \"a\"]\n; a note\n[Black \"b\"] ; another\n% escaped\n\n1. e4 *\n"
            1-7: [a] [b] e4 *
            "\u{feff}[White \"a\"]\n\n1. e4 *\n\n\u{feff}[White \"b\"]\n\n1. d4 *\n"
            1-4: [a] e4 *
            5-8: [b] d4 *
            "[White \"a\"]\r[Black \"b\"]\r\r1. e4\re5 *\r\r[White \"c\"]\r\r1. d4 *\r"
            1-6: [a] [b] e4 e5 *
            7-10: [c] d4 *
            "[White a]\n[]\n[Black \"b\"]\n\n1. e4 *\n"
            1-6: [a] [b] e4 *
            "[White “a”]\n[Black „b \"c\"\"]\n[Elo “1”]\n[FEN \"startpos\"]\n\n*\n"
            1-7: [a] [b "c] *
            "[White \"a\"]\u{c}\n\u{b}\n1. e4\u{b}e5\u{a0} 2. Nf3 *\n"
            1-4: [a] e4 e5 Nf3 *
            "[ White “a”]\n[\tBlack“b” ]\n[Result « 1-0 »]\n\n1-0\n"
            1-6: [a] [b] [1-0] 1-0
            "[White 'a']\n[Black 'b c']\n[Result '1-0']\n\n1. e4 1-0\n"
            1-6: [a] [b c] [1-0] e4 1-0
            "[White ‘a’]\n\n1. e4 [White’s best] [ “x”] e5 *\n"
            1-4: [a] e4 ?[White’s best] ?[ “x”] e5 *
        "#]],
    );
}

#[test]
fn common_variant_names_and_empty_fen_tags_are_read() {
    for (variant, is_chess960) in [
        ("Classical", false),
        ("orthodox", false),
        ("regular", false),
        ("Fischer Random Chess", true),
        ("Double Fischer Random Chess", true),
        ("Chess", false),
        ("Standard Chess", false),
        ("Freestyle Chess", true),
        ("Chess 960", true),
    ] {
        let mut tags = Tags::default();
        tags.set(b"Variant", variant.as_bytes());
        assert_eq!(tags.is_chess960(), Ok(is_chess960), "{variant}");
    }
    for fen in ["?", "-", "*", " ", "startpos"] {
        let mut tags = Tags::default();
        tags.set(b"FEN", fen.as_bytes());
        assert_eq!(tags.fen, b"", "{fen}");
        assert!(tags.start().is_ok());
    }
    let mut tags = Tags::default();
    tags.set(b"White", b"a");
    tags.set(b"White", b"a");
    assert!(tags.start().is_ok());
    tags.set(b"white", b"b");
    assert_eq!(tags.start().unwrap_err(), "expected one value of the tag `White`, got two");
    for values in [["?", "1-0"], ["1-0", "*"], ["", "1-0"], ["1-0", ""]] {
        let mut tags = Tags::default();
        values.iter().for_each(|value| tags.set(b"Result", value.as_bytes()));
        assert!(tags.start().is_ok() && tags.result == b"1-0", "{values:?}");
    }
}

#[test]
fn utf_16_is_refused_and_other_encodings_are_read() {
    let utf16: Vec<u8> = "[White \"a\"]".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for text in [utf16.clone(), [&b"\xff\xfe"[..], &utf16].concat()] {
        let error = Blocks::new(&text[..]).next().expect("an error").expect_err("UTF-16");
        assert_eq!(error.to_string(), "it is UTF-16; save it as UTF-8");
    }
    assert_eq!(
        games_text(b"[White \"Caf\xe9\"]\n\n1. e4 {\xe9} *\n"),
        "1-4: [Caf\u{e9}] e4 {\u{e9}} *\n"
    );
    // In the code pages of Windows, some control codes of Latin-1 are punctuation marks.
    assert_eq!(
        games_text(b"[White \x93O\x92Neil\x94]\n\n1. e4\x85 e5 2. Nf3 O\x96O 1\x970\n"),
        "1-4: [O'Neil] e4 e5 Nf3 O-O 1-0\n"
    );
    // In other encodings, the same codes are letters.
    assert_ne!(
        games_text(b"[White \"\x91\xae\xac\xae\xa2\"]\n\n1. e4 *\n"),
        games_text(b"[White \"\x92\xae\xac\xae\xa2\"]\n\n1. e4 *\n")
    );
}

#[test]
fn only_long_comments_and_tags_are_truncated() {
    let long = "x".repeat(100_000);
    let text = format!(
        "[White \"a\"]\n[Event \"{long}\"]\n[Black \"b\"]\n\n1. e4 {{{long}}} e5 ({long}) {long} *\n"
    );
    let word = "x".repeat(100);
    assert_eq!(games_text(text), format!("1-6: [a] [b] e4 {{16384}} e5 ?{word} *\n"));
}

#[test]
fn any_bytes_are_read() {
    let pieces = [
        "[",
        "]",
        "\"",
        "{",
        "}",
        "(",
        ")",
        ";",
        "%",
        "\n",
        "\r",
        "\n\n",
        " ",
        "$",
        "1.",
        "1-0",
        "*",
        "e4",
        "[White \"a\"]",
        "[Event \"b\"]",
        "[White a]",
        "\u{200b}",
        "\u{a0}",
        "♘f3",
        "\\",
        "\0",
        "\u{feff}",
        "\u{b}",
        "b8",
        "(Q)",
        "ep",
        "-",
        "0",
    ];
    let mut state = 1u64;
    for length in (0..4000).map(|n| n % 40).chain([20_000; 3]) {
        let mut text = String::new();
        for _ in 0..length {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text += pieces[(state >> 33) as usize % pieces.len()];
        }
        games_text(format!("1. e4 {text}"));
    }
    for piece in pieces {
        games_text(format!("1. e4 {}", piece.repeat(50_000)));
    }
    for piece in ["\n\n[", "[a \"\n", "{\n\n[Event \"", "\n[White \"a\"]\n"] {
        games_text(piece.repeat(50_000));
    }
}

#[test]
fn inputs_misread_by_other_programs_are_read() {
    check(
        &[
            "1. e4 e5 2. ♘f3 ♞c6 3. ♗xc6 ♙dxc6 *\n",
            "1.\u{200b}d4 d5 \u{200b}2.c4\u{200b} e5\u{a0}3.dxe5 \u{2060}d4 *\n",
            "1. e4 e5 1/2-1/2`\n\n1. d4 1-0,\n",
            "[FEN \"6k1/8/6K1/8/8/8/8/7R w - - 0 0\"]\n\n0. Rh8# 0... -- 0-1\n",
            "[Event x]\n[White A]\n[Black B C]\n[Result 1-0]\n[FEN 8/8 w - - 0 1]\n\n1. e4 1-0\n\n\
             [Event y]\n[White C]\n\n1. d4 0-1\n",
            "1. e4 [White is better] e5\n[Black too] 2. Nf3 *\n",
            "[Event \"x\"]\n[White Elo \"2000\"]\n[X.Y \"3\"]\n[Foo bar]\n[White \"A\"]\n\n1. e4 *\n",
            "1. e4??\u{b1}\u{2192} Nf6 \u{2a72} 2. e5 \u{21c6} \u{2a00} Nd5 \u{2191}\u{2191} =\u{221e} *\n",
            "1. d4 d5 ({(A)} 1... Nf6) 2. c4 (2. -- e5) e5 7. .. d4 *\n",
            "1. e4 e5\n1. d4 d5 2. c4\n1. c4\n1... c5 *\n",
            "[White \"a\"]\n\n1. e4 e5\n1. d4 0.5-0.5\n",
        ],
        expect![[r#"
            "1. e4 e5 2. ♘f3 ♞c6 3. ♗xc6 ♙dxc6 *\n"
            1-2: e4 e5 Nf3 Nc6 Bxc6 dxc6 *
            "1.\u{200b}d4 d5 \u{200b}2.c4\u{200b} e5\u{a0}3.dxe5 \u{2060}d4 *\n"
            1-2: d4 d5 c4 e5 dxe5 d4 *
            "1. e4 e5 1/2-1/2`\n\n1. d4 1-0,\n"
            1-2: e4 e5 1/2-1/2
            3-4: d4 1-0
            "[FEN \"6k1/8/6K1/8/8/8/8/7R w - - 0 0\"]\n\n0. Rh8# 0... -- 0-1\n"
            1-4: [6k1/8/6K1/8/8/8/8/7R w - - 0 0] Rh8 -- 0-1
            "[Event x]\n[White A]\n[Black B C]\n[Result 1-0]\n[FEN 8/8 w - - 0 1]\n\n1. e4 1-0\n\n[Event y]\n[White C]\n\n1. d4 0-1\n"
            1-8: [A] [B C] [1-0] [8/8 w - - 0 1] e4 1-0
            9-13: [C] d4 0-1
            "1. e4 [White is better] e5\n[Black too] 2. Nf3 *\n"
            1-3: e4 ?[White is better] e5 ?[Black too] Nf3 *
            "[Event \"x\"]\n[White Elo \"2000\"]\n[X.Y \"3\"]\n[Foo bar]\n[White \"A\"]\n\n1. e4 *\n"
            1-8: [A] e4 *
            "1. e4??±→ Nf6 ⩲ 2. e5 ⇆ ⨀ Nd5 ↑↑ =∞ *\n"
            1-2: e4 Nf6 e5 Nd5 *
            "1. d4 d5 ({(A)} 1... Nf6) 2. c4 (2. -- e5) e5 7. .. d4 *\n"
            1-2: d4 d5 c4 e5 d4 *
            "1. e4 e5\n1. d4 d5 2. c4\n1. c4\n1... c5 *\n"
            1-2: e4 e5
            2-3: d4 d5 c4
            3-5: c4 c5 *
            "[White \"a\"]\n\n1. e4 e5\n1. d4 0.5-0.5\n"
            1-5: [a] e4 e5 d4 1/2-1/2
        "#]],
    );
}

#[test]
fn spaces_that_are_not_ascii_are_white_space() {
    let text = "[White\u{a0}\"a\"]\u{a0}\n[Black \"b\"]\u{2003}\n\u{a0}\n1. e4\u{a0}\n\u{3000}\n\n\
                [White \"c\"]\n\n1. d4\u{200b} d\u{200b}5\u{202f}\n\u{a0}\n1. c4 *\n";
    let expected = "1-5: [a] [b] e4\n7-10: [c] d4 d5\n11-12: c4 *\n";
    assert_eq!(games_text(text), expected);
    let joined = "[White \"می\u{200c}خواهم \u{200f}👩\u{200d}💻\"]\n\n\
                  1.\u{200d}e4 e\u{200c}5 {क्\u{200d}ष} *\n";
    let expected = "1-4: [می\u{200c}خواهم 👩\u{200d}💻] e4 e5 {क्\u{200d}ष} *\n";
    assert_eq!(games_text(joined), expected);
    let latin1 = b"[White \"a\"]\xa0\n[Black \"\xfc\"]\xa0\n\xa0\n1. e4\xa0\n\xa0\n1. d4 *\n";
    assert_eq!(games_text(latin1), "1-5: [a] [\u{fc}] e4\n6-7: d4 *\n");
}
