//! Pages of `arbiter serve`: conversion of values to markup, without I/O.
//!
//! A page consists of named [`Fragment`]s, so that only changed fragments are sent to a viewer.

#[cfg(feature = "cluster")]
pub(crate) mod cluster;
pub(crate) mod games;
pub(crate) mod list;
pub(crate) mod run;
mod version;

pub(crate) use version::PageVersion;

use maud::{DOCTYPE, Markup, html};

use crate::url_query::UrlQuery;
use arbiter_report::{Document, HTML_SCRIPT, HTML_STYLE, html_sections};

/// Content security policy of pages. A page loads only files from this server, and contains no
/// inline script or style.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Name, content type and content of the files that pages load.
pub(crate) const ASSETS: [(&str, &str, &str); 5] = [
    ("report.css", "text/css; charset=utf-8", HTML_STYLE),
    ("live.css", "text/css; charset=utf-8", include_str!("live.css")),
    ("viewer.js", "text/javascript; charset=utf-8", HTML_SCRIPT),
    ("live.js", "text/javascript; charset=utf-8", include_str!("live.js")),
    ("icon.svg", "image/svg+xml", include_str!("icon.svg")),
];

/// Page element that is always replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// Value of the attribute `id` of the element.
    pub(crate) id: String,
    /// Markup of the element, including the element itself.
    pub(crate) html: String,
}

/// Source of the changes of a live page; the page's script opens the source as an `EventSource`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventSource<'a> {
    /// URL of the events.
    pub(crate) url: &'a str,
    /// ID of the last event that the page includes.
    pub(crate) last_event_id: &'a str,
}

/// Function that the thread of a live page calls at each tick. Returns the current fragments of the
/// page; `None` if the fragments have not changed.
pub(crate) type LivePage<'a> = Box<dyn FnMut() -> Option<Vec<Fragment>> + 'a>;

impl Fragment {
    /// Returns a fragment: a `div` with the content.
    fn boxed(name: &str, content: &Markup) -> Fragment {
        let id = format!("part-{name}");
        let html = html! { div id=(id) { (content) } }.into_string();
        Fragment { id, html }
    }
}

/// Returns the fragments of a document, one per section.
pub(crate) fn fragments(document: &Document) -> Vec<Fragment> {
    let sections = html_sections(&document.blocks);
    sections.iter().map(|(name, section)| Fragment::boxed(name, section)).collect()
}

/// Returns the page at `path` with heading `title`; a live page has a `source`. The path matters
/// only if the navigation has an entry for this path.
fn page(path: &str, title: &str, source: Option<EventSource<'_>>, body: &Markup) -> String {
    let here = |entry: &str| (entry == path).then_some("page");
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
            body class="live" data-events=[source.map(|source| source.url)]
                data-since=[source.map(|source| source.last_event_id)] {
                a class="skip" href="#main" { "Skip to the content" }
                header class="top" {
                    nav aria-label="Pages" { ul {
                        li { a href="/" aria-current=[here("/")] { "Runs" } }
                        @if cfg!(feature = "cluster") {
                            li { a href="/cluster" aria-current=[here("/cluster")] { "Cluster" } }
                        }
                    } }
                    @if source.is_some() {
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

/// Returns a document as a page without live updates.
pub(crate) fn static_page(document: &Document) -> String {
    page("", &document.title, None, &joined(&fragments(document)))
}

/// Returns the navigation of a list with pages of `size` items: the range of the current page, and
/// links to the first, previous, next and last page.
fn parts(url_query: &UrlQuery, path: &str, what: &str, part: u64, size: u64, total: u64) -> Markup {
    let to = |part| url_query.address(path, Some(part));
    let before = part.saturating_mul(size);
    let last = total.saturating_sub(1) / size;
    // For a page beyond the end of the list of games, `total` is 0.
    let previous = part.saturating_sub(1).min(if total == 0 { part } else { last });
    html! {
        nav class="parts" aria-label="Parts of the list" { ul {
            li {
                @if before < total {
                    (before + 1) " – " (total.min(before + size)) " of " (total) " " (what)
                } @else { "No " (what) " found." }
            }
            @if part > 0 {
                li { a href=(to(0)) { "First" } }
                li { a rel="prev" href=(to(previous)) { "Previous" } }
            }
            @if before + size < total {
                li { a rel="next" href=(to(part + 1)) { "Next" } }
                li { a href=(to(last)) { "Last" } }
            }
        } }
    }
}

/// Returns an option of a form field, selected if the query contains the value of the option.
fn option(url_query: &UrlQuery, name: &str, value: &str, text: &str) -> Markup {
    html! { option value=(value) selected[url_query.value(name) == value] { (text) } }
}

/// Returns an error page; `message` is a sentence.
pub(crate) fn error_page(title: &str, message: &str) -> String {
    page("", title, None, &html! { p { (message) } })
}

/// Returns the element that contains the fragments, in order.
fn joined(fragments: &[Fragment]) -> Markup {
    html! { div id="parts" { @for fragment in fragments { (maud::PreEscaped(&fragment.html)) } } }
}

#[cfg(test)]
mod tests;
