//! URL queries.

/// Maximum length of a query, in bytes. The length is limited because a live page stores the query
/// and repeats the query in links.
pub(crate) const MAX_QUERY: usize = 1_000;

/// Query of a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UrlQuery {
    /// Fields: the text in the URL, and the decoded name and value.
    fields: Vec<(String, (String, String))>,
}

impl UrlQuery {
    /// Creates a query from its text and its decoded fields. Returns an error if the text exceeds
    /// [`MAX_QUERY`].
    pub(crate) fn new(query: &str, fields: Vec<(String, String)>) -> Result<UrlQuery, String> {
        if query.len() > MAX_QUERY {
            return Err(format!("The query exceeds {MAX_QUERY} bytes."));
        }
        let texts = query.split('&').filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(UrlQuery { fields: texts.zip(fields).collect() })
    }

    /// Keeps only the fields that are named in `names` and are not empty.
    pub(crate) fn keep_fields(mut self, names: &[&str]) -> UrlQuery {
        // Forms also send empty fields. Without empty fields, each selection has only one URL and
        // therefore only one live page.
        let is_kept =
            |(name, value): &(String, String)| names.contains(&name.as_str()) && !value.is_empty();
        self.fields.retain(|(_, field)| is_kept(field));
        self
    }

    /// Returns the URL of `path` with all non-empty fields. If `part` is given, the URL selects the
    /// list page with the index `part` (from 0).
    pub(crate) fn address(&self, path: &str, part: Option<u64>) -> String {
        let is_kept = |(name, value): &(String, String)| name != "page" && !value.is_empty();
        let fields = self.fields.iter().filter(|(_, field)| is_kept(field));
        let fields = fields.map(|(text, _)| text.clone());
        let part = part.map(|part| format!("page={}", part + 1));
        let query = fields.chain(part).collect::<Vec<_>>().join("&");
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    /// Returns the value of a field; `None` if the value is empty or missing.
    pub(crate) fn non_empty(&self, name: &str) -> Option<&str> {
        Some(self.value(name)).filter(|value| !value.is_empty())
    }

    /// Returns the value of a field; empty if the field is missing.
    pub(crate) fn value(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(_, (own, _))| own == name);
        found.map_or("", |(_, (_, value))| value.trim())
    }

    /// Returns the numeric value of a field (0 to `most`), multiplied by `scale` and rounded;
    /// `None` if the value is empty. The error is a sentence for the user.
    pub(crate) fn number(&self, name: &str, most: u32, scale: f64) -> Result<Option<u32>, String> {
        let value = self.value(name);
        let number = value.parse().ok().filter(|value| (0.0..=f64::from(most)).contains(value));
        match (value, number) {
            ("", _) => Ok(None),
            (_, Some(number)) => Ok(Some((number * scale).round() as u32)),
            (_, None) => Err(format!("'{name}' must be a number from 0 to {most}, got '{value}'.")),
        }
    }

    /// Returns the number of the requested page of a list, from 0.
    pub(crate) fn part(&self) -> Result<u64, String> {
        Ok(self.number("page", 1_000_000, 1.0)?.map_or(0, |page| u64::from(page).saturating_sub(1)))
    }
}
