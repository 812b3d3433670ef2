//! Files and folders that survive a power cut: contents are synced before a name stands for them, and the
//! folder with the name after that. `tests/power_cut` cuts the power after every call of a run.

use super::row_file::FileError;
use std::fs;
use std::io;
use std::path::Path;

/// Writes a whole file, or leaves the one that is there as it was.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), FileError> {
    // What a link points to is written, not the link; and a device or a pipe is written to.
    let target = fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, content).map_err(FileError::at(path));
    }
    write_whole_by(path, |partial| fs::write(partial, content))
}

/// Has a whole file written beside `path`, which takes its place once its content is on the disk.
pub fn write_whole_by(
    path: &Path,
    write: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), FileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.partial"));
    let written = write(&partial).and_then(|()| {
        fs::File::options().write(true).open(&partial)?.sync_all()?;
        fs::rename(&partial, path)?;
        sync_folder_of(path)
    });
    written.map_err(|source| {
        // The disk may be full: give back what the attempt took.
        let _ = fs::remove_file(&partial);
        FileError::at(path)(source)
    })
}

/// The names in the folder of a file are on the disk when this returns: without it, a power cut may undo a
/// rename.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    sync_folder(folder.unwrap_or(Path::new(".")))
}

/// The names in a folder are on the disk when this returns.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix lets a program open a folder.
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Creates a folder and those it is in, where they are missing. They are on the disk when this returns.
pub fn create_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_folder(parent)?;
    }
    match fs::create_dir(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(match fs::read_link(path) {
            Ok(to) if !path.exists() => {
                let to = to.display();
                io::Error::other(format!(
                    "it is a link to {to}, which is not there; create that first"
                ))
            }
            _ => error,
        }),
        Ok(()) => sync_folder_of(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        use std::os::unix::fs::FileTypeExt;
        let temp = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| temp.path().join(name));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        write_whole(Path::new("/dev/null"), b"x").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn folders_are_made_with_those_they_are_in() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b/c");
        create_folder(&path).unwrap();
        create_folder(&path).unwrap();
        assert!(path.is_dir());
        fs::write(path.join("file"), "").unwrap();
        assert!(create_folder(&path.join("file")).is_err());
        assert!(create_folder(&path.join("file/below")).is_err());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("gone", path.join("link")).unwrap();
            let error = create_folder(&path.join("link")).unwrap_err().to_string();
            assert!(error.contains("a link to gone, which is not there"), "{error}");
        }
    }
}
