//! Named features of evaluations and searches, and sets of features.

use std::fmt;

/// A part of an evaluation or search, or an experiment. Users disable parts and enable experiments
/// by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Name in UCI options and in all output.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Index among the features (or the experiments) of the evaluation or search, below 64.
    pub index: usize,
}

/// A set of features of one evaluation or search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FeatureSet(u64);

impl FeatureSet {
    /// The empty set.
    pub const EMPTY: FeatureSet = FeatureSet(0);

    /// Returns whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the feature with this index is a member.
    #[inline]
    pub const fn contains(self, index: usize) -> bool {
        self.0 >> (index & 63) & 1 != 0
    }

    /// Returns the set plus the feature with this index.
    #[must_use]
    pub const fn with(self, index: usize) -> FeatureSet {
        FeatureSet(self.0 | 1 << (index & 63))
    }

    /// Returns the set minus the feature with this index.
    #[must_use]
    pub const fn without(self, index: usize) -> FeatureSet {
        FeatureSet(self.0 & !(1 << (index & 63)))
    }

    /// Parses names separated by commas. Case is ignored, and so is white space around a name. An
    /// empty string and `<empty>` give the empty set.
    ///
    /// # Errors
    ///
    /// Returns the first name that is not in `known`.
    pub fn parse(text: &str, known: &[Feature]) -> Result<FeatureSet, UnknownFeature> {
        FeatureSet::parse_groups(text, [known]).map(|[set]| set)
    }

    /// Parses names in the format of [`parse`](Self::parse), and returns one set for each group of
    /// known features.
    ///
    /// # Errors
    ///
    /// Returns the first name that is in no group.
    pub fn parse_groups<const N: usize>(
        text: &str,
        known: [&[Feature]; N],
    ) -> Result<[FeatureSet; N], UnknownFeature> {
        let mut sets = [FeatureSet::EMPTY; N];
        if text.trim() == "<empty>" {
            return Ok(sets);
        }
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let in_group = |group: &&[Feature]| {
                group.iter().find(|feature| feature.name.eq_ignore_ascii_case(name)).copied()
            };
            let mut groups = sets.iter_mut().zip(&known);
            let found = groups.find_map(|(set, group)| in_group(group).map(|found| (set, found)));
            let Some((set, feature)) = found else {
                let known = known.iter().flat_map(|group| group.iter());
                let known = known.map(|feature| feature.name).collect();
                return Err(UnknownFeature { name: name.chars().take(40).collect(), known });
            };
            *set = set.with(feature.index);
        }
        Ok(sets)
    }
}

/// A name that is not among the known features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFeature {
    /// Requested name, truncated to 40 characters.
    pub name: String,
    /// Names of the known features.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = if self.known.is_empty() { "none".into() } else { self.known.join(", ") };
        write!(f, "no feature is called \"{}\"; there are {known}", self.name)
    }
}

impl std::error::Error for UnknownFeature {}

/// Declares, in one place, an enumeration of features and the table of feature names and
/// descriptions, so that the enumeration and the table always agree.
macro_rules! features {
    ($(#[$about:meta])* $name:ident { $($variant:ident = $text:literal, $what:literal;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum $name {
            $(#[doc = $what] $variant,)*
        }

        impl $name {
            /// All features with their descriptions.
            pub(super) const ALL: &'static [$crate::eval::feature::Feature] = &[
                $($crate::eval::feature::Feature {
                    name: $text,
                    about: $what,
                    index: $name::$variant as usize,
                },)*
            ];
        }

        impl From<$name> for usize {
            #[inline]
            fn from(feature: $name) -> usize {
                feature as usize
            }
        }
    };
}

pub(crate) use features;

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Feature; 2] = [
        Feature { name: "tempo", about: "", index: 0 },
        Feature { name: "outpost", about: "", index: 5 },
    ];

    #[test]
    fn names_are_read() {
        let both = FeatureSet::EMPTY.with(0).with(5);
        for (text, expected) in [
            ("", FeatureSet::EMPTY),
            ("<empty>", FeatureSet::EMPTY),
            ("tempo", FeatureSet::EMPTY.with(0)),
            (" Outpost ,tempo,", both),
        ] {
            assert_eq!(FeatureSet::parse(text, &KNOWN), Ok(expected), "{text}");
        }
        let error = FeatureSet::parse("tempo,moon", &KNOWN).unwrap_err();
        assert_eq!(error.to_string(), "no feature is called \"moon\"; there are tempo, outpost");
    }
}
