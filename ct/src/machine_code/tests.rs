//! Small listings, each with one way to show a secret, or one that shows none.

use super::*;

/// A listing of one function, which has the name of a region that runs `body`.
fn listing(body: &str, code: &str) -> String {
    let region = "<lanecrypt_slicing::x86::avx2::Avx2 as lanecrypt_slicing::isa::Isa>::run::region";
    let lines = code.split(';').map(str::trim).enumerate().map(|(i, line)| {
        let (mnemonic, operands) = line.split_once(' ').unwrap_or((line, ""));
        format!("    {:x}:\t{mnemonic:<6} {operands}\n", 0x1000 + 0x10 * i)
    });
    let other = "0000000000002000 <core::panicking::panic>:\n    2000:\tud2\n\n\
                 0000000000003000 <lanecrypt_aes::helper>:\n    3000:\tmov    (%rdi),%rax\n    \
                 3004:\tmov    (%rsi,%rax,1),%eax\n    3008:\tret\n\n";
    format!("{other}0000000000001000 <{region}::<{body}>>:\n{}", lines.collect::<String>())
}

const RELOCATIONS: &str = "OFFSET           TYPE              VALUE\n\
                           0000000000009000 R_X86_64_GLOB_DAT  memcpy@GLIBC_2.14\n\
                           0000000000009008 R_X86_64_GLOB_DAT  memset@GLIBC_2.2.5\n\
                           0000000000009010 R_X86_64_RELATIVE  *ABS*+0x0000000000003000\n\
                           0000000000009018 R_X86_64_GLOB_DAT  memcmp@GLIBC_2.2.5\n";

/// A body that reads the words of its structure: keys to `rax`, blocks to `rbx`, their number to
/// `rcx`.
const ECB: &str = "mov (%rdi),%rax; mov 0x8(%rdi),%rbx; mov 0x18(%rdi),%rcx; ";

fn search(body: &str, code: &str) -> Result<Vec<&'static str>> {
    let listing = listing(body, code);
    let program = Program::parse(&listing, RELOCATIONS);
    let [(_, searched)] = program.search("avx2::Avx2")?.try_into().expect("one region");
    let kinds = [step::ADDRESS, step::BRANCH, step::DIVISION, step::MASK];
    let of =
        |finding: &String| kinds.into_iter().find(|kind| finding.contains(&format!(": {kind}:")));
    Ok(searched.findings.iter().map(|finding| of(finding).expect("a kind")).collect())
}

/// What is found in a body of blocks that goes on with `code`.
fn found(code: &str) -> Vec<&'static str> {
    let body = "lanecrypt_slicing::batch::Ecb<lanecrypt_seed::sliced::Bits>";
    search(body, &format!("{ECB}{code}; ret")).unwrap_or_else(|error| panic!("{code}: {error:#}"))
}

fn error(code: &str) -> String {
    let body = "lanecrypt_slicing::batch::Ecb<lanecrypt_seed::sliced::Bits>";
    format!("{:#}", search(body, &format!("{ECB}{code}; ret")).expect_err(code))
}

/// Each shows a secret once.
#[track_caller]
fn all_show(what: &str, codes: &[&str]) {
    for code in codes {
        assert_eq!(found(code), [what], "{code}");
    }
}

#[track_caller]
fn none_shows(codes: &[&str]) {
    for code in codes {
        assert!(found(code).is_empty(), "{code}: {:?}", found(code));
    }
}

