//! The quantile of the normal distribution, by sums, products, quotients and a root alone: IEEE 754 says what each gives, so
//! that a GPU has the same.

/// The natural logarithm of 2 as a sum. The product of the first part and an exponent is exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// Where the standard normal distribution has the part `p` of its area to the left, 0 < p < 1 (Wichura, algorithm AS 241,
/// 1988): the relative error is about 10^-16.
pub(super) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * CENTRE.at(0.180_625 - q * q);
    }
    let r = (-logarithm(if q < 0.0 { p } else { 1.0 - p })).sqrt();
    let value = if r <= 5.0 { TAIL.at(r - 1.6) } else { FAR_TAIL.at(r - 5.0) };
    if q < 0.0 { -value } else { value }
}

/// A quotient of polynomials by their coefficients, the highest first.
struct Quotient {
    upper: [f64; 8],
    lower: [f64; 8],
}

impl Quotient {
    fn at(&self, x: f64) -> f64 {
        polynomial(x, self.upper) / polynomial(x, self.lower)
    }
}

const CENTRE: Quotient = Quotient {
    upper: [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    lower: [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
};

const TAIL: Quotient = Quotient {
    upper: [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    lower: [
        1.050_750_071_644_416_9e-9,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
};

const FAR_TAIL: Quotient = Quotient {
    upper: [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    lower: [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
};

fn polynomial<const TERMS: usize>(x: f64, terms: [f64; TERMS]) -> f64 {
    // Not `mul_add`: a sum that is rounded once would be another number.
    terms[1..].iter().fold(terms[0], |sum, term| sum * x + term)
}

/// The natural logarithm of a normal number: x = m 2^e with m near 1, ln m = 2 artanh s, s = (m - 1) / (m + 1), whose series
/// in s^2 < 0.0295 ends below the last bit.
fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = f64::from((bits >> 52) as i32 - 1023);
    let mut m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1.0;
    }
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let series =
        polynomial(z, [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0].map(|n| 2.0 / n));
    exponent * LN_2[0] + (2.0 * s + (s * z * series + exponent * LN_2[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_the_system() {
        for i in 1..100_000_u32 {
            for x in [f64::from(i) / 100_000.0, f64::from(i) * 2_f64.powi(-60)] {
                let error = (logarithm(x) / x.ln() - 1.0).abs();
                assert!(error < 1e-15, "{x}: {error}");
            }
        }
        // It is not halved itself, which shows in the last bit: kernels do the same.
        let root = logarithm(std::f64::consts::SQRT_2);
        assert_eq!(root.to_bits(), 0.346_573_590_279_972_75_f64.to_bits(), "{root}");
    }

    /// Values of `statistics.NormalDist().inv_cdf` of Python, and of symmetry.
    #[test]
    fn quantiles_are_known_ones() {
        for (p, value) in [
            (0.025, -1.959_963_984_540_054),
            (0.1, -1.281_551_565_544_600_4),
            (1e-10, -6.361_340_902_404_055),
            (2_f64.powi(-53), -8.209_536_151_601_387),
        ] {
            let error = (quantile(p) / value - 1.0).abs();
            assert!(error < 1e-14, "{p}: {} for {value}", quantile(p));
        }
        assert!(quantile(0.5).abs() < f64::MIN_POSITIVE);
        for i in 1..1000_u32 {
            let p = f64::from(i) / 2048.0;
            assert!((quantile(p) + quantile(1.0 - p)).abs() < f64::MIN_POSITIVE, "{p}");
        }
    }
}
