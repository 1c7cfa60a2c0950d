// Numbers that people draw, made of words of key stream: `crates/lanecrypt/src/random/draws.rs` makes the same on a CPU, to
// the last bit. All arithmetic is IEEE 754's, an operation at a time: no product and sum is fused.
#pragma once
#include "word.cuh"

// ANCHOR: operations
#ifdef __CUDACC__
DEVICE double add(double a, double b) { return __dadd_rn(a, b); }
DEVICE double multiply(double a, double b) { return __dmul_rn(a, b); }
DEVICE double divide(double a, double b) { return __ddiv_rn(a, b); }
DEVICE double root(double a) { return __dsqrt_rn(a); }
DEVICE u64 bits_of(double a) { return __double_as_longlong(a); }
DEVICE double from_bits(u64 bits) { return __longlong_as_double(bits); }
DEVICE u32 bits_of(float a) { return __float_as_uint(a); }
DEVICE u64 upper_half(u64 a, u64 b) { return __umul64hi(a, b); }
#else
// The host build is compiled without contraction.
DEVICE double add(double a, double b) { return a + b; }
DEVICE double multiply(double a, double b) { return a * b; }
DEVICE double divide(double a, double b) { return a / b; }
DEVICE double root(double a) { return __builtin_sqrt(a); }
DEVICE u64 bits_of(double a) { return __builtin_bit_cast(u64, a); }
DEVICE double from_bits(u64 bits) { return __builtin_bit_cast(double, bits); }
DEVICE u32 bits_of(float a) { return __builtin_bit_cast(u32, a); }
DEVICE u64 upper_half(u64 a, u64 b) { return u64((unsigned __int128)a * b >> 64); }
#endif
// ANCHOR_END: operations

// [0, 1): as many bits as a significand has.
DEVICE float unit(u32 word) { return float(word >> 8) * 0x1p-24f; }
DEVICE double unit(u64 word) { return multiply(double(word >> 11), 0x1p-53); }

// ANCHOR: below
// A number below `range`, each as likely (Lemire, 2019); all numbers where it is zero. The upper half of the product
// is the number; some of the lower halves are one too many for an equal share, and are drawn `again`.
template <class Again>
DEVICE u32 below(u32 word, u32 range, Again again) {
    if (range == 0) return word;
    u64 product = u64(word) * range;
    if (u32(product) < range) {
        const u32 refused = (0 - range) % range;
        for (u32 attempt = 1; u32(product) < refused; attempt++) {
            product = u64(u32(again(attempt))) * range;
        }
    }
    return u32(product >> 32);
}

template <class Again>
DEVICE u64 below(u64 word, u64 range, Again again) {
    if (range == 0) return word;
    if (word * range < range) {
        const u64 refused = (0 - range) % range;
        for (u32 attempt = 1; word * range < refused; attempt++) word = again(attempt);
    }
    return upper_half(word, range);
}
// ANCHOR_END: below

// A polynomial by its coefficients, the highest first.
DEVICE double polynomial(double, double sum) { return sum; }
template <class... Lower>
DEVICE double polynomial(double x, double sum, double next, Lower... lower) {
    return polynomial(x, add(multiply(sum, x), next), lower...);
}

constexpr double LN_2_HIGH = 0.6931471803691238;  // its product with an exponent is exact
constexpr double LN_2_LOW = 1.9082149292705877e-10;

// ANCHOR: logarithm
// The natural logarithm of a normal number: x = m 2^e with m near 1, ln m = 2 artanh s, s = (m - 1) / (m + 1), whose series
// in s^2 < 0.0295 ends below the last bit.
DEVICE double logarithm(double x) {
    const u64 bits = bits_of(x);
    int exponent = int(bits >> 52) - 1023;
    double m = from_bits((bits & 0xfffffffffffff) | 0x3ff0000000000000);
    if (m > 1.4142135623730951) m = multiply(m, 0.5), exponent++;
    const double s = divide(add(m, -1.0), add(m, 1.0));
    const double z = multiply(s, s);
    const double series = polynomial(z, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11,
                                     2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3);
    const double low = add(multiply(multiply(s, z), series), multiply(exponent, LN_2_LOW));
    return add(multiply(exponent, LN_2_HIGH), add(multiply(2.0, s), low));
}
// ANCHOR_END: logarithm

// ANCHOR: quantile
// Where the standard normal distribution has the part `p` of its area to the left, 0 < p < 1 (Wichura, algorithm AS 241,
// 1988): the relative error is about 10^-16.
DEVICE double quantile(double p) {
    const double q = add(p, -0.5);
    if (q >= -0.425 && q <= 0.425) {
        const double r = add(0.180625, -multiply(q, q));
        const double upper = polynomial(
            r, 2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987,
            13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665);
        const double lower = polynomial(
            r, 5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597,
            5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0);
        return multiply(q, divide(upper, lower));
    }
    const double r = root(-logarithm(q < 0 ? p : add(1.0, -p)));
    double upper, lower;
    if (r <= 5) {
        const double t = add(r, -1.6);
        upper = polynomial(
            t, 0.0007745450142783414, 0.022723844989269184, 0.2417807251774506,
            1.2704582524523684, 3.6478483247632045, 5.769497221460691, 4.630337846156546,
            1.4234371107496835);
        lower = polynomial(
            t, 1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457,
            0.14810397642748008, 0.6897673349851, 1.6763848301838038, 2.053191626637759, 1.0);
    } else {
        const double t = add(r, -5.0);
        upper = polynomial(
            t, 2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784,
            0.026532189526576124, 0.29656057182850487, 1.7848265399172913, 5.463784911164114,
            6.657904643501103);
        lower = polynomial(
            t, 2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05,
            0.0007868691311456133, 0.014875361290850615, 0.1369298809227358, 0.599832206555888,
            1.0);
    }
    const double value = divide(upper, lower);
    return q < 0 ? -value : value;
}
// ANCHOR_END: quantile

// Of the standard normal distribution: the middle of one of 2^32 or 2^52 equal parts of its area.
DEVICE float normal(u32 word) {
    return float(quantile(multiply(add(double(word), 0.5), 0x1p-32)));
}
DEVICE double normal(u64 word) {
    return quantile(multiply(add(double(word >> 12), 0.5), 0x1p-52));
}
