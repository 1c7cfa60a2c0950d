//! The columns of a file: leaves of its schema, which is a tree written from its root on, each node before its children.

use crate::{
    Error, OpenOptions,
    error::listed,
    fields::{file, key_value, row_group, schema},
    thrift::{MOST_DEPTH, Struct, Value},
};

/// The leaves of a schema, and under which node of its first level each is.
pub(crate) struct Columns {
    /// Nodes of the first level: the elements of each in the list, and its leaves.
    roots: Vec<Root>,
    /// Leaves by their numbers: the parts of their names, joined by dots.
    pub(crate) paths: Vec<String>,
}

/// A node of the first level.
struct Root {
    name: String,
    elements: std::ops::Range<usize>,
    leaves: std::ops::Range<usize>,
}

/// The most leaves: the format numbers columns in 15 bits.
const MOST_LEAVES: usize = 1 << 15;
/// The most bytes of all paths together. A path repeats the names above it, so that a short file may have very long ones.
const MOST_PATH_BYTES: usize = 16 << 20;

const MALFORMED: Error = Error::NotParquet { what: "a schema that is a tree" };

impl Columns {
    /// Those of the elements of a schema.
    ///
    /// # Errors
    /// [`Error::NotParquet`] where they are no tree; [`Error::TooMany`] leaves, or bytes in their paths.
    pub(crate) fn of(elements: &[&Struct]) -> Result<Self, Error> {
        let mut all = Self { roots: Vec::new(), paths: Vec::new() };
        let mut walk = Walk { elements, path: String::new(), path_bytes: 0 };
        let (root, _) = elements.split_first().ok_or(MALFORMED)?;
        let mut at = 1;
        for _ in 0..children(root)? {
            let (start, leaf) = (at, all.paths.len());
            let name = name(elements.get(at).ok_or(MALFORMED)?);
            at = walk.leaves(at, MOST_DEPTH, &mut all.paths)?;
            all.roots.push(Root { name, elements: start..at, leaves: leaf..all.paths.len() });
        }
        if at == elements.len() { Ok(all) } else { Err(MALFORMED) }
    }

    /// The nodes of the first level with these names, in the order of the file.
    fn choose(&self, names: &[String]) -> Result<Vec<&Root>, Error> {
        let is_missing = |name: &&String| self.roots.iter().all(|root| root.name != **name);
        if let Some(name) = names.iter().find(is_missing) {
            let known = listed(self.roots.iter().map(|root| &*root.name));
            return Err(Error::NoSuchColumn { column: name.clone(), known });
        }
        Ok(self.roots.iter().filter(|root| names.contains(&root.name)).collect())
    }
}

/// A walk over the elements of a schema.
struct Walk<'a> {
    elements: &'a [&'a Struct],
    /// The names above the element, each with a dot behind it.
    path: String,
    /// Bytes of the paths of all leaves so far.
    path_bytes: usize,
}

impl Walk<'_> {
    /// Adds the paths of the leaves below the element `at`; returns where the next element is that is not below it.
    fn leaves(&mut self, at: usize, depth: usize, paths: &mut Vec<String>) -> Result<usize, Error> {
        let element = self.elements.get(at).ok_or(MALFORMED)?;
        let depth = depth.checked_sub(1).ok_or(MALFORMED)?;
        let above = self.path.len();
        self.path.push_str(&name(element));
        let mut next = at + 1;
        match children(element)? {
            0 => self.leaf(paths)?,
            count => {
                self.path.push('.');
                for _ in 0..count {
                    next = self.leaves(next, depth, paths)?;
                }
            }
        }
        self.path.truncate(above);
        Ok(next)
    }

    /// Adds the path of a leaf.
    fn leaf(&mut self, paths: &mut Vec<String>) -> Result<(), Error> {
        let too_many = |what, most: usize| Error::TooMany { what, most: most as u64 };
        if paths.len() == MOST_LEAVES {
            return Err(too_many("columns", MOST_LEAVES));
        }
        self.path_bytes = self.path_bytes.saturating_add(self.path.len());
        if self.path_bytes > MOST_PATH_BYTES {
            return Err(too_many("bytes in the paths of columns", MOST_PATH_BYTES));
        }
        paths.push(self.path.clone());
        Ok(())
    }
}

/// What is opened of a file.
pub(crate) struct Selection {
    /// Row groups, with their numbers in the file.
    pub(crate) groups: Vec<(usize, Struct)>,
    /// The numbers of columns, leaves of the schema.
    pub(crate) leaves: Vec<usize>,
    /// The paths of all columns of the file.
    pub(crate) paths: Vec<String>,
    /// How many times the caller asks for the row group that is asked for most often.
    pub(crate) times: u64,
}

