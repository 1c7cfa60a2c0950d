//! Writer of WGSL: the bit-sliced kernels of a cipher, from its plan and its recordings.
//!
//! A thread takes 32 blocks and has a bit of each in a word; the blocks of 32 threads lie side by side, so that
//! neighbours read neighbours. Each step is a function without branches, and so are the way in and the way out.
//! A whole calls steps, in loops where the plan has loops, and for each whole there is a kernel in ECB and one in
//! CTR, whose counter blocks are never in memory: their planes come from an addition.
//!
//! No address and no branch depends on anything but the number of a thread and of a round, and the length.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use lanecrypt_slicing::record::{Gate, Node, Plan, Recording, Whole, Wire};

use crate::{
    Error,
    cover::in_lookups,
    emit::{Operators, expression},
    graph::{self, Graph},
    rolled::rolled,
    text::{Function, Language, Lines, Walk, counts, functions, listed, step_name, wrapped},
};

/// Threads of a workgroup.
const WORKGROUP: usize = 64;
/// Key planes of which the masks are 16 KiB: every device takes as much as a uniform buffer.
const MAX_KEYS: usize = 4096;
/// How gates are written. There is no operation of three inputs.
const OPERATORS: Operators = Operators { complement: '~', look_up: None };

/// The kernels of a cipher in WGSL. A step with three-input functions is covered by them, each an expression of gates;
/// any other has its gates as they are. Bodies of loops have at most `calls` calls, where those behind them are the same
/// under other names.
///
/// Kernels are called `ecb_` or `ctr_` and then [`identifier`] of the whole. Their bindings, all of group 0:
///
/// | binding | what |
/// |---|---|
/// | 0, storage | whole blocks, which are overwritten; in CTR the key stream is added to them |
/// | 1, uniform | 4096 words: a mask for each key plane, in the order in which steps take them |
/// | 2, uniform | the counter block of the first block as four words, the least significant first; masks for exchanges at distances 1, 2, 4 and 8, each with ones in the first of every two runs of this number of bits; the number of blocks |
///
/// A thread whose 32 blocks are all beyond the last one does nothing; 32 threads have 1024 blocks.
///
/// # Errors
/// [`Error::Plan`] where a whole is not what was recorded or takes too many keys; [`Error::Shape`] for blocks of
/// other than 8 or 16 bytes and for nodes that have no text here.
pub fn emit_wgsl(cipher: &str, plan: &Plan, calls: usize) -> Result<String, Error> {
    let block = Block::of(plan.planes)?;
    let ends =
        [("slice", Recording::load(plan.planes)), ("unslice", Recording::store(plan.planes))];
    let ends = ends.map(|(name, end)| (name.to_owned(), end));
    let steps = plan.steps.iter().map(|step| (step_name(step.name), covered(&step.recording)));
    let functions = functions::<Wgsl>(steps.chain(ends))?;
    let sizes = functions.values().flat_map(|function| [function.planes, function.changed.len()]);
    let sizes: BTreeSet<usize> = sizes.chain([plan.planes]).collect();
    let mut text = head(cipher, block, &sizes);
    for function in functions.values() {
        text.push('\n');
        text.push_str(&function.text);
    }
    for whole in rolled(plan, calls) {
        graph::check(plan, &whole)?;
        text.push('\n');
        text.push_str(&whole_text(plan, &whole, &functions)?);
    }
    Ok(text)
}

/// The step of three-input functions alone, if it has any.
fn covered(step: &Recording) -> Recording {
    let is_lookup = |node: &Node| matches!(node, Node::Gate(Gate::Lut(..)));
    if step.nodes().iter().any(is_lookup) { in_lookups(step) } else { step.clone() }
}

/// The name of a whole as WGSL can write it.
#[must_use]
pub fn identifier(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// `Planes2(a, b)`
fn planes_of(values: &[String]) -> String {
    format!("Planes{}({})", values.len(), values.join(", "))
}

/// Names `x0` and so on.
fn numbered(name: &str, numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("{name}{number}")).collect()
}

