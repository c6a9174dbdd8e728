//! A setting: one field that is a flag, a key of `arbiter.toml` and a part of the command line in
//! reports.

use std::fmt::Display;

use serde::de::DeserializeOwned;

use arbiter_names::did_you_mean;
use arbiter_plan::{Plan, field, fields};

/// Effect of a flag when it is used with `--resume`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnResume {
    /// The value must equal the value with which the run was started.
    Fixed,
    /// Another value is allowed, or the setting does not affect the games.
    Free,
    /// The setting belongs to the engines or their limits.
    Engines,
    /// The setting determines the number of pairs.
    Length,
    /// The setting determines the parameters of a tuning run.
    Parameters,
    /// The setting is a bound of an SPRT; in a tuning run, this is the SPRT that tests the tuned
    /// values.
    Bound,
    /// The setting determines what is written about a game.
    Written,
}

/// A setting of a run.
pub(crate) struct Setting {
    /// Name of the setting's field, from which the names of the flag and the key are derived.
    pub field: &'static str,
    /// `true` for a setting with several keys.
    pub has_keys: bool,
    /// Effect of the setting when it is used with `--resume`.
    pub on_resume: OnResume,
    /// Function that returns the value of the flag on the command line of a plan, or `None` if the
    /// flag need not be given; the value of a switch is empty. `None` if the setting does not
    /// determine which games are played.
    pub flag_value: Option<fn(&Plan) -> Option<String>>,
}

impl Setting {
    /// Returns the name of the flag.
    pub(crate) fn flag(&self) -> String {
        self.field.replace('_', "-")
    }
}

/// A value that can be completed by another value.
pub trait Combine {
    /// `true` for a value with several keys.
    const HAS_KEYS: bool = false;

    /// Returns this value, with unset parts taken from `other`.
    #[must_use]
    fn or(self, other: Self) -> Self;

    /// Returns the names of the keys that are set, such as "openings order"; `field` names the
    /// setting.
    fn given(&self, _field: &str) -> Vec<String> {
        Vec::new()
    }
}

impl<T> Combine for Option<T> {
    fn or(self, other: Option<T>) -> Option<T> {
        self.or(other)
    }
}

impl Combine for bool {
    fn or(self, other: bool) -> bool {
        self || other
    }
}

/// A flag that may be repeated. The values of the flag follow the values of the file, because later
/// values take precedence.
impl<T: Keys> Combine for Vec<T> {
    const HAS_KEYS: bool = true;

    fn or(mut self, mut file: Vec<T>) -> Vec<T> {
        file.append(&mut self);
        file
    }

    fn given(&self, field: &str) -> Vec<String> {
        self.iter().flat_map(|keys| keys.given(field)).collect()
    }
}

/// Returns a setting with several keys, merged from all occurrences of the setting; later
/// occurrences take precedence.
pub fn merged<T: Keys>(texts: Vec<T>) -> T {
    texts.into_iter().fold(T::default(), |earlier, later| later.or(earlier))
}

/// A setting with several keys: one flag, and one table of `arbiter.toml`.
pub trait Keys: Combine + Default + DeserializeOwned {
    /// Help text above the list of keys.
    const ABOUT: &str;
    /// `true` if the value of the first key, such as a file, may be given without the key.
    const HAS_MAIN: bool;
    /// Keys in the order of the help; a value without a key belongs to the first key.
    const KEYS: &[Key];

    /// Parses comma-separated `key=value` fields; the first field may be the value of the first key
    /// without the key.
    fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<String> = Self::KEYS.iter().map(Key::name).collect();
        let mut combined = Self::default();
        let is_bare = |word: &str| names[1..].iter().any(|name| name == word);
        let has_value = text.contains('=') || (Self::HAS_MAIN && !text.split(',').any(is_bare));
        if text.trim().is_empty() || !has_value {
            return Err(format!("expected KEY=VALUE, got '{text}'"));
        }
        // A path without other keys may contain commas and quotes.
        let main_value = || Ok(vec![(names[0].clone(), text.to_owned())]);
        let is_key = |key: &str| names.iter().any(|name| name == key);
        let given =
            if text.contains('=') { fields(text, &names[0], &is_key) } else { main_value() };
        for (key, value) in given? {
            if !names.contains(&key) {
                let hint = did_you_mean(&key, names.iter().map(String::as_str));
                return Err(format!(
                    "unknown key '{key}'{hint}; the keys are {}",
                    names.join(", ")
                ));
            }
            let table = toml::Table::from_iter([(key.clone(), toml::Value::String(value))]);
            let parsed: Result<Self, toml::de::Error> = table.try_into();
            combined = parsed.map_err(|error| format!("{key}: {}", error.message()))?.or(combined);
        }
        Ok(combined)
    }

    /// Returns the help text, with a line for each key.
    fn help() -> String {
        let line = |key: &Key| format!("\n- {}={}: {}", key.name(), key.value, (key.help)());
        Self::ABOUT.trim().to_owned() + &Self::KEYS.iter().map(line).collect::<String>()
    }

    /// Returns the value of the flag on the command line of a plan; `None` if no key needs to be
    /// given.
    fn flag_value(plan: &Plan) -> Option<String> {
        let given =
            Self::KEYS.iter().filter_map(|key| Some(field(&key.name(), &(key.flag_value?)(plan)?)));
        Some(given.collect::<Vec<_>>().join(",")).filter(|text| !text.is_empty())
    }
}

