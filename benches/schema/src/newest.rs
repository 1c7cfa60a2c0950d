//! Rows by what they have in common, what is newest of them, and in which order records were made.

use std::{collections::HashMap, fs, hash::Hash, path::Path};

/// The order in which the records of a folder were made, by its `order.txt`: records of a day do not all
/// have their time.
#[derive(Debug)]
pub struct Order(String);

impl Order {
    /// Of the records in `folder`.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Self(fs::read_to_string(folder.join("order.txt")).unwrap_or_default())
    }

    /// The place of a record; those that are not listed are the newest.
    #[must_use]
    pub fn place(&self, name: &str) -> usize {
        self.0.lines().position(|line| line == name).unwrap_or(usize::MAX)
    }
}

/// Distinct values in order of first appearance.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// Rows by their key, in order of first appearance.
pub fn groups<T, Key: Clone + Eq + Hash>(
    rows: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> Key,
) -> Vec<(Key, Vec<T>)> {
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut groups: Vec<(Key, Vec<T>)> = Vec::new();
    for row in rows {
        let key = key(&row);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(row);
    }
    groups
}

/// Of rows with the same key the last, at the place of the first.
pub fn newest_of_each<'a, T: Clone + 'a, Key: Clone + Eq + Hash>(
    rows: impl Iterator<Item = &'a T>,
    key: impl Fn(&T) -> Key,
) -> Vec<T> {
    let groups = groups(rows, |row| key(row));
    groups.into_iter().filter_map(|(_, rows)| rows.last().copied().cloned()).collect()
}
