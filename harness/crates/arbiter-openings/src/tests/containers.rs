//! Tests of books in archives, of compressed, truncated or damaged books, and of files that are not
//! books.

use super::*;

#[test]
fn packed_texts_are_read_and_archives_are_rejected() {
    let dir = TempDir::new().expect("a temporary directory");
    let path = dir.path().join("suite");
    let text = format!("{START} bm e4;\n");
    for bytes in
        [text.clone().into_bytes(), gzipped(&text), zstandard(&text), zipped(&[("a.epd", &text)])]
    {
        fs::write(&path, bytes).expect("a writable directory");
        assert_eq!(read_packed(&path).expect("a text"), text.as_bytes());
    }
    let two = zipped(&[("a.epd", &text), ("b.epd", &text)]);
    fs::write(&path, &two).expect("a writable directory");
    let error = read_packed(&path).expect_err("which of them?").to_string();
    assert!(error.contains("2 files"), "{error}");
    let mac = zipped(&[("a.epd", &text), ("__MACOSX/._a.epd", "x")]);
    fs::write(&path, &mac).expect("a writable directory");
    assert_eq!(read_packed(&path).expect("a text"), text.as_bytes());
    let crlf = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    fs::write(&path, crlf).expect("a writable directory");
    assert_eq!(read_packed(&path).expect("a text"), text.as_bytes());
}

