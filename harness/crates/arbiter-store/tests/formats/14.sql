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
ALTER TABLE runs ADD COLUMN epd_offset INTEGER NOT NULL DEFAULT 0;
CREATE TABLE transcripts (
    run        TEXT NOT NULL,
    pair       INTEGER NOT NULL,
    half       INTEGER NOT NULL,
    transcript BLOB NOT NULL,
    PRIMARY KEY (run, pair, half),
    FOREIGN KEY (run, pair, half) REFERENCES games(run, pair, half)
);
CREATE TABLE latencies (
    run    TEXT NOT NULL REFERENCES runs(run),
    engine INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    us     INTEGER NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (run, engine, kind, us)
) WITHOUT ROWID;
CREATE TABLE disturbances (
    run     TEXT NOT NULL REFERENCES runs(run),
    pair    INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    reason  TEXT NOT NULL,
    counted INTEGER NOT NULL,
    games   TEXT NOT NULL,
    PRIMARY KEY (run, pair, attempt)
) WITHOUT ROWID;
CREATE TABLE gates (
    id         INTEGER PRIMARY KEY,
    key        TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    test       TEXT NOT NULL,
    base       TEXT,
    step       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    verdict    TEXT NOT NULL,
    words      TEXT NOT NULL,
    code       INTEGER NOT NULL,
    seconds    REAL NOT NULL,
    figures    TEXT NOT NULL
);
CREATE INDEX gates_by_key ON gates (key);
ALTER TABLE runs ADD COLUMN about TEXT;
CREATE TABLE iterations (
    run       TEXT NOT NULL REFERENCES runs(run),
    iteration INTEGER NOT NULL,
    plus      TEXT NOT NULL,
    minus     TEXT NOT NULL,
    score     INTEGER NOT NULL,
    theta     TEXT NOT NULL,
    PRIMARY KEY (run, iteration)
) WITHOUT ROWID;
CREATE TABLE players (
    run    TEXT NOT NULL,
    pair   INTEGER NOT NULL,
    worker TEXT NOT NULL,
    PRIMARY KEY (run, pair),
    FOREIGN KEY (run, pair) REFERENCES pairs(run, pair)
) WITHOUT ROWID;
CREATE TABLE remarks (
    run    TEXT NOT NULL REFERENCES runs(run),
    number INTEGER NOT NULL,
    at_ms  INTEGER NOT NULL,
    worker TEXT NOT NULL,
    pair   INTEGER,
    what   TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE set_aside (
    run    TEXT NOT NULL REFERENCES runs(run),
    worker TEXT NOT NULL,
    at_ms  INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (run, worker)
) WITHOUT ROWID;
CREATE TABLE discarded (
    run    TEXT NOT NULL,
    pair   INTEGER NOT NULL,
    worker TEXT NOT NULL,
    played TEXT NOT NULL,
    PRIMARY KEY (run, pair, worker),
    FOREIGN KEY (run, worker) REFERENCES set_aside(run, worker)
) WITHOUT ROWID;
CREATE TABLE findings (
    run    TEXT NOT NULL,
    pair   INTEGER NOT NULL,
    half   INTEGER NOT NULL,
    ply    INTEGER NOT NULL,
    engine INTEGER NOT NULL,
    rule   TEXT NOT NULL,
    what   TEXT NOT NULL,
    PRIMARY KEY (run, pair, half, ply, rule),
    FOREIGN KEY (run, pair, half) REFERENCES games(run, pair, half)
) WITHOUT ROWID;
ALTER TABLE games ADD COLUMN begun_ms INTEGER;
ALTER TABLE games ADD COLUMN swing INTEGER;
CREATE INDEX games_listed
    ON games (run, pair, half, white, black, result, termination, plies, swing);
CREATE TABLE removed (
        id  INTEGER PRIMARY KEY,
        run TEXT NOT NULL
    );
CREATE TABLE written (
    run      TEXT NOT NULL REFERENCES runs(run),
    file     TEXT NOT NULL,
    pairs    INTEGER NOT NULL,
    length   INTEGER NOT NULL,
    hash     TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (run, file)
) WITHOUT ROWID;
CREATE TABLE readable_since (arbiter TEXT NOT NULL);
PRAGMA user_version = 14;
INSERT INTO readable_since VALUES ('0.2.0');
INSERT INTO runs (run, created_ms, version, plan, pgn_offset, ending) VALUES ('old', 1700000000000, '0.1.0', '{"version":2,"kind":"sprt","engines":[{"name":"dev","program":null,"program_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","args":[],"dir":null,"options":[],"tc":"8+0.08","movetime_ns":null,"nodes":null,"depth":null,"nodestime":null,"margin_ns":10000000,"manners":{"protocol":"uci","init":[],"restart":"auto","ponder":false,"stderr":null,"memory_mib":null},"provenance":null},{"name":"base","program":null,"program_hash":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","args":[],"dir":null,"options":[["Eval","blunder"]],"tc":"8+0.08","movetime_ns":null,"nodes":null,"depth":null,"nodestime":null,"margin_ns":10000000,"manners":{"protocol":"uci","init":[],"restart":"auto","ponder":false,"stderr":null,"memory_mib":null},"provenance":null}],"book":null,"book_hash":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","openings_hash":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","quarantine":{"count":0,"faults":[]},"host":"a machine","plies":null,"book_depth":null,"strict_book":false,"order":"random","seed":7,"schedule":"round-robin","seeds":0,"rounds":1,"pairs":30,"noswap":false,"reverse":false,"opening_policy":"shared","opening_start":0,"tie_breaks":0,"plays_out":false,"wait_ms":0,"concurrency":2,"affinity":"none","sprt":{"elo0":0.0,"elo1":5.0,"alpha":0.05,"beta":0.05,"model":"normalized","overshoot":"dynamic"},"ablation":null,"tuning":null,"fault_limit":0.05,"noise_limit":0.25,"scale":null,"deadlines_ms":[10000,30000,60000,2000],"draw":null,"resign":null,"move_cap":null,"tables":null,"pgn":null,"output":{"notation":"san","fields":[],"pattern":null,"minimal":false,"origin":true,"event":null,"site":null,"epd":null,"transcripts":"abnormal"}}', 7, 'complete');
INSERT INTO pairs VALUES ('old', 0, 0, 1, 0);
INSERT INTO games VALUES ('old', 0, 0, 0, 1, '0-1', 'checkmate', 'Black mates', 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1', 0, 4, 164.5, '[{"m":"f2f3","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000,"t":40}},{"m":"e7e5","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000,"t":40}},{"m":"g2g4","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000,"t":40}},{"m":"d8h4","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000,"t":40}}]', 1700000000000, 0);
INSERT INTO games VALUES ('old', 0, 1, 1, 0, '0-1', 'checkmate', 'Black mates', 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1', 0, 4, 164.5, '[{"m":"f2f3","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000,"t":40}},{"m":"e7e5","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000,"t":40}},{"m":"g2g4","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000,"t":40}},{"m":"d8h4","t":{"cp":31,"d":9,"sd":14,"n":5000,"ns":41000000,"t":40}}]', 1700000000000, 0);
INSERT INTO transcripts VALUES ('old', 0, 1, x'789c335508b75148cfe7325308b753484a2d2ec9cd2f4b5548334a33e60200671807b4');
INSERT INTO latencies VALUES ('old', 0, 'move', 1000, 4);
UPDATE runs SET epd_offset = 9;
INSERT INTO disturbances VALUES ('old', 0, 0, 'another program ran', 1, '[]');
INSERT INTO gates VALUES (1, 'k', 1700000000000, 'abc', NULL, 'quick', 'sprt', 'failed', 'w', 5, 1.5, '{"llr":-3.0}');
UPDATE runs SET about = 'why';
INSERT INTO iterations VALUES ('old', 0, '[5.0]', '[3.0]', -1, '[4.125]');
INSERT INTO players VALUES ('old', 0, 'w');
INSERT INTO remarks VALUES ('old', 0, 1700000000000, 'w', 3, 'late');
INSERT INTO set_aside VALUES ('old', 'bad', 1700000000000, 'crashes');
INSERT INTO findings VALUES ('old', 0, 1, 2, 1, 'illegal_pv', 'a1a1 at ply 2');
ALTER TABLE pairs ADD COLUMN first_hash INTEGER;
ALTER TABLE pairs ADD COLUMN second_hash INTEGER;
ALTER TABLE runs ADD COLUMN checksum INTEGER;
ALTER TABLE pairs ADD COLUMN checksum INTEGER;
ALTER TABLE games ADD COLUMN checksum INTEGER;
UPDATE pairs SET first_hash = 6556781950397214734, second_hash = 6556781950397214734, checksum = 1320525521;
UPDATE games SET checksum = CASE half WHEN 0 THEN 2414545248 ELSE 1048927357 END;
UPDATE runs SET checksum = 3306535856;
