//! The bundled chess engine.
