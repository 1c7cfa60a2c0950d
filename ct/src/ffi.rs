//! Valgrind's client requests: what a program says to the valgrind that runs it.
//!
//! A request is a sequence of instructions that changes nothing, and that valgrind knows; outside
//! valgrind it has no effect. The numbers are those of `valgrind.h` and `memcheck.h`.

const RUNNING_ON_VALGRIND: usize = 0x1001;
const COUNT_ERRORS: usize = 0x1201;
const MEMCHECK: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;
const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;
const GET_VBITS: usize = MEMCHECK + 8;

/// What `GET_VBITS` answers when it has written all bits.
const HAS_BITS: usize = 1;

/// Whether valgrind runs this program. Never elsewhere than on x86-64.
pub(crate) fn is_under_valgrind() -> bool {
    request(RUNNING_ON_VALGRIND, [0; 3]) != 0
}

/// How many errors memcheck has found so far.
pub(crate) fn errors() -> usize {
    request(COUNT_ERRORS, [0; 3])
}

/// From here on, memcheck reports every branch and every address that depends on these bytes.
pub(crate) fn make_undefined(bytes: &mut [u8]) {
    request(MAKE_MEM_UNDEFINED, [bytes.as_mut_ptr().expose_provenance(), bytes.len(), 0]);
}

/// Takes [`make_undefined`] back.
pub(crate) fn make_defined(bytes: &mut [u8]) {
    request(MAKE_MEM_DEFINED, [bytes.as_mut_ptr().expose_provenance(), bytes.len(), 0]);
}

/// Whether every bit of these bytes is undefined; `false` outside valgrind.
pub(crate) fn is_undefined(bytes: &[u8]) -> bool {
    let mut bits = vec![0; bytes.len()];
    let to = bits.as_mut_ptr().expose_provenance();
    let answer = request(GET_VBITS, [bytes.as_ptr().expose_provenance(), to, bytes.len()]);
    answer == HAS_BITS && bits.iter().all(|&undefined: &u8| undefined == 0xff)
}

/// Valgrind's answer, 0 where it does not run.
#[cfg(target_arch = "x86_64")]
fn request(code: usize, [a, b, c]: [usize; 3]) -> usize {
    let words = [code, a, b, c, 0, 0];
    let mut answer = 0;
    // SAFETY: rotating rdi by 128 bits in all leaves it as it was, and so does the exchange of rbx
    // with itself; under valgrind the sequence also reads `words` at rax, reads or writes memory
    // that the callers own and whose addresses they exposed, and sets rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_code: usize, _arguments: [usize; 3]) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_change_nothing_outside_valgrind() {
        let mut bytes = [1, 2, 3];
        make_undefined(&mut bytes);
        make_defined(&mut bytes);
        assert_eq!(bytes, [1, 2, 3]);
        assert!(!is_under_valgrind() && !is_undefined(&bytes) && errors() == 0);
    }
}
