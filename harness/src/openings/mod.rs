//! Opening books: reading, ordering and generating.