#[test]
fn errors_describe_files_that_are_not_books() {
    let tar = [&[0; 257][..], b"ustar", &[0; 250]].concat();
    for (bytes, expected) in [
        (&zipped(&[("a.epd", START)])[..], "a zip archive"),
        (b"\xfd7zXZ\0\0\x04", "compressed with xz"),
        (b"BZh91AY&SY", "compressed with bzip2"),
        (b"7z\xbc\xaf\x27\x1c\0", "a 7z archive"),
        (&tar, "a tar archive"),
        (&gzipped(&tar), "a tar archive"),
        (&zstandard(&tar), "a tar archive"),
        (&gzipped(&gzipped(START)), "compressed twice"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a pointer of Git LFS"),
        (b"\xef\xbb\xbf\r\nversion https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
        (b"\x5d\0\0\x80\0\xff\xff\xff\xff", "compressed with lzma"),
        (b"<!DOCTYPE html>\n", "a web page"),
    ] {
        let Err(error) = decompressed(bytes) else { panic!("{expected}") };
        assert!(error.to_string().starts_with(&format!("it is {expected}")), "{error}");
        if !bytes.starts_with(b"PK") {
            let error = load_bytes("book.epd", bytes).0.expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
    for bytes in [b"\x03ABK\0\0\0".as_slice(), &[0; 4096]] {
        let error = load_bytes("book.abk", bytes).0.expect_err("binary").to_string();
        assert!(error.ends_with("FEN, PGN or Polyglot (.bin), got binary data"), "{error}");
    }
    let latin1: Vec<u8> =
        START.bytes().map(|byte| if byte == b' ' { 0xa0 } else { byte }).collect();
    assert_eq!(load_bytes("latin1.epd", &latin1).0.map(|book| book.len()), Ok(1));
}

#[test]
fn containers_do_not_change_the_book() {
    let text = format!("{START}\n{AFTER_E4} 0 1\n");
    let plain = read("a.epd", &text).expect("a sound book");
    let containers = [
        ("a.epd", text.clone().into_bytes()),
        ("a.epd.gz", gzipped(&text)),
        ("misnamed.epd", gzipped(&text)),
        ("padded.gz", [gzipped(&text), vec![0; 512]].concat()),
        ("padded.zst", [zstandard(&text), vec![0; 512]].concat()),
        ("line.zst", [zstandard(&text), b"\r\n".to_vec()].concat()),
        ("two.gz", [gzipped(START), gzipped(&format!("\n{AFTER_E4} 0 1"))].concat()),
        ("a.epd.zst", zstandard(&text)),
        ("misnamed.gz", zstandard(&text)),
        ("two.zst", [zstandard(START), zstandard(&format!("\n{AFTER_E4} 0 1"))].concat()),
        ("a.epd.zip", zipped(&[("a.epd", &text)])),
        ("b.zip", zipped(&[("d/", ""), ("d/1.fen", START), ("2.EPD", AFTER_E4), ("COPYING", "x")])),
        ("c.zip", zipped(&[("unnamed", &text)])),
        (
            "d.zip",
            zipped(&[("a.epd", &text), ("__MACOSX/._a.epd", "\0\u{5}\u{16}"), (".x.epd", "x")]),
        ),
    ];
    for (name, bytes) in containers {
        let (book, path) = load_bytes(name, &bytes);
        let book = book.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(fens(&book), fens(&plain), "{name}");
        assert_eq!(book.name, path);
    }
    let (book, _) = load_bytes("e.zip", &zipped(&[("logo.png", "\u{1}"), ("unnamed", &text)]));
    let book = book.expect("a book with a picture");
    assert_eq!((fens(&book), book.quarantine.count), (fens(&plain), 1));
    let (book, _) = load_bytes("mixed.zip", &zipped(&[("a.pgn", GAMES), ("b.epd", &text)]));
    assert_eq!(book.expect("a sound book").openings().len(), 4);
}

#[test]
fn faults_in_containers_name_the_member() {
    let text = format!("{START}\nnonsense\n");
    let (book, path) = load_bytes("a.zip", &zipped(&[("d/b.epd", &text)]));
    let book = book.expect("one sound line");
    let fault = &book.quarantine.faults[0];
    assert!(fault.starts_with(&format!("{path}/d/b.epd:2: expected a position")), "{fault}");
    let (book, path) = load_bytes("empty.zip", &zipped(&[]));
    let error = book.expect_err("nothing").to_string();
    assert_eq!(error, format!("{path}: expected at least one opening, got none"));
}

#[test]
fn openings_before_a_truncation_are_used() {
    let lines: Vec<String> = (1..=9000).map(|n| format!("{START} 0 {n}\n")).collect();
    let text = lines.concat();
    let games: Vec<String> = (1..=4000)
        .map(|n| format!("[Event \"{n}\"]\n\n1. e4 {{{:x}}} e5 2. Nf3 Nc6 *\n\n", n * 7919))
        .collect();
    let check = |name: &str, whole: &[u8], least: usize, lines_each: u64| {
        let (book, path) = load_bytes(name, &whole[..whole.len() / 2]);
        let book = book.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(book.len() > least, "{name}: {}", book.len());
        let faults = &book.quarantine.faults[..];
        let line = lines_each * book.len() as u64 + 1;
        let expected = format!(
            "{path}:{line}: the compressed file is truncated here; the rest of the book is missing"
        );
        assert_eq!(faults, [expected], "{name}");
    };
    check("cut.epd.gz", &gzipped(&text), 3000, 1);
    check("cut.epd.zst", &zstandard(&text), 1000, 1);
    check("cut.pgn.gz", &gzipped(&games.concat()), 1000, 4);
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    let dir = TempDir::new().expect("a temporary directory");
    let path = dir.path().join("cut.epd.gz");
    let gz = gzipped(&text);
    fs::write(&path, &gz[..gz.len() / 2]).expect("a writable directory");
    assert!(load(&path, strict).expect_err("cut").to_string().contains("is truncated here"));
}

#[test]
fn every_truncation_of_a_packed_file_is_reported() {
    for whole in [gzipped(&START.repeat(100)), zstandard(&START.repeat(100))] {
        // The first bytes determine the format of the file.
        for length in 4..whole.len() {
            let mut text = Vec::new();
            let read =
                decompressed(&whole[..length]).map(|mut source| source.read_to_end(&mut text));
            let error = read.and_then(|read| read).expect_err("cut").to_string();
            let expected = "the compressed file is cut short; copy or download it again";
            assert_eq!(error, expected, "{length} of {} bytes", whole.len());
        }
    }
}

#[test]
fn other_data_after_compressed_data_is_reported() {
    for whole in [gzipped(START), zstandard(START)] {
        for rest in ["x", "\0\0x", "\n8/8", "Text", "(text)"] {
            let file = [whole.as_slice(), rest.as_bytes()].concat();
            let read =
                decompressed(&file[..]).map(|mut source| io::copy(&mut source, &mut io::sink()));
            let error = read.and_then(|read| read).expect_err("other data").to_string();
            let expected = "other data follows the compressed data; unpack the file first";
            assert_eq!(error, expected, "{rest}");
        }
    }
}

#[test]
fn damaged_containers_are_errors() {
    let text = format!("{START}\n").repeat(1000);
    let gz = gzipped(&text);
    let (book, _) = load_bytes("nothing.epd.gz", &gz[..12]);
    assert!(book.expect_err("cut").to_string().contains("got 1 bad one:"));
    let mut wrong = gz.clone();
    *wrong.last_mut().expect("bytes") ^= 1;
    let (book, _) = load_bytes("wrong.epd.gz", &wrong);
    assert!(book.expect_err("wrong").to_string().contains("cannot read the opening book further"));
    let zip = zipped(&[("a.epd", &text)]);
    let (book, _) = load_bytes("cut.zip", &zip[..zip.len() / 2]);
    assert!(book.expect_err("cut").to_string().contains("expected a readable zip archive"));
    let mut flipped = zip.clone();
    flipped[60] ^= 0x55;
    let (book, _) = load_bytes("flipped.zip", &flipped);
    assert!(book.is_err());
}
