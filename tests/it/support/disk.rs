//! A disk that can be filled.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// A small separate disk, which needs root. If it cannot be mounted, a notice is printed.
pub struct Disk(PathBuf);

impl Disk {
    pub fn mount(at: PathBuf) -> Option<Disk> {
        Disk::mount_from("tmpfs", at)
    }

    /// Mounts a disk with another source name, as if it belonged to another machine.
    pub fn mount_from(source: &str, at: PathBuf) -> Option<Disk> {
        std::fs::create_dir_all(&at).expect("a folder can be made");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m", source]).arg(&at);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Disk(at));
        }
        eprintln!("skipped: a disk that can be full needs root and the program mount");
        None
    }

    /// Fills the disk completely.
    pub fn fill(&self) {
        let mut file = std::fs::File::create(self.filler()).expect("there is room for a name");
        let mut piece = vec![b'x'; 1 << 16];
        while !piece.is_empty() {
            if file.write_all(&piece).is_err() {
                piece.truncate(piece.len() / 2);
            }
        }
    }

    /// Frees the space again.
    pub fn clear(&self) {
        std::fs::remove_file(self.filler()).expect("a file of ours");
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A process may still have a file open on the disk. A lazy unmount takes effect when the
        // last file is closed.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}
