use super::axis::widened;
use super::lines::LABEL;
use super::*;
use crate::parts::chart::thinned;
use crate::parts::{Line, Lines};

fn line(points: &[(f64, f64)]) -> Line {
    Line::plain("a <b>", points.to_vec())
}

#[test]
fn every_chart_is_drawn_in_the_colours_of_the_page() {
    let charts = [
        Chart::Lines(Lines {
            lines: vec![line(&[(1.0, 2.0), (3.0, -2.0)]), line(&[(1.0, 0.0)])],
            levels: vec![("H1".to_owned(), 2.94)],
            ..Lines::default()
        }),
        Chart::Bars(Bars {
            labels: vec!["LL".to_owned(), "WW".to_owned()],
            series: vec![(String::new(), vec![3.0, 0.0])],
            ..Bars::default()
        }),
        Chart::Bars(Bars {
            labels: vec!["< 1 ms".to_owned(), "< 10 ms".to_owned()],
            series: vec![("a <b>".to_owned(), vec![3.0, 0.0]), ("b".to_owned(), vec![1.0, 2.0])],
            ..Bars::default()
        }),
        Chart::Bars(Bars {
            labels: vec!["a <b> with a name that is far too long".to_owned(), "b".to_owned()],
            series: vec![(String::new(), vec![3.0, 0.0])],
            is_horizontal: true,
            ..Bars::default()
        }),
        Chart::Intervals(Intervals {
            rows: vec![("a <b>".to_owned(), 1.0, 0.0, 2.0), ("b".to_owned(), 0.0, f64::NAN, 9.0)],
            ..Intervals::default()
        }),
    ];
    let band = vec![(1.0, -1.0, 1.0)];
    let one = Line { band, ..line(&[(1.0, 0.0)]) };
    let lines = vec![one, line(&[(1.0, 2.0), (3.0, -2.0)])];
    let one = draw(&Chart::Lines(Lines { lines, ..Lines::default() }), &WIDE).unwrap();
    assert!(one.contains("<circle "), "{one}");
    let cut = draw(&charts[3], &SMALL).expect("there is something to draw");
    let full = "<title>a &lt;b&gt; with a name that is far too long</title>a &lt;b&gt;";
    assert!(
        cut.contains(full) && !cut.contains(CUT) && cut.matches("<title>").count() == 1,
        "{cut}"
    );
    for chart in charts {
        for frame in [&WIDE, &NARROW, &SMALL] {
            let svg = draw(&chart, frame).expect("there is something to draw");
            let start = format!("<svg class=\"{}\" ", frame.class);
            assert!(svg.starts_with(&start) && svg.contains("var(--c1)"), "{svg}");
            assert!(!svg.contains('#') && !svg.contains("<b>"), "{svg}");
        }
    }
}

#[test]
fn chart_lines_are_labelled_if_there_is_room() {
    let named = |engine, name: &str, end| Line {
        engine,
        ..Line::plain(name, vec![(1.0, 0.0), (2.0, end), (3.0, end)])
    };
    let lines =
        vec![named(Some(4), "Anna", 1.0), named(None, "Bo", 1.0), named(None, "Cleo", -1.0)];
    let draw_all = |lines: &[Line]| {
        let chart = Chart::Lines(Lines { lines: lines.to_vec(), ..Lines::default() });
        assert_eq!(chart.names().is_empty(), lines.len() <= 4);
        draw(&chart, &SMALL).expect("there is something to draw")
    };
    let svg = draw_all(&lines);
    let height = |name: &str| {
        let text = svg.split("<text").find(|text| text.contains(&format!("\n{name}\n")));
        let y = text.and_then(|text| text.split("y=\"").nth(1)?.split('"').next()?.parse().ok());
        y.unwrap_or_else(|| panic!("no {name} in {svg}"))
    };
    let [anna, bo, cleo] = ["Anna", "Bo", "Cleo"].map(height);
    let _: [i32; 3] = [anna, bo, cleo];
    assert!((anna - bo).abs() >= LABEL && cleo > anna.max(bo), "{anna} {bo} {cleo}");
    // The first line belongs to the engine with index 4, which has the fifth colour in all charts.
    assert!(svg.contains("var(--c5)") && !svg.contains("var(--c1)"), "{svg}");
    let many: Vec<Line> = (0..5).map(|n| named(None, &format!("E{n}"), 1.0)).collect();
    assert!(!draw_all(&many).contains("E3"), "they are in the key");
}

#[test]
fn areas_beyond_bounds_are_shaded() {
    let shades = vec![(1.0, f64::INFINITY), (f64::NEG_INFINITY, -1.0)];
    let chart = Lines { lines: vec![line(&[(1.0, -2.0), (3.0, 2.0)])], shades, ..Lines::default() };
    let svg = draw(&Chart::Lines(chart), &WIDE).expect("there is something to draw");
    assert_eq!(svg.matches("opacity=\"0.07\"").count(), 2, "{svg}");
}

