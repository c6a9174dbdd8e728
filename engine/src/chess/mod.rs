//! The rules of chess and nothing else: positions, legal moves, notations.
//!
//! This module imports only the standard library and does not depend on evaluation, search or time.
//! Start at [`Position`](position::Position).

pub mod attacks;
pub mod bitboard;
pub mod color;
pub mod fen;
pub mod game;
pub mod movegen;
pub mod moves;
pub mod outcome;
pub mod perft;
pub mod piece;
pub mod position;
pub(crate) mod reversible;
pub mod square;
pub mod suite;
pub mod uci_move;
pub mod zobrist;

pub use bitboard::Bitboard;
pub use color::Color;
pub use game::Game;
pub use moves::{Move, MoveKind, MoveList};
pub use piece::{Kind, Piece};
pub use position::Position;
pub use square::Square;
