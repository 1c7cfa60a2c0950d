//! The rules, each on PTX that keeps it and on PTX that does not.

use super::*;
use crate::ptx::parse;

/// Keys start at byte 48; the word at 64 is public.
const PUBLIC: &[(i64, i64)] = &[(0, 48), (64, 68)];

/// Loads a pointer, a secret and a public word, and what makes of them.
const PROLOGUE: &str = "\
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u32 %r1, [k_param_0+48];
    ld.param.u32 %r2, [k_param_0+64];
    mov.u32 %r3, %tid.x;
";

fn analysis(body: &str) -> Result<Analysis> {
    let text =
        format!(".visible .entry k(\n.param .b8 k_param_0[99]\n)\n{{\n{PROLOGUE}{body}\n}}\n");
    let entries = parse::entries(&text).expect("it parses");
    analyse(&entries[0], PUBLIC)
}

/// What is found in `body`, after the prologue.
fn found(body: &str) -> Vec<&'static str> {
    let analysis = analysis(body).expect("it is understood");
    analysis.findings.iter().map(|finding| finding.what).collect()
}

#[test]
fn addresses() {
    let load = |index: &str| {
        found(&format!(
            "mul.wide.u32 %rd2, {index}, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r9, [%rd3+4];"
        ))
    };
    assert_eq!(load("%r1"), ["secret address"]);
    assert!(load("%r2").is_empty() && load("%r3").is_empty());
    assert_eq!(found("mov.u32 %r4, %r1;\nst.shared.u8 [%r4], %r2;"), ["secret address"]);
    assert!(found("st.global.u32 [%rd1], %r1;").is_empty(), "a secret value may be stored");
}

#[test]
fn branches() {
    let branch = |register: &str| found(&format!("setp.eq.s32 %p1, {register}, 0;\n@!%p1 bra L;"));
    assert_eq!(branch("%r1"), ["secret branch"]);
    assert!(branch("%r2").is_empty() && branch("%r3").is_empty());
    assert_eq!(found("setp.eq.s32 %p1, %r1, 0;\n@%p1 ret;"), ["secret branch"]);
    assert_eq!(found("bar.sync %r1;"), ["secret branch"]);
}

/// A word that is counted up tells how many came; any other may hold what somebody put there.
#[test]
fn tickets() {
    let last = |exchange: &str| {
        found(&format!(
            "{exchange} %r8, [%rd1], %r2;\nsetp.eq.s32 %p1, %r8, %r2;\nmembar.gl;\n\
             bar.red.or.pred %p2, 0, %p1;\n@%p2 bra L;"
        ))
    };
    assert!(last("atom.global.inc.u32").is_empty());
    assert_eq!(
        last("atom.global.exch.b32"),
        ["secret branch"; 2],
        "a barrier for all, and a branch"
    );
}

#[test]
fn predicates() {
    let with = |last: &str| found(&format!("setp.lt.u32 %p1, %r1, 5;\n{last}"));
    assert!(with("selp.b32 %r4, %r2, %r3, %p1;").is_empty(), "a selection is no branch");
    assert!(with("@%p1 mov.u32 %r4, 1;").is_empty(), "nor is a move that may not happen");
    assert_eq!(with("@%p1 ld.global.u32 %r4, [%rd1];"), ["secret predicate"]);
    assert_eq!(with("@%p1 st.global.u32 [%rd1], %r2;"), ["secret predicate"]);
    let moved = "@%p1 mov.u32 %r4, 1;\nsetp.eq.s32 %p2, %r4, 1;\n@%p2 bra L;";
    assert_eq!(with(moved), ["secret branch"], "what it wrote or not is secret");
}

#[test]
fn sources() {
    let looked_up = |load: &str| found(&format!("{load}\nld.shared.u32 %r9, [%r8];"));
    assert_eq!(looked_up("ld.global.nc.u32 %r8, [%rd1];"), ["secret address"]);
    assert_eq!(looked_up("ld.shared.u32 %r8, [16];"), ["secret address"]);
    assert_eq!(looked_up("ld.volatile.shared.u32 %r8, [16];"), ["secret address"]);
    assert_eq!(looked_up("ld.u32 %r8, [%rd1];"), ["secret address"]);
    assert_eq!(looked_up("ld.global.v2.u32 {%r7, %r8}, [%rd1];"), ["secret address"]);
    assert_eq!(looked_up("atom.shared.add.u32 %r8, [16], 1;"), ["secret address"]);
    assert_eq!(found("atom.shared.add.u32 %r8, [%r1], 1;"), ["secret address"]);
    assert!(found("atom.shared.add.u32 %r8, [%r3], %r1;").is_empty());
    assert!(looked_up("mov.u32 %r8, %ctaid.x;").is_empty());
}

#[test]
fn local_memory_is_as_secret_as_what_is_stored() {
    let loaded = |stored: &str| {
        found(&format!(
            "st.local.u32 [%rd1], {stored};\nld.local.u32 %r8, [%rd1];\nld.shared.u32 %r9, [%r8];"
        ))
    };
    assert_eq!(loaded("%r1"), ["secret address"]);
    assert!(loaded("%r2").is_empty() && loaded("7").is_empty());
}

