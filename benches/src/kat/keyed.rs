//! A mode of operation under a line's key, on one backend.

use lanecrypt::{
    Ccm, Direction, Engine, Error, Gcm, Mode,
    cipher::InOutBuf,
    cuda::{self, DataUnits, Family, GcmEngine, XtsEngine},
    modes::{cbc_decrypt, cbc_encrypt, cfb_decrypt, cfb_encrypt, ofb, xts},
    registry::{Backend, Unavailable},
};

/// What goes with a message; empty where the mode has none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside<'a> {
    pub(super) iv: &'a [u8],
    pub(super) aad: &'a [u8],
    pub(super) tag: &'a [u8],
}

/// A mode with its key and IV.
pub(super) struct Keyed<'a> {
    mode: Mode,
    engine: Box<dyn Engine>,
    /// XTS: under the tweak key.
    tweak_engine: Option<Box<dyn Engine>>,
    /// Where a device has the mode whole, and not only the cipher of it.
    on_device: Option<OnDevice>,
    beside: Beside<'a>,
}

/// A mode that a device has whole.
enum OnDevice {
    Xts(Box<XtsEngine>),
    Gcm(Box<GcmEngine>),
}

impl OnDevice {
    /// The mode with the kernels of `backend`, if that is of a device.
    fn new(backend: &Backend, mode: Mode, key: &[u8]) -> Result<Option<Self>, cuda::Error> {
        let Some((family, device)) = Family::on_device(backend)? else { return Ok(None) };
        let device = &device;
        Ok(match mode {
            Mode::Xts => Some(Self::Xts(family.xts_engine(device, key)?.into())),
            Mode::Gcm => Some(Self::Gcm(family.gcm_engine(device, key)?.into())),
            _ => None,
        })
    }
}

impl<'a> Keyed<'a> {
    /// Keys `backend` for `mode`. In XTS the key is the data key and then the tweak key.
    pub(super) fn new(
        backend: &Backend,
        mode: Mode,
        key: &[u8],
        beside: Beside<'a>,
    ) -> Result<Self, Error> {
        let (data_key, tweak_key) = match mode {
            Mode::Xts => {
                let (data_key, tweak_key) = key.split_at(key.len() / 2);
                (data_key, Some(tweak_key))
            }
            _ => (key, None),
        };
        let engine = (backend.create)(data_key)?;
        Ok(Self {
            mode,
            on_device: OnDevice::new(backend, mode, key)?,
            engine,
            tweak_engine: tweak_key.map(backend.create).transpose()?,
            beside,
        })
    }

    /// Runs the whole of `data`, in XTS as one data unit. In GCM and CCM the tag must be the right one in
    /// both directions.
    pub(super) fn apply(
        &self,
        direction: Direction,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let (engine, Beside { iv, .. }) = (&*self.engine, self.beside);
        match (self.mode, direction) {
            (Mode::Ecb, _) => engine.ecb(direction, data),
            (Mode::Ctr, _) => engine.ctr(iv, data),
            (Mode::Cbc, Direction::Encrypt) => cbc_encrypt(engine, iv, data),
            (Mode::Cbc, Direction::Decrypt) => cbc_decrypt(engine, iv, data),
            (Mode::Cfb, Direction::Encrypt) => cfb_encrypt(engine, iv, data),
            (Mode::Cfb, Direction::Decrypt) => cfb_decrypt(engine, iv, data),
            (Mode::Ofb, _) => ofb(engine, iv, data),
            (Mode::Xts, _) => self.data_unit(iv, direction, data),
            (Mode::Gcm | Mode::Ccm, _) => self.sealed(direction, data),
            (Mode::GcmSiv, _) => Err(Unavailable::because("no file has lines of GCM-SIV").into()),
        }
    }

    fn sealed(&self, direction: Direction, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let tag = self.beside.tag;
        if direction == Direction::Decrypt {
            return self.open(data, tag);
        }
        let mut made = vec![0; tag.len()];
        self.seal(data, &mut made)?;
        if made == tag { Ok(()) } else { Err(Error::NotAuthentic) }
    }

    /// Encrypts in GCM or CCM, and makes a tag of this length.
    pub(super) fn seal(&self, data: InOutBuf<'_, '_, u8>, tag: &mut [u8]) -> Result<(), Error> {
        let Beside { iv, aad, .. } = self.beside;
        if let Some(OnDevice::Gcm(gcm)) = &self.on_device {
            return Ok(gcm.encrypt_host_memory(iv, aad, data, tag)?);
        }
        if self.mode == Mode::Ccm {
            return Ccm::<&dyn Engine>::of(&*self.engine)?.encrypt(iv, aad, data, tag);
        }
        Gcm::<&dyn Engine>::of(&*self.engine)?.encrypt(iv, aad, data, tag)
    }

    /// Decrypts in GCM or CCM, if the tag is the right one.
    pub(super) fn open(&self, data: InOutBuf<'_, '_, u8>, tag: &[u8]) -> Result<(), Error> {
        let Beside { iv, aad, .. } = self.beside;
        if let Some(OnDevice::Gcm(gcm)) = &self.on_device {
            return Ok(gcm.decrypt_host_memory(iv, aad, data, tag)?);
        }
        if self.mode == Mode::Ccm {
            return Ccm::<&dyn Engine>::of(&*self.engine)?.decrypt(iv, aad, data, tag);
        }
        Gcm::<&dyn Engine>::of(&*self.engine)?.decrypt(iv, aad, data, tag)
    }

    /// Runs `data` in place, in XTS as data units of `unit` bytes: unit j has the tweak IV + j,
    /// and the last may be shorter.
    pub(super) fn apply_units(
        &self,
        direction: Direction,
        unit: Option<u64>,
        data: &mut [u8],
    ) -> Result<(), Error> {
        let (Mode::Xts, Some(unit), Ok(iv)) =
            (self.mode, unit, <[u8; 16]>::try_from(self.beside.iv))
        else {
            return self.apply(direction, data.into());
        };
        let mut tweak = u128::from_le_bytes(iv);
        let bytes = usize::try_from(unit).unwrap_or(usize::MAX);
        if let Some(OnDevice::Xts(xts)) = &self.on_device {
            let units = DataUnits { bytes, first: tweak };
            return Ok(xts.run_host_memory(direction, units, data.into())?);
        }
        for piece in data.chunks_mut(bytes) {
            self.data_unit(&tweak.to_le_bytes(), direction, piece.into())?;
            tweak = tweak.wrapping_add(1);
        }
        Ok(())
    }

    fn data_unit(
        &self,
        tweak: &[u8],
        direction: Direction,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let tweak_engine = self.tweak_engine.as_deref().expect("XTS has a tweak engine");
        xts(&*self.engine, tweak_engine, tweak, direction, data)
    }
}
