//! Parameters as text, one per line: `name,start,min,max,c_end,r_end` as in fishtest, or with `int`
//! or `float` after the name as in OpenBench.

use serde_with::serde_conv;

use super::parameter::{Parameter, ParameterKind};

/// Parses a table; blank lines and lines that begin with `#` are skipped. An error message begins
/// with the line number.
pub fn read(text: &str) -> Result<Vec<Parameter>, String> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let numbered = |(line, text)| read_line(text).map_err(|error| format!("line {line}: {error}"));
    lines.map(numbered).collect()
}

/// Parses and checks the line of one parameter.
pub fn read_line(line: &str) -> Result<Parameter, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let (name, kind, numbers) = match &fields[..] {
        [name, numbers @ ..] if numbers.len() == 5 => (name, ParameterKind::Int, numbers),
        [name, word, numbers @ ..] if numbers.len() == 5 => {
            let kind = word.parse().map_err(|_| format!("'{word}' is neither int nor float"))?;
            (name, kind, numbers)
        }
        _ => {
            return Err(format!(
                "'{line}' has neither the six fields name, start, min, max, c_end, r_end nor these \
                 with int or float after the name"
            ));
        }
    };
    let mut values = [0.0; 5];
    for (value, text) in values.iter_mut().zip(numbers) {
        *value = text.parse().map_err(|_| format!("{name}: '{text}' is not a number"))?;
    }
    let [start, min, max, c_end, r_end] = values;
    let name = (*name).to_owned();
    let parameter = Parameter { name, kind, start, min, max, c_end, r_end };
    parameter.check()?;
    Ok(parameter)
}

/// Returns the line of a parameter in the format that contains the type (`int` or `float`).
pub fn line(parameter: &Parameter) -> String {
    let Parameter { name, kind, start, min, max, c_end, r_end } = parameter;
    format!("{name}, {kind}, {start}, {min}, {max}, {c_end}, {r_end}")
}

serde_conv!(
    /// Serialization of a parameter as its line, in which numbers keep all digits.
    pub(crate) Line,
    Parameter,
    line,
    |text: String| read_line(&text)
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_the_long_form_is_written() {
        let text = "# mine\n\nTempo,28,0,60,4,0.002\nLate Move, float, 0.5, 0, 2.5, 0.1, 0.002\n";
        let read = read(text).unwrap();
        assert_eq!(read[0].kind, ParameterKind::Int);
        assert_eq!((read[1].name.as_str(), read[1].kind), ("Late Move", ParameterKind::Float));
        assert_eq!((read[1].start, read[1].max, read[1].c_end), (0.5, 2.5, 0.1));
        assert_eq!(line(&read[0]), "Tempo, int, 28, 0, 60, 4, 0.002");
        for parameter in &read {
            assert_eq!(read_line(&line(parameter)).as_ref(), Ok(parameter));
        }
    }

    #[test]
    fn errors_name_the_line_and_the_reason() {
        let check = |text: &str, expect: &str| {
            let error = read(text).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check("A,1,0,2,1,0.1\nB,1,0,2,1", "line 2: 'B,1,0,2,1' has neither the six fields");
        check("A,bool,1,0,2,1,0.1", "line 1: 'bool' is neither int nor float");
        check("A,one,0,2,1,0.1", "line 1: A: 'one' is not a number");
        check("#\nA,3,0,2,1,0.1", "line 2: A: the start 3 is outside the range 0 to 2");
        check("A,1,0,2,3,0.1", "line 1: A: the perturbation c_end 3 is larger than the range");
        check("A,inf,0,2,3,0.1", "start must be a finite number");
    }
}
