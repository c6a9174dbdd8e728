//! The games in progress, for those who look on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arbiter_game::pane::{Pane, Scene};

/// Number of the pair, and which game of it, from 0.
pub type Place = (u64, usize);

/// All panes; clones show the same.
#[derive(Debug, Clone, Default)]
pub struct Gallery(Arc<Mutex<BTreeMap<Place, Arc<Pane>>>>);

/// A pane that hangs in the gallery until this is dropped.
#[derive(Debug)]
pub struct Hung {
    gallery: Gallery,
    place: Place,
    pane: Arc<Pane>,
}

impl Gallery {
    /// Opens a pane on a game.
    pub fn hang(&self, place: Place) -> Hung {
        let pane = Arc::new(Pane::default());
        self.panes().insert(place, pane.clone());
        Hung { gallery: self.clone(), place, pane }
    }

    /// The first games by their place, so many at most, and how many there are in all. A game that
    /// has not shown itself yet is only counted.
    pub fn look(&self, most: usize) -> (Vec<(Place, Scene)>, usize) {
        let panes = self.panes();
        let (count, first): (_, Vec<_>) =
            (panes.len(), panes.iter().take(most).map(|(at, pane)| (*at, pane.clone())).collect());
        drop(panes);
        let scenes = first.into_iter().filter_map(|(place, pane)| Some((place, pane.look()?)));
        (scenes.collect(), count)
    }

    fn panes(&self) -> MutexGuard<'_, BTreeMap<Place, Arc<Pane>>> {
        // Nothing in here can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hung {
    /// The pane.
    pub fn pane(&self) -> Arc<Pane> {
        self.pane.clone()
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        self.gallery.panes().remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{ByColor, Chess};

    use super::*;

    #[test]
    fn games_hang_while_they_last() {
        let gallery = Gallery::default();
        let scene = Scene {
            engines: ByColor { white: 0, black: 1 },
            position: Chess::default(),
            last: None,
            thoughts: ByColor::default(),
            left: ByColor::default(),
        };
        let hung: Vec<_> = (0..3).map(|pair| gallery.hang((pair, 0))).collect();
        assert_eq!(gallery.look(9), (vec![], 3));
        hung.iter().skip(1).for_each(|hung| hung.pane().show(scene.clone()));
        let (seen, count) = gallery.clone().look(2);
        assert_eq!((seen.len(), seen[0].0, count), (1, (1, 0), 3));
        drop(hung);
        assert_eq!(gallery.look(9), (vec![], 0));
    }
}