#[test]
fn addresses() {
    all_show(
        step::ADDRESS,
        &[
            "mov (%rbx),%rdx; mov (%rax,%rdx,8),%rsi",
            "movzbl (%rbx),%edx; lea 0x40(%rip),%rsi # 5000 <T>; mov (%rsi,%rdx,4),%esi",
            "vmovdqu (%rbx),%ymm0; vmovd %xmm0,%edx; mov %al,(%rcx,%rdx,1)",
            "vmovdqu (%rbx),%ymm0; vpextrb $0x3,%xmm0,%edx; vmovdqu (%rax,%rdx,1),%ymm1",
            "vmovdqu (%rbx),%ymm0; vpmovmskb %ymm0,%edx; mov (%rax,%rdx,1),%edx",
            "vpcmpeqb (%rbx),%zmm0,%k1; kmovq %k1,%rdx; mov (%rax,%rdx,1),%edx",
            "cmp $0x40,%rcx; mov (%rbx),%rdx; cmovb %rdx,%rax; mov (%rax),%edx",
            "cmpb $0x0,(%rbx); cmove %rcx,%rax; mov (%rax),%edx",
            "cmpb $0x0,(%rbx); sete %cl; movzbl %cl,%ecx; mov (%rax,%rcx,1),%edx",
            "mov (%rbx),%rdx; mov %rdx,-0x8(%rsp); mov -0x8(%rsp),%rsi; mov (%rsi),%rdx",
            "vmovdqu (%rbx),%ymm0; vmovdqu %ymm0,-0x40(%rsp); mov -0x38(%rsp),%rsi; mov (%rsi),%dl",
            "kxnorw %k0,%k0,%k1; vmovdqu (%rbx),%ymm1; vpgatherdd (%rax,%ymm1,4),%ymm2{%k1}",
            "mov (%rbx),%rdx; mov (%rbx),%rdi; call *0x0(%rip) # 9000 <memcpy>",
            "mov (%rbx),%r8; call *0x0(%rip) # 9010 <x>",
        ],
    );
    none_shows(&[
        "lea (%rbx,%rcx,8),%rdx; vmovdqu (%rdx),%ymm0; vmovdqu %ymm0,-0x8(%rdx,%rcx,8)",
        "movzbl %cl,%ecx; mov 0x40(%rip),%esi # 5000 <T>; mov (%rbx,%rsi,1),%edx",
        "mov %rax,-0x8(%rsp); mov -0x8(%rsp),%rsi; mov (%rsi),%rdx",
        "mov (%rbx),%rdx; xor %edx,%edx; mov (%rax,%rdx,1),%rdx",
        "mov (%rbx),%rdx; shl $0x3,%rdx; xor (%rax),%rdx; mov %rdx,(%rbx)",
        "kxnorb %k0,%k0,%k1; vmovdqa 0x0(%rip),%ymm1 # 5000 <T>; vpscatterdd %zmm0,(%rax,%zmm1,4){%k1}",
    ]);
}

#[test]
fn branches() {
    all_show(
        step::BRANCH,
        &[
            "cmpb $0x0,(%rbx); je 1000",
            "mov (%rbx),%edx; test %edx,%edx; jne 1000",
            "mov (%rbx),%edx; add %edx,%edx; jb 1000",
            "mov (%rbx),%edx; bt $0x3,%edx; jae 1000",
            "vmovdqu (%rbx),%ymm0; vptest %ymm0,%ymm0; jne 1000",
            "vmovdqu (%rbx),%ymm0; vucomisd %xmm0,%xmm1; ja 1000",
            "vpcmpeqb (%rbx),%zmm0,%k1; kortestq %k1,%k1; je 1000",
            "mov (%rbx),%rdx; call *%rdx",
            "test %r12,%r12; jne 1000",
        ],
    );
    none_shows(&[
        "cmp $0x40,%rcx; jae 1000",
        "mov (%r10),%edx",
        "mov (%rbx),%edx; test %ecx,%ecx; jne 1000",
        "mov (%rbx),%edx; bt $0x3,%edx; sbb %edx,%edx; dec %rcx; jne 1000",
        "mov (%rbx),%edx; cmp $0x1,%rcx; sbb %edx,%edx; test %edx,%edx; je 1000",
        "mov 0x0(%rip),%r8 # 9000 <memcpy>; mov %rbx,%rdi; mov %rax,%rsi; mov %rcx,%rdx; call *%r8",
    ]);
}

#[test]
fn divisions_and_masks() {
    all_show(
        step::DIVISION,
        &["mov (%rbx),%r8; xor %edx,%edx; div %r8", "mov (%rbx),%rdx; div %rcx"],
    );
    none_shows(&["xor %edx,%edx; div %rcx", "mov (%rbx),%r8; mul %r8; mov %rax,(%rbx)"]);
    all_show(
        step::MASK,
        &[
            "vpcmpeqb (%rbx),%zmm0,%k1; vmovdqu8 %zmm0,(%rbx){%k1}",
            "vmovdqu (%rbx),%ymm1; vpmaskmovd (%rbx),%ymm1,%ymm2",
            "vmovdqu (%rbx),%ymm1; vpxor %xmm0,%xmm0,%xmm0; vpgatherdd %ymm1,(%rax,%ymm0,4),%ymm2",
        ],
    );
    none_shows(&[
        "kmovd %ecx,%k1; vmovdqu8 %zmm0,(%rbx){%k1}",
        // Of the register, only the lowest byte is known, which is as many as there are lanes.
        "mov (%rbx),%rdx; mov $0xc0,%dl; kmovd %edx,%k1; vmovdqu64 (%rbx),%zmm0{%k1}",
        "vpcmpeqb (%rbx),%zmm0,%k1; vpblendmb %zmm0,%zmm1,%zmm2{%k1}",
    ]);
    all_show(
        step::MASK,
        &["mov (%rbx),%rdx; mov $0xc0,%dl; kmovd %edx,%k1; vmovdqu32 (%rbx),%zmm0{%k1}"],
    );
}

