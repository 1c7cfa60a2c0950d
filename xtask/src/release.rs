//! A release, as far as it needs no network, no account and no key: what is shipped, lists of what is in it, sums.

mod artifacts;
mod debian;
mod interface;
mod licences;
mod sbom;
mod shipped;
mod twice;

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::{
    checks::{dependencies, publishing},
    command::root,
    steps::{self, step},
};

pub(crate) use self::artifacts::Artifact;

/// What `cargo xtask release` is to do.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    task: Task,
    /// Builds only: a build of `--twice`.
    #[arg(long, hide = true, conflicts_with = "Task")]
    build_only: bool,
    /// Artifacts to build [default: all].
    #[arg(conflicts_with_all = ["debian", "interface"])]
    artifacts: Vec<Artifact>,
}

/// One of them at a time.
#[derive(Args)]
#[group(multiple = false)]
struct Task {
    /// Checks, builds and lists everything, publishes nothing, and says what is left for a person.
    #[arg(long)]
    dry_run: bool,
    /// Builds twice, in two folders, and fails where a file that is shipped differs (two clean builds: an hour on
    /// two cores, or a few minutes for one artifact).
    #[arg(long)]
    twice: bool,
    /// Makes a source package for Debian in target/debian, builds it without a network, checks it by lintian and runs
    /// what it gives (25 minutes on two cores).
    #[arg(long)]
    debian: bool,
    /// Compares the public interfaces with those of the packages in a folder, such as `crates` of an earlier release.
    #[arg(long, value_name = "FOLDER")]
    interface: Option<PathBuf>,
}

/// Where the way of a release is written.
const GUIDE: &str = "docs/releasing.md";

pub(crate) fn run_task(options: &Options) -> Result<()> {
    let chosen = match &options.artifacts[..] {
        [] => Artifact::value_variants(),
        some => some,
    };
    if options.build_only {
        return artifacts::build(chosen);
    }
    let task = &options.task;
    if task.twice {
        return twice::check(chosen);
    }
    if task.debian {
        return debian::check();
    }
    if let Some(folder) = &task.interface {
        return interface::compare_with_packed(folder);
    }
    if !task.dry_run {
        bail!(
            "publishing is done by a person, as {GUIDE} says: --dry-run does what can be done before"
        );
    }
    let main = [
        step("packages", || publishing::run_task(false)),
        step("what is shipped: builds, licences, SBOMs, sums", || artifacts::build(chosen)),
        step("public interfaces beside the last release's", interface::compare),
    ];
    let beside = [step("licences, sources and duplicates of dependencies", dependencies::check)];
    let result = steps::run_all("release", &[&main, &beside]);
    let guide = fs::read_to_string(root().join(GUIDE)).context(GUIDE)?;
    println!("\nLeft for a person, as {GUIDE} says:\n{}", left(&guide));
    result
}

/// The lists of everything that is shipped, of which nothing is built: packages without a licence are found so.
pub(crate) fn lists() -> Result<()> {
    artifacts::lists()
}

/// What others wrote in the programs of these packages and in their tests, with their licences.
pub(crate) fn third_party(name: &str, packages: &[&str]) -> Result<String> {
    let parts = shipped::Graph::read()?.parts_with_tests(packages)?;
    licences::third_party(name, &parts)
}

/// The first sentence of each item that is to be done, below its heading.
fn left(guide: &str) -> String {
    let mut sections: Vec<(&str, Vec<String>)> = Vec::new();
    let mut lines = guide.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push((heading, Vec::new()));
        }
        let (Some(item), Some((_, items))) = (line.strip_prefix("- [ ] "), sections.last_mut())
        else {
            continue;
        };
        let mut item = item.to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with("  ")) {
            item = format!("{item} {}", more.trim());
        }
        let first = item.split_inclusive(". ").next().unwrap_or_default();
        items.push(format!("\n  - {}", first.trim()));
    }
    let with_items = sections.into_iter().filter(|(_, items)| !items.is_empty());
    with_items
        .map(|(heading, items)| heading.to_owned() + &items.concat())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_guide_s_list() {
        let guide = "# A\n\ntext\n\n## Once\n\n- [ ] The name. It is\n  free.\n- [ ] A key\n  of a person\n\n\
                     ## Why\n\n| a |\n";
        assert_eq!(left(guide), "Once\n  - The name.\n  - A key of a person");
        let guide = fs::read_to_string(root().join(GUIDE)).expect("it is there");
        let left = left(&guide);
        assert!(left.contains("  - The tag, signed") && left.contains("Each version"), "{left}");
        assert!(!left.contains("cannot be done here"), "{left}");
    }
}