/// A row that an exchange leaves of two, where there is text for its distance: bits of one value inside a mask, of
/// another outside. The mask is a parameter: a compiler that knew it would make two ANDs of what is one operation of
/// three inputs.
fn exchanged(distance: u32, [low, high]: [String; 2], is_high: bool) -> Option<String> {
    if distance == 16 {
        let row = if is_high {
            format!("insertBits({high}, {low} >> 16u, 0u, 16u)")
        } else {
            format!("insertBits({low}, {high}, 16u, 16u)")
        };
        return Some(row);
    }
    let number = distance.checked_ilog2().filter(|_| distance.is_power_of_two())?;
    let mask = WORDS.get(number as usize)?;
    let [inside, outside] = if is_high {
        [format!("({low} >> {distance}u)"), high]
    } else {
        [low, format!("({high} << {distance}u)")]
    };
    Some(format!("{outside} ^ (({outside} ^ {inside}) & parameters.masks.{mask})"))
}

/// The language.
#[derive(Default)]
struct Wgsl;

impl Language for Wgsl {
    const KEYS_AT_ONCE: usize = 4;
    const DECLARE: &'static str = "let";

    fn source(node: Node) -> Option<String> {
        Some(match node {
            Node::Input(number) | Node::Load(number) => format!("p.p{number}"),
            Node::Key(number) => format!("keys[key + {}u].{}", number / 4, WORDS[number % 4]),
            Node::Constant(false) => "0u".to_owned(),
            Node::Constant(true) => "0xffffffffu".to_owned(),
            _ => return None,
        })
    }

    fn statement(
        &mut self,
        graph: &Graph,
        wire: Wire,
        value: &dyn Fn(Wire) -> String,
    ) -> Result<Option<String>, Error> {
        let node = graph.nodes()[wire];
        let expression = match node {
            Node::Gate(gate) => Some(expression(gate, value, &OPERATORS)),
            Node::Exchange { distance, rows, is_high } => {
                exchanged(distance, rows.map(value), is_high)
            }
            _ if Self::source(node).is_some() => return Ok(None),
            _ => None,
        };
        let no_text = || Error::Shape(format!("{node:?} has no text in WGSL"));
        Ok(Some(format!("let n{wire} = {};", expression.ok_or_else(no_text)?)))
    }

    fn function(name: &str, planes: usize, body: &str, results: Vec<String>) -> String {
        let result = wrapped(&format!("return {};", planes_of(&results)));
        let count = results.len();
        format!("fn {name}(p: Planes{planes}, key: u32) -> Planes{count} {{\n{body}{result}}}\n")
    }

    fn plane(number: usize) -> String {
        format!("x{number}")
    }

    fn call(name: &str, planes: Vec<String>, _: &Function) -> String {
        format!("{{ let r = {name}({}, key);", planes_of(&planes))
    }

    fn result(number: usize) -> String {
        format!("r.p{number}")
    }

    fn after_call(keys: usize, _: usize) -> String {
        format!("key += {}u; }}", keys / 4)
    }

    fn repeat(depth: usize, times: &str) -> String {
        format!("for (var i{depth} = 0u; i{depth} < {times}; i{depth} += 1u) {{")
    }

    fn repeat_and_a_half(depth: usize, times: &str) -> Option<[String; 2]> {
        let head = format!("for (var i{depth} = 0u; ; i{depth} += 1u) {{");
        Some([head, format!("if i{depth} == {times} {{ break; }}")])
    }
}

/// How a block is written.
#[derive(Clone, Copy)]
struct Block {
    planes: usize,
    /// Its type.
    ty: &'static str,
    /// What the type calls its words.
    words: &'static [&'static str],
}

impl Block {
    fn of(planes: usize) -> Result<Self, Error> {
        match planes {
            64 => Ok(Self { planes, ty: "vec2<u32>", words: &WORDS[..2] }),
            128 => Ok(Self { planes, ty: "vec4<u32>", words: &WORDS }),
            _ => Err(Error::Shape(format!("blocks of {planes} bits"))),
        }
    }
}

/// What four words are called in a vector.
const WORDS: [&str; 4] = ["x", "y", "z", "w"];

