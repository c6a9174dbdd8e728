//! The weights of a network, and the format of network files.
//!
//! | bytes | contents, lowest byte first |
//! |---|---|
//! | 0–15 | `palimpsest net 1` |
//! | 16–17 | number of neurons in the hidden layer per side |
//! | 18–19 | number of outputs |
//! | 20–31 | 0 |
//! | 32–63 | BLAKE3 hash of the bytes after this header |
//! | from 64 | 16-bit numbers: weights of the hidden layer by input; biases of the hidden layer; weights of each output, for the side to move and then for the other side |
//! | last 32 | output biases, 32 bits each |

use std::fmt;

use crate::chess::{Color, Piece, Square};

/// Number of inputs: friendly and enemy pieces of six types on 64 squares.
pub const INPUTS: usize = 768;

/// Number of neurons in the hidden layer, per side.
pub const HIDDEN: usize = 128;

/// Number of outputs; the number of pieces on the board selects one output.
pub const OUTPUTS: usize = 8;

/// Integer that represents 1.0 in the hidden layer.
pub const HIDDEN_UNIT: i32 = 255;

/// Integer that represents 1.0 in the quantized output weights.
pub const OUTPUT_UNIT: i32 = 64;

/// Score, in centipawns, of the output 1.0.
pub const CENTIPAWNS: i32 = 400;

/// Maximum absolute value of an output weight. The product of this maximum and [`HIDDEN_UNIT`] fits
/// in 16 bits.
pub const OUTPUT_WEIGHT_MAX: i16 = 127;

const MAGIC: &[u8; 16] = b"palimpsest net 1";
const HEADER_BYTES: usize = 64;

/// One number for each neuron in the hidden layer of a side.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Layer(pub(super) [i16; HIDDEN]);

impl Layer {
    pub(super) const ZERO: Layer = Layer([0; HIDDEN]);
}

/// The weights of a network.
pub struct Network {
    hash: [u8; 32],
    pub(super) inputs: Box<[Layer]>,
    pub(super) bias: Layer,
    pub(super) outputs: [[Layer; 2]; OUTPUTS],
    pub(super) output_bias: [i32; OUTPUTS],
}

/// Reason why a sequence of bytes is not a valid network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// The bytes do not begin with the header of a network.
    NoNetwork,
    /// The layer sizes in the header differ from [`HIDDEN`] and [`OUTPUTS`]. The two numbers are
    /// the numbers of hidden neurons and of outputs in the header.
    OtherLayers(u16, u16),
    /// The number of bytes is wrong.
    Length,
    /// The bytes do not match the hash in the header.
    Hash,
    /// The weights are so large that a sum can overflow.
    Overflow,
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::NoNetwork => write!(f, "not a network of this engine"),
            NetworkError::OtherLayers(hidden, outputs) => write!(
                f,
                "it has {hidden} neurons and {outputs} outputs, but this engine needs {HIDDEN} \
                 and {OUTPUTS}"
            ),
            NetworkError::Length => write!(f, "wrong length"),
            NetworkError::Hash => write!(f, "changed or damaged: the hash does not match"),
            NetworkError::Overflow => write!(f, "the weights are too large"),
        }
    }
}

impl std::error::Error for NetworkError {}

/// Returns the index of the input for a piece, from the point of view of `side`. If `mirrored`, the
/// files are mirrored. The caller sets `mirrored` to keep the king of `side` on files a to d.
#[inline(always)]
pub(crate) fn input(side: Color, mirrored: bool, piece: Piece, square: Square) -> usize {
    let mirror = if mirrored { 7 } else { 0 };
    let enemy = usize::from(piece.color != side);
    enemy * 384 + piece.kind.index() * 64 + (square.relative(side).index() ^ mirror)
}

/// Returns whether the files are mirrored for a side whose king is on this square.
#[inline(always)]
pub(crate) fn is_mirrored(king: Square) -> bool {
    king.file() >= 4
}

/// Returns the index of the output for this number of pieces on the board.
#[inline(always)]
pub(crate) fn output(pieces: u32) -> usize {
    (pieces.saturating_sub(2) as usize * OUTPUTS / 31).min(OUTPUTS - 1)
}

/// Reads `count` 16-bit words. Returns the words and the remaining bytes.
fn words(bytes: &[u8], count: usize) -> Result<(Vec<i16>, &[u8]), NetworkError> {
    let (words, rest) = bytes.split_at_checked(2 * count).ok_or(NetworkError::Length)?;
    Ok((words.as_chunks().0.iter().map(|word| i16::from_le_bytes(*word)).collect(), rest))
}

