//! A setting: one field that is a flag, a key of `arbiter.toml` and part of the command line in a
//! report.

use std::fmt::Display;

use serde::de::DeserializeOwned;

use arbiter_names::did_you_mean;
use arbiter_plan::{Plan, field, fields};

/// The effect of a flag beside `--resume`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnResume {
    /// The value must be that of the start of the run.
    Fixed,
    /// Another value is allowed, or the setting decides no game.
    Free,
    /// A setting of the engines, limits included.
    Engines,
    /// A setting of the number of pairs.
    Length,
    /// A setting that names the parameters of a tuning.
    Parameters,
    /// A bound of a test; beside a tuning, of the test of the tuned values.
    Bound,
    /// A setting of what is written of a game.
    Written,
}

/// A setting on a command line: nothing, a switch, or a flag with its value.
pub type Said = Option<Option<String>>;

/// A setting of a run.
pub(crate) struct Setting {
    /// Field of the setting, from which flag and key have their names.
    pub field: &'static str,
    /// Effect of the setting beside `--resume`.
    pub on_resume: OnResume,
    /// Function for the setting on the command line of a plan, if the setting decides which games
    /// are played.
    pub said: Option<fn(&Plan) -> Said>,
}

impl Setting {
    /// Returns the name of the flag.
    pub(crate) fn flag(&self) -> String {
        self.field.replace('_', "-")
    }
}

/// A value that a command line can state.
pub trait ToSaid {
    /// Returns the value as it is stated.
    fn said(self) -> Said;
}

impl<T: ToString> ToSaid for Option<T> {
    fn said(self) -> Said {
        self.map(|value| Some(value.to_string()))
    }
}

impl ToSaid for bool {
    fn said(self) -> Said {
        self.then_some(None)
    }
}

/// A value that another one completes.
pub trait Combine {
    /// Returns this value, or `other` where nothing is set.
    #[must_use]
    fn or(self, other: Self) -> Self;
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

/// A flag that is given several times, and last in the file.
impl<T> Combine for Vec<T> {
    fn or(mut self, mut file: Vec<T>) -> Vec<T> {
        file.append(&mut self);
        file
    }
}

/// Returns a setting of several keys from all its texts, of which later ones win.
pub fn merged<T: Keys>(texts: Vec<T>) -> T {
    texts.into_iter().fold(T::default(), |earlier, later| later.or(earlier))
}

/// A setting of several keys: one flag, and one table of `arbiter.toml`.
pub trait Keys: Combine + Default + DeserializeOwned {
    /// Text of the help above the keys.
    const ABOUT: &str;
    /// Keys in the order of the help; the first is that of a value without a key.
    const KEYS: &[Key];

    /// Parses comma-separated `key=value`; the first may be the value of the first key alone.
    fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<String> = Self::KEYS.iter().map(Key::name).collect();
        let mut whole = Self::default();
        // A path may have commas and quotes of its own.
        let whole_text = || Ok(vec![(names[0].clone(), text.to_owned())]);
        let given = if text.contains('=') { fields(text, &names[0]) } else { whole_text() };
        for (key, value) in given? {
            if !names.contains(&key) {
                let hint = did_you_mean(&key, names.iter().map(String::as_str));
                return Err(format!(
                    "unknown key '{key}'{hint}; the keys are {}",
                    names.join(", ")
                ));
            }
            let table = toml::Table::from_iter([(key.clone(), toml::Value::String(value))]);
            let own: Result<Self, toml::de::Error> = table.try_into();
            whole = own.map_err(|error| format!("{key}: {}", error.message()))?.or(whole);
        }
        Ok(whole)
    }

    /// Returns the text of the help, with a line for each key.
    fn help() -> String {
        let line = |key: &Key| format!("\n- {}={}: {}", key.name(), key.value, (key.help)());
        Self::ABOUT.trim().to_owned() + &Self::KEYS.iter().map(line).collect::<String>()
    }

    /// Returns the setting on the command line of a plan.
    fn said(plan: &Plan) -> Option<String> {
        let own = Self::KEYS.iter().filter_map(|key| {
            let value = (key.said?)(plan)?.unwrap_or_else(|| true.to_string());
            Some(field(&key.name(), &value))
        });
        Some(own.collect::<Vec<_>>().join(",")).filter(|text| !text.is_empty())
    }
}

/// A key of a setting.
pub struct Key {
    /// Field of the key.
    pub field: &'static str,
    /// Name of the value.
    pub value: &'static str,
    /// Function for the text of the help.
    pub help: fn() -> String,
    /// Function for the value on the command line of a plan.
    pub said: Option<fn(&Plan) -> Said>,
}

impl Key {
    /// Returns the name of the key.
    fn name(&self) -> String {
        self.field.trim_start_matches("r#").replace('_', "-")
    }
}

/// Returns the help of a flag with its default, if the default is given separately.
pub fn help(text: &str, default: &[&dyn Display]) -> String {
    let shown: String = default.iter().map(|default| format!(" [default: {default}]")).collect();
    text.trim().to_owned() + &shown
}

/// Declares settings: each field is a flag under the heading and a key of `arbiter.toml`. Its
/// documentation is the help; brackets contain the name of its value; `as` names the reader of the
/// key; `=` the default; `=>` the value on the command line of `plan`; `resume` the effect of the
/// setting beside `--resume`. Those `@of_file` are keys only.
macro_rules! settings {
    (@resume) => { $crate::OnResume::Fixed };
    (@resume $class:ident) => { $crate::OnResume::$class };
    (@said $plan:ident) => { None };
    (@said $plan:ident $said:expr) => { Some(|$plan| $crate::setting::ToSaid::said($said)) };
    (
        $(#[$about:meta])* $name:ident, $plan:ident;
        $( $heading:expr => { $(
            $(#[doc = $doc:literal])* $(#[arg($($arg:tt)*)])* $(#[resume($class:ident)])?
            $field:ident $([$value:literal])?: $type:ty $(as $reader:literal)? $(= $default:expr)? $(=> $said:expr)?,
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
                on_resume: settings!(@resume $($class)?),
                said: settings!(@said $plan $($said)?),
            }, )* )*];

            /// Returns these settings of the command line, completed by those of the file.
            pub fn or(self, file: $name) -> $name {
                $name {
                    $( $( $field: $crate::setting::Combine::or(self.$field, file.$field), )* )*
                    $( $of_file: file.$of_file, )*
                }
            }
        }
    };
}

/// Declares a setting of several keys; its documentation is the text above them. Each key has its
/// help, in brackets the name of its value; `as` names the reader of the value; `=` the default;
/// `=>` the value on the command line of `plan`.
#[macro_export]
macro_rules! keys {
    (@said $plan:ident) => { None };
    (@said $plan:ident $said:expr) => { Some(|$plan| $crate::ToSaid::said($said)) };
    (
        $(#[doc = $about:literal])* $name:ident, $plan:ident;
        $(
            $(#[doc = $doc:literal])*
            $field:ident [$value:literal]: $type:ty $(as $reader:literal)? $(= $default:expr)? $(=> $said:expr)?,
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
        }

        impl $crate::Keys for $name {
            const ABOUT: &str = concat!($($about),*);
            const KEYS: &[$crate::Key] = &[$( $crate::Key {
                field: stringify!($field),
                value: $value,
                help: || $crate::help(concat!($($doc),*), &[$(&$default)?]),
                said: $crate::keys!(@said $plan $($said)?),
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
