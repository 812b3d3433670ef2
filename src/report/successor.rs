//! How a run takes the place of an earlier one: in one step where the file system can, and so that nothing is lost
//! wherever it is interrupted.

use super::durable::{sync_folder, sync_folder_of};
use super::folder::{CELLS, is_model, is_ours};
use crate::run_files::Summary;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tracing::warn;

/// The name of a folder beside another one.
pub(super) fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{what}"))
}

/// `new` takes the place of `old`; what is in `old` and not ours is kept.
pub(super) fn replace(new: &Path, old: &Path) -> io::Result<()> {
    let aside = beside(old, "old");
    put_back(old);
    clear_away(&aside, old)?;
    let earlier = match exchange(new, old) {
        Ok(()) => new,
        // Not every file system can do it in one step.
        Err(_) => {
            fs::rename(old, &aside)?;
            // If the new one cannot come, the old one stays.
            fs::rename(new, old).inspect_err(|_| put_back(old))?;
            &aside
        }
    };
    sync_folder_of(old)?;
    if let Err(error) = clear_away(earlier, old) {
        warn!("the run that was replaced is still in {}: {error}", earlier.display());
    }
    Ok(())
}

/// Each of two folders takes the other's place, in one step.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes what is left of a run that was replaced. What is not ours in it goes to its successor.
pub(super) fn clear_away(earlier: &Path, successor: &Path) -> io::Result<()> {
    if !earlier.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(earlier)? {
        let name = entry?.file_name();
        let text = name.to_string_lossy();
        if is_model(&text) && is_its_model(earlier, &text) {
            // Before the files that say whose it is.
            fs::remove_file(earlier.join(&name))?;
        } else if is_model(&text) || !is_ours(&text) {
            fs::rename(earlier.join(&name), free_name(successor, &name))?;
        }
    }
    for entry in fs::read_dir(earlier.join(CELLS)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !is_of_cells(&name.to_string_lossy()) {
            fs::rename(entry.path(), free_name(successor, &name))?;
        }
    }
    sync_folder(successor)?;
    fs::remove_dir_all(earlier)
}

/// Whether a name in the folder `cells` is that of a cell, or of the list of those that are over.
pub(crate) fn is_of_cells(name: &str) -> bool {
    name == "finished.jsonl" || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a model has the name of a variant of the run in `folder`: others may be the user's.
fn is_its_model(folder: &Path, name: &str) -> bool {
    let run = name.trim_start_matches("model-").trim_end_matches(".safetensors");
    let variant = match run.rsplit_once('-') {
        Some((variant, seed)) if seed.bytes().all(|byte| byte.is_ascii_digit()) => variant,
        _ => run,
    };
    let told = ["scenario.toml", Summary::FILE].map(|file| fs::read_to_string(folder.join(file)));
    let mut told = told.iter().flatten();
    told.any(|text| [run, variant].iter().any(|name| text.contains(&format!("\"{name}\""))))
}

/// A path in `folder` for a file called `name` at which nothing is yet.
fn free_name(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = folder.join(name);
    while path.exists() {
        path.as_mut_os_string().push(".earlier");
    }
    path
}

/// A process that died while one run took the place of another may have left the earlier one aside.
pub(crate) fn put_back(path: &Path) {
    let aside = beside(path, "old");
    if !path.exists() && aside.join(Summary::FILE).exists() {
        let _ = fs::rename(&aside, path);
    }
}

/// Killed after a run took the place of another, it has left the earlier one beside: files of the user come along now.
pub(super) fn finish_replacing(path: &Path) {
    let Ok(path) = fs::canonicalize(path) else { return };
    for what in ["new", "old"] {
        let earlier = beside(&path, what);
        if let Err(error) = clear_away(&earlier, &path) {
            warn!("what is left of an earlier run is still in {}: {error}", earlier.display());
        }
    }
}
