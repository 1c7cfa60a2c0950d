//! Mutants behind switches: all that can be told apart while a program runs, in one text of a file, so that a build
//! serves thousands of them.
//!
//! ```text
//! a + b                  (if crate::mutants::on(7) { a - b } else if crate::mutants::on(8) { a * b } else { a + b })
//! !a                     (if crate::mutants::on(9) { a } else { !a })
//! fn f() -> bool { … }   fn f() -> bool { if crate::mutants::on(10) { return true; } … }
//! pattern => …           pattern if !crate::mutants::on(11) => …
//! ```

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    ops::Range,
};

use anyhow::{Context, Error, Result};
use proc_macro2::{LineColumn, Span};
use serde::Deserialize;
use syn::{spanned::Spanned, visit::Visit};

use crate::command::root;

/// A mutant, as `cargo mutants --list --json` describes it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Mutant {
    /// Its place and what it replaces, for people.
    pub(super) name: String,
    pub(super) file: String,
    genre: Genre,
    replacement: String,
    span: Place,
    function: Option<Function>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Clone, Debug, Deserialize)]
struct Place {
    start: At,
}

/// Both count from one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    line: usize,
    column: usize,
}

#[derive(Clone, Debug, Deserialize)]
struct Function {
    return_type: String,
}

impl Mutant {
    /// By what cargo-mutants is told to try this one: a regular expression, in which a period is any character.
    pub(super) fn chosen(&self) -> [String; 2] {
        let name = self.name.replace(|c: char| !c.is_alphanumeric(), ".");
        ["--re".to_owned(), format!("^{name}$")]
    }

    /// Whether it returns a type that the function does not name: that is the type of its body, whose value another one
    /// cannot be.
    fn is_of_hidden_type(&self) -> bool {
        let hides = |function: &Function| function.return_type.contains("impl ");
        self.genre == Genre::FnValue && self.function.as_ref().is_some_and(hides)
    }
}

/// Mutants by their numbers.
pub(super) type Numbered<'a> = BTreeMap<usize, &'a Mutant>;

/// A file with its mutants.
#[derive(Debug)]
pub(super) struct Switched {
    pub(super) text: String,
    /// Where in the text each mutant is, in bytes.
    pub(super) places: Vec<(usize, Range<usize>)>,
}

impl Switched {
    /// The mutants' numbers.
    pub(super) fn numbers(&self) -> BTreeSet<usize> {
        self.places.iter().map(|(number, _)| *number).collect()
    }

    /// The innermost mutant that has these bytes, or else the first that they have.
    pub(super) fn mutant_at(&self, bytes: &Range<usize>) -> Option<usize> {
        let has = |place: &Range<usize>| place.start <= bytes.start && bytes.end <= place.end;
        let inner = self.places.iter().filter(|(_, place)| has(place)).min_by_key(|(_, p)| p.len());
        let is_in = |place: &Range<usize>| bytes.start <= place.start && place.end <= bytes.end;
        inner.or_else(|| self.places.iter().find(|(_, p)| is_in(p))).map(|(number, _)| *number)
    }
}

/// The sources of all files that have mutants, by their paths, without those of these numbers.
pub(super) fn switched(
    mutants: &[Mutant],
    without: &BTreeSet<usize>,
) -> Result<BTreeMap<String, Switched>> {
    let mut of_files = BTreeMap::<&str, Numbered<'_>>::new();
    for (number, mutant) in (1..).zip(mutants).filter(|(number, _)| !without.contains(number)) {
        of_files.entry(&mutant.file).or_default().insert(number, mutant);
    }
    let files = of_files.into_iter().map(|(path, mutants)| {
        let source = fs::read_to_string(root().join(path));
        let file = source.map_err(Error::from).and_then(|text| switched_file(&text, &mutants));
        Ok((path.to_owned(), file.with_context(|| path.to_owned())?))
    });
    files.collect()
}

