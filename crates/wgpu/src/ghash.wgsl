// GHASH (SP 800-38D, 6.4) on the device: sums of blocks times powers of the hash key. Constant-time: addresses and
// branches follow from the number of a thread and from lengths alone.
//
// Multiplication by a constant of GF(2^128) is a matrix of 128 x 128 bits. A row is taken where a bit of the block is
// set: 128 masks of two shifts, and four words each of an AND and a XOR, which are one operation where a GPU has such
// ones. Rows are at addresses that all threads share, and the field itself is not in this text: the host makes the rows.
struct Parameters {
    // Which bits of the last block are there.
    mask: vec4<u32>,
    // Where blocks are read from, and sums written to.
    input_at: u32,
    output_at: u32,
    blocks: u32,
    // How many sums; the matrix multiplies by H to this power.
    sums: u32,
}

@group(0) @binding(0) var<storage, read_write> data: array<vec4<u32>>;
@group(0) @binding(1) var<uniform> matrix: array<vec4<u32>, 128>;
@group(0) @binding(2) var<uniform> parameters: Parameters;

// ANCHOR: row
// A row where the highest bit of a word is set, otherwise zeros.
fn row(word: u32, number: u32) -> vec4<u32> {
    return matrix[number] & vec4<u32>(u32(i32(word) >> 31u));
}

fn add_byte(sum: vec4<u32>, word: u32, first: u32) -> vec4<u32> {
    return sum ^ row(word, first) ^ row(word << 1u, first + 1u) ^ row(word << 2u, first + 2u)
        ^ row(word << 3u, first + 3u) ^ row(word << 4u, first + 4u) ^ row(word << 5u, first + 5u)
        ^ row(word << 6u, first + 6u) ^ row(word << 7u, first + 7u);
}
// ANCHOR_END: row

fn add_word(sum: vec4<u32>, word: u32, first: u32) -> vec4<u32> {
    let a = add_byte(sum, word, first);
    let b = add_byte(a, word << 8u, first + 8u);
    let c = add_byte(b, word << 16u, first + 16u);
    return add_byte(c, word << 24u, first + 24u);
}

// The sum times the power of H that the matrix stands for, plus the block.
fn times_power_plus(sum: vec4<u32>, block: vec4<u32>) -> vec4<u32> {
    let x = add_word(block, sum.x, 0u);
    let y = add_word(x, sum.y, 32u);
    let z = add_word(y, sum.z, 64u);
    return add_word(z, sum.w, 96u);
}

fn block(number: u32) -> vec4<u32> {
    let found = data[parameters.input_at + number];
    if number + 1u == parameters.blocks { return found & parameters.mask; }
    return found;
}

// A thread takes every block that is `sums` further on, by Horner's rule; zeros in front of the first block make the
// last one the last thread's. The sums are blocks to the next launch, which has fewer of them: after the one with a
// single sum, that is X_1 H^(n-1) + X_2 H^(n-2) + .. + X_n. Where sums take the place of blocks, each thread writes
// where it alone has read.
@compute @workgroup_size(64)
fn hash(@builtin(global_invocation_id) thread: vec3<u32>) {
    let sums = parameters.sums;
    if thread.x < sums {
        let zeros = (sums - parameters.blocks % sums) % sums;
        let end = zeros + parameters.blocks;
        var sum = vec4<u32>();
        if thread.x >= zeros { sum = block(thread.x - zeros); }
        for (var at = thread.x + sums; at < end; at += sums) {
            sum = times_power_plus(sum, block(at - zeros));
        }
        data[parameters.output_at + thread.x] = sum;
    }
}
