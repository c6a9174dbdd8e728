//! The standings of a tournament as text: the table, and for formats that depend on results the
//! way that led there.

use std::fmt::Write;

use crate::bracket;
use crate::standings::{Rating, Row, Standings, points};
use crate::table::Table;
use arbiter_schedule::Encounter;
use arbiter_schedule::{Format, Schedule};

/// Encounters up to which rounds are listed; the store has them all.
const MAX_LISTED: usize = 500;

/// The table and the rounds, or the bracket.
pub(crate) fn render(standings: &Standings, engines: &[String], width: Option<usize>) -> String {
    let mut text = table(standings, engines).fitted(width);
    for note in notes(standings) {
        text.push_str(&note);
        text.push('\n');
    }
    let rounds = rounds(standings, engines);
    if !rounds.is_empty() {
        text.push('\n');
        text.push_str(&rounds);
    }
    text
}

/// The bracket, or the rounds; empty for formats that are fixed.
pub(crate) fn rounds(standings: &Standings, engines: &[String]) -> String {
    let schedule = &standings.schedule;
    match schedule.bracket() {
        Some(knockout) => bracket::draw(knockout, schedule.encounters(), engines),
        None if schedule.encounters().len() <= MAX_LISTED => round_by_round(schedule, engines),
        None => String::new(),
    }
}

/// One row for each engine, from first to last.
pub(crate) fn table(standings: &Standings, engines: &[String]) -> Table {
    let has = |part: fn(&Row) -> bool| standings.rows.iter().any(part);
    let has_groups = standings.has_groups();
    let has_buchholz = has(|row| row.ranked.buchholz.is_some());
    let has_berger = has(|row| row.ranked.sonneborn_berger.is_some());
    let mut head = vec!["rank", "engine", "points", "games", "won", "drawn", "lost"];
    head.extend(has_buchholz.then_some("Buchholz"));
    head.extend(has_berger.then_some("Son.-Berger"));
    head.push("Elo (95 %)");
    let mut rows = vec![head.into_iter().map(str::to_owned).collect()];
    for row in &standings.rows {
        let ranked = row.ranked;
        let mut cells = vec![
            ranked.rank.to_string(),
            engines[ranked.engine].clone(),
            format!("{:.1}", ranked.points),
            ranked.games.to_string(),
            row.games.wins.to_string(),
            row.games.draws.to_string(),
            row.games.losses.to_string(),
        ];
        cells.extend(ranked.buchholz.map(|value| format!("{value:.2}")));
        cells.extend(ranked.sonneborn_berger.map(|value| format!("{value:.2}")));
        cells.push(rating(row.rating, has_groups));
        rows.push(cells);
    }
    Table::from_rows(rows)
}

/// What has to be known to read the table.
pub(crate) fn notes(standings: &Standings) -> Vec<String> {
    let mut notes = Vec::new();
    let design = standings.schedule.design();
    let is_bound = |row: &Row| matches!(row.rating, Some(Rating::Above(_) | Rating::Below(_)));
    if standings.rows.iter().any(is_bound) {
        notes.push("An Elo with > or < is a bound: that engine won all or lost all.".to_owned());
    }
    if standings.has_groups() {
        notes.push(
            "Engines of different groups cannot be compared: no games connect them, or one side \
             won all.\nEach group has an Elo scale of its own."
                .to_owned(),
        );
    }
    if !standings.schedule.byes().is_empty() {
        let bye = design.pairs * design.games_per_pair();
        notes.push(format!("Points count {} for a bye.", points(bye)));
    }
    notes
}

fn rating(rating: Option<Rating>, has_groups: bool) -> String {
    match rating {
        // Adding zero turns -0 into 0.
        Some(Rating::Estimate { elo, margin, group }) => {
            let estimate = format!("{:+.1} ± {margin:.1}", elo + 0.0);
            if has_groups { format!("{estimate} (group {})", group + 1) } else { estimate }
        }
        Some(Rating::Above(elo)) => format!("> {elo:+.1}"),
        Some(Rating::Below(elo)) => format!("< {elo:+.1}"),
        None => "undefined".to_owned(),
    }
}

/// The encounters round by round.
fn round_by_round(schedule: &Schedule, engines: &[String]) -> String {
    let encounters = schedule.encounters();
    let mut text = String::new();
    let width = encounters.iter().map(|e| engines[e.engines[0]].chars().count()).max();
    let word = if schedule.design().format == Format::Ladder { "Climb" } else { "Round" };
    let last = encounters.iter().map(|encounter| encounter.round).max();
    for round in 0..last.map_or(0, |last| last + 1) {
        // Writing to a string cannot fail.
        let gap = if round == 0 { "" } else { "\n" };
        let _ = writeln!(text, "{gap}{word} {}", round + 1);
        for encounter in encounters.iter().filter(|encounter| encounter.round == round) {
            let line = encounter_line(encounter, engines, width.unwrap_or(0));
            let _ = writeln!(text, "  {line}");
        }
        for (_, engine) in schedule.byes().iter().filter(|(of, _)| *of == round) {
            let _ = writeln!(text, "  {}  bye", engines[*engine]);
        }
    }
    text
}

fn encounter_line(encounter: &Encounter, engines: &[String], width: usize) -> String {
    let [first, second] = encounter.engines.map(|engine| engines[engine].as_str());
    let [a, b] = encounter.score.halves.map(points);
    let open = match encounter.planned - encounter.counted {
        0 => String::new(),
        left => format!("  ({left} pairs to play)"),
    };
    format!("{first:<width$}  {a:>5} – {b:<5}  {second}{open}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::run::standing::Standing;
    use arbiter_schedule::Design;

    #[test]
    fn a_swiss_with_a_bye() {
        let design =
            Design { format: Format::Swiss, seeds: 3, rounds: 2, ..Design::round_robin(1) };
        let mut schedule = Schedule::new(design, 3, 1);
        schedule.count(schedule.counted(), [3, 1], 2);
        let standings = Standings::new(&schedule, &Standing::default());
        let text = render(&standings, &["Anna", "Bo", "Cleo"].map(str::to_owned), None);
        let (table, rounds) = text.split_once("\n\n").unwrap();
        assert!(table.contains("Buchholz") && table.contains("Points count 1 for a bye."));
        let expected = "Round 1\n  Anna     1½ – ½      Bo\n  Cleo  bye\n\n\
                        Round 2\n  Anna      0 – 0      Cleo  (1 pairs to play)\n  Bo  bye\n";
        assert_eq!(rounds, expected, "{text}");
    }

    #[test]
    fn estimates_of_different_groups_are_not_shown_as_comparable() {
        let estimate = |group| Some(Rating::Estimate { elo: -0.0, margin: 7.0, group });
        assert_eq!(rating(estimate(0), false), "+0.0 ± 7.0");
        assert_eq!(rating(estimate(1), true), "+0.0 ± 7.0 (group 2)");
        assert_eq!(rating(Some(Rating::Above(3.0)), true), "> +3.0");
    }
}
