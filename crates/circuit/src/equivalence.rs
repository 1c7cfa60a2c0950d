//! Finds the affine maps between a given S-box and inversion in GF(2^8).
//!
//! The method is that of Biryukov, De Canniere, Braeken and Preneel (A Toolbox for Cryptanalysis,
//! Eurocrypt 2003): guess a few images of the inner map; through the S-box they give images of the
//! outer map; both are linear, so what is known grows by itself to everything or to a
//! contradiction.

use lanecrypt_reference::gf256;

use crate::derive::Affine;

/// The two affine maps of `S(w) = outer(Inv(inner(w)))`, in the field of the core, modulo
/// x^8+x^4+x^3+x+1. The constants are the maps' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equivalence {
    /// From the S-box's input to the inversion's.
    pub inner: Affine,
    /// From the inversion's output to the S-box's.
    pub outer: Affine,
}

/// One of the 2040 ways to write the table as an affine image of inversion, or `None` if there is
/// none. Takes less than a second.
#[must_use]
pub fn find_affine_equivalence(table: &[u8; 256]) -> Option<Equivalence> {
    let mut preimages = [None; 256];
    for (input, &output) in (0..=255u8).zip(table) {
        preimages[usize::from(output)] = Some(input);
    }
    if preimages.contains(&None) {
        return None;
    }
    let inverses: [u8; 256] =
        core::array::from_fn(|value| gf256::inverse(value as u8, gf256::AES_MODULUS));
    // The input that `inner` carries to zero is one of 256; the rest is linear.
    (0..=255u8).find_map(|zero| {
        let constant = table[usize::from(zero)];
        let image = |input: usize| table[input ^ usize::from(zero)] ^ constant;
        let forward: [u8; 256] = core::array::from_fn(image);
        let preimage =
            |output: usize| preimages[output ^ usize::from(constant)].unwrap_or(0) ^ zero;
        let backward: [u8; 256] = core::array::from_fn(preimage);
        let problem = Problem { forward, backward, inverses };
        // Scaling is a symmetry of inversion, so the image of 1 may be chosen.
        let mut start = Maps { inner: Partial::new(), outer: Partial::new() };
        start.inner.extend(1, 1)?;
        let maps = problem.solve(start)?;
        let inner = Affine::from_fn(|input| maps.inner.images[usize::from(input ^ zero)])?;
        let outer = Affine::from_fn(|value| maps.outer.images[usize::from(value)] ^ constant)?;
        Some(Equivalence { inner, outer })
    })
}

/// A linear map, known on a subspace.
#[derive(Clone)]
struct Partial {
    /// The subspace, zero first.
    known: Vec<u8>,
    is_known: [bool; 256],
    is_image: [bool; 256],
    images: [u8; 256],
}

impl Partial {
    fn new() -> Self {
        let mut is_known = [false; 256];
        is_known[0] = true;
        Self { known: vec![0], is_known, is_image: is_known, images: [0; 256] }
    }

    /// Adds an image and all that follows by linearity; `None` if the map cannot be so and be
    /// one to one.
    fn extend(&mut self, point: u8, image: u8) -> Option<()> {
        if self.is_known[usize::from(point)] {
            return (self.images[usize::from(point)] == image).then_some(());
        }
        if self.is_image[usize::from(image)] {
            return None;
        }
        for index in 0..self.known.len() {
            let old = self.known[index];
            let (new, new_image) = (old ^ point, self.images[usize::from(old)] ^ image);
            self.known.push(new);
            self.is_known[usize::from(new)] = true;
            self.is_image[usize::from(new_image)] = true;
            self.images[usize::from(new)] = new_image;
        }
        Some(())
    }
}

/// What is known of both maps.
#[derive(Clone)]
struct Maps {
    inner: Partial,
    outer: Partial,
}

/// The S-box, moved so that zero is its fixed point, and inversion.
struct Problem {
    forward: [u8; 256],
    backward: [u8; 256],
    inverses: [u8; 256],
}

impl Problem {
    /// The maps when all is known, after as many guesses as it takes.
    fn solve(&self, mut maps: Maps) -> Option<Maps> {
        self.propagate(&mut maps)?;
        let Some(unknown) = (0..=255u8).find(|&point| !maps.inner.is_known[usize::from(point)])
        else {
            return Some(maps);
        };
        (1..=255).find_map(|image| {
            let mut guess = maps.clone();
            guess.inner.extend(unknown, image)?;
            self.solve(guess)
        })
    }

    /// Carries what is known of one map to the other until nothing new comes; `None` if they
    /// contradict each other.
    fn propagate(&self, maps: &mut Maps) -> Option<()> {
        let Maps { inner, outer } = maps;
        let (mut inner_done, mut outer_done) = (0, 0);
        while inner_done < inner.known.len() || outer_done < outer.known.len() {
            if inner_done < inner.known.len() {
                let point = usize::from(inner.known[inner_done]);
                let value = self.inverses[usize::from(inner.images[point])];
                outer.extend(value, self.forward[point])?;
                inner_done += 1;
            } else {
                let value = usize::from(outer.known[outer_done]);
                let point = self.backward[usize::from(outer.images[value])];
                inner.extend(point, self.inverses[value])?;
                outer_done += 1;
            }
        }
        Some(())
    }
}
