//! A plan as text, in whatever language: steps as functions without branches, and wholes that call them in loops.

use std::{collections::BTreeMap, marker::PhantomData, vec};

use lanecrypt_slicing::record::{Node, Part, Recording, Wire};

use crate::{Error, graph::Graph};

/// Columns of a line.
const WIDTH: usize = 118;

/// Statements, several in a line.
#[derive(Default)]
pub(crate) struct Lines {
    text: String,
    column: usize,
}

impl Lines {
    pub(crate) fn push(&mut self, statement: &str) {
        if self.column > 0 && self.column + 1 + statement.len() > WIDTH {
            self.end();
        }
        self.text.push_str(if self.column == 0 { "    " } else { " " });
        self.column += statement.len() + if self.column == 0 { 4 } else { 1 };
        self.text.push_str(statement);
    }

    /// A list that may be too long for a line and is broken at its commas.
    pub(crate) fn list(&mut self, text: &str) {
        text.split_inclusive(", ").for_each(|item| self.push(item.trim_end()));
    }

    /// Ends the line, if there is one.
    pub(crate) fn end(&mut self) {
        if self.column > 0 {
            self.text.push('\n');
            self.column = 0;
        }
    }

    /// A line by itself.
    pub(crate) fn line(&mut self, statement: &str) {
        self.end();
        self.push(statement);
        self.end();
    }

    pub(crate) fn finish(mut self) -> String {
        self.end();
        self.text
    }
}

/// What is between commas.
pub(crate) fn listed(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<Vec<_>>().join(", ")
}

/// A list that is too long for a line, broken at its commas.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = Lines::default();
    lines.list(text);
    lines.finish()
}

/// A language, and what a function that is being written has declared so far.
pub(crate) trait Language: Default {
    /// Key planes that lie together: steps take whole multiples.
    const KEYS_AT_ONCE: usize;
    /// What a declaration begins with.
    const DECLARE: &'static str;

    /// What an input, a word of the blocks or a key plane is called.
    fn source(node: Node) -> Option<String>;

    /// The statements that give a wire its value, if it takes any; `value` says what other wires are called.
    ///
    /// # Errors
    /// [`Error::Shape`] where the language has no text for the node.
    fn statement(
        &mut self,
        graph: &Graph,
        wire: Wire,
        value: &dyn Fn(Wire) -> String,
    ) -> Result<Option<String>, Error>;

    /// A function of `planes` planes, which returns results.
    fn function(name: &str, planes: usize, body: &str, results: Vec<String>) -> String;

    /// A plane of a whole.
    fn plane(number: usize) -> String;

    /// The call of a function.
    fn call(name: &str, planes: Vec<String>, function: &Function) -> String;

    /// Result `number` of the call.
    fn result(number: usize) -> String;

    /// What stands after a call, in `depth` loops: the next step's keys are `keys` planes further on.
    fn after_call(keys: usize, depth: usize) -> String;

    /// The head of a loop, and of one that ends in the middle, where the language has any, with how it ends.
    fn repeat(depth: usize, times: &str) -> String;
    fn repeat_and_a_half(depth: usize, times: &str) -> Option<[String; 2]>;
}

/// A recording as a function of planes, which returns those that it changes.
pub(crate) struct Function {
    pub(crate) text: String,
    /// Planes that it takes.
    pub(crate) planes: usize,
    /// The planes that it returns.
    pub(crate) changed: Vec<usize>,
    /// Key planes that it takes.
    pub(crate) keys: usize,
}

impl Function {
    pub(crate) fn new<L: Language>(name: &str, recording: &Recording) -> Result<Self, Error> {
        let (planes, keys) = (recording.outputs().len(), recording.keys());
        if !keys.is_multiple_of(L::KEYS_AT_ONCE) {
            let one = L::KEYS_AT_ONCE;
            return Err(Error::Shape(format!(
                "{name} takes {keys} key planes, no multiple of {one}"
            )));
        }
        let mut graph = Graph::new();
        let inputs = graph.sources(Node::Input, planes);
        let key_planes = graph.sources(Node::Key, keys);
        let outputs = graph.inline(recording, &inputs, &key_planes);
        let changed: Vec<usize> = (0..planes).filter(|&i| outputs[i] != inputs[i]).collect();
        let outputs: Vec<Wire> = changed.iter().map(|&i| outputs[i]).collect();
        let value =
            |wire: Wire| L::source(graph.nodes()[wire]).unwrap_or_else(|| format!("n{wire}"));
        let (mut lines, mut language) = (Lines::default(), L::default());
        let is_needed = graph.cone(&outputs);
        for wire in (0..is_needed.len()).filter(|&wire| is_needed[wire]) {
            if let Some(statement) = language.statement(&graph, wire, &value)? {
                lines.push(&statement);
            }
        }
        let results = outputs.iter().map(|&wire| value(wire)).collect();
        let text = L::function(name, planes, &lines.finish(), results);
        Ok(Self { text, planes, changed, keys })
    }
}

