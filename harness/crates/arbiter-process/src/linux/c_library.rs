//! Set-up of glibc for this process.

/// Sets glibc up for this process; to be called before any thread starts.
pub fn set_up_c_library() {
    #[cfg(target_env = "gnu")]
    share_heap();
    #[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
    look_hosts_up_without_modules();
}

/// Lets all threads that start from now on allocate from one heap. There is a thread for each
/// engine, which allocates little; with a heap for every few of them, 64 games take 8 MiB more and
/// no less time.
#[cfg(target_env = "gnu")]
fn share_heap() {
    // SAFETY: both set a number.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        // Small pieces that are free join what is free beside them.
        libc::mallopt(libc::M_MXFAST, 0);
    }
}

/// Asks the files of the system and DNS for hosts, whatever `/etc/nsswitch.conf` says. glibc would
/// load other services (mdns, resolve, myhostname) as modules of the system's, and with them a
/// second glibc, which crashes a static program.
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
fn look_hosts_up_without_modules() {
    unsafe extern "C" {
        fn __nss_configure_lookup(
            database: *const libc::c_char,
            services: *const libc::c_char,
        ) -> libc::c_int;
    }
    // SAFETY: as <nss.h> declares it; it copies both strings, and no thread looks anything up yet.
    unsafe {
        __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr());
    }
}
