//! The folder of a run.

use super::durable::{create_folder, write_whole};
use super::findings::Findings;
use super::lock::{FolderLock, LOCK};
use super::row_file::FileError;
use super::successor::{beside, clear_away, finish_replacing, put_back, replace};
use crate::run_files::{ClientsCsv, RoundsCsv, RunKey, RunTable, RunsCsv, Status, Summary};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use tracing::warn;

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
    /// Another process runs into it.
    #[error(
        "{} belongs to a run that goes on: {by} holds it; wait for it, or choose another folder with --out DIR",
        path.display()
    )]
    #[allow(missing_docs)]
    Held { path: PathBuf, by: String },
    /// It cannot be created or written to.
    #[error("cannot use the folder {}: {source}", path.display())]
    #[allow(missing_docs)]
    Unusable { path: PathBuf, source: io::Error },
}

/// What is kept of a run while it goes on.
pub(crate) const CELLS: &str = "cells";

/// The files of a run that `--force` may replace.
const OURS: [&str; 12] = [
    "scenario.toml",
    Summary::FILE,
    RoundsCsv::FILE,
    ClientsCsv::FILE,
    RunsCsv::FILE,
    "latency.hlog",
    Findings::FILE,
    "timeline.json.gz",
    "rounds.parquet",
    "clients.parquet",
    "runs.parquet",
    "report.html",
];

/// A folder that belongs to this run alone.
///
/// A run that replaces another is written beside it, and takes its place with its first checkpoint or at its end:
/// until then the earlier run is still there.
pub struct RunFolder {
    place: Arc<RwLock<FolderPlace>>,
}

/// Where a run's folder is.
struct FolderPlace {
    now: PathBuf,
    /// What it replaces, until it has.
    replaces: Option<PathBuf>,
    lock: Option<FolderLock>,
    /// Keeps others out of the folder that is replaced.
    _replaced: Option<FolderLock>,
}

/// The folder of a run, for those that write to it on their own.
#[derive(Clone)]
pub struct RunPath(Arc<RwLock<FolderPlace>>);

impl RunPath {
    /// Where the folder is now.
    pub fn get(&self) -> PathBuf {
        self.using(Path::to_owned)
    }

    /// Does something with the folder while it stays where it is: cells that run side by side may make it take the
    /// place of an earlier run at any time.
    pub fn using<T>(&self, work: impl FnOnce(&Path) -> T) -> T {
        work(&self.0.read().unwrap_or_else(PoisonError::into_inner).now)
    }

    /// There is something that the run can go on from: it takes the place of the one that it replaces.
    pub fn settle(&self) -> Result<(), FolderError> {
        let mut place = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(target) = place.replaces.clone() else {
            return Ok(());
        };
        let unusable = |source| FolderError::Unusable { path: target.clone(), source };
        replace(&place.now, &target).map_err(unusable)?;
        if let Some(lock) = &mut place.lock {
            lock.moved_to(&target);
        }
        (place.now, place.replaces, place._replaced) = (target, None, None);
        Ok(())
    }
}

