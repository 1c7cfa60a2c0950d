//! Columns of truth tables and sets of wires, as arrays of 64-bit words.

/// Values of a wire, 64 inputs per word: one word for up to six variables, four for eight. All
/// questions about a network are questions about columns, so a narrow one is several times faster.
pub(crate) type Column<const N: usize> = [u64; N];

/// A set of wires.
pub(crate) type WireSet = Column<4>;

/// The most wires that a [`WireSet`] holds.
pub(crate) const MAXIMUM_WIRES: usize = 256;

/// The most inputs whose truth table fits in `N` words.
pub(crate) const fn maximum_inputs<const N: usize>() -> usize {
    6 + N.trailing_zeros() as usize
}

/// Word by word.
pub(crate) fn map2<const N: usize>(
    a: Column<N>,
    b: Column<N>,
    f: impl Fn(u64, u64) -> u64,
) -> Column<N> {
    core::array::from_fn(|word| f(a[word], b[word]))
}

pub(crate) fn or<const N: usize>(a: Column<N>, b: Column<N>) -> Column<N> {
    map2(a, b, |a, b| a | b)
}

pub(crate) fn and<const N: usize>(a: Column<N>, b: Column<N>) -> Column<N> {
    map2(a, b, |a, b| a & b)
}

pub(crate) fn xor<const N: usize>(a: Column<N>, b: Column<N>) -> Column<N> {
    map2(a, b, |a, b| a ^ b)
}

pub(crate) fn not<const N: usize>(a: Column<N>) -> Column<N> {
    a.map(|word| !word)
}

pub(crate) fn is_zero<const N: usize>(column: Column<N>) -> bool {
    column == [0; N]
}

pub(crate) fn contains(set: &WireSet, wire: usize) -> bool {
    set[wire / 64] >> (wire % 64) & 1 != 0
}

pub(crate) fn insert(set: &mut WireSet, wire: usize) {
    set[wire / 64] |= 1 << (wire % 64);
}

/// Number of ones, or of wires.
pub(crate) fn size<const N: usize>(set: Column<N>) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}