impl Network {
    /// Returns the network with these weights. The parameters are in the order of the file.
    ///
    /// # Panics
    ///
    /// Can panic if the length of a slice does not match the layers.
    pub fn new(inputs: &[i16], bias: &[i16], outputs: &[i16], output_bias: &[i32]) -> Network {
        let layers = |weights: &[i16]| -> Vec<Layer> {
            weights.as_chunks().0.iter().map(|weights| Layer(*weights)).collect()
        };
        let mut network = Network {
            hash: [0; 32],
            inputs: layers(inputs).into(),
            bias: layers(bias)[0],
            outputs: layers(outputs).as_chunks().0.try_into().expect("each output has two layers"),
            output_bias: output_bias.try_into().expect("each output has a bias"),
        };
        assert_eq!(network.inputs.len(), INPUTS, "a layer for each input");
        network.hash = *blake3::hash(&network.weight_bytes()).as_bytes();
        network
    }

    /// Reads a network from the bytes of a network file.
    ///
    /// # Errors
    ///
    /// Returns the reason if the bytes are not a valid network.
    pub fn read(bytes: &[u8]) -> Result<Network, NetworkError> {
        let (header, weights) =
            bytes.split_at_checked(HEADER_BYTES).ok_or(NetworkError::NoNetwork)?;
        if !header.starts_with(MAGIC) {
            return Err(NetworkError::NoNetwork);
        }
        let size = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        if [size(16), size(18)].map(usize::from) != [HIDDEN, OUTPUTS] {
            return Err(NetworkError::OtherLayers(size(16), size(18)));
        }
        let (inputs, rest) = words(weights, INPUTS * HIDDEN)?;
        let (bias, rest) = words(rest, HIDDEN)?;
        let (outputs, rest) = words(rest, OUTPUTS * 2 * HIDDEN)?;
        let (output_bias, rest) = rest.as_chunks();
        if output_bias.len() != OUTPUTS || !rest.is_empty() {
            return Err(NetworkError::Length);
        }
        let output_bias: Vec<i32> =
            output_bias.iter().map(|word| i32::from_le_bytes(*word)).collect();
        let network = Network::new(&inputs, &bias, &outputs, &output_bias);
        if network.hash[..] != header[32..] {
            return Err(NetworkError::Hash);
        }
        // The hash only detects damage and is not a signature, so weights of any size are possible.
        if network.may_overflow() { Err(NetworkError::Overflow) } else { Ok(network) }
    }

    /// Returns all weights except the output biases, in the order of the file.
    fn layers(&self) -> impl Iterator<Item = i16> {
        let outputs = self.outputs.as_flattened().iter();
        self.inputs.iter().chain([&self.bias]).chain(outputs).flat_map(|layer| layer.0)
    }

    /// Returns all weights and biases, in the order of the file.
    pub(crate) fn weights(&self) -> impl Iterator<Item = i32> {
        self.layers().map(i32::from).chain(self.output_bias)
    }

    /// Returns the bytes of all weights and biases, in the order of the file.
    fn weight_bytes(&self) -> Vec<u8> {
        let bias = self.output_bias.iter().flat_map(|bias| bias.to_le_bytes());
        self.layers().flat_map(i16::to_le_bytes).chain(bias).collect()
    }

    /// Returns the bytes of the network file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([HIDDEN as u16, OUTPUTS as u16].map(u16::to_le_bytes).as_flattened());
        bytes.resize(32, 0);
        bytes.extend(self.hash);
        bytes.extend(self.weight_bytes());
        bytes
    }

    /// Returns the BLAKE3 hash of the weights and biases.
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// Returns whether the evaluation of a position with 32 pieces can overflow: a sum in the
    /// hidden layer can exceed 16 bits, an output can exceed 32 bits, or an output weight exceeds
    /// [`OUTPUT_WEIGHT_MAX`].
    fn may_overflow(&self) -> bool {
        let square = i64::from(HIDDEN_UNIT * HIDDEN_UNIT);
        let output_too_large = |output: &[Layer; 2], bias: i32| {
            let weights = || output.iter().flat_map(|layer| layer.0);
            let sum: i64 = weights().map(|weight| i64::from(weight).abs() * square).sum();
            let total = sum + i64::from(bias).abs() * i64::from(HIDDEN_UNIT);
            weights().any(|weight| weight.unsigned_abs() > OUTPUT_WEIGHT_MAX as u16)
                || total > i64::from(i32::MAX)
        };
        let mut outputs = self.outputs.iter().zip(self.output_bias);
        let largest = |neuron: usize| {
            let by_input = self.inputs.iter().map(|layer| layer.0[neuron].unsigned_abs());
            32 * i64::from(by_input.max().unwrap_or(0)) + i64::from(self.bias.0[neuron]).abs()
        };
        (0..HIDDEN).any(|neuron| largest(neuron) > i64::from(i16::MAX))
            || outputs.any(|(output, bias)| output_too_large(output, bias))
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({})", blake3::Hash::from_bytes(self.hash).to_hex())
    }
}

/// Compares two networks by the hashes of their weights and biases.
impl PartialEq for Network {
    fn eq(&self, other: &Network) -> bool {
        self.hash == other.hash
    }
}

impl Eq for Network {}
