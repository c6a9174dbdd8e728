//! The bundled chess engine.
/// Placeholder until the engine lands.
pub fn run(_args: impl Iterator<Item = String>) -> i32 {
    2
}