/// The mutants that no switch can turn on.
pub(super) fn unswitched(mutants: &[Mutant]) -> Result<Vec<&Mutant>> {
    let files = switched(mutants, &BTreeSet::new())?;
    let numbers: BTreeSet<_> = files.values().flat_map(Switched::numbers).collect();
    Ok((1..).zip(mutants).filter(|(n, _)| !numbers.contains(n)).map(|(_, mutant)| mutant).collect())
}

/// The source of a file with these mutants; those that need a compilation of their own, as in constants, are left out.
fn switched_file(source: &str, mutants: &Numbered<'_>) -> Result<Switched> {
    let file = syn::parse_file(source).context("syn does not read it")?;
    let mut finder = Finder::new(source, mutants);
    finder.visit_file(&file);
    let mut nodes = finder.nodes;
    // What holds others comes before them; the sort keeps a guard before the expression that it is.
    nodes.sort_by_key(|node| (node.range.start, !node.range.is_empty(), Reverse(node.range.end)));
    let mut switched = Switched { text: String::new(), places: Vec::new() };
    switched.write(source, 0..source.len(), &nodes);
    Ok(switched)
}

/// What becomes of a range of the source.
#[derive(Debug)]
struct Node {
    range: Range<usize>,
    change: Change,
}

#[derive(Debug)]
enum Change {
    /// Text of mutants at a place.
    Insert { number: usize, before: &'static str, behind: String },
    /// Texts in place of the expression, each with its mutant's number.
    Replace(Vec<(usize, String)>),
    /// The guard of an arm that a mutant deletes.
    Unless(usize),
}

impl Switched {
    fn write(&mut self, source: &str, range: Range<usize>, nodes: &[Node]) {
        let mut at = range.start;
        let mut rest = nodes;
        while let Some((node, others)) = rest.split_first() {
            let is_inside = |other: &Node| {
                other.range.start < node.range.end && other.range.end <= node.range.end
            };
            let inside = others.iter().take_while(|other| is_inside(other)).count();
            let (inside, behind) = others.split_at(inside);
            self.text += &source[at..node.range.start];
            self.write_node(source, node, inside);
            at = node.range.end;
            rest = behind;
        }
        self.text += &source[at..range.end];
    }

    fn write_node(&mut self, source: &str, node: &Node, inside: &[Node]) {
        match &node.change {
            Change::Insert { number, before, behind } => {
                self.text += before;
                self.write_switch(*number, behind);
            }
            Change::Replace(texts) => {
                self.text.push('(');
                for (number, text) in texts {
                    self.text += "if ";
                    self.write_switch(*number, &format!(" {{ {text} }}"));
                    self.text += " else ";
                }
                self.text += "{ ";
                self.write(source, node.range.clone(), inside);
                self.text += " })";
            }
            Change::Unless(number) => {
                self.text += "(!";
                self.write_switch(*number, " && (");
                self.write(source, node.range.clone(), inside);
                self.text += "))";
            }
        }
    }

    fn write_switch(&mut self, number: usize, behind: &str) {
        let start = self.text.len();
        let _ = write!(self.text, "crate::mutants::on({number}){behind}"); // a String takes all
        self.places.push((number, start..self.text.len()));
    }
}

/// Finds in a file's syntax where mutants are.
struct Finder<'a> {
    source: &'a str,
    /// Where each line starts.
    lines: Vec<usize>,
    mutants: BTreeMap<At, Vec<(usize, &'a Mutant)>>,
    nodes: Vec<Node>,
}

impl<'a> Finder<'a> {
    fn new(source: &'a str, numbered: &Numbered<'a>) -> Self {
        let ends = source.match_indices('\n').map(|(end, _)| end + 1);
        let mut mutants = BTreeMap::<_, Vec<_>>::new();
        for (number, mutant) in numbered {
            if !mutant.is_of_hidden_type() {
                mutants.entry(mutant.span.start).or_default().push((*number, *mutant));
            }
        }
        Self { source, lines: [0].into_iter().chain(ends).collect(), mutants, nodes: Vec::new() }
    }

