//! Setup of glibc for this process.

/// Sets glibc up for this process. Must be called before any thread starts.
pub fn set_up_c_library() {
    #[cfg(target_env = "gnu")]
    share_heap();
    #[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
    look_hosts_up_without_modules();
}

/// Makes all threads allocate from one heap (arena). Each engine has a thread that allocates little
/// memory. With glibc's default of several arenas, 64 games take 8 MiB more memory and are not
/// faster.
#[cfg(target_env = "gnu")]
fn share_heap() {
    // SAFETY: both calls only set a number.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        // Without fast bins, small freed blocks are merged with free neighbours.
        libc::mallopt(libc::M_MXFAST, 0);
    }
}

/// Makes host lookups use only files and DNS, regardless of `/etc/nsswitch.conf`. For other
/// services (mdns, resolve, myhostname), glibc would load the system's modules. These modules load
/// a second glibc, which can crash a statically linked program.
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
fn look_hosts_up_without_modules() {
    unsafe extern "C" {
        fn __nss_configure_lookup(
            database: *const libc::c_char,
            services: *const libc::c_char,
        ) -> libc::c_int;
    }
    // SAFETY: the declaration follows <nss.h>; the function copies both strings, and no other
    // thread looks up hosts yet.
    unsafe {
        __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr());
    }
}
