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

const MALFORMED: Error = Error::NotParquet { what: "a schema that is a tree" };

impl Columns {
    /// Those of the elements of a schema.
    ///
    /// # Errors
    /// [`Error::NotParquet`] where they are no tree.
    pub(crate) fn of(elements: &[&Struct]) -> Result<Self, Error> {
        let mut all = Self { roots: Vec::new(), paths: Vec::new() };
        let (root, _) = elements.split_first().ok_or(MALFORMED)?;
        let mut at = 1;
        for _ in 0..children(root)? {
            let (start, leaf) = (at, all.paths.len());
            let name = name(elements.get(at).ok_or(MALFORMED)?);
            at = all.walk(elements, at, "", MOST_DEPTH)?;
            all.roots.push(Root { name, elements: start..at, leaves: leaf..all.paths.len() });
        }
        if at == elements.len() { Ok(all) } else { Err(MALFORMED) }
    }

    /// Adds the leaves below the element `at`; returns where the next element is that is not below it.
    fn walk(
        &mut self,
        elements: &[&Struct],
        at: usize,
        above: &str,
        depth: usize,
    ) -> Result<usize, Error> {
        let element = elements.get(at).ok_or(MALFORMED)?;
        let depth = depth.checked_sub(1).ok_or(MALFORMED)?;
        let path = format!("{above}{}", name(element));
        let mut next = at + 1;
        match children(element)? {
            0 => self.paths.push(path),
            count => {
                for _ in 0..count {
                    next = self.walk(elements, next, &format!("{path}."), depth)?;
                }
            }
        }
        Ok(next)
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

/// What is opened of a file.
pub(crate) struct Selection {
    /// Row groups, with their numbers in the file.
    pub(crate) groups: Vec<(usize, Struct)>,
    /// The numbers of columns, leaves of the schema.
    pub(crate) leaves: Vec<usize>,
    /// The paths of all columns of the file.
    pub(crate) paths: Vec<String>,
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
        if options.row_groups.is_some() {
            let rows = groups.iter().filter_map(|(_, group)| group.integer(row_group::NUM_ROWS));
            metadata.set(file::NUM_ROWS, Value::I64(rows.fold(0, i64::saturating_add)));
        }
        let Some(names) = options.columns else {
            let leaves = (0..columns.paths.len()).collect();
            return Ok(Self { groups, leaves, paths: columns.paths });
        };
        let roots = columns.choose(names)?;
        let leaves: Vec<_> = roots.iter().flat_map(|root| root.leaves.clone()).collect();
        let kept: Vec<_> = roots.iter().flat_map(|root| root.elements.clone()).collect();
        reduce(metadata, &kept, &leaves, roots.len());
        for (_, group) in &mut groups {
            // It names columns by numbers, which are others now.
            group.remove(row_group::SORTING);
        }
        Ok(Self { groups, leaves, paths: columns.paths })
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
