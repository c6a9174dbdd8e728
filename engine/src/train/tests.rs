use super::*;
use crate::datagen::record::Record;
use crate::eval::nnue::embedded;
use crate::eval::palimpsest::tests::positions;
use crate::eval::{Choice, Variant};

/// Returns quiet and other positions, each with its material balance as the score.
fn material() -> Data {
    let mut data = Data::default();
    for (position, place) in positions().iter().step_by(3).zip(0..) {
        let score = Variant::Material.evaluate(position);
        let white = if position.turn() == crate::chess::Color::White { score } else { -score };
        data.records.push(Record::new(position, white));
        let set = if place % 10 == 0 { &mut data.validation } else { &mut data.training };
        set.push(place);
    }
    data
}

const SETTINGS: Settings = Settings {
    epochs: 4,
    batch: 1_500,
    rate: 0.01,
    result_share: 0.0,
    seed: 1,
    threads: 1,
    start: None,
};

#[test]
fn training_does_not_depend_on_threads_or_machine() {
    let folder = tempfile::tempdir().unwrap();
    let data = material();
    let at = |name: &str| folder.path().join(name);
    let mut errors = Vec::new();
    let network = train(&data, SETTINGS, &at("one"), &mut |all| errors = all.to_vec()).unwrap();
    assert!(errors[3].validation < errors[0].validation / 2.0, "{errors:?}");
    let threaded = Settings { threads: 3, ..SETTINGS };
    assert_eq!(train(&data, threaded, &at("other"), &mut |_| {}).unwrap(), network);
    // The training run is resumed from the checkpoint after the second epoch.
    let stopped = at("stopped");
    let kept = at("kept");
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        train(&data, SETTINGS, &stopped, &mut |all| {
            assert!(all.len() < 3, "stopped here");
            std::fs::copy(&stopped, &kept).unwrap();
        })
    }));
    assert!(outcome.is_err());
    let mut epochs = Vec::new();
    let continued = train(&data, SETTINGS, &kept, &mut |all| epochs.push(all.len())).unwrap();
    assert_eq!((continued, epochs), (network, vec![3, 4]));
    // A checkpoint from a training run with other settings is rejected.
    let other = train(&data, Settings { seed: 2, ..SETTINGS }, &kept, &mut |_| {}).unwrap_err();
    assert!(other.to_string().contains("remove the file to start again"), "{other}");
    std::fs::write(&kept, &std::fs::read(&kept).unwrap()[..1_000]).unwrap();
    assert!(
        train(&data, SETTINGS, &kept, &mut |_| {})
            .is_err_and(|error| { error.to_string().contains("damaged") })
    );
}

#[test]
fn quantization_preserves_the_trained_network() {
    let folder = tempfile::tempdir().unwrap();
    let data = material();
    let path = folder.path().join("checkpoint");
    let network = train(&data, SETTINGS, &path, &mut |_| {}).unwrap();
    let state = Checkpoint::read(&path, &data, SETTINGS).unwrap().unwrap();
    let choice = Choice { network: Some(Box::leak(Box::new(network))), ..Variant::Nnue.into() };
    for &index in &data.validation {
        let record = &data.records[index as usize];
        let score = choice.evaluate(&record.position().unwrap());
        let expected = model::output_of(&state.weights, record) * 400.0;
        let rounding = 25.0 + 0.05 * expected.abs();
        assert!((score as f32 - expected).abs() < rounding, "{score} {expected}");
    }
}

#[test]
fn training_continues_from_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let data = material();
    let path = folder.path().join("checkpoint");
    let mut errors = Vec::new();
    let network = train(&data, SETTINGS, &path, &mut |all| errors = all.to_vec()).unwrap();
    let learnt = errors[3].validation;
    let start: Option<&'static Network> = Some(Box::leak(Box::new(network)));
    // A checkpoint from a training run with other initial weights is rejected.
    assert!(train(&data, Settings { start, ..SETTINGS }, &path, &mut |_| {}).is_err());
    std::fs::remove_file(&path).unwrap();
    let settings = Settings { start, rate: 0.001, epochs: 1, ..SETTINGS };
    train(&data, settings, &path, &mut |all| errors = all.to_vec()).unwrap();
    assert!(errors[0].validation < 1.02 * learnt, "{errors:?} after {learnt}");
}

#[test]
fn networks_round_trip_through_floating_point() {
    assert_eq!(&quantize(&dequantize(embedded())), embedded());
}
