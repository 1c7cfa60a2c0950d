//! Completions and man pages, made of the command line's description.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{arguments::Arguments, failure::Failure};

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "lanecrypt", &mut text);
    let mut output = io::stdout();
    let written = output.write_all(&text).and_then(|()| output.flush());
    written.map_err(Failure::of("standard output"))
}

pub(crate) fn man_pages(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::of(folder.display()))?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(Failure::of(folder.display()))
}
