//! The pages that `arbiter serve` shows. Values become markup; who serves it, and when, is not known
//! here.
//!
//! A page is made of named [`Part`]s, so that a viewer needs to be sent only those that changed.

pub mod compare;
pub mod list;
mod publication;
pub mod run;
pub mod trends;

pub use publication::Publication;

use maud::{DOCTYPE, Markup, html};

use arbiter_report::document::Document;
use arbiter_report::html as report_html;

/// What a page may load, and from where: its own server only, and no script or style in the page.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Name, type and content of the files that pages load.
pub const ASSETS: [(&str, &str, &str); 5] = [
    ("report.css", "text/css; charset=utf-8", report_html::STYLE),
    ("live.css", "text/css; charset=utf-8", include_str!("live.css")),
    ("viewer.js", "text/javascript; charset=utf-8", report_html::SCRIPT),
    ("live.js", "text/javascript; charset=utf-8", include_str!("live.js")),
    ("icon.svg", "image/svg+xml", include_str!("icon.svg")),
];

/// A piece of a page that changes as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The `id` of its element.
    pub id: String,
    /// The element.
    pub html: String,
}

/// Where a page gets what changes.
#[derive(Debug, Clone, Copy)]
pub struct Feed<'a> {
    /// The address of its events.
    pub events: &'a str,
    /// What was published last when the page was made.
    pub since: &'a str,
}

/// Which of the pages it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The list of runs.
    Runs,
    /// What came of commits.
    Trends,
    /// Who plays on other machines.
    Cluster,
    /// One below them.
    Other,
}

impl Part {
    /// An element in a box of its own.
    fn boxed(name: &str, content: &Markup) -> Part {
        let id = format!("part-{name}");
        let html = html! { div id=(id) { (content) } }.into_string();
        Part { id, html }
    }
}

/// The parts of a document.
pub fn parts(document: &Document) -> Vec<Part> {
    let sections = report_html::split(&document.blocks);
    sections.iter().map(|(name, section)| Part::boxed(name, section)).collect()
}

/// A page with a heading and a body.
fn page(place: Place, title: &str, feed: Option<Feed<'_>>, body: &Markup) -> String {
    let here = |is_here: bool| is_here.then_some("page");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Arbiter" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/report.css";
                link rel="stylesheet" href="/assets/live.css";
                script src="/assets/viewer.js" defer {}
                script src="/assets/live.js" defer {}
            }
            body class="live" data-events=[feed.map(|feed| feed.events)]
                data-since=[feed.map(|feed| feed.since)] {
                a class="skip" href="#main" { "Skip to the content" }
                header class="top" {
                    nav aria-label="Pages" { ul {
                        li { a href="/" aria-current=[here(place == Place::Runs)] { "Runs" } }
                        li { a href="/trends" aria-current=[here(place == Place::Trends)] { "Trends" } }
                        li { a href="/cluster" aria-current=[here(place == Place::Cluster)] { "Cluster" } }
                    } }
                    @if feed.is_some() {
                        p id="link" role="status" { "not live without JavaScript" }
                    }
                }
                main id="main" tabindex="-1" { h1 { (title) } (body) }
                footer { p { "Arbiter " (env!("CARGO_PKG_VERSION")) } }
            }
        }
    };
    page.into_string()
}

/// A document as a page that does not change.
pub fn still(place: Place, document: &Document) -> String {
    let parts = parts(document);
    page(place, &document.title, None, &joined(&parts))
}

/// The page of the workers and runs on a NATS server.
pub fn cluster(parts: &[Part], feed: Feed<'_>) -> String {
    page(Place::Cluster, "Cluster", Some(feed), &joined(parts))
}

/// The page of an error; `words` is a sentence.
pub fn error_page(title: &str, words: &str) -> String {
    page(Place::Other, title, None, &html! { p { (words) } })
}

/// Parts in their places.
fn joined(parts: &[Part]) -> Markup {
    html! { div id="parts" { @for part in parts { (maud::PreEscaped(&part.html)) } } }
}

#[cfg(test)]
mod tests;