#[test]
fn parameters() {
    let looked_up = |load: &str| found(&format!("{load}\nld.shared.u32 %r9, [%r8];"));
    let base = "mov.b64 %rd4, k_param_0;\nadd.s64 %rd5, %rd4, 60;";
    assert!(looked_up(&format!("{base}\nld.param.u32 %r8, [%rd5+4];")).is_empty());
    assert_eq!(looked_up(&format!("{base}\nld.param.u32 %r8, [%rd5+8];")), ["secret address"]);
    assert_eq!(looked_up(&format!("{base}\nld.param.u64 %r8, [%rd5+4];")), ["secret address"]);
    let pair = |register| format!("{base}\nld.param.v2.u32 {register}, [%rd5+4];");
    assert!(looked_up(&pair("{%r8, %r7}")).is_empty(), "the first word of the pair");
    assert_eq!(looked_up(&pair("{%r7, %r8}")), ["secret address"], "the second");
    let moving = format!("{base}\nld.param.u32 %r8, [%rd5+4];\nadd.s64 %rd5, %rd5, 4;");
    assert_eq!(looked_up(&moving), ["secret address"], "anywhere in the keys");
    let indexed = format!("{base}\nadd.s64 %rd6, %rd5, %rd1;\nld.param.u32 %r8, [%rd6];");
    assert_eq!(looked_up(&indexed), ["secret address"], "anywhere in the keys");
    let reads = analysis("").expect("it is understood").public_reads;
    assert_eq!(reads, HashSet::from([0, 64]));
}

#[test]
fn loops_carry_secrets_back() {
    let body = "mov.u32 %r4, 0;\nL:\nsetp.eq.s32 %p1, %r4, 9;\n@%p1 bra L;\nxor.b32 %r5, %r1, 1;\n\
                add.s32 %r4, %r4, %r5;\nbra.uni L;";
    assert_eq!(found(body), ["secret branch"]);
    assert!(found(&body.replace("%r1", "%r2")).is_empty());
}

#[test]
fn shuffles_and_divisions() {
    let shuffle = |value, lane| {
        found(&format!(
            "shfl.sync.idx.b32 %r4|%p1, {value}, {lane}, 31, -1;\nld.shared.u32 %r5, [%r4];"
        ))
    };
    assert_eq!(shuffle("%r2", "%r1"), ["secret lane", "secret address"]);
    assert_eq!(shuffle("%r1", "%r3"), ["secret address"]);
    assert!(shuffle("%r2", "%r3").is_empty());
    assert_eq!(found("div.u32 %r4, %r3, %r1;"), ["division of secrets"]);
    assert_eq!(found("sqrt.rn.f64 %r4, %r1;"), ["division of secrets"]);
    assert!(found("div.u32 %r4, %r3, %r2;").is_empty());
}

#[test]
fn copies_and_products_of_bits() {
    let copy = |to, from, bytes| {
        found(&format!(
            "mul.wide.u32 %rd2, {from}, 4;\ncp.async.cg.shared.global [{to}], [%rd2], 16, {bytes};"
        ))
    };
    assert!(copy("%r2", "%r3", "%r2").is_empty());
    for secret in [copy("%r1", "%r3", "%r2"), copy("%r2", "%r1", "%r2"), copy("%r2", "%r3", "%r1")]
    {
        assert_eq!(secret, ["secret address"]);
    }
    assert!(found("cp.async.commit_group;\ncp.async.wait_group 2;").is_empty());
    // Every sum depends on every operand.
    let product = |left, right, sum| {
        found(&format!(
            "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {{%r5, %r6, %r7, %r8}}, \
             {{%r3, {left}}}, {{{right}}}, {{%r2, %r2, {sum}, %r2}};\nld.shared.u32 %r9, [%r8];"
        ))
    };
    assert!(product("%r2", "%r3", "%r2").is_empty());
    for secret in
        [product("%r1", "%r3", "%r2"), product("%r2", "%r1", "%r2"), product("%r2", "%r3", "%r1")]
    {
        assert_eq!(secret, ["secret address"]);
    }
    assert_eq!(
        found("dp4a.u32.u32 %r8, %r1, %r2, %r3;\nld.shared.u32 %r9, [%r8];"),
        ["secret address"]
    );
}

#[test]
fn products_of_a_warpgroup_and_copies_in_bulk() {
    let product = |left, right| {
        found(&format!(
            "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc \
             {{%r5, %r6}}, {left}, {right}, 1;\nwgmma.wait_group.sync.aligned 0;"
        ))
    };
    assert!(product("%r2", "%r3").is_empty());
    assert!(product("{%r1, %r2, %r3, %r3}", "%r3").is_empty(), "a secret factor");
    assert_eq!(product("%r1", "%r3"), ["secret address"]);
    assert_eq!(product("%r2", "%r1"), ["secret address"]);
    let sum = "wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc {%r5, %r6}, %r2, %r3, 0;\n\
               ld.shared.u32 %r9, [%r6];";
    assert_eq!(found(sum), ["secret address"], "shared memory is secret");

    let copy = |to, bytes, arrival| {
        found(&format!(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [{arrival}], {bytes};\n\
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [%rd1], \
             {bytes}, [{arrival}];"
        ))
    };
    assert!(copy("%r2", "%r2", "%r3").is_empty());
    assert_eq!(copy("%r1", "%r2", "%r3"), ["secret address"]);
    assert_eq!(copy("%r2", "%r1", "%r3"), ["secret branch", "secret address"]);
    assert_eq!(copy("%r2", "%r2", "%r1"), ["secret address"; 2]);
    let wait = |phase| {
        found(&format!(
            "mbarrier.try_wait.parity.shared::cta.b64 %over0, [%r2], {phase};\n@!%over0 bra L;"
        ))
    };
    assert!(wait("%r3").is_empty(), "that a copy is over is no secret");
    assert_eq!(wait("%r1"), ["secret branch"]);
}

#[test]
fn what_is_not_known_is_an_error() {
    for body in ["red.add.u32 [%rd1], 1;", "frob 0;", "add.s32 %r4, %r9, 1;", "@%p7 bra L;"] {
        assert!(analysis(body).is_err(), "{body}");
    }
}
