//! Circles of modules: no module of a crate may use one that uses it, directly or by way of others. That holds for
//! modules by themselves, and for those side by side with all that is inside them: folders are layers.
//!
//! Uses are what paths from `crate`, `self` or `super` and the names of modules inside say, in `use` and
//! elsewhere. A name that a module passes on stands for the module that defines it; passing it on is no use.
//! Tests are left out, and so are methods, which no path leads to.

use std::collections::{BTreeMap, BTreeSet};

/// Names of a module and those around it, from the crate's root on.
type Path = Vec<String>;

/// Where a path leads that a module names.
#[derive(Debug)]
struct Use {
    from: Path,
    to: Path,
    /// What it is called there, where it is passed on.
    passed_on: Option<String>,
}

/// What the sources of a crate say of its modules.
#[derive(Debug, Default)]
struct Modules {
    all: BTreeSet<Path>,
    tests: BTreeSet<Path>,
    /// What modules define, and the words in them.
    defined: BTreeSet<(Path, String)>,
    words: BTreeSet<(Path, String)>,
    /// Names that `use` brings to a module; none is of this crate without a path.
    bound: BTreeMap<(Path, String), Option<Path>>,
    /// Modules of which all names are brought.
    globs: Vec<(Path, Path)>,
    uses: Vec<Use>,
}

/// The modules of a circle, in order, if a crate has one: `sources` are paths below `src` and texts.
pub(super) fn circle(sources: &[(&str, &str)]) -> Option<String> {
    let all = sources.iter().map(|(path, _)| module_of(path)).collect();
    let mut modules = Modules { all, ..Modules::default() };
    for (path, text) in sources {
        Reader { modules: &mut modules, here: module_of(path), inside: Vec::new() }
            .read(&tokens(text));
    }
    let edges = modules.edges();
    let side_by_side = edges.iter().filter_map(|(from, to)| {
        let common = from.iter().zip(to).take_while(|(from, to)| from == to).count();
        Some((from.get(..=common)?.to_vec(), to.get(..=common)?.to_vec()))
    });
    let circle = around(&edges).or_else(|| around(&side_by_side.collect()))?;
    let names: Vec<_> = circle.iter().map(|path| format!("crate::{}", path.join("::"))).collect();
    Some(names.join(" → "))
}

/// The module that a file has.
fn module_of(path: &str) -> Path {
    let path = path.trim_end_matches(".rs");
    let parts = path.split('/').filter(|part| !["lib", "main", "mod"].contains(part));
    parts.map(str::to_owned).collect()
}

/// A circle of a graph, given by its edges; the first node is once more at the end.
fn around(edges: &BTreeSet<(Path, Path)>) -> Option<Vec<Path>> {
    let mut left = edges.clone();
    // What uses nothing that uses something is in no circle.
    loop {
        let using: BTreeSet<_> = left.iter().map(|(from, _)| from.clone()).collect();
        let before = left.len();
        left.retain(|(_, to)| using.contains(to));
        if left.len() == before {
            break;
        }
    }
    let mut way = vec![left.first()?.0.clone()];
    loop {
        let (_, next) = left.iter().find(|(from, _)| Some(from) == way.last())?.clone();
        let start = way.iter().position(|one| *one == next);
        way.push(next);
        if let Some(start) = start {
            return Some(way.split_off(start));
        }
    }
}

impl Modules {
    /// Which module uses which.
    fn edges(&self) -> BTreeSet<(Path, Path)> {
        let is_test = |path: &Path| self.tests.iter().any(|test| path.starts_with(test));
        let edge = |Use { from, to, passed_on }: &Use| {
            let is_used = passed_on
                .as_ref()
                .is_none_or(|name| self.words.contains(&(from.clone(), name.clone())));
            let to = self.resolve(to, 0).filter(|_| is_used)?;
            (to != *from && !is_test(from) && !is_test(&to)).then(|| (from.clone(), to))
        };
        self.uses.iter().filter_map(edge).collect()
    }

