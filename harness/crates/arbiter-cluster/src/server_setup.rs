//! The files of a private NATS server: configuration, certificate, users, and a join file for each
//! user.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::rustls::pki_types::ServerName;
use nkeys::KeyPair;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyUsagePurpose, date_time_ymd,
};
use thiserror::Error;

use super::join_file::{JoinFile, Role};
use super::trust::Key;
use super::wire::is_worker_name;
use arbiter_process::{
    WholeFile, create_private_folder, foreign_owner, is_writable_by_others, read_text,
};

/// Name of the configuration file.
pub const CONFIGURATION: &str = "nats.conf";

/// Name of the users file.
const USERS: &str = "users.conf";

/// User name of the coordinator, and name of the coordinator's join file without the suffix.
const COORDINATOR: &str = "coordinator";

/// Suffix of the names of join files.
pub const JOIN_SUFFIX: &str = ".join";

/// Names and addresses of the local machine, for which every server certificate is also valid.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

const DAY: Duration = Duration::from_hours(24);

/// Validity period of certificates. The period is long because certificates cannot be renewed: the
/// authority's key is not stored. When the certificates expire, a cluster needs new join files.
const VALIDITY: Duration = DAY.saturating_mul(3650);

/// Tolerated lag of a worker's clock behind the clock of the machine that creates the certificates.
const CLOCK_DIFFERENCE: Duration = DAY;

/// Account of coordinators; this account contains the streams.
const ACCOUNT: &str = "ARBITER";

/// Account of workers.
const WORKERS_ACCOUNT: &str = "ARBITER_WORKERS";

/// Subjects of the coordinators' account that the workers' account imports; the permissions of each
/// worker restrict these subjects further.
const EXPORTS: [(&str, &str); 10] = [
    ("service", "arbiter.run.*.head"),
    ("service", "arbiter.run.*.need"),
    ("service", "arbiter.run.*.join.*"),
    ("service", "arbiter.run.*.sign.*"),
    ("service", "arbiter.hello.*"),
    ("service", "arbiter.results.*.*.*"),
    ("service", "$JS.API.CONSUMER.MSG.NEXT.*.workers"),
    ("service", "$JS.API.DIRECT.GET.OBJ_ARBITER_PROGRAMS"),
    ("stream", "arbiter.beacon"),
    ("stream", "arbiter.run.*.word"),
];

const USERS_START: &str = "\
# Each user may only use its subjects. To remove a worker, delete its block and reload
# this file: nats-server --signal reload=nats.pid
# Workers have a separate account, because a server replies to any reply subject, whatever the
# user may publish to: in the account of the coordinator, the reply could remove a stream.
accounts {
";

const COORDINATOR_BLOCK: &str = r#"    users: [{ # coordinator
      nkey: NKEY
      permissions: {
        publish: ["arbiter.>", "$JS.API.>", "$JS.ACK.>", "$O.ARBITER_PROGRAMS.>", "_INBOX.>", "_R_.>"]
        subscribe: ["arbiter.>", "_INBOX.coordinator.>"]
      }
    }]
"#;

const WORKER_BLOCK: &str = r#"    { # worker NAME
      nkey: NKEY
      permissions: {
        publish: [
          "arbiter.run.*.head", "arbiter.run.*.need"
          "arbiter.hello.NAME", "arbiter.run.*.join.NAME", "arbiter.run.*.sign.NAME"
          "arbiter.results.*.*.NAME"
          "$JS.API.CONSUMER.MSG.NEXT.*.workers", "$JS.API.DIRECT.GET.OBJ_ARBITER_PROGRAMS"
        ]
        subscribe: ["arbiter.beacon", "arbiter.run.*.word", "_INBOX.NAME.>"]
      }
    }
"#;

const USERS_END: &str = "    ]\n  }\n}\n";

/// Reason why the files of a server cannot be created.
#[derive(Debug, Error)]
pub enum SetupError {
    /// A name, a host or the existing files cannot be used.
    #[error("{0}")]
    Unfit(String),
    /// A file, a certificate or an nkey cannot be read or created on this machine.
    #[error("{0}")]
    Environment(String),
}

/// Returns a function that adds the path of a file or folder to an error.
fn file_error(path: &Path) -> impl Fn(io::Error) -> SetupError {
    move |error| {
        let exists = error.kind() == io::ErrorKind::AlreadyExists;
        let hint = if exists { "\nhint: remove the file first" } else { "" };
        SetupError::Environment(format!("{}: {error}{hint}", path.display()))
    }
}

/// Returns a function that adds `what` (the object that cannot be created) to an error.
fn unmade<E: Display>(what: &str) -> impl FnOnce(E) -> SetupError {
    move |error| SetupError::Environment(format!("cannot make {what}: {error}"))
}

