//! Files of `inart experiment`: a folder of results.

use std::path::Path;

use anyhow::Context;

/// Creates the folder of `--out`.
pub fn make(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| place("--out", folder))
}

/// Writes a file into the folder.
pub fn write(folder: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text).with_context(|| place("--out", &path))
}

/// Returns an option and its file, for errors.
pub fn place(option: &str, path: &Path) -> String {
    format!("{option} {}", path.display())
}

/// A Markdown document with places for tables.
pub struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    /// Reads it, and sees that it has a place for each of these tables.
    pub fn read(path: &Path, mut tables: impl Iterator<Item = String>) -> anyhow::Result<Document> {
        let text = std::fs::read_to_string(path).with_context(|| place("--tables", path))?;
        let document = Document { path: path.to_owned(), text };
        match tables.find(|name| document.table(name).is_none()) {
            Some(name) => bail!(
                "{}: no place for the table; add the lines <!-- table {name} --> and <!-- end -->",
                place("--tables", path)
            ),
            None => Ok(document),
        }
    }

    /// Returns the bytes of a table, without the marker lines around it.
    fn table(&self, name: &str) -> Option<Range<usize>> {
        let begin = format!("<!-- table {name} -->\n");
        let from = self.text.find(&begin)? + begin.len();
        Some(from..from + self.text[from..].find("<!-- end -->")?)
    }

    /// Puts a table in its place.
    pub fn replace(&mut self, name: &str, table: &str) {
        if let Some(place) = self.table(name) {
            self.text.replace_range(place, &format!("\n{table}\n"));
        }
    }

    /// Writes it back.
    pub fn write(&self) -> anyhow::Result<()> {
        std::fs::write(&self.path, &self.text).with_context(|| place("--tables", &self.path))
    }
}
