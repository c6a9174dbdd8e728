//! A setting: one field that is a flag, a key of `arbiter.toml` and part of the command line in a
//! report.

use std::fmt::Display;

use arbiter_plan::Plan;

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
pub(crate) type Said = Option<Option<String>>;

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
pub(crate) trait ToSaid {
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
pub(crate) trait Combine {
    /// Returns this value, or `other` where nothing is set.
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