/// Creates the files of a server in a new or empty folder. Workers connect to the first of `hosts`;
/// the certificate names all hosts and this machine, and is valid from one day before `now_ms`
/// (Unix time, in milliseconds). Coordinators sign with `key`.
pub fn make_server(
    dir: &Path,
    hosts: &[String],
    port: u16,
    workers: &[String],
    key: &Key,
    now_ms: i64,
) -> Result<(), SetupError> {
    let is_wrong = |host: &&String| ServerName::try_from(host.as_str()).is_err();
    if let Some(host) = hosts.iter().find(is_wrong) {
        return Err(SetupError::Unfit(format!(
            "'{host}' is not a host name or address; give --host one by which workers reach the server"
        )));
    }
    let is_v6 = |host: &String| host.contains(':');
    let any = if hosts.iter().any(is_v6) { "[::]" } else { "0.0.0.0" };
    let host = match &hosts[0] {
        host if is_v6(host) => format!("[{host}]"),
        host => host.clone(),
    };
    let [authority, certificate, secret] =
        certificates(hosts, now_ms).map_err(unmade("a certificate"))?;
    let (seed, nkey) = new_nkey()?;
    let coordinator = JoinFile {
        url: format!("tls://{host}:{port}"),
        worker: None,
        inbox: format!("_INBOX.{COORDINATOR}"),
        nkey: seed,
        trust: None,
        signing_key: Some(key.digits()),
        ca: Some(authority),
    };
    let mut users = accounts(&nkey);
    let joins = new_users(dir, &mut users, workers, &coordinator, key)?;

    create_private_folder(dir).map_err(file_error(dir))?;
    let about = fs::metadata(dir).map_err(file_error(dir))?;
    // Whoever may write to the folder could replace the files.
    if foreign_owner(&about).is_some() || is_writable_by_others(&about) {
        let dir = dir.display();
        let hint = "give --dir a new folder, or one that only you can write";
        return Err(SetupError::Unfit(format!("other users may write to {dir}\nhint: {hint}")));
    }
    // A new certificate would make existing join files useless.
    if fs::read_dir(dir).map_err(file_error(dir))?.next().is_some() {
        let dir = dir.display();
        let hint = "add workers with 'arbiter cluster add'";
        return Err(SetupError::Unfit(format!("{dir} is not empty\nhint: {hint}")));
    }
    let configuration = format!(
        "# All files are in this folder: start 'arbiter cluster up', or nats-server here.\n\
         listen: \"{any}:{port}\"\n\
         pid_file: \"nats.pid\"\n\
         jetstream {{ store_dir: \"data\", max_file: 16GB }}\n\
         tls {{ cert_file: \"server.pem\", key_file: \"server.key\", timeout: 5 }}\n\
         include \"{USERS}\"\n"
    );
    let mut files = vec![
        (dir.join("server.pem"), certificate),
        (dir.join("server.key"), secret),
        (dir.join(USERS), users + USERS_END),
        (dir.join(CONFIGURATION), configuration),
        join_text(dir, COORDINATOR, &coordinator)?,
    ];
    files.extend(joins);
    write_all(&files)
}

/// Returns the configuration of both accounts, up to the list of worker users; `nkey` is the
/// coordinator's public nkey.
fn accounts(nkey: &str) -> String {
    let mut exports = String::new();
    let mut imports = String::new();
    for (kind, subject) in EXPORTS {
        // The server forgets the reply subject of a service request after the threshold, and a
        // coordinator replies to a program request only after the upload, which may take minutes.
        let limit = if kind == "service" { ", threshold: \"10m\"" } else { "" };
        exports +=
            &format!("      {{ {kind}: \"{subject}\", accounts: [{WORKERS_ACCOUNT}]{limit} }}\n");
        imports +=
            &format!("      {{ {kind}: {{ account: {ACCOUNT}, subject: \"{subject}\" }} }}\n");
    }
    format!(
        "{USERS_START}  {ACCOUNT} {{\n    jetstream: enabled\n{}    exports: [\n{exports}    ]\n  }}\n  \
         {WORKERS_ACCOUNT} {{\n    imports: [\n{imports}    ]\n    users: [\n",
        COORDINATOR_BLOCK.replace("NKEY", nkey)
    )
}

/// Adds worker users and their join files to a server that [`make_server`] has set up.
pub fn add_workers(dir: &Path, names: &[String]) -> Result<(), SetupError> {
    let path = dir.join(USERS);
    let users = read_text(&path).map_err(file_error(&path))?;
    let edited = || {
        let path = path.display();
        SetupError::Unfit(format!("{path}: edited by hand; add the worker by hand"))
    };
    let mut users = users.strip_suffix(USERS_END).ok_or_else(edited)?.to_owned();
    let join = JoinFile::read(&join_path(dir, COORDINATOR));
    let (coordinator, role, _) = join.map_err(SetupError::Unfit)?;
    let Role::Coordinator(key) = role else { return Err(edited()) };
    let joins = new_users(dir, &mut users, names, &coordinator, &key)?;
    let mut replacement = WholeFile::create_private(&path).map_err(file_error(&path))?;
    replacement.write_all((users + USERS_END).as_bytes()).map_err(file_error(&path))?;
    // The join files are written first: a user without a join file would be useless, and the name
    // could not be added again.
    write_all(&joins)?;
    replacement.finish().map_err(file_error(&path))
}

