//! A folder belongs to one process.

use super::folder::FolderError;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing::warn;

/// The file that is locked while a run goes on. The system releases it when the process dies, however that is.
pub(super) const LOCK: &str = "lock";

/// How often a folder that is taken is tried again, and how long between.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The process that runs into a folder now, if there is one. Where the file system has no locks, one that may.
pub fn holder(folder: &Path) -> Option<String> {
    let mut file = File::open(folder.join(LOCK)).ok()?;
    match file.try_lock_shared() {
        Ok(()) => None,
        Err(_) => {
            let mut by = String::new();
            let _ = Read::take(&mut file, 1000).read_to_string(&mut by);
            Some(describe(&by))
        }
    }
}

/// Holds the lock of a folder.
pub(super) struct FolderLock {
    file: File,
    path: PathBuf,
}

impl FolderLock {
    /// Takes the folder for this process. `None` where the file system has no locks.
    pub(super) fn take(folder: &Path) -> Result<Option<FolderLock>, FolderError> {
        let path = folder.join(LOCK);
        let unusable = |source| FolderError::Unusable { path: folder.to_owned(), source };
        let mut tries = TRIES;
        loop {
            let file =
                File::options().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = file.map_err(unusable)?;
            match file.try_lock() {
                Ok(()) => {}
                // A program that looks whether the run goes on holds it for an instant.
                Err(TryLockError::WouldBlock) if tries > 0 => {
                    tries -= 1;
                    std::thread::sleep(BETWEEN_TRIES);
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    let mut by = String::new();
                    let _ = file.read_to_string(&mut by);
                    return Err(FolderError::Held { path: folder.to_owned(), by: describe(&by) });
                }
                Err(TryLockError::Error(error)) => {
                    warn!(
                        "{} cannot be locked ({error}): do not run into it twice at the same time",
                        folder.display()
                    );
                    return Ok(None);
                }
            }
            // The process that held it may have removed the file since it was opened: then it locks nothing.
            if is_there(&file, &path) {
                let _ = file.set_len(0).and_then(|()| file.write_all(this_process().as_bytes()));
                return Ok(Some(FolderLock { file, path }));
            }
        }
    }

    /// The folder was renamed.
    pub(super) fn moved_to(&mut self, folder: &Path) {
        self.path = folder.join(LOCK);
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        if is_there(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn is_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| a.ino() == b.ino() && a.dev() == b.dev();
    file.metadata().is_ok_and(|own| fs::metadata(path).is_ok_and(|there| same(own, there)))
}

#[cfg(not(unix))]
fn is_there(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Who holds a lock, as its file says.
fn describe(text: &str) -> String {
    match text.trim() {
        "" => "another process".into(),
        // The number of the boot is for programs.
        text => {
            let text = text.split(" (boot").next().unwrap_or(text);
            text.chars().filter(|c| !c.is_control()).take(200).collect()
        }
    }
}

fn this_process() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_string();
    let host = read("/proc/sys/kernel/hostname");
    let boot = read("/proc/sys/kernel/random/boot_id");
    let host = if host.is_empty() { "this machine".into() } else { host };
    let boot = if boot.is_empty() { boot } else { format!(" (boot {boot})") };
    format!("process {} on {host}{boot}\n", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::take(folder.path()).unwrap().unwrap();
        let Err(FolderError::Held { by, .. }) = FolderLock::take(folder.path()) else {
            panic!("it is taken")
        };
        assert!(by.contains(&format!("process {}", std::process::id())), "{by}");
        assert_eq!(holder(folder.path()), Some(by));
        drop(first);
        assert!(!folder.path().join(LOCK).exists());
        assert_eq!(holder(folder.path()), None);
        let second = FolderLock::take(folder.path()).unwrap().unwrap();
        assert!(FolderLock::take(folder.path()).is_err());
        drop(second);
        // What a dead process leaves locks nothing.
        fs::write(folder.path().join(LOCK), "process 1 on nowhere\n").unwrap();
        assert_eq!(holder(folder.path()), None);
        assert!(FolderLock::take(folder.path()).unwrap().is_some());
    }
}