/// What stands before the functions: types, bindings, and how blocks come in and go out.
fn head(cipher: &str, block: Block, sizes: &BTreeSet<usize>) -> String {
    let Block { planes, ty, .. } = block;
    let mut text = format!(
        "// Generated by `cargo xtask codegen`, do not edit by hand: {cipher}, a bit of 32 blocks in a word.\n"
    );
    for size in sizes {
        let members = listed((0..*size).map(|i| format!("p{i}: u32")));
        let _ = write!(text, "\nstruct Planes{size} {{\n{}}}\n", wrapped(&members));
    }
    let _ = write!(
        text,
        "\nstruct Parameters {{\n    counter: vec4<u32>,\n    masks: vec4<u32>,\n    blocks: u32,\n}}\n\n\
         @group(0) @binding(0) var<storage, read_write> data: array<{ty}>;\n\
         @group(0) @binding(1) var<uniform> keys: array<vec4<u32>, {}>;\n\
         @group(0) @binding(2) var<uniform> parameters: Parameters;\n\n\
         // The first block of a thread; the next ones are 32, 64 and so on further on.\n\
         fn first_block(thread: u32) -> u32 {{\n    return thread / 32u * 1024u + thread % 32u;\n}}\n",
        MAX_KEYS / 4
    );
    text.push_str(&ends(block));
    text.push_str(&count(planes));
    text
}

/// How blocks come in and go out. A thread that has all its blocks asks once and not for each of them; where it loads
/// blocks of 8 bytes, what that saves is less than what the compiler then makes of the rounds with fewer registers.
fn ends(block: Block) -> String {
    let Block { planes, ty, words } = block;
    let mut text = "\n// Blocks beyond the last one are the last one.\n".to_owned();
    if planes == 128 {
        text.push_str(&load("load_some", block, true));
        text.push('\n');
    }
    text.push_str(&load("load", block, planes != 128));
    for (name, operator) in [("store", "="), ("add", "^=")] {
        let mut all = Lines::default();
        let mut some = Lines::default();
        for i in 0..32 {
            let at = format!("first + {}u", 32 * i);
            let value = numbered("w.p", words.len() * i..words.len() * (i + 1)).join(", ");
            let statement = format!("data[{at}] {operator} {ty}({value});");
            all.line(&statement);
            some.line(&format!("if {at} < parameters.blocks {{ {statement} }}"));
        }
        let (all, some) = (all.finish(), some.finish());
        let _ = write!(
            text,
            "\nfn {name}_some(first: u32, w: Planes{planes}) {{\n{some}}}\n\
             \nfn {name}(first: u32, w: Planes{planes}) {{\n    \
             if {IS_RAGGED} {{ {name}_some(first, w); return; }}\n{all}}}\n"
        );
    }
    text
}

/// Whether a thread lacks some of its blocks.
const IS_RAGGED: &str = "first + 992u >= parameters.blocks";

/// A function that loads blocks: those of a thread that may lack some, or else of one that has all, where it does not call
/// `load_some`.
fn load(name: &str, Block { planes, words, .. }: Block, is_ragged: bool) -> String {
    let mut lines = Lines::default();
    if is_ragged {
        lines.line("let last = parameters.blocks - 1u;");
    } else {
        lines.line(&format!("if {IS_RAGGED} {{ return load_some(first); }}"));
    }
    for i in 0..32 {
        let at = format!("first + {}u", 32 * i);
        let at = if is_ragged { format!("min({at}, last)") } else { at };
        lines.push(&format!("let b{i} = data[{at}];"));
    }
    lines.end();
    let loaded = (0..32).flat_map(|i| words.iter().map(move |word| format!("b{i}.{word}")));
    let loaded = wrapped(&format!("return {};", planes_of(&loaded.collect::<Vec<_>>())));
    format!("fn {name}(first: u32) -> Planes{planes} {{\n{}{loaded}}}\n", lines.finish())
}

