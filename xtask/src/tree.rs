//! Where things are in the repository, and reading and writing files there.
//!
//! Invariant: a written file that already holds the same bytes is left alone, so that nothing
//! downstream of it is redone.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::process::{Attempting, Failure, Outcome};

/// The repository's folder.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).attempting(|| format!("cannot read {}", path.display()))
}

pub(crate) fn read_text(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).attempting(|| format!("cannot read {}", path.display()))
}

/// Writes the file and the folders above it, unless it already holds these bytes.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Outcome<()> {
    if fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).attempting(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, bytes).attempting(|| format!("cannot write {}", path.display()))
}

/// Every file below a folder, as sorted paths relative to it with `/` between names.
pub(crate) fn files_below(folder: &Path) -> Outcome<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut open = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        let entries =
            fs::read_dir(&folder).attempting(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.attempting(|| format!("cannot list {}", folder.display()))?;
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| {
                Failure::new(format!("a file name in {} is not text", folder.display()))
            })?;
            let relative = format!("{prefix}{name}");
            if entry.path().is_dir() {
                open.push((entry.path(), format!("{relative}/")));
            } else {
                found.insert(relative);
            }
        }
    }
    Ok(found)
}

/// Makes a link to a folder, so that Node finds a package there; an existing one is kept.
pub(crate) fn link(from: &Path, to: &Path) -> Outcome<()> {
    if fs::canonicalize(from).ok() == fs::canonicalize(to).ok() {
        return Ok(());
    }
    if let Some(folder) = from.parent() {
        fs::create_dir_all(folder).attempting(|| format!("cannot make {}", folder.display()))?;
    }
    if from.is_symlink() {
        fs::remove_file(from).attempting(|| format!("cannot remove {}", from.display()))?;
    }
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(to, from);
    #[cfg(windows)]
    let made = std::os::windows::fs::symlink_dir(to, from);
    made.attempting(|| format!("cannot link {} to {}", from.display(), to.display()))
}

/// A number that changes when one of the parts does.
pub(crate) fn fingerprint(parts: &[&[u8]]) -> String {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
