//! The book in one file: an EPUB, and a PDF. Both are made of one text, the expanded pages one after the other, without the
//! pages of records and without what only a browser does. pandoc makes the EPUB, and the page that Chromium prints.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use lanecrypt_record::svg;
use mdbook_driver::{MDBook, builtin_renderers::MarkdownRenderer};

use crate::{
    cite::Citation,
    joined::{self, Joined},
};

/// What is made of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Epub,
    Pdf,
}

/// The syntax of the pages, as pandoc calls it.
const SYNTAX: &str = "--from=commonmark+pipe_tables+footnotes+strikeout+task_lists+attributes";
/// Names of the program that prints; the first one that is there.
const PRINTERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// How it prints a page without asking and without what browsers put at the edges.
const PRINT: [&str; 5] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-pdf-header-footer",
    "--generate-pdf-document-outline",
];
/// The text, its look, and the page that is printed; they lie in `FOLDER` below the built book.
const FOLDER: &str = "edition";
const TEXT: &str = "book.md";
const STYLE: &str = "edition.css";
/// The look of paper besides. Readers of EPUB do not know all of it.
const PAPER: &str = "print.css";
const PRINTED: &str = "book.html";

/// Writes the book in these formats below `built`, and returns what it wrote.
///
/// # Errors
/// Where a program is missing or fails, or a file cannot be read or written.
pub(crate) fn write(
    book: &MDBook,
    formats: &[Format],
    citation: &Citation,
    built: &Path,
) -> Result<Vec<PathBuf>> {
    if formats.is_empty() {
        return Ok(Vec::new());
    }
    let folder = built.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let (expanded, _) = book.preprocess_book(&MarkdownRenderer::new())?;
    let Joined { text, pictures } = joined::join(&expanded, &citation.address);
    fs::write(folder.join(TEXT), in_light(&text))?;
    for picture in pictures {
        copy_picture(book, &picture, &folder)?;
    }
    for style in [STYLE, PAPER] {
        fs::copy(book.root.join(style), folder.join(style)).context(style)?;
    }
    let mut written = Vec::new();
    for format in formats {
        let pandoc = pandoc(book, citation, &folder);
        written.push(match format {
            Format::Epub => epub(pandoc, built)?,
            Format::Pdf => pdf(pandoc, &folder, built)?,
        });
    }
    // It is kept only where something failed, to be looked at.
    fs::remove_dir_all(&folder)?;
    Ok(written)
}

/// pandoc over the text, with what both formats want.
fn pandoc(book: &MDBook, citation: &Citation, folder: &Path) -> Command {
    let settings = &book.config.book;
    let title = settings.title.as_deref().unwrap_or_default();
    let mut pandoc = Command::new("pandoc");
    // Else it gives the columns of long tables the widths that their rules have in the text.
    let wide = "--columns=10000";
    pandoc.current_dir(folder).args([TEXT, SYNTAX, wide, "--standalone", "--toc"]);
    pandoc.arg(format!("--css={STYLE}")).arg(format!("--metadata=title:{title}"));
    pandoc.arg(format!("--metadata=author:{}", citation.authors.join(", ")));
    pandoc.arg(format!("--metadata=lang:{}", settings.language.as_deref().unwrap_or("en")));
    pandoc
}

fn epub(mut pandoc: Command, built: &Path) -> Result<PathBuf> {
    let path = built.join("lanecrypt.epub");
    pandoc.args(["--to=epub3", "--toc-depth=3", "--epub-chapter-level=2", "--output"]).arg(&path);
    run(&mut pandoc)?;
    Ok(path)
}

fn pdf(mut pandoc: Command, folder: &Path, built: &Path) -> Result<PathBuf> {
    let path = built.join("lanecrypt.pdf");
    run(pandoc.args(["--to=html5", "--toc-depth=2", "--css", PAPER, "--output", PRINTED]))?;
    let page = folder.join(PRINTED).canonicalize()?;
    for printer in PRINTERS {
        let mut print = Command::new(printer);
        print.args(PRINT).arg(format!("--print-to-pdf={}", path.display()));
        print.arg(format!("file://{}", page.display()));
        match print.output() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).context(printer),
            Ok(output) if output.status.success() && path.is_file() => return Ok(path),
            Ok(output) => bail!("{printer}: {}", String::from_utf8_lossy(&output.stderr).trim()),
        }
    }
    bail!("Chromium, which prints the PDF, is not installed: apt-get install chromium")
}

fn run(pandoc: &mut Command) -> Result<()> {
    let output = match pandoc.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("pandoc, which makes EPUB and PDF, is not installed: apt-get install pandoc")
        }
        output => output.context("pandoc")?,
    };
    // It goes on where a picture is missing.
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !said.trim().is_empty() {
        bail!("pandoc: {}", said.trim());
    }
    Ok(())
}

/// Copies a picture of a page or of a record, named by its path on the web, into the folder of the text.
fn copy_picture(book: &MDBook, path: &Path, folder: &Path) -> Result<()> {
    let from = match path.strip_prefix("records") {
        Ok(path) => book.root.join("../benches/record").join(path),
        Err(_) => book.source_dir().join(path),
    };
    let to = folder.join(path);
    to.parent().map(fs::create_dir_all).transpose()?;
    let what = || from.display().to_string();
    if path.extension().is_some_and(|end| end == "svg") {
        fs::write(to, in_light(&fs::read_to_string(&from).with_context(what)?))?;
    } else {
        fs::copy(&from, to).with_context(what)?;
    }
    Ok(())
}

/// Pictures in their light colours, written out: readers of books know neither variables nor the reader's wish for dark.
fn in_light(text: &str) -> String {
    let (light, rest) = svg::STYLE.split_once('}').unwrap_or((svg::STYLE, ""));
    let dark = rest.find("\n  }\n}\n").map(|end| &rest[..end + "\n  }\n}\n".len()]);
    let mut text = dark.map_or_else(|| text.to_owned(), |dark| text.replace(dark, "\n"));
    for colour in light.split([';', '{']) {
        if let Some((name, value)) = colour.split_once(':').filter(|(name, _)| name.contains("--"))
        {
            text = text.replace(&format!("var({})", name.trim()), value.trim());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_their_light_colours_written_out() {
        let picture =
            svg::file(("A", ""), 0.0, (10.0, 10.0), &maud::html! { text class="label" { "a" } });
        let light = in_light(&picture);
        assert!(!light.contains("var(") && !light.contains("@media"), "{light}");
        assert!(light.contains("svg text.label { fill: #1b1f24; }"), "{light}");
        assert!(light.ends_with("<text class=\"label\">a</text></svg>\n"), "{light}");
    }
}