/// What a bit of the number of a lane, which is a block of every 32nd, is in all lanes.
const LANE_BITS: [&str; 5] =
    ["0xaaaaaaaau", "0xccccccccu", "0xf0f0f0f0u", "0xff00ff00u", "0xffff0000u"];

/// The function that makes planes of counter blocks, big-endian: bit by bit the sum of a thread's first one, which
/// is the same in all lanes, and of 32 times the lane.
fn count(planes: usize) -> String {
    let plane = |bit: usize| planes - 8 * (bit / 8 + 1) + bit % 8;
    let mut lines = Lines::default();
    for bit in 0..planes {
        let word = WORDS[bit / 32];
        let above = 31 - bit % 32;
        let digit = format!("let d{bit} = u32(i32(c.{word} << {above}u) >> 31u);");
        lines.push(&digit);
        let number = plane(bit);
        match bit.checked_sub(5).map(|bit| LANE_BITS.get(bit)) {
            None => lines.push(&format!("let s{number} = d{bit};")),
            Some(Some(lane)) if bit == 5 => {
                lines.push(&format!("let s{number} = d5 ^ {lane}; let c5 = d5 & {lane};"));
            }
            Some(Some(lane)) => {
                let carry = format!("c{}", bit - 1);
                lines.push(&format!("let s{number} = d{bit} ^ {lane} ^ {carry};"));
                lines.push(&format!(
                    "let c{bit} = (d{bit} & {lane}) | ({carry} & (d{bit} | {lane}));"
                ));
            }
            Some(None) => {
                let carry = format!("c{}", bit - 1);
                lines.push(&format!("let s{number} = d{bit} ^ {carry};"));
                if bit + 1 < planes {
                    lines.push(&format!("let c{bit} = d{bit} & {carry};"));
                }
            }
        }
    }
    lines.end();
    let sums = format!("return {};", planes_of(&numbered("s", 0..planes)));
    format!(
        "\n// The counter of a block, the least significant word first.\n\
         fn counter(block: u32) -> vec4<u32> {{\n    \
         let first = parameters.counter;\n    \
         let x = first.x + block;\n    \
         let y = first.y + u32(x < block);\n    \
         let z = first.z + u32(y < first.y);\n    \
         let w = first.w + u32(z < first.z);\n    \
         return vec4<u32>(x, y, z, w);\n}}\n\
         \nfn count(first: u32) -> Planes{planes} {{\n    let c = counter(first);\n{}{}}}\n",
        lines.finish(),
        wrapped(&sums)
    )
}

/// A whole as a function over all planes, and its kernels.
fn whole_text(
    plan: &Plan,
    whole: &Whole,
    functions: &BTreeMap<String, Function>,
) -> Result<String, Error> {
    let error = |what| Error::Plan { whole: whole.name.to_owned(), what };
    let keys = whole.recording.keys();
    if keys > MAX_KEYS {
        return Err(error(format!("{keys} key planes, at most {MAX_KEYS}")));
    }
    let (name, planes) = (identifier(whole.name), plan.planes);
    let mut lines = Lines::default();
    for plane in 0..planes {
        lines.push(&format!("var x{plane} = p.p{plane};"));
    }
    lines.line("var key = 0u;");
    let times = counts(&whole.parts).into_iter().map(|times| format!("{times}u")).collect();
    let body = Walk::<Wgsl>::text(&whole.parts, times, functions, lines).map_err(error)?;
    let result = wrapped(&format!("return {};", planes_of(&numbered("x", 0..planes))));
    let mut text =
        format!("fn whole_{name}(p: Planes{planes}) -> Planes{planes} {{\n{body}{result}}}\n");
    for (mode, planes, end) in
        [("ecb", "slice(load(first), 0u)", "store"), ("ctr", "count(first)", "add")]
    {
        let _ = write!(
            text,
            "\n@compute @workgroup_size({WORKGROUP})\n\
             fn {mode}_{name}(@builtin(global_invocation_id) thread: vec3<u32>) {{\n    \
             let first = first_block(thread.x);\n    \
             if first < parameters.blocks {{ {end}(first, unslice(whole_{name}({planes}), 0u)); }}\n}}\n"
        );
    }
    Ok(text)
}