#[test]
fn the_stack() {
    let array = "mov (%rbx),%r8; vpxor %xmm0,%xmm0,%xmm0; vmovdqu %ymm0,-0x80(%rsp); ";
    let read = "mov -0x78(%rsp),%rdx; mov (%rax,%rdx,1),%edx";
    none_shows(&[&format!("{array}{read}")]);
    // Something secret somewhere in an array is anywhere in it, but in no slot of the compiler's.
    all_show(step::ADDRESS, &[&format!("{array}mov %r8,-0x80(%rsp,%rcx,8); {read}")]);
    none_shows(&["mov (%rbx),%r8; mov %rcx,-0x78(%rsp); mov %r8,-0x80(%rsp,%rcx,8); \
                  mov -0x78(%rsp),%rdx; mov (%rax,%rdx,1),%edx"]);
    let condition = "sete -0x78(%rsp); mov %r8,-0x80(%rsp,%rcx,8); cmpb $0x0,-0x78(%rsp); je 1000";
    none_shows(&[&format!("mov (%rbx),%r8; test %rcx,%rcx; {condition}")]);
    all_show(step::BRANCH, &[&format!("mov (%rbx),%r8; test %r8,%r8; {condition}")]);
    // An address stays one over what fills up the space before a loop.
    none_shows(&["mov %rax,%r9; mov %rcx,-0x80(%rsp); lea -0x80(%rsp),%rax; xchg %ax,%ax; \
                  mov (%rax),%rsi; mov (%r9,%rsi,1),%esi"]);
    // A helper may write to what it gets the address of.
    all_show(
        step::ADDRESS,
        &[&format!(
            "{array}lea -0x80(%rsp),%rdi; mov %rax,%r12; call 3000 <lanecrypt_aes::helper>"
        )],
    );
    // Copies carry what they copy.
    let copy = "lea -0x40(%rsp),%rdi; lea -0x80(%rsp),%rsi; mov $0x20,%edx; mov %rax,%r12; \
                call *0x0(%rip) # 9000 <memcpy>; mov -0x38(%rsp),%rdx; mov (%r12,%rdx,1),%edx";
    none_shows(&[&format!("{array}{copy}")]);
    all_show(step::ADDRESS, &[&format!("{array}mov %r8,-0x78(%rsp); {copy}")]);
    // What nothing was stored to.
    all_show(step::ADDRESS, &[read]);
}

#[test]
fn loops_and_frames() {
    // A register is secret in the second round alone.
    all_show(
        step::ADDRESS,
        &["xor %edx,%edx; mov (%rax,%rdx,1),%esi; mov (%rbx),%rdx; dec %rcx; jne 1040"],
    );
    // Pages of a large frame are touched, and then its slots are known.
    none_shows(&["push %rbp; mov %rsp,%rbp; and $0xffffffffffffffc0,%rsp; mov %rsp,%r11; \
                  sub $0x9000,%r11; sub $0x1000,%rsp; movq $0x0,(%rsp); cmp %r11,%rsp; jne 1080; \
                  mov %rcx,0x20(%rsp); mov 0x20(%rsp),%rdx; mov (%rax,%rdx,8),%rsi; \
                  lea 0x0(%rbp),%rsp; pop %rbp"]);
}

#[test]
fn what_is_not_understood_is_an_error() {
    assert!(error("frobnicate %rax,%rcx").contains("frobnicate is not known"));
    assert!(error("vpcmpistri $0x0,%xmm0,%xmm1").contains("vpcmpistri is not known"));
    assert!(error("mov %ecx,0x0(%rip) # 5000 <T>").contains("a constant is stored to"));
    assert!(error("call *0x0(%rip) # 9018 <memcmp>").contains("memcmp is not known"));
    assert!(error("call *%rcx").contains("what it calls is not known"));
    assert!(error("jmp *%rcx").contains("what it calls is not known"));
    assert!(error("mov (%ebx),%rdx").contains("an address in %ebx"));
    let body = "lanecrypt_slicing::batch::Ecb<lanecrypt_seed::sliced::Bits>";
    let ends = search(body, &format!("{ECB}nop")).expect_err("no end");
    assert!(format!("{ends:#}").contains("behind its end"));
}