#[test]
fn rows_have_the_colours_of_their_engines() {
    let row = |name: &str| (name.to_owned(), 1.0, 0.0, 2.0);
    let engines = vec![Some(2), None];
    let rows = vec![row("A"), row("all")];
    let svg = draw(&Chart::Intervals(Intervals { rows, engines, ..Intervals::default() }), &WIDE);
    let svg = svg.expect("there is something to draw");
    assert!(svg.contains("var(--c3)") && svg.contains("var(--even)"), "{svg}");
    assert!(!svg.contains("var(--c1)"), "{svg}");
}

#[test]
fn a_chart_without_points_is_an_error() {
    // A single point is not a line.
    for points in [&[(1.0, f64::NAN), (2.0, f64::NAN)][..], &[(1.0, 5.0)]] {
        let chart = Chart::Lines(Lines { lines: vec![line(points)], ..Lines::default() });
        assert!(draw(&chart, &WIDE).is_err(), "{points:?}");
    }
    let none = || vec![(String::new(), Vec::new())];
    for chart in [
        Chart::Bars(Bars { series: none(), ..Bars::default() }),
        Chart::Bars(Bars { series: none(), is_horizontal: true, ..Bars::default() }),
        Chart::Intervals(Intervals { level: Some(0.0), ..Intervals::default() }),
    ] {
        assert!(draw(&chart, &WIDE).is_err(), "{chart:?}");
    }
}

#[test]
fn names_are_truncated_in_the_middle_and_keep_the_colour() {
    let shown =
        ["a name", "a name that is rather long", "a name that is long, White", "a, b and c and d"];
    let shown = shown.map(|name| NARROW.shortened(name));
    assert_eq!(shown, ["a name", "a name th… long", "a nam…ng, White", "a, b and …and d"]);
}

#[test]
fn horizontal_bars_are_stacked() {
    let series = vec![("a".to_owned(), vec![3.0, 1.0]), ("b".to_owned(), vec![1.0, 0.0])];
    let labels = vec!["mate".to_owned(), "draw".to_owned()];
    let bars = Bars { labels, series, is_horizontal: true, ..Bars::default() };
    let svg = draw(&Chart::Bars(bars), &WIDE).expect("there is something to draw");
    let sums: Vec<&str> = svg.split("text-anchor=\"start\"").skip(1).collect();
    assert!(sums[0].contains("\n1\n") && sums[1].contains("\n4\n"), "{svg}");
    assert!(svg.contains("var(--c1)") && svg.contains("var(--even)"), "{svg}");
}

#[test]
fn a_bound_has_no_dot() {
    let drawn = |low| {
        let rows = vec![("A".to_owned(), -300.0, low, -300.0), ("B".to_owned(), 0.0, -9.0, 9.0)];
        let chart = Chart::Intervals(Intervals { rows, ..Intervals::default() });
        draw(&chart, &WIDE).expect("there is something to draw").matches("<circle").count()
    };
    assert_eq!([drawn(f64::NEG_INFINITY), drawn(-320.0)], [1, 2]);
}

#[test]
fn numbers_are_short() {
    let shown = [0.0, 0.25, -1.5, 12.4, 25_000.0, 3.2e6].map(number);
    assert_eq!(shown, ["0", "0.25", "-1.5", "12", "25 k", "3.2 M"]);
}

#[test]
fn a_long_line_is_thinned_to_visible_points() {
    let points: Vec<(f64, f64)> = (0..1000).map(|n| (f64::from(n), 0.0)).collect();
    for frame in [&WIDE, &NARROW] {
        let kept: Vec<_> = thinned(&points, frame.points).collect();
        assert!((frame.points / 2..=frame.points).contains(&kept.len()), "{}", kept.len());
        assert_eq!(kept.last().copied(), points.last());
        assert!(thinned(&points[..9], frame.points).eq(&points[..9]));
    }
}

#[test]
fn labels_without_room_are_omitted_evenly() {
    let labels: Vec<String> = (0..12).map(|n| format!("< {n}00 ms")).collect();
    let shown = |room: u32| {
        let named = every_nth(&labels, room);
        (0..12).filter(|n| n % named == 0).count()
    };
    assert_eq!([shown(100), shown(40), shown(20)], [12, 6, 3]);
}

#[test]
fn different_ticks_have_different_labels() {
    let read = |values: &[f64]| values.iter().map(|value| tick(*value)).collect::<Vec<_>>();
    assert_eq!(read(&[0.74, 0.745, 0.75, 0.1 + 0.2]), ["0.74", "0.745", "0.75", "0.3"]);
    assert_eq!(read(&[-1e-17, 0.0, 100.0, -12.5]), ["0", "0", "100", "-12.5"]);
    assert_eq!(read(&[10_000.0, 10_500.0, 2.5e6]), ["10 k", "10.5 k", "2.5 M"]);
}

#[test]
fn an_axis_is_widened_until_tick_labels_fit() {
    let (low, high) = widened((1_056_700.0, 1_056_900.0));
    assert!((high - low - 10_569.0).abs() < 0.1, "{low} {high}");
    assert!(low < 1_056_700.0 && high > 1_056_900.0, "{low} {high}");
    assert_eq!(widened((-3.0, 2.0)), (-3.0, 2.0));
}