    /// The module that defines what a path leads to; none for what another crate has.
    fn resolve(&self, path: &[String], depth: usize) -> Option<Path> {
        let mut module = Path::new();
        for (i, name) in path.iter().enumerate() {
            let inner = [module.clone(), vec![name.clone()]].concat();
            if self.all.contains(&inner) {
                module = inner;
                continue;
            }
            let here = (module.clone(), name.clone());
            if self.defined.contains(&here) || depth > 16 {
                return Some(module);
            }
            if let Some(target) = self.bound.get(&here) {
                let target = [target.as_deref()?, &path[i + 1..]].concat();
                return self.resolve(&target, depth + 1);
            }
            let globs = self.globs.iter().filter(|(to, _)| *to == module);
            let through =
                globs.filter_map(|(_, from)| self.resolve(from, depth + 1)).find(|from| {
                    let there = (from.clone(), name.clone());
                    self.defined.contains(&there) || self.bound.contains_key(&there)
                });
            return match through {
                Some(from) => self.resolve(&[&from, &path[i..]].concat(), depth + 1),
                None => Some(module),
            };
        }
        Some(module)
    }
}

/// Reads a file of one module and those that are written out in it.
struct Reader<'a> {
    modules: &'a mut Modules,
    here: Path,
    /// For each open brace, whether it is that of a module.
    inside: Vec<bool>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: &[&str]) {
        let mut i = 0;
        while let Some(&token) = tokens.get(i) {
            let at = |ahead: usize| tokens.get(i + ahead).copied().unwrap_or_default();
            let before = if i > 0 { tokens[i - 1] } else { "" };
            i = match token {
                "#" => self.attribute(tokens, i),
                "mod" if at(2) == "{" => {
                    self.here.push(at(1).to_owned());
                    self.modules.all.insert(self.here.clone());
                    self.inside.push(true);
                    i + 3
                }
                "{" => {
                    self.inside.push(false);
                    i + 1
                }
                "}" => {
                    if self.inside.pop() == Some(true) {
                        self.here.pop();
                    }
                    i + 1
                }
                "use" if before != "." => {
                    let is_passed_on = before == "pub" || before == ")";
                    self.tree(tokens, i + 1, &[], Some(is_passed_on))
                }
                "macro_rules" => {
                    self.macro_rules(at(2));
                    i + 3
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static" => {
                    self.modules.defined.insert((self.here.clone(), at(1).to_owned()));
                    i + 1
                }
                name if !["::", ".", "$", "in"].contains(&before) => {
                    if at(1) == "::" && self.absolute(&[name.to_owned()]).is_some() {
                        self.tree(tokens, i, &[], None)
                    } else {
                        self.modules.words.insert((self.here.clone(), name.to_owned()));
                        i + 1
                    }
                }
                _ => i + 1,
            };
        }
    }

    /// A macro: those that are exported are named from the root on.
    fn macro_rules(&mut self, name: &str) {
        self.modules.defined.insert((self.here.clone(), name.to_owned()));
        if !self.here.is_empty() {
            let path = [self.here.clone(), vec![name.to_owned()]].concat();
            self.modules.bound.entry((Path::new(), name.to_owned())).or_insert(Some(path));
        }
    }

    /// Behind an attribute, and the item that it is on where that is for tests.
    fn attribute(&mut self, tokens: &[&str], start: usize) -> usize {
        let is_inner = tokens.get(start + 1) == Some(&"!");
        let end = closing(tokens, start + 1 + usize::from(is_inner));
        let of = &tokens[start..end];
        let is_test = of.contains(&"cfg") && of.contains(&"test") && !of.contains(&"not");
        if !is_test || of.contains(&"any") {
            return end;
        }
        let mut i = end;
        while let Some(&token) = tokens.get(i) {
            match token {
                "mod" if tokens.get(i + 2) == Some(&";") => {
                    let test = [self.here.clone(), vec![tokens[i + 1].to_owned()]].concat();
                    self.modules.tests.insert(test);
                }
                ";" => return i + 1,
                "{" => {
                    let end = closing(tokens, i);
                    let is_use = tokens.get(end) == Some(&";");
                    return end + usize::from(is_use);
                }
                "(" | "[" => {
                    i = closing(tokens, i);
                    continue;
                }
                _ => {}
            }
            i += 1;
        }
        i
    }

    /// Reads a path, or the tree of paths of a `use` where it is one, and whether names are passed on.
    fn tree(
        &mut self,
        tokens: &[&str],
        start: usize,
        before: &[String],
        of_use: Option<bool>,
    ) -> usize {
        let (mut i, mut path) = (start, before.to_vec());
        loop {
            match tokens.get(i).copied().unwrap_or(";") {
                "{" if of_use.is_some() => {
                    i += 1;
                    while !["}", ";"].contains(&tokens.get(i).copied().unwrap_or(";")) {
                        i = self.tree(tokens, i, &path, of_use);
                        i += usize::from(tokens.get(i) == Some(&","));
                    }
                    return i + 1;
                }
                "*" if of_use.is_some() => {
                    if let Some(to) = self.absolute(&path) {
                        self.modules.globs.push((self.here.clone(), to.clone()));
                        if of_use == Some(false) {
                            let from = self.here.clone();
                            self.modules.uses.push(Use { from, to, passed_on: None });
                        }
                    }
                    return i + 1;
                }
                name if is_name(name) => path.push(name.to_owned()),
                _ => {}
            }
            if tokens.get(i + 1) != Some(&"::") || !next_is_path(tokens, i + 2, of_use) {
                i += 1;
                break;
            }
            i += 2;
        }
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if of_use.is_some() && tokens.get(i) == Some(&"as") {
            name = tokens.get(i + 1).map_or_else(String::new, |name| (*name).to_owned());
            i += 2;
        }
        self.found(&path, name, of_use);
        i
    }

    fn found(&mut self, path: &[String], name: String, of_use: Option<bool>) {
        let to = self.absolute(path);
        if of_use.is_some() {
            self.modules.bound.insert((self.here.clone(), name.clone()), to.clone());
        }
        if let Some(to) = to {
            let passed_on = (of_use == Some(true)).then_some(name);
            self.modules.uses.push(Use { from: self.here.clone(), to, passed_on });
        }
    }

    /// A path from the root on; none for what another crate has, or a name without a path.
    fn absolute(&self, path: &[String]) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        let mut module = match first.as_str() {
            "crate" => Path::new(),
            "self" => self.here.clone(),
            "super" => {
                let mut around = self.here.clone();
                around.pop();
                around
            }
            name => {
                let inner = [self.here.clone(), vec![name.to_owned()]].concat();
                self.modules.all.contains(&inner).then_some(inner)?
            }
        };
        for name in rest {
            if name == "super" {
                module.pop();
            } else {
                module.push(name.clone());
            }
        }
        Some(module)
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether a path goes on behind `::`, which generic arguments may follow as well.
fn next_is_path(tokens: &[&str], i: usize, of_use: Option<bool>) -> bool {
    let next = tokens.get(i).copied().unwrap_or_default();
    is_name(next) || of_use.is_some() && ["{", "*"].contains(&next)
}