#[test]
fn jobs_and_their_keys() {
    let read = "mov 0x740(%rax),%rdx; test %rdx,%rdx; je 1000; ret";
    let of = |body: &str, code: &str| search(body, code);
    let camellia = "lanecrypt_slicing::batch::Ecb<lanecrypt_camellia::sliced::ByteRounds>";
    assert!(of(camellia, &format!("{ECB}{read}")).expect("it is read").is_empty());
    let seed = "lanecrypt_slicing::batch::Ecb<lanecrypt_seed::sliced::Bits>";
    assert_eq!(of(seed, &format!("{ECB}{read}")).expect("it is read"), [step::BRANCH]);
    let unread = format!("{:#}", of(camellia, &format!("{ECB}ret")).expect_err("unread"));
    assert!(unread.contains("nothing public is at byte 1856"), "{unread}");

    // A structure that is not one: keys themselves, say.
    let few = format!("{:#}", of(seed, "mov (%rdi),%rax; ret").expect_err("taken apart"));
    assert!(few.contains("it reads 1 words"), "{few}");
    let unknown = format!("{:#}", of("lanecrypt_seed::Body", "ret").expect_err("unknown"));
    assert!(unknown.contains("no body that is known"), "{unknown}");

    // Keys in a register, and their direction in one more; the next argument points to blocks.
    let over = |body: &str, code: &str| -> Result<usize> {
        let listing = listing(&format!("inout::inout_buf::InOutBuf<u8>, {body}<N>"), code);
        let listing = listing.replace("::run::region", "::run_over::region");
        let program = Program::parse(&listing, RELOCATIONS);
        let searched = program.search("avx2::Avx2")?;
        Ok(searched.into_iter().map(|(_, found)| found.findings.len()).sum())
    };
    let (encrypts, short) = ("lanecrypt_aes::whole::Encrypts", "lanecrypt_aes::whole::Short");
    let blocks = |of: &str| format!("mov ({of}),%r10; mov 0x8({of}),%r11; mov 0x10({of}),%rcx; ");
    let branches = |of: &str, on: &str| format!("{}test {on},{on}; je 1000; ret", blocks(of));
    assert_eq!(over(encrypts, &branches("%rsi", "%rcx")).expect("a length"), 0);
    assert_eq!(over(short, &branches("%rdx", "%sil")).expect("a direction"), 0);
    let on_a_key = format!("{}mov (%rdi),%r8; test %r8,%r8; je 1000; ret", blocks("%rsi"));
    assert_eq!(over(encrypts, &on_a_key).expect("a key"), 1);
    let swapped =
        format!("{:#}", over(encrypts, &format!("{}ret", blocks("%rdi"))).expect_err("keys first"));
    assert!(swapped.contains("it reads 0 words"), "{swapped}");
    let unknown = format!("{:#}", over("lanecrypt_aes::Body", "ret").expect_err("unknown"));
    assert!(unknown.contains("no body over data that is known"), "{unknown}");

    // In registers, the first argument leads to keys, or to where they go.
    let keys = "lanecrypt_slicing::form::MakeKeys<lanecrypt_seed::sliced::Bits>";
    let looks_up = "mov (%rdi),%rax; mov (%rsi,%rax,1),%eax; ret";
    assert_eq!(of(keys, looks_up).expect("it is read"), [step::ADDRESS]);
}

#[test]
fn a_job_that_no_region_runs_is_an_error() {
    let region =
        "<T as lanecrypt_slicing::isa::Isa>::run::region::<lanecrypt_slicing::batch::Ecb<R>>";
    let error = bodies::require_run(&[region]).expect_err("all but one").to_string();
    assert_eq!(error, "no region runs lanecrypt_slicing::batch::Ctr");
}

#[test]
fn an_instruction_set_without_functions_is_an_error() {
    let listing = listing("lanecrypt_seed::Body", "ret");
    let program = Program::parse(&listing, RELOCATIONS);
    let error = program.evidence("avx512::Avx512").expect_err("none").to_string();
    assert_eq!(error, "the program has no function of avx512::Avx512");
    assert!(program.require_trips().is_err(), "no look-ups either");
}

#[test]
fn a_search_that_is_blind_is_an_error() {
    let function = |code: &str| {
        let name = "<lanecrypt_x::Table32 as lanecrypt_core::block::Implementation>::run_batches";
        format!("0000000000001000 <{name}>:\n{code}    1008:\tret\n")
    };
    let trips =
        |code: &str| Program::parse(&function(code), "").require_trips().map_err(|e| e.to_string());
    let look_up = "    1000:\tmovzbl (%rdi),%eax\n    1004:\tmov    (%rsi,%rax,4),%eax\n";
    assert_eq!(trips(look_up), Ok(()));
    assert!(trips("    1000:\tnop\n").expect_err("nothing").contains("the search is blind"));
}

#[test]
fn evidence_is_judged_and_shown() {
    let silent = Evidence { functions: [(1, 20), (2, 3)].into(), ..Evidence::default() };
    assert_eq!(silent.shown(), "nothing in 2 functions, 23 instructions");
    assert_eq!(silent.verdict(ConstantTime::Yes), Verdict::Holds);
    assert_eq!(silent.verdict(ConstantTime::No("it looks up")), Verdict::Wrong);
    let found = Evidence { findings: ["a".to_owned()].into(), ..Evidence::default() };
    assert_eq!(found.shown(), "1 places in 0 functions, 0 instructions");
    assert_eq!(found.verdict(ConstantTime::Yes), Verdict::Wrong);
    assert_eq!(found.verdict(ConstantTime::No("it looks up")), Verdict::Trips);
}
