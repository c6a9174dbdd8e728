//! What of our environment builds and their programs see: what says how to build, not what says
//! who we are. Tokens and sockets of agents are in none of these variables.

use std::ffi::OsString;

/// Variables that are passed on, besides those of [`PREFIXES`]: of the system, of the way to the
/// network, and of the toolchains of C and C++, Rust, Go, Zig, Java and .NET.
const VARIABLES: [&str; 75] = [
    "ALL_PROXY",
    "AR",
    "ARCH",
    "AS",
    "CARGO_BUILD_JOBS",
    "CARGO_BUILD_TARGET",
    "CARGO_HOME",
    "CARGO_NET_OFFLINE",
    "CC",
    "CCACHE_DIR",
    "CFLAGS",
    "CGO_CFLAGS",
    "CGO_ENABLED",
    "CGO_LDFLAGS",
    "CMAKE_BUILD_PARALLEL_LEVEL",
    "CMAKE_GENERATOR",
    "CMAKE_PREFIX_PATH",
    "COMP",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CPPFLAGS",
    "CURL_CA_BUNDLE",
    "CXX",
    "CXXFLAGS",
    "C_INCLUDE_PATH",
    "DOTNET_CLI_TELEMETRY_OPTOUT",
    "DOTNET_ROOT",
    "GIT_SSL_CAINFO",
    "GOAMD64",
    "GOARCH",
    "GOCACHE",
    "GOFLAGS",
    "GOMODCACHE",
    "GOOS",
    "GOPATH",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "GRADLE_USER_HOME",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LD",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "LOGNAME",
    "NM",
    "NO_PROXY",
    "NUGET_PACKAGES",
    "PATH",
    "PKG_CONFIG_PATH",
    "RANLIB",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "STRIP",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "ZIG_GLOBAL_CACHE_DIR",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Beginnings of variables that are passed on: the locale, and the wrappers of compilers in Nix.
const PREFIXES: [&str; 3] = ["LC_", "NIX_CFLAGS_", "NIX_LDFLAGS"];

/// The environment of builds, and of the benches of what they built; with the variables that the
/// user names in `passed`.
pub fn build_environment(passed: &[String]) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &OsString| {
        name.to_str().is_some_and(|name| {
            VARIABLES.contains(&name)
                || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
                || passed.iter().any(|own| own == name)
        })
    };
    std::env::vars_os().filter(|(name, _)| is_passed(name)).collect()
}
