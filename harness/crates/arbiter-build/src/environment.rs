//! Environment and readable files of builds: everything that a build needs, but no variable for a
//! token or for the socket of an agent.

use std::ffi::OsString;
use std::path::PathBuf;

/// Variables that are passed to builds and do not change the built program: variables for the
/// system, network access, and caches. `PATH` selects compilers, whose versions are part of the
/// key.
const SYSTEM: &str = "
    ALL_PROXY CARGO_BUILD_JOBS CARGO_NET_OFFLINE CCACHE_DIR CMAKE_BUILD_PARALLEL_LEVEL
    CURL_CA_BUNDLE DOTNET_CLI_TELEMETRY_OPTOUT GIT_SSL_CAINFO GOCACHE GOMODCACHE GOPATH GOPROXY
    GOSUMDB HOME HTTPS_PROXY HTTP_PROXY LANG LANGUAGE LOGNAME NO_PROXY NUGET_PACKAGES PATH
    RUSTUP_HOME SHELL SSL_CERT_DIR SSL_CERT_FILE TMPDIR TZ USER XDG_CACHE_HOME ZIG_GLOBAL_CACHE_DIR
    all_proxy http_proxy https_proxy no_proxy
";

/// Variables that are passed to builds and can change the built program: variables of the
/// toolchains for C and C++, Rust, Go, Zig, Java and .NET.
const COMPILERS: &str = "
    AR ARCH AS CARGO_BUILD_TARGET CARGO_HOME CC CFLAGS CGO_CFLAGS CGO_ENABLED CGO_LDFLAGS
    CMAKE_GENERATOR CMAKE_PREFIX_PATH COMP CPATH CPLUS_INCLUDE_PATH CPPFLAGS CXX CXXFLAGS
    C_INCLUDE_PATH DOTNET_ROOT GOAMD64 GOARCH GOFLAGS GOOS GOROOT GOTOOLCHAIN GRADLE_USER_HOME
    JAVA_HOME LD LDFLAGS LD_LIBRARY_PATH LIBRARY_PATH NM PKG_CONFIG_PATH RANLIB RUSTC RUSTC_WRAPPER
    RUSTFLAGS RUSTUP_TOOLCHAIN STRIP
";

/// Prefixes of the variables of the compiler wrappers in Nix.
const COMPILER_PREFIXES: [&str; 2] = ["NIX_CFLAGS_", "NIX_LDFLAGS"];

/// Returns the environment of builds and of benches of built programs, including the variables that
/// the user lists in `passed`.
pub fn build_environment(passed: &[String]) -> Vec<(OsString, OsString)> {
    environment(|name| {
        is_listed(SYSTEM, name) || name.starts_with("LC_") || is_of_compiler(name, passed)
    })
}

/// Returns, sorted by name, the part of [`build_environment`] that can change the built program.
pub(super) fn compiler_environment(passed: &[String]) -> Vec<(OsString, OsString)> {
    let mut environment = environment(|name| is_of_compiler(name, passed));
    // The order of the variables is arbitrary, but the key of a build must not depend on the order.
    environment.sort();
    environment
}

fn is_listed(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|listed| listed == name)
}

fn environment(is_passed: impl Fn(&str) -> bool) -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(&is_passed)).collect()
}

fn is_of_compiler(name: &str, passed: &[String]) -> bool {
    is_listed(COMPILERS, name)
        || COMPILER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || passed.iter().any(|other| other == name)
}

/// Variables that a sandboxed build does not receive, because these variables name writable
/// folders, or programs that connect to the user's servers. In a sandbox, tools use the home folder
/// of the sandbox instead.
const UNSANDBOXED: &str = "
    CARGO_HOME CCACHE_DIR GOCACHE GOMODCACHE GOPATH GRADLE_USER_HOME NUGET_PACKAGES RUSTC_WRAPPER
    XDG_CACHE_HOME
";

/// Variables that name folders of toolchains.
const TOOLCHAINS: [&str; 4] = ["DOTNET_ROOT", "GOROOT", "JAVA_HOME", "RUSTUP_HOME"];

/// System files that name resolution and TLS need.
const NETWORK: [&str; 7] = [
    "/etc/ca-certificates",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
];

/// Returns the paths that a sandboxed build may read in addition to the system's paths, and the
/// environment of the build.
pub(super) fn toolchains(passed: &[String]) -> (Vec<PathBuf>, Vec<(OsString, OsString)>) {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let home = folder("HOME").unwrap_or_default();
    let rustup = folder("RUSTUP_HOME").unwrap_or_else(|| home.join(".rustup"));
    let cargo = folder("CARGO_HOME").unwrap_or_else(|| home.join(".cargo"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A search path that contains the home folder would expose the whole home folder to the build.
    let is_narrow = |path: &PathBuf| path.is_absolute() && !home.starts_with(path);
    let mut readable: Vec<PathBuf> = std::env::split_paths(&path).filter(is_narrow).collect();
    readable.extend(TOOLCHAINS.iter().filter_map(|name| folder(name)));
    readable.extend(NETWORK.map(PathBuf::from));
    readable.push(rustup.clone());
    let mut environment = build_environment(passed);
    environment.retain(|(name, _)| !name.to_str().is_some_and(|name| is_listed(UNSANDBOXED, name)));
    environment.push(("RUSTUP_HOME".into(), rustup.into()));
    // The build must not read all of the Cargo home, which contains registry tokens.
    let packages = ["git", "registry"].map(|name| cargo.join(name));
    // Without downloaded packages, Cargo uses the writable home folder of the sandbox.
    if packages.iter().any(|path| path.is_dir()) {
        readable.extend(packages);
        environment.push(("CARGO_HOME".into(), cargo.into()));
    }
    (readable, environment)
}