/// A key of a setting.
pub struct Key {
    /// Name of the key's field.
    pub field: &'static str,
    /// Placeholder of the value in the help.
    pub value: &'static str,
    /// Function that returns the help text.
    pub help: fn() -> String,
    /// Function that returns the value on the command line of a plan, or `None` if the key need not
    /// be given. `None` if the key does not determine which games are played.
    pub flag_value: Option<fn(&Plan) -> Option<String>>,
}

impl Key {
    /// Returns the name of the key.
    pub fn name(&self) -> String {
        self.field.trim_start_matches("r#").replace('_', "-")
    }
}

/// Returns the help of a flag, with its default if one is given.
pub fn help(text: &str, default: &[&dyn Display]) -> String {
    let shown: String = default.iter().map(|default| format!(" [default: {default}]")).collect();
    text.trim().to_owned() + &shown
}

/// Declares settings: each field is a flag under the heading and a key of `arbiter.toml`. The
/// documentation of the field is its help text, and brackets contain the placeholder of the value.
/// `as` names the deserializer of the key, `=` gives the default, `=>` the value on the command
/// line of `plan`, and `resume` the effect of the setting with `--resume`. Settings after
/// `@of_file` are keys only.
macro_rules! settings {
    (@resume) => { $crate::OnResume::Fixed };
    (@resume $class:ident) => { $crate::OnResume::$class };
    (@flag_value $plan:ident) => { None };
    (@flag_value $plan:ident $flag_value:expr) => { Some(|$plan| $flag_value.map(|value| value.to_string())) };
    (
        $(#[$about:meta])* $name:ident, $plan:ident;
        $( $heading:expr => { $(
            $(#[doc = $doc:literal])* $(#[arg($($arg:tt)*)])* $(#[resume($class:ident)])?
            $field:ident $([$value:literal])?: $type:ty $(as $reader:literal)? $(= $default:expr)? $(=> $flag_value:expr)?,
        )* } )*
        @of_file => { $( $(#[$key:meta])* $of_file:ident: $table:ty, )* }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, clap::Args, serde::Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            $( $(
                $(#[doc = $doc])* $(#[serde(deserialize_with = $reader)])?
                #[arg(long, help_heading = $heading,
                    help = $crate::setting::help(concat!($($doc),*), &[$(&$default)?]))]
                $(#[arg(value_name = $value)])?
                $(#[arg($($arg)*)])*
                pub $field: $type,
            )* )*
            $( $(#[$key])* #[arg(skip)] pub $of_file: $table, )*
        }

        impl $name {
            /// Each setting, in the order of command lines.
            pub(crate) const ALL: &[$crate::setting::Setting] = &[$( $( $crate::setting::Setting {
                field: stringify!($field),
                has_keys: <$type as $crate::setting::Combine>::HAS_KEYS,
                on_resume: settings!(@resume $($class)?),
                flag_value: settings!(@flag_value $plan $($flag_value)?),
            }, )* )*];

            /// Returns the keys that are set in settings with several keys, such as "openings
            /// order".
            pub fn given_keys(&self) -> Vec<String> {
                [$( $(
                    $crate::setting::Combine::given(&self.$field, stringify!($field)),
                )* )*].concat()
            }

            /// Returns these settings of the command line, with unset settings taken from the file.
            pub fn or(self, file: $name) -> $name {
                $name {
                    $( $( $field: $crate::setting::Combine::or(self.$field, file.$field), )* )*
                    $( $of_file: file.$of_file, )*
                }
            }
        }
    };
}

/// Declares a setting with several keys; the documentation of the setting is the text above the
/// keys in the help. The literal is `true` if the value of the first key may be given without the
/// key. Each key has its help. Brackets contain the placeholder of the value; the placeholder may
/// be followed by `=` and the text that replaces `{values}` in the help. `as` names the
/// deserializer of the value, `=` gives the default, and `=>` the value on the command line of
/// `plan`.
#[macro_export]
macro_rules! keys {
    (@flag_value $plan:ident) => { None };
    (@flag_value $plan:ident $flag_value:expr) => { Some(|$plan| $flag_value.map(|value| value.to_string())) };
    (
        $(#[doc = $about:literal])* $name:ident, $has_main:literal, $plan:ident;
        $(
            $(#[doc = $doc:literal])*
            $field:ident [$value:literal $(= $values:expr)?]: $type:ty $(as $reader:literal)? $(= $default:expr)? $(=> $flag_value:expr)?,
        )*
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            $( $(#[doc = $doc])* $(#[serde(deserialize_with = $reader)])? pub $field: Option<$type>, )*
        }

        impl $crate::Combine for $name {
            fn or(self, other: $name) -> $name {
                $name { $( $field: self.$field.or(other.$field), )* }
            }

            fn given(&self, field: &str) -> Vec<String> {
                let flag = field.replace('_', "-");
                let is_given = [$( self.$field.is_some() ),*];
                let given = <$name as $crate::Keys>::KEYS.iter().zip(is_given);
                let given = given.filter(|(_, is_given)| *is_given);
                given.map(|(key, _)| format!("{flag} {}", key.name())).collect()
            }
        }

        impl $crate::Keys for $name {
            const ABOUT: &str = concat!($($about),*);
            const HAS_MAIN: bool = $has_main;
            const KEYS: &[$crate::Key] = &[$( $crate::Key {
                field: stringify!($field),
                value: $value,
                help: || $crate::help(concat!($($doc),*), &[$(&$default)?])$(.replace("{values}", &$values))?,
                flag_value: $crate::keys!(@flag_value $plan $($flag_value)?),
            }, )*];
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                $crate::Keys::parse(text)
            }
        }
    };
}