    fn offset(&self, at: LineColumn) -> usize {
        let line = self.lines[at.line - 1];
        let mut characters = self.source[line..].char_indices();
        characters.nth(at.column).map_or(self.source.len(), |(offset, _)| line + offset)
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.offset(span.start())..self.offset(span.end())
    }

    /// The mutants of this kind that begin where `span` does.
    fn at(&self, span: Span, genre: Genre) -> Vec<(usize, &'a Mutant)> {
        let LineColumn { line, column } = span.start();
        let here = self.mutants.get(&At { line, column: column + 1 }).into_iter().flatten();
        here.filter(|(_, mutant)| mutant.genre == genre).copied().collect()
    }

    fn replace(&mut self, range: Range<usize>, texts: Vec<(usize, String)>) {
        if !texts.is_empty() {
            self.nodes.push(Node { range, change: Change::Replace(texts) });
        }
    }

    /// A body with what is in it; none of a function that may be called when it is compiled.
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let Some(first) = block.stmts.first().filter(|_| signature.constness.is_none()) else {
            return;
        };
        let at = self.offset(first.span().start());
        for (number, mutant) in self.at(first.span(), Genre::FnValue) {
            let behind = format!(" {{ return {}; }} ", mutant.replacement);
            let change = Change::Insert { number, before: "if ", behind };
            self.nodes.push(Node { range: at..at, change });
        }
        self.visit_block(block);
    }
}

/// Whether an expression has `let` among its conditions, where no other expression could be in its place.
#[derive(Default)]
struct HasLet(bool);

impl<'ast> Visit<'ast> for HasLet {
    fn visit_expr_let(&mut self, _: &'ast syn::ExprLet) {
        self.0 = true;
    }

    // These have conditions of their own.
    fn visit_block(&mut self, _: &'ast syn::Block) {}
    fn visit_expr_if(&mut self, _: &'ast syn::ExprIf) {}
    fn visit_expr_match(&mut self, _: &'ast syn::ExprMatch) {}
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
}

impl<'ast> Visit<'ast> for Finder<'_> {
    // What is computed when it is compiled has no switches.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(&function.sig, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.sig, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig, block);
        }
    }

    fn visit_expr_binary(&mut self, expression: &'ast syn::ExprBinary) {
        let mut has_let = HasLet::default();
        syn::visit::visit_expr_binary(&mut has_let, expression);
        if !has_let.0 {
            let range = self.range(expression.span());
            let operator = self.range(expression.op.span());
            let (left, right) = (range.start..operator.start, operator.end..range.end);
            let (left, right) = (&self.source[left], &self.source[right]);
            let mutants = self.at(expression.op.span(), Genre::BinaryOperator).into_iter();
            let texts =
                mutants.map(|(n, mutant)| (n, format!("{left}{}{right}", mutant.replacement)));
            self.replace(range, texts.collect());
        }
        syn::visit::visit_expr_binary(self, expression);
    }

