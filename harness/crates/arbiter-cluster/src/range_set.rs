//! Set of mostly consecutive numbers, stored as ranges.

use std::collections::BTreeMap;

/// Set of integers. Its memory use depends only on the number of gaps.
#[derive(Debug, Default)]
pub(crate) struct RangeSet {
    /// Last number of each range, by the first number of the range; ranges neither overlap nor
    /// touch.
    ranges: BTreeMap<u64, u64>,
}

impl RangeSet {
    /// Returns the first and last number of the range that contains `number`.
    fn range(&self, number: u64) -> Option<(u64, u64)> {
        let (first, last) = self.ranges.range(..=number).next_back()?;
        (*last >= number).then_some((*first, *last))
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        self.range(number).is_some()
    }

    /// Returns the largest number.
    pub(crate) fn last(&self) -> Option<u64> {
        self.ranges.values().next_back().copied()
    }

    pub(crate) fn insert(&mut self, number: u64) {
        if self.contains(number) {
            return;
        }
        // Adjacent ranges are merged, so that the memory depends on the number of gaps, not on the
        // number of pairs.
        let after = number.checked_add(1).and_then(|next| self.ranges.remove(&next));
        let before = number.checked_sub(1).and_then(|previous| self.range(previous));
        let first = before.map_or(number, |(first, _)| first);
        self.ranges.insert(first, after.unwrap_or(number));
    }

    /// Removes a number. Returns whether the number was in the set.
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        let Some((first, last)) = self.range(number) else { return false };
        self.ranges.remove(&first);
        if first < number {
            self.ranges.insert(first, number - 1);
        }
        if number < last {
            self.ranges.insert(number + 1, last);
        }
        true
    }

    /// Returns the number of ranges.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_smallest_and_largest_numbers_are_supported() {
        let mut set = RangeSet::default();
        for number in [0, u64::MAX, u64::MAX - 1, 1] {
            set.insert(number);
        }
        assert_eq!((set.len(), set.last()), (2, Some(u64::MAX)));
        assert!(set.remove(0) && set.remove(u64::MAX) && !set.remove(0));
        assert_eq!((set.len(), set.last()), (2, Some(u64::MAX - 1)));
    }

    proptest! {
        #[test]
        fn range_set_equals_the_set_of_its_numbers(
            steps in proptest::collection::vec((any::<bool>(), 0_u64..40), 0..200),
        ) {
            let (mut set, mut model) = (RangeSet::default(), BTreeSet::new());
            for (is_insert, number) in steps {
                if is_insert {
                    set.insert(number);
                    model.insert(number);
                } else {
                    prop_assert_eq!(set.remove(number), model.remove(&number));
                }
                prop_assert_eq!(set.last(), model.last().copied());
                let is_first = |number: &&u64| **number == 0 || !model.contains(&(**number - 1));
                prop_assert_eq!(set.len(), model.iter().filter(is_first).count());
                for number in 0..40 {
                    prop_assert_eq!(set.contains(number), model.contains(&number));
                }
            }
        }
    }
}
