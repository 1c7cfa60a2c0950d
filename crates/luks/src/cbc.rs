//! CBC over sectors, each with an IV of its own: what LUKS1 was made with before XTS.

use lanecrypt::{
    Direction, Engine, Error,
    cipher::InOutBuf,
    io::RunsUnits,
    modes::{self, UnitNumbers},
};

/// A cipher in CBC, and how the number of a sector becomes its IV.
pub(crate) struct Cbc {
    pub(crate) data: Box<dyn Engine>,
    /// What encrypts the number (ESSIV); without one, the number is the IV.
    pub(crate) number: Option<Box<dyn Engine>>,
}

impl Cbc {
    fn iv(&self, number: u128) -> Result<[u8; 16], Error> {
        let mut iv = number.to_le_bytes();
        if let Some(engine) = &self.number {
            engine.ecb(Direction::Encrypt, iv.as_mut_slice().into())?;
        }
        Ok(iv)
    }
}

impl RunsUnits for Cbc {
    fn run_units(
        &self,
        direction: Direction,
        mut numbers: UnitNumbers,
        unit_bytes: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let mut rest = data;
        while !rest.is_empty() {
            let bytes = unit_bytes.min(rest.len());
            let (sector, others) = rest.split_at(bytes);
            let iv = self.iv(numbers.take())?;
            match direction {
                Direction::Encrypt => modes::cbc_encrypt(&*self.data, &iv, sector)?,
                Direction::Decrypt => modes::cbc_decrypt(&*self.data, &iv, sector)?,
            }
            rest = others;
        }
        Ok(())
    }
}