impl RunFolder {
    /// Creates the folder, or one beside that of an earlier run if `force` allows to replace it.
    pub fn create(path: &Path, force: bool) -> Result<Self, FolderError> {
        let unusable = |source| FolderError::Unusable { path: path.to_owned(), source };
        put_back(path);
        create_folder(path).map_err(unusable)?;
        let lock = FolderLock::take(path)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(path).map_err(unusable)? {
            let entry = entry.map_err(unusable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_ours(&name)
                && entry.file_type().is_ok_and(|kind| kind.is_dir()) != (name == CELLS)
            {
                return Err(FolderError::Foreign(path.to_owned()));
            }
            names.push(name);
        }
        names.retain(|name| name != LOCK);
        // Killed while it wrote its very first file, a run leaves nothing else.
        if names.iter().all(|name| is_partial(name)) {
            remove_partial(path);
            return Ok(RunFolder::at(path.to_owned(), None, lock, None));
        }
        // Another program may call a file like that.
        let Ok(run) = Summary::read(path) else {
            return Err(FolderError::Foreign(path.to_owned()));
        };
        if !force {
            let complete = run.status == Status::Complete;
            let error = if complete { FolderError::Exists } else { FolderError::Unfinished };
            return Err(error(path.to_owned()));
        }
        // A link stays one: what it points to is replaced.
        let target = fs::canonicalize(path).map_err(unusable)?;
        if std::env::current_dir().is_ok_and(|here| here == target) {
            let what = "it is the folder you are in; run it from another one, or choose another with --out DIR";
            return Err(unusable(io::Error::other(what)));
        }
        let new = beside(&target, "new");
        // Of a run that was killed before it took the place, or after.
        clear_away(&new, &target).map_err(unusable)?;
        create_folder(&new).map_err(unusable)?;
        let own = FolderLock::take(&new)?;
        Ok(RunFolder::at(new, Some(target), own, lock))
    }

    /// The folder of a run that goes on.
    pub fn resume(path: &Path) -> Result<Self, FolderError> {
        put_back(path);
        let lock = FolderLock::take(path)?;
        remove_partial(path);
        finish_replacing(path);
        Ok(RunFolder::at(path.to_owned(), None, lock, None))
    }

    fn at(
        now: PathBuf,
        replaces: Option<PathBuf>,
        lock: Option<FolderLock>,
        _replaced: Option<FolderLock>,
    ) -> Self {
        RunFolder { place: Arc::new(RwLock::new(FolderPlace { now, replaces, lock, _replaced })) }
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The run could not take the place of the earlier one: it stays beside it.
    pub fn keep_beside(&self) {
        let mut place = self.place.write().unwrap_or_else(PoisonError::into_inner);
        if place.replaces.take().is_some() {
            warn!("the new run is in {}", place.now.display());
        }
    }

    /// Whether it has the place that was asked for: not if it would replace another and has not.
    pub fn has_its_place(&self) -> bool {
        self.place.read().unwrap_or_else(PoisonError::into_inner).replaces.is_none()
    }

    /// The folder itself, where it is now.
    pub fn path(&self) -> PathBuf {
        self.run_path().get()
    }

    /// The folder, for those that write to it on their own.
    pub fn run_path(&self) -> RunPath {
        RunPath(self.place.clone())
    }

    /// Writes a whole file, or leaves the one that is there as it was.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), FileError> {
        self.run_path().using(|folder| write_whole(&folder.join(name), content))
    }

    /// Writes `summary.json`.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), FileError> {
        self.write(Summary::FILE, summary.to_json().as_bytes())
    }

    /// Writes `runs.csv`.
    pub fn write_runs(&self, summary: &Summary) -> Result<(), FileError> {
        let mut table = RunsCsv::header(&summary.swept).into_bytes();
        table.push(b'\n');
        for run in &summary.variants {
            RunsCsv::write_row(&mut table, &RunKey::new(&run.id(false)), run);
        }
        self.write(RunsCsv::FILE, &table)
    }

    /// Writes `findings.json`.
    pub fn write_findings(&self, findings: &Findings) -> Result<(), FileError> {
        let json = serde_json::to_vec(findings).expect("findings are plain data");
        self.write(Findings::FILE, &json)
    }
}

impl Drop for FolderPlace {
    fn drop(&mut self) {
        // A run that never took the place of the earlier one was not run.
        if self.replaces.is_some() {
            self.lock = None;
            let _ = fs::remove_dir_all(&self.now);
        }
    }
}

pub(super) fn is_ours(name: &str) -> bool {
    OURS.contains(&name) || name == LOCK || name == CELLS || is_model(name) || is_partial(name)
}

/// Whether a tool that wrote there would overwrite what a run recorded; its page can be made again.
pub fn is_record_of_run(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    is_ours(&name) && name != "report.html" && path.with_file_name(Summary::FILE).exists()
}

/// A file that is called like the model of a run.
pub(super) fn is_model(name: &str) -> bool {
    name.starts_with("model-") && name.ends_with(".safetensors")
}

/// A file that was not written to its end.
fn is_partial(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".partial")
}