    fn visit_expr_unary(&mut self, expression: &'ast syn::ExprUnary) {
        let range = self.range(expression.span());
        let operand = self.offset(expression.op.span().end())..range.end;
        let mutants = self.at(expression.op.span(), Genre::UnaryOperator).into_iter();
        let texts = mutants.map(|(number, _)| (number, self.source[operand.clone()].to_owned()));
        self.replace(range, texts.collect());
        syn::visit::visit_expr_unary(self, expression);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let guard = match &arm.pat {
            syn::Pat::Guard(pattern) => Some(&*pattern.guard),
            _ => None,
        };
        let behind_pattern = self.range(arm.pat.span()).end;
        for (number, _) in self.at(arm.span(), Genre::MatchArm) {
            let (range, change) = match guard {
                Some(guard) => (self.range(guard.span()), Change::Unless(number)),
                None => (
                    behind_pattern..behind_pattern,
                    Change::Insert { number, before: " if !", behind: String::new() },
                ),
            };
            self.nodes.push(Node { range, change });
        }
        if let Some(guard) = guard {
            let mut has_let = HasLet::default();
            has_let.visit_expr(guard);
            if !has_let.0 {
                let mutants = self.at(guard.span(), Genre::MatchArmGuard).into_iter();
                let texts = mutants.map(|(number, mutant)| (number, mutant.replacement.clone()));
                self.replace(self.range(guard.span()), texts.collect());
            }
            self.visit_expr(guard);
        }
        self.visit_expr(&arm.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(genre: Genre, (line, column): (usize, usize), replacement: &str) -> Mutant {
        Mutant {
            name: String::new(),
            file: String::new(),
            genre,
            replacement: replacement.to_owned(),
            span: Place { start: At { line, column } },
            function: None,
        }
    }

    fn of(source: &str, mutants: &[Mutant]) -> Switched {
        switched_file(source, &(1..).zip(mutants).collect()).expect("it is Rust")
    }

    #[test]
    fn operators_hold_each_other() {
        let source = "fn f(a: u8) -> u8 {\n    !a * 3 + a\n}\n";
        let mutants = [
            mutant(Genre::FnValue, (2, 5), "0"),
            mutant(Genre::BinaryOperator, (2, 12), "-"),
            mutant(Genre::BinaryOperator, (2, 8), "/"),
            mutant(Genre::UnaryOperator, (2, 5), ""),
        ];
        let text = of(source, &mutants).text.replace("crate::mutants::", "");
        let inner = "(if on(3) { !a / 3 } else { (if on(4) { a } else { !a }) * 3 })";
        let sum = format!("(if on(2) {{ !a * 3 - a }} else {{ {inner} + a }})");
        assert_eq!(text, format!("fn f(a: u8) -> u8 {{\n    if on(1) {{ return 0; }} {sum}\n}}\n"));
    }

    #[test]
    fn arms_are_deleted_and_guards_replaced() {
        let source = "fn f() {\n match a {\n 1 if b == c => {}\n 2 => {}\n _ => {}\n }\n}";
        let mutants = [
            mutant(Genre::MatchArm, (3, 2), ""),
            mutant(Genre::MatchArmGuard, (3, 7), "true"),
            mutant(Genre::BinaryOperator, (3, 9), "!="),
            mutant(Genre::MatchArm, (4, 2), ""),
        ];
        let text = of(source, &mutants).text.replace("crate::mutants::", "");
        let equal = "(if on(3) { b != c } else { b == c })";
        let guard = format!("(!on(1) && ((if on(2) {{ true }} else {{ {equal} }})))");
        assert!(text.contains(&format!("1 if {guard} => {{}}")), "{text}");
        assert!(text.contains("2 if !on(4) => {}"), "{text}");
    }

    #[test]
    fn what_is_computed_before_has_none() {
        let source = "const A: u8 = 1 + 2;\nconst fn f() -> u8 { 1 + 2 }\nfn g() -> [u8; 1 + 2] { [0; 1 + 2] }";
        let places = [(1, 17), (2, 24), (2, 22), (3, 18), (3, 31)];
        let mutants = places.map(|at| mutant(Genre::BinaryOperator, at, "-"));
        let switched = of(source, &mutants);
        assert_eq!((switched.text.as_str(), switched.numbers().len()), (source, 0));
        let let_chain = "fn f() { if let Some(a) = b && a == c {} }";
        let mutants = [(1, 29), (1, 34)].map(|at| mutant(Genre::BinaryOperator, at, "||"));
        assert_eq!(of(let_chain, &mutants).numbers(), BTreeSet::from([2]));
    }

    #[test]
    fn an_error_of_the_compiler_finds_its_mutant() {
        let source = "fn f(a: u8) -> u8 { a * 3 + a }";
        let mutants = [(1, 27), (1, 23)].map(|at| mutant(Genre::BinaryOperator, at, "-"));
        let switched = of(source, &mutants);
        let at = |text: &str| {
            let start = switched.text.find(text).expect("it is there");
            switched.mutant_at(&(start..start + text.len()))
        };
        assert_eq!(
            [at("a - 3"), at("a * 3 - a"), at(&switched.text), at("fn f")],
            [Some(2), Some(1), Some(1), None]
        );
    }
}