impl Selection {
    /// By the names of columns and the numbers of row groups; makes the footer that of a file which has no others.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`], [`Error::NoSuchRowGroup`], [`Error::NotParquet`].
    pub(crate) fn of(metadata: &mut Struct, options: &OpenOptions<'_>) -> Result<Self, Error> {
        let elements: Vec<_> = metadata.structures(file::SCHEMA).collect();
        let columns = Columns::of(&elements)?;
        let mut groups = groups(metadata, options.row_groups)?;
        let times = options.row_groups.map_or(1, most_equal);
        if options.row_groups.is_some() {
            let rows = groups.iter().filter_map(|(_, group)| group.integer(row_group::NUM_ROWS));
            metadata.set(file::NUM_ROWS, Value::I64(rows.fold(0, i64::saturating_add)));
        }
        let Some(names) = options.columns else {
            let leaves = (0..columns.paths.len()).collect();
            return Ok(Self { groups, leaves, paths: columns.paths, times });
        };
        let roots = columns.choose(names)?;
        let leaves: Vec<_> = roots.iter().flat_map(|root| root.leaves.clone()).collect();
        let kept: Vec<_> = roots.iter().flat_map(|root| root.elements.clone()).collect();
        reduce(metadata, &kept, &leaves, roots.len());
        for (_, group) in &mut groups {
            // It names columns by numbers, which are others now.
            group.remove(row_group::SORTING);
        }
        Ok(Self { groups, leaves, paths: columns.paths, times })
    }
}

/// The row groups of these numbers, or all.
fn groups(metadata: &Struct, numbers: Option<&[usize]>) -> Result<Vec<(usize, Struct)>, Error> {
    let all: Vec<_> = metadata.structures(file::ROW_GROUPS).collect();
    let numbers = numbers.map_or_else(|| (0..all.len()).collect(), <[usize]>::to_vec);
    let group = |given: usize| match all.get(given) {
        Some(group) => Ok((ordinal(given, group), (*group).clone())),
        None => Err(Error::NoSuchRowGroup { given, count: all.len() }),
    };
    numbers.into_iter().map(group).collect()
}

/// How many times the number stands there that does so most often.
fn most_equal(numbers: &[usize]) -> u64 {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.chunk_by(usize::eq).map(|equal| equal.len() as u64).max().unwrap_or(0)
}

/// The number of a row group as it was sealed with it.
fn ordinal(at: usize, group: &Struct) -> usize {
    let said = group.integer(row_group::ORDINAL).and_then(|said| usize::try_from(said).ok());
    said.unwrap_or(at)
}

/// Leaves in a footer only what describes these elements of the schema, and these leaves.
fn reduce(metadata: &mut Struct, elements: &[usize], leaves: &[usize], roots: usize) {
    if let Some(Value::List(schema)) = metadata.get_mut(file::SCHEMA) {
        let all = std::mem::take(&mut schema.items);
        let kept = |(at, _): &(usize, Value)| *at == 0 || elements.contains(at);
        schema.items = all.into_iter().enumerate().filter(kept).map(|(_, value)| value).collect();
        if let Some(Value::Struct(root)) = schema.items.first_mut() {
            root.set(schema::NUM_CHILDREN, Value::I32(i32::try_from(roots).unwrap_or(i32::MAX)));
        }
    }
    if let Some(Value::List(orders)) = metadata.get_mut(file::COLUMN_ORDERS) {
        let all = std::mem::take(&mut orders.items);
        let kept = |(at, _): &(usize, Value)| leaves.contains(at);
        orders.items = all.into_iter().enumerate().filter(kept).map(|(_, value)| value).collect();
    }
    if let Some(Value::List(pairs)) = metadata.get_mut(file::KEY_VALUES) {
        // Arrow's own schema, which tells of all columns.
        let is_schema = |pair: &Value| match pair {
            Value::Struct(pair) => pair.binary(key_value::KEY) == Some(b"ARROW:schema"),
            _ => false,
        };
        pairs.items.retain(|pair| !is_schema(pair));
    }
}

fn name(element: &Struct) -> String {
    String::from_utf8_lossy(element.binary(schema::NAME).unwrap_or_default()).into_owned()
}

fn children(element: &Struct) -> Result<usize, Error> {
    usize::try_from(element.integer(schema::NUM_CHILDREN).unwrap_or(0)).map_err(|_| MALFORMED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str, children: usize) -> Struct {
        let count = Value::I32(i32::try_from(children).unwrap());
        let name = Value::Binary(name.as_bytes().to_vec());
        [(schema::NAME, name), (schema::NUM_CHILDREN, count)].into_iter().collect()
    }

    /// The columns of a schema with this number of leaves below one node of this name.
    fn below(name: &str, leaves: usize) -> Result<Columns, Error> {
        let [root, node, leaf] = [element("", 1), element(name, leaves), element("leaf", 0)];
        let mut elements = vec![&root, &node];
        elements.extend(std::iter::repeat_n(&leaf, leaves));
        Columns::of(&elements)
    }

    #[test]
    fn schemas_that_take_too_much() {
        let columns = below("node", 1 << 15).unwrap();
        assert_eq!((columns.paths.len(), &*columns.paths[9]), (1 << 15, "node.leaf"));
        let error = below("node", (1 << 15) + 1).err().unwrap();
        assert_eq!(error.to_string(), "more than 32768 columns");
        // 8 KiB that 2^11 paths repeat, of which each has five bytes more.
        let name = "n".repeat((8 << 10) - 5);
        assert!(below(&name, 1 << 11).is_ok());
        let error = below(&name, (1 << 11) + 1).err().unwrap();
        assert_eq!(error.to_string(), "more than 16777216 bytes in the paths of columns");
    }
}