/// Returns the path of a user's join file in the folder of a server.
pub fn join_path(dir: &Path, user: &str) -> PathBuf {
    dir.join(format!("{user}{JOIN_SUFFIX}"))
}

/// Adds workers to the text of the users file. Returns the paths and texts of their join files.
fn new_users(
    dir: &Path,
    users: &mut String,
    names: &[String],
    coordinator: &JoinFile,
    key: &Key,
) -> Result<Vec<(PathBuf, String)>, SetupError> {
    let mut joins = Vec::new();
    for name in names {
        // Inboxes are `_INBOX.NAME.>`, so a worker with a dot in its name could receive replies to
        // another worker.
        if !is_worker_name(name) || name.contains('.') || name == COORDINATOR {
            return Err(SetupError::Unfit(format!(
                "invalid worker name '{name}': use letters, digits, '_' and '-', and not coordinator"
            )));
        }
        if users.contains(&format!("{{ # worker {name}\n")) {
            return Err(SetupError::Unfit(format!("worker {name} already exists")));
        }
        let (seed, nkey) = new_nkey()?;
        *users += &WORKER_BLOCK.replace("NAME", name).replace("NKEY", &nkey);
        let join = JoinFile {
            worker: Some(name.clone()),
            inbox: format!("_INBOX.{name}"),
            nkey: seed,
            trust: Some(key.public().to_string()),
            signing_key: None,
            ..coordinator.clone()
        };
        joins.push(join_text(dir, name, &join)?);
    }
    Ok(joins)
}

/// Returns the seed of a new nkey, and its public key.
fn new_nkey() -> Result<(String, String), SetupError> {
    let pair = KeyPair::new_user();
    Ok((pair.seed().map_err(unmade("an nkey"))?, pair.public_key()))
}

/// Creates three PEM texts: the certificate of a new authority; a server certificate for `hosts`,
/// signed by the authority; and the key of the server certificate. The authority's key is not
/// stored, so that no other certificate can be signed.
fn certificates(hosts: &[String], now_ms: i64) -> Result<[String; 3], rcgen::Error> {
    let now = date_time_ymd(1970, 1, 1) + Duration::from_millis(now_ms.unsigned_abs());
    let limited = |mut params: CertificateParams, name: &str| {
        params.not_before = now - CLOCK_DIFFERENCE;
        params.not_after = now + VALIDITY;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params
    };
    let mut authority = limited(CertificateParams::default(), "Arbiter cluster");
    // The authority may sign server certificates, but no other authorities.
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority = CertifiedIssuer::self_signed(authority, rcgen::KeyPair::generate()?)?;
    let mut names = hosts.to_vec();
    names.extend(LOOPBACK.map(str::to_owned).into_iter().filter(|name| !hosts.contains(name)));
    let mut server = limited(CertificateParams::new(names)?, "NATS server");
    server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.use_authority_key_identifier_extension = true;
    let key = rcgen::KeyPair::generate()?;
    let server = server.signed_by(&key, &authority)?;
    Ok([authority.pem(), server.pem(), key.serialize_pem()])
}

/// Returns the path and the text of a join file.
fn join_text(dir: &Path, user: &str, join: &JoinFile) -> Result<(PathBuf, String), SetupError> {
    let text = toml::to_string_pretty(join).map_err(unmade("a join file"))?;
    let head = format!("# This file gives the access of {user}: keep it secret.\n");
    Ok((join_path(dir, user), head + &text))
}

/// Writes new files that only their owner can read. On failure, removes the files that were already
/// written.
fn write_all(files: &[(PathBuf, String)]) -> Result<(), SetupError> {
    for (number, (path, text)) in files.iter().enumerate() {
        let file = WholeFile::create_private(path);
        if let Err(error) = file.and_then(|file| file.finish_new(text)) {
            // Remaining files would make the next attempt fail, because the folder would not be
            // empty.
            files[..number].iter().for_each(|(made, _)| drop(fs::remove_file(made)));
            return Err(file_error(path)(error));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let make = |mode| {
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
            let key = Key::from_secret_bytes([1; 32]);
            make_server(dir.path(), &["localhost".to_owned()], 1, &[], &key, 0)
        };
        for mode in [0o777, 0o770, 0o702] {
            let error = make(mode).unwrap_err().to_string();
            assert!(error.contains("other users may write to"), "{error}");
        }
        assert!(make(0o755).is_ok());
    }
}