/// The place behind the bracket that closes the one at `open`.
fn closing(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// Names, `::` and single signs of a text, without comments and literals.
fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if raw_string(rest).is_some() => raw_string(rest).unwrap_or(1),
            '"' => quoted(rest, '"'),
            '\'' if rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'') => {
                quoted(rest, '\'')
            }
            _ if first.is_alphanumeric() || first == '_' => {
                let ends = |c: char| !(c.is_alphanumeric() || c == '_');
                let end = rest.find(ends).unwrap_or(rest.len());
                tokens.push(&rest[..end]);
                end
            }
            _ if rest.starts_with("::") => {
                tokens.push("::");
                2
            }
            _ => {
                let length = first.len_utf8();
                if !first.is_whitespace() {
                    tokens.push(&rest[..length]);
                }
                length
            }
        };
        rest = &rest[length..];
    }
    tokens
}

/// Bytes of a literal between two of a sign.
fn quoted(text: &str, sign: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == sign => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of a raw string, if the text begins with one.
fn raw_string(text: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| rest.trim_start_matches('#').starts_with('"'))
    })?;
    let rest = &text[prefix.len()..];
    let signs = rest.len() - rest.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(signs));
    let start = prefix.len() + signs + 1;
    Some(text[start..].find(&end).map_or(text.len(), |found| start + found + end.len()))
}

