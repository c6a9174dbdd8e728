-- As the first program with these tables wrote it.
CREATE TABLE runs (
    run        TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    version    TEXT NOT NULL,
    plan       TEXT NOT NULL,
    pgn_offset INTEGER NOT NULL,
    ending     TEXT
) WITHOUT ROWID;
CREATE TABLE pairs (
    run     TEXT NOT NULL REFERENCES runs(run),
    pair    INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    second  INTEGER NOT NULL,
    opening INTEGER NOT NULL,
    PRIMARY KEY (run, pair)
) WITHOUT ROWID;
CREATE TABLE games (
    run         TEXT NOT NULL,
    pair        INTEGER NOT NULL,
    half        INTEGER NOT NULL,
    white       INTEGER NOT NULL,
    black       INTEGER NOT NULL,
    result      TEXT NOT NULL,
    termination TEXT NOT NULL,
    detail      TEXT NOT NULL,
    fen         TEXT NOT NULL,
    chess960    INTEGER NOT NULL,
    plies       INTEGER NOT NULL,
    duration_ms REAL NOT NULL,
    moves       TEXT NOT NULL,
    PRIMARY KEY (run, pair, half),
    FOREIGN KEY (run, pair) REFERENCES pairs(run, pair)
);
PRAGMA user_version = 1;
INSERT INTO runs (run, created_ms, version, plan, pgn_offset, ending) VALUES ('old', 1700000000000, '0.1.0', '{"version":1,"kind":"sprt","engines":[{"name":"dev","program":null,"program_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","args":[],"dir":null,"options":[],"tc":"8+0.08","movetime_ns":null,"nodes":null,"depth":null,"margin_ns":10000000},{"name":"base","program":null,"program_hash":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","args":[],"dir":null,"options":[["Eval","blunder"]],"tc":"8+0.08","movetime_ns":null,"nodes":null,"depth":null,"margin_ns":10000000}],"book":null,"book_hash":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","plies":null,"order":"random","seed":7,"pairs":30,"concurrency":2,"sprt":{"elo0":0.0,"elo1":5.0,"alpha":0.05,"beta":0.05,"model":"normalized"},"fault_limit":0.05,"deadlines_ms":[10000,30000,60000,2000],"pgn":null}', 7, 'complete');
INSERT INTO pairs VALUES ('old', 0, 0, 1, 0);
INSERT INTO games VALUES ('old', 0, 0, 0, 1, '0-1', 'checkmate', 'Black mates', 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1', 0, 4, 164.5, '[{"m":"f2f3","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000}},{"m":"e7e5","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000}},{"m":"g2g4","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000}},{"m":"d8h4","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000}}]');
INSERT INTO games VALUES ('old', 0, 1, 1, 0, '0-1', 'checkmate', 'Black mates', 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1', 0, 4, 164.5, '[{"m":"f2f3","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000}},{"m":"e7e5","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000}},{"m":"g2g4","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000}},{"m":"d8h4","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000}}]');
