//! Detection of paths on network file systems.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

/// Returns the network share that contains a path, as `host:/folder` or `//host/folder`; `None` if
/// the file system is local or unknown.
pub fn remote_source(path: &Path) -> Option<String> {
    let about = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    source_of(&std::fs::read_to_string("/proc/self/mountinfo").ok()?, about.stx_mnt_id)
}

/// Returns the source of a mount if the source names a machine, as for NFS, SMB, sshfs and Ceph.
fn source_of(mounts: &str, id: u64) -> Option<String> {
    let is_it = |line: &&str| line.split(' ').next() == Some(id.to_string().as_str());
    let (_, about) = mounts.lines().find(is_it)?.split_once(" - ")?;
    let source = about.split(' ').nth(1)?;
    let names_a_machine = source.starts_with("//") || source.contains(":/");
    // `mountinfo` encodes a space as `\040`.
    names_a_machine.then(|| source.replace("\\040", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_file_systems_are_recognized_by_their_source() {
        let check = |about: &str, expect: Option<&str>| {
            let mounts = format!(
                "7 1 8:1 / / rw - ext4 /dev/sda1 rw\n70 7 0:50 / /far rw,relatime shared:9 - {about} rw\n"
            );
            assert_eq!(source_of(&mounts, 70).as_deref(), expect, "{about}");
            assert_eq!(source_of(&mounts, 7), None);
            assert_eq!(source_of(&mounts, 700), None);
        };
        check("nfs4 server:/export/home", Some("server:/export/home"));
        check("nfs [fe80::1]:/export", Some("[fe80::1]:/export"));
        check("cifs //server/a\\040share", Some("//server/a share"));
        check("fuse.sshfs user@host:/files", Some("user@host:/files"));
        check("ceph 10.0.0.1:6789:/", Some("10.0.0.1:6789:/"));
        check("fuse.davfs https://host/dav", Some("https://host/dav"));
        check("ext4 /dev/mapper/a:b", None);
        check("tmpfs tmpfs", None);
        check("overlay overlay", None);
        check("zfs pool/home", None);
        assert_eq!(remote_source(Path::new("/proc")), None);
    }
}
