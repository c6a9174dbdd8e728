use super::network::{HIDDEN, INPUTS, NetworkError, OUTPUTS};
use super::*;
use crate::chess::fen;
use crate::eval::palimpsest::tests::positions;
use crate::line::SearchStack;
use crate::random::Random;

/// Returns a network with large random weights.
fn random_network(seed: u64) -> Network {
    let mut random = Random::new(seed);
    let mut words = |count: usize, max: usize| -> Vec<i16> {
        (0..count).map(|_| random.below(2 * max + 1) as i16 - max as i16).collect()
    };
    let (inputs, bias) = (words(INPUTS * HIDDEN, 500), words(HIDDEN, 500));
    Network::new(&inputs, &bias, &words(OUTPUTS * 2 * HIDDEN, 120), &[-7_000; OUTPUTS])
}

#[test]
fn the_embedded_network_can_be_read() {
    assert_eq!(embedded().to_bytes(), EMBEDDED);
}

#[test]
fn accumulators_match_the_position_on_every_cpu() {
    let network: &Network = Box::leak(Box::new(random_network(1)));
    let machines: Vec<Machine> = Level::ALL.into_iter().filter_map(Machine::at).collect();
    // The positions lead to castling, kings that cross to the other half of the board, promotions,
    // en-passant captures and Chess960 castling.
    for text in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    ] {
        let game = Game::new(fen::parse(text).unwrap());
        let mut lines: Vec<SearchStack<Nnue>> = Vec::new();
        for &machine in &machines {
            lines.push(SearchStack::new(&game, Nnue::at(machine, network)));
        }
        let mut random = Random::new(7);
        for step in 0..600 {
            let position = *lines[0].position();
            let moves = position.legal_moves();
            let goes_back = moves.is_empty() || lines[0].ply() > 40 || random.below(4) == 0;
            let passes = !position.in_check() && random.below(8) == 0;
            let mv = moves.get(random.below(moves.len().max(1))).copied();
            for line in &mut lines {
                match mv {
                    _ if goes_back && line.ply() > 0 => line.unmake(),
                    _ if passes => line.make_null(),
                    Some(mv) => line.make(mv),
                    None => {}
                }
            }
            // As in a search, not every position is evaluated.
            if random.below(3) > 0 {
                let position = *lines[0].position();
                let expected = Nnue::at(machines[0], network).evaluate(&position);
                for line in &mut lines {
                    assert_eq!(line.evaluate(), expected, "{text} {step} {position}");
                }
            }
        }
    }
}

#[test]
fn network_files_are_read_and_damaged_ones_rejected() {
    let network = random_network(2);
    let bytes = network.to_bytes();
    assert_eq!(Network::read(&bytes), Ok(network));
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        Network::read(&bytes)
    };
    assert_eq!(with(0, b'x'), Err(NetworkError::NoNetwork));
    assert_eq!(with(17, 9), Err(NetworkError::OtherLayers(9 * 256 + HIDDEN as u16, 8)));
    assert_eq!(with(bytes.len() / 2, bytes[bytes.len() / 2] ^ 1), Err(NetworkError::Hash));
    for length in [0, 40, 64, bytes.len() - 1] {
        let error = Network::read(&bytes[..length]).unwrap_err();
        assert!([NetworkError::NoNetwork, NetworkError::Length].contains(&error), "{length}");
    }
    let longer = [&bytes[..], &[0; 4]].concat();
    assert_eq!(Network::read(&longer), Err(NetworkError::Length));
    let zeros = |count: usize| vec![0; count];
    let too_large = Network::new(
        &zeros(INPUTS * HIDDEN),
        &zeros(HIDDEN),
        &vec![128; OUTPUTS * 2 * HIDDEN],
        &[0; OUTPUTS],
    );
    assert_eq!(Network::read(&too_large.to_bytes()), Err(NetworkError::Overflow));
}

#[test]
fn evaluation_is_symmetric_in_colours_and_files() {
    let network: &Network = Box::leak(Box::new(random_network(3)));
    for position in positions().iter().step_by(50) {
        let swapped = crate::eval::palimpsest::tests::flipped(&position.to_string());
        let [one, other] = [*position, swapped].map(|one| Nnue::new(network).evaluate(&one));
        assert_eq!(one, other, "{position}");
    }
}