/// Removes what a process that was killed had not written to its end.
fn remove_partial(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_partial(&entry.file_name().to_string_lossy()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNFINISHED: &[u8] = br#"{"name": "a", "status": "incomplete", "variants": []}"#;

    fn names(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_earlier_run_is_replaced_only_by_force_and_nothing_else_ever() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("runs/a");
        let folder = RunFolder::create(&path, false).unwrap();
        folder.write("summary.json", UNFINISHED).unwrap();
        assert!(matches!(RunFolder::create(&path, true), Err(FolderError::Held { .. })));
        drop(folder);
        assert!(matches!(RunFolder::create(&path, false), Err(FolderError::Unfinished(_))));
        let complete = Summary { status: Status::Complete, ..Summary::default() }.to_json();
        fs::write(path.join("summary.json"), complete).unwrap();
        fs::write(path.join("scenario.toml"), "[[variant]]\nname = \"a\"\n").unwrap();
        fs::write(path.join("model-a.safetensors"), b"x").unwrap();
        fs::write(path.join("model-a-7.safetensors"), b"x").unwrap();
        fs::write(path.join("model-mine.safetensors"), b"x").unwrap();
        fs::write(path.join("notes.md"), "mine").unwrap();
        assert!(matches!(RunFolder::create(&path, false), Err(FolderError::Exists(_))));
        let models = ["model-a-7.safetensors", "model-a.safetensors", "model-mine.safetensors"];
        let earlier = [&models[..], &["notes.md", "scenario.toml", "summary.json"]].concat();

        // Until there is something to go on from, the earlier run is there, whatever becomes of the new one.
        let new = RunFolder::create(&path, true).unwrap();
        new.write("summary.json", b"new").unwrap();
        assert!(matches!(RunFolder::create(&path, true), Err(FolderError::Held { .. })));
        drop(new);
        assert_eq!(names(&path), earlier);
        assert_eq!(names(temp.path().join("runs").as_path()), ["a"], "nothing is left beside it");

        let new = RunFolder::create(&path, true).unwrap();
        new.write("summary.json", b"new").unwrap();
        new.run_path().settle().unwrap();
        let kept = ["lock", "model-mine.safetensors", "notes.md", "summary.json"];
        assert_eq!(names(&path), kept, "the user's files are kept");
        new.write("rounds.csv", b"").unwrap();
        drop(new);
        let kept = ["model-mine.safetensors", "notes.md", "rounds.csv", "summary.json"];
        assert_eq!(names(&path), kept);
        fs::remove_file(path.join("summary.json")).unwrap();
        assert!(matches!(RunFolder::create(&path, true), Err(FolderError::Foreign(_))));
    }

    /// The new run cannot come: the old one is there as before, and nothing is lost by trying again.
    #[test]
    fn a_run_that_cannot_take_the_place_leaves_it() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a");
        let folder = RunFolder::create(&path, false).unwrap();
        folder.write("summary.json", UNFINISHED).unwrap();
        drop(folder);
        let new = RunFolder::create(&path, true).unwrap();
        let (there, elsewhere) = (new.path(), temp.path().join("elsewhere"));
        fs::rename(&there, &elsewhere).unwrap();
        for _ in 0..2 {
            assert!(new.run_path().settle().is_err());
            assert!(path.join("summary.json").exists());
        }
        fs::rename(&elsewhere, &there).unwrap();
        new.write("summary.json", b"new").unwrap();
        new.run_path().settle().unwrap();
        assert_eq!(fs::read(path.join("summary.json")).unwrap(), b"new");
    }

    /// Killed between two renames.
    #[test]
    fn an_earlier_run_that_was_put_aside_comes_back() {
        let temp = tempfile::tempdir().unwrap();
        let (path, aside) = (temp.path().join("a"), temp.path().join(".a.old"));
        fs::create_dir(&aside).unwrap();
        fs::write(aside.join("summary.json"), UNFINISHED).unwrap();
        assert!(matches!(RunFolder::create(&path, false), Err(FolderError::Unfinished(_))));
        assert_eq!(names(&path), ["summary.json"]);
    }

    /// Killed after it took the place, before the user's files came along; then again.
    #[test]
    fn files_of_the_user_come_along_however_often_a_run_is_killed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a");
        for earlier in ["a", ".a.new", ".a.old"] {
            let earlier = temp.path().join(earlier);
            fs::create_dir(&earlier).unwrap();
            fs::write(earlier.join("summary.json"), UNFINISHED).unwrap();
            fs::write(earlier.join("notes.md"), "mine").unwrap();
        }
        let new = RunFolder::create(&path, true).unwrap();
        new.write("summary.json", b"new").unwrap();
        new.run_path().settle().unwrap();
        drop(new);
        assert_eq!(names(temp.path()), ["a"]);
        let notes = ["notes.md", "notes.md.earlier", "notes.md.earlier.earlier", "summary.json"];
        assert_eq!(names(&path), notes);
        assert_eq!(fs::read(path.join("summary.json")).unwrap(), b"new");
    }

    #[test]
    fn what_another_program_calls_a_summary_is_not_ours() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("summary.json"), "{\"mine\": 1}").unwrap();
        fs::write(temp.path().join("report.html"), "mine").unwrap();
        assert!(matches!(RunFolder::create(temp.path(), true), Err(FolderError::Foreign(_))));
        assert_eq!(names(temp.path()), ["report.html", "summary.json"]);
    }

    #[test]
    fn a_folder_where_a_file_should_be_is_not_ours() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("summary.json"), UNFINISHED).unwrap();
        fs::create_dir(temp.path().join("clients.csv")).unwrap();
        assert!(matches!(RunFolder::create(temp.path(), true), Err(FolderError::Foreign(_))));
    }
}