/// Recordings as functions of these names.
pub(crate) fn functions<L: Language>(
    recordings: impl Iterator<Item = (String, Recording)>,
) -> Result<BTreeMap<String, Function>, Error> {
    let function = |(name, recording): (String, Recording)| {
        let function = Function::new::<L>(&name, &recording)?;
        Ok((name, function))
    };
    recordings.map(function).collect()
}

/// What the function of a step is called.
pub(crate) fn step_name(step: &str) -> String {
    format!("step_{step}")
}

/// How often each loop of parts is gone through, the outer one first.
pub(crate) fn counts(parts: &[Part]) -> Vec<usize> {
    let mut all = Vec::new();
    for part in parts {
        if let Part::Repeat { times, body } = part {
            all.push(*times);
            all.extend(counts(body));
        }
    }
    all
}

// ANCHOR: parts
/// Parts of a whole as statements over its planes.
pub(crate) struct Walk<'a, L> {
    functions: &'a BTreeMap<String, Function>,
    /// What [`counts`] are called.
    times: vec::IntoIter<String>,
    lines: Lines,
    language: PhantomData<L>,
}

impl<'a, L: Language> Walk<'a, L> {
    /// The statements, after those that `lines` has.
    pub(crate) fn text(
        parts: &[Part],
        times: Vec<String>,
        functions: &'a BTreeMap<String, Function>,
        lines: Lines,
    ) -> Result<String, String> {
        let times = times.into_iter();
        let mut walk = Self { functions, times, lines, language: PhantomData };
        walk.parts(parts, 0)?;
        Ok(walk.lines.finish())
    }

    fn parts(&mut self, parts: &[Part], depth: usize) -> Result<(), String> {
        let mut parts = parts.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Call { step, on } => self.call(step, on, depth)?,
                Part::Repeat { body, .. } => {
                    let times = self.times.next().unwrap_or_default();
                    let begins_again = parts.peek().is_some_and(|next| body.first() == Some(next));
                    match L::repeat_and_a_half(depth, &times).filter(|_| begins_again) {
                        None => {
                            self.lines.line(&L::repeat(depth, &times));
                            self.parts(body, depth + 1)?;
                        }
                        Some([head, end]) => {
                            self.lines.line(&head);
                            self.parts(&body[..1], depth + 1)?;
                            self.lines.line(&end);
                            self.parts(&body[1..], depth + 1)?;
                            let loops = parts
                                .next()
                                .map_or(0, |part| counts(core::slice::from_ref(part)).len());
                            self.times.by_ref().take(loops).for_each(drop);
                        }
                    }
                    self.lines.line("}");
                }
                Part::Rename { from } => self.rename(from),
            }
        }
        Ok(())
    }

    fn call(&mut self, step: &str, on: &[usize], depth: usize) -> Result<(), String> {
        let name = step_name(step);
        let function =
            self.functions.get(&name).ok_or_else(|| format!("there is no step `{step}`"))?;
        self.lines.end();
        let planes = on.iter().map(|&plane| L::plane(plane)).collect();
        self.lines.list(&L::call(&name, planes, function));
        for (i, &plane) in function.changed.iter().enumerate() {
            self.lines.push(&format!("{} = {};", L::plane(on[plane]), L::result(i)));
        }
        self.lines.push(&L::after_call(function.keys, depth));
        self.lines.end();
        Ok(())
    }

    fn rename(&mut self, from: &[usize]) {
        let moved = || from.iter().enumerate().filter(|(to, from)| to != *from);
        self.lines.line("{");
        for (to, &from) in moved() {
            self.lines.push(&format!("{} t{to} = {};", L::DECLARE, L::plane(from)));
        }
        moved().for_each(|(to, _)| self.lines.push(&format!("{} = t{to};", L::plane(to))));
        self.lines.line("}");
    }
}
// ANCHOR_END: parts