#[cfg(test)]
mod tests {
    use super::circle;

    #[test]
    fn circles_are_found_wherever_they_are() {
        let of = |sources: &[(&str, &str)]| circle(sources).unwrap_or_default();
        let root = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::{inner::B, C};");
        let inner = ("b/inner.rs", "pub struct B;");
        let there = |a, b| of(&[root, ("a.rs", a), ("b.rs", b), inner, ("c.rs", "pub struct E;")]);
        let (to_b, to_a) = ("use crate::b::C;", "pub mod inner; use crate::a::A; pub struct C;");
        assert_eq!(there(to_b, "pub mod inner; pub struct C;"), "");
        assert_eq!(there(to_b, to_a), "crate::a → crate::b → crate::a");
        assert_eq!(there("pub struct A; use crate::C;", to_a), "crate::a → crate::b → crate::a");
        assert_ne!(there("use crate::B;", to_a), "", "what is inside counts from outside");
        let passes_on = "pub mod inner; pub use crate::c::E; use crate::a::A;";
        assert_eq!(there("use crate::b::E;", passes_on), "", "of another module");
        assert_eq!(there("fn f() { crate::b::c() }", to_a), "crate::a → crate::b → crate::a");
        assert_eq!(there("pub use crate::b::C;", to_a), "", "passed on");
        assert_ne!(there("pub use crate::b::C; type D = C;", to_a), "", "and used");
        for not_used in [
            "// crate::b::C\n/* crate::b::C */ const D: &str = \"crate::b::C\";",
            "#[cfg(test)]\nmod tests {\n    use crate::b::C;\n}",
            "#[cfg(all(test, unix))]\nuse crate::b::{C, D};",
            "macro_rules! m { () => { $crate::b::C } }",
            "const D: &str = r#\"\"crate::b::C\"#; fn f<'a>() -> char { '\"' }",
        ] {
            assert_eq!(there(not_used, to_a), "", "{not_used}");
        }
    }

    #[test]
    fn modules_and_those_inside_them_count() {
        let of = |b: &str, inner: &str| {
            circle(&[("lib.rs", "mod b;"), ("b.rs", b), ("b/inner.rs", inner)])
        };
        assert_eq!(of("mod inner; fn f() { inner::g() }", "pub fn g() {}"), None);
        assert!(of("mod inner; fn f() { inner::g() }", "use super::f;").is_some());
        assert_eq!(of("pub use self::inner::G; mod inner;", "use super::f;"), None);
        let across = [
            ("a.rs", "pub mod one; pub mod two;"),
            ("a/one.rs", "use crate::c::D;"),
            ("a/two.rs", "pub struct T;"),
            ("c.rs", "use crate::a::two::T; pub struct D;"),
        ];
        assert_eq!(circle(&across).as_deref(), Some("crate::a → crate::c → crate::a"), "folders");
        let written_out = "mod c { use super::inner; } mod inner { use super::c; }";
        assert!(circle(&[("lib.rs", written_out)]).is_some());
        let tests = [("lib.rs", "#[cfg(test)] mod t; mod b;"), ("t.rs", "use crate::b;")];
        assert_eq!(circle(&[tests[0], tests[1], ("b.rs", "use crate::t;")]), None);
    }
}
