//! The folder of a run.

use super::findings::Findings;
use super::row_file::FileError;
use crate::run_files::{ClientsCsv, RoundsCsv, RunTable, Status, Summary};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A run folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It holds an earlier run.
    #[error(
        "{} holds an earlier run; keep it and choose another folder with --out DIR, or replace it with --force",
        .0.display()
    )]
    Exists(PathBuf),
    /// It holds a run that is not finished.
    #[error(
        "{} holds a run that is not finished; go on with --resume, replace it with --force, or choose another \
         folder with --out DIR",
        .0.display()
    )]
    Unfinished(PathBuf),
    /// It holds something else, which we never delete.
    #[error(
        "{} is not empty and not a run of ours; choose another folder with --out DIR",
        .0.display()
    )]
    Foreign(PathBuf),
    /// It cannot be created or written to.
    #[error("cannot use the folder {}: {source}", path.display())]
    #[allow(missing_docs)]
    Unusable { path: PathBuf, source: io::Error },
}

/// The files of a run that `--force` may replace.
const OURS: [&str; 10] = [
    "scenario.toml",
    Summary::FILE,
    RoundsCsv::FILE,
    ClientsCsv::FILE,
    "latency.hlog",
    "findings.json",
    "timeline.json.gz",
    "rounds.parquet",
    "clients.parquet",
    "report.html",
];

/// A folder that belongs to this run alone.
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates the folder, or empties that of an earlier run if `force` allows it.
    pub fn create(path: &Path, force: bool) -> Result<Self, FolderError> {
        let unusable = |source| FolderError::Unusable { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(unusable)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(path).map_err(unusable)? {
            names.push(entry.map_err(unusable)?.file_name().to_string_lossy().into_owned());
        }
        if !names.is_empty() {
            if !names.iter().any(|name| name == Summary::FILE) {
                return Err(FolderError::Foreign(path.to_owned()));
            }
            if !force {
                let complete = Summary::read(path).is_ok_and(|run| run.status == Status::Complete);
                let error = if complete { FolderError::Exists } else { FolderError::Unfinished };
                return Err(error(path.to_owned()));
            }
            // The summary goes last: it is what tells that the rest is ours.
            names.sort_by_key(|name| name == Summary::FILE);
            for name in names.iter().filter(|name| is_ours(name)) {
                fs::remove_file(path.join(name)).map_err(unusable)?;
            }
            let _ = fs::remove_dir_all(path.join("cells"));
        }
        Ok(RunFolder { path: path.to_owned() })
    }

    /// The folder of a run that goes on.
    pub fn resume(path: &Path) -> Result<Self, FolderError> {
        Ok(RunFolder { path: path.to_owned() })
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a whole file, or leaves the one that is there as it was.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), FileError> {
        write_whole(&self.file(name), content)
    }

    /// Writes `summary.json`.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), FileError> {
        self.write(Summary::FILE, summary.to_json().as_bytes())
    }

    /// Writes `findings.json`.
    pub fn write_findings(&self, findings: &Findings) -> Result<(), FileError> {
        let json = serde_json::to_vec(findings).expect("findings are plain data");
        self.write("findings.json", &json)
    }
}

/// Writes a whole file, or leaves the one that is there as it was.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), FileError> {
    // What a link points to is written, not the link; and a device or a pipe is written to.
    let target = fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, content).map_err(FileError::at(path));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.partial"));
    let written = write_synced(&partial, content).and_then(|()| {
        fs::rename(&partial, path)?;
        sync_folder_of(path)
    });
    written.map_err(|source| {
        // The disk may be full: give back what the attempt took.
        let _ = fs::remove_file(&partial);
        FileError::at(path)(source)
    })
}

/// Writes a file whose content is on the disk when this returns.
fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// The names in the folder of a file are on the disk when this returns: without it, a power cut may undo a
/// rename.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Only Unix lets a program open a folder.
    if cfg!(unix) { fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all() } else { Ok(()) }
}

fn is_ours(name: &str) -> bool {
    let model = name.starts_with("model-") && name.ends_with(".safetensors");
    let partial = name.starts_with('.') && name.ends_with(".partial");
    OURS.contains(&name) || model || partial
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
    fn an_earlier_run_is_replaced_only_by_force_and_nothing_else_ever() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("runs/a");
        let folder = RunFolder::create(&path, false).unwrap();
        folder.write("summary.json", b"{}").unwrap();
        assert!(matches!(RunFolder::create(&path, false), Err(FolderError::Unfinished(_))));
        let complete = Summary { status: Status::Complete, ..Summary::default() };
        folder.write_summary(&complete).unwrap();
        folder.write("model-a.safetensors", b"x").unwrap();
        fs::write(path.join("notes.md"), "mine").unwrap();
        assert!(matches!(RunFolder::create(&path, false), Err(FolderError::Exists(_))));
        RunFolder::create(&path, true).unwrap();
        let left: Vec<_> = fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.md"], "our files are gone, the user's is not");
        assert!(matches!(RunFolder::create(&path, true), Err(FolderError::Foreign(_))));
    }
}
