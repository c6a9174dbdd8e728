//! Comma-separated `key=value` fields as text.

/// Splits comma-separated `key=value` fields into keys and values. The first field may be the value
/// of the key `first` without the key. Double quotes protect commas, semicolons and spaces; within
/// quotes, two double quotes stand for one double quote. `is_key` recognizes key names, so that a
/// missing comma before a key is reported as an error.
pub fn fields(
    text: &str,
    first: &str,
    is_key: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, String)>, String> {
    let is_path = |key: &str| key.contains(['/', '\\']);
    let pair = |(index, field): (usize, String)| match field.split_once('=') {
        Some((key, value)) if index > 0 || !is_path(key) => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ if index == 0 => Ok((first.to_owned(), field)),
        // `tc=8+0,08` is split at the decimal comma, and the second part contains only digits.
        _ if field.bytes().all(|b| b.is_ascii_digit() || b"+./:".contains(&b)) => {
            Err(format!("'{field}' is not KEY=VALUE; fractions have a point, as in tc=8+0.08"))
        }
        _ => Err(format!("'{field}' is not KEY=VALUE")),
    };
    split_fields(text, is_key)?.into_iter().enumerate().map(pair).collect()
}

/// Returns an error if the text after a space or semicolon in a field is another field.
fn check_comma(field: &str, rest: &str, is_key: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let current = field.split_once('=').map(|(key, _)| key.trim());
    // Option names may contain spaces, and program arguments may look like keys.
    let is_text = field.trim().is_empty()
        || (current.is_none() && field.trim_start().starts_with("option."))
        || matches!(current, Some("args" | "init" | "event" | "site" | "match"));
    let next = rest.trim_start().split_once('=').map(|(key, _)| key).filter(|key| is_key(key));
    match next.filter(|_| !is_text) {
        Some(key) => Err(format!("missing comma before {key}=; separate keys by commas")),
        None => Ok(()),
    }
}

/// Splits at commas outside double quotes and removes the quotes. A CSV parser would accept quotes
/// only around a complete field, but these quotes follow the `=`.
fn split_fields(text: &str, is_key: &dyn Fn(&str) -> bool) -> Result<Vec<String>, String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = text.char_indices().peekable();
    while let Some((place, c)) = chars.next() {
        let field = fields.last_mut().expect("the list starts with one field");
        match c {
            '"' if quoted && chars.next_if(|(_, next)| *next == '"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => {
                if !quoted && (c.is_whitespace() || c == ';') {
                    check_comma(field, &text[place + c.len_utf8()..], is_key)?;
                }
                field.push(c);
            }
        }
    }
    if quoted {
        return Err("unclosed quotation mark".to_owned());
    }
    // Superfluous commas, for example at the end, are allowed.
    fields.retain(|field| !field.trim().is_empty());
    Ok(fields)
}

/// Returns `KEY=VALUE`, with the value in double quotes if the value contains commas, semicolons,
/// quotation marks or white space.
pub fn field(key: &str, value: &str) -> String {
    // Without quotation marks, the parser would split or reject such a value.
    if value.contains([',', ';', '"']) || value.contains(char::is_whitespace) {
        format!("{key}=\"{}\"", value.replace('"', "\"\""))
    } else {
        format!("{key}={value}")
    }
}
