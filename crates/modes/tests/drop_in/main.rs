//! The public names and traits of the crates `ctr`, `cbc`, `cfb-mode`, `ofb`, `xts-mode`, `aes-gcm`, `aes-gcm-siv`
//! and `ccm`, used in the same text on theirs and on ours: what is missing does not compile, and what differs
//! is seen.

mod ours;
mod theirs;

/// Compares what one function of the text finds.
macro_rules! same {
    ($($test:ident)*) => {$(
        #[test]
        fn $test() {
            let (ours, theirs) = (ours::text::$test(), theirs::text::$test());
            assert_eq!(ours.len(), theirs.len());
            for (i, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                assert_eq!(ours, theirs, "{i}");
            }
        }
    )*};
}
same!(
    counters ends_of_counters cores chained chained_pieces output_feedback sectors gcm gcm_siv ccm
);
