//! The energy that a board takes, by the counter that the driver's library NVML reads.

use std::time::{Duration, Instant};

use lanecrypt::cuda::Device;
use nvml_wrapper::Nvml;

/// For how long passes follow each other, and when the first of it is over, in which the power rises.
const LONG: Duration = Duration::from_millis(2500);
const RISING: Duration = Duration::from_millis(500);

/// A board's counter.
pub(crate) struct Meter {
    nvml: Nvml,
    uuid: String,
}

impl Meter {
    /// That of the device, where its driver has one.
    pub(crate) fn of(device: &Device) -> Option<Self> {
        let uuid = &device.properties().uuid;
        let groups = [0..4, 4..6, 6..8, 8..10, 10..16].map(|range| hex::encode(&uuid[range]));
        let meter = Self { nvml: Nvml::init().ok()?, uuid: format!("GPU-{}", groups.join("-")) };
        meter.joules().is_some().then_some(meter)
    }

    /// Joules since the driver was loaded; the counter moves several times a second.
    fn joules(&self) -> Option<f64> {
        let device = self.nvml.device_by_uuid(self.uuid.as_str()).ok()?;
        Some(device.total_energy_consumption().ok()? as f64 / 1e3)
    }

    /// Joules that a pass takes. `passes` makes some without a pause, and returns their number and the device's seconds.
    ///
    /// # Errors
    /// Those of `passes`.
    pub(crate) fn joules_of_a_pass(
        &self,
        mut passes: impl FnMut() -> Result<(usize, f64), String>,
    ) -> Result<Option<f64>, String> {
        let (start, mut count, mut busy) = (Instant::now(), 0, 0.0);
        let mut moved: Vec<(Instant, f64)> = Vec::new();
        while start.elapsed() < LONG {
            let (made, seconds) = passes()?;
            count += made;
            busy += seconds;
            let Some(joules) = self.joules() else { return Ok(None) };
            let has_moved = moved.last().is_none_or(|(_, last)| joules > *last);
            if has_moved && start.elapsed() > RISING {
                moved.push((Instant::now(), joules));
            }
        }
        // Between two moments at which the counter had just moved. The first reading may be of an older one.
        let (Some(first), Some(last)) = (moved.get(1), moved.last()) else { return Ok(None) };
        let watts = (last.1 - first.1) / (last.0 - first.0).as_secs_f64();
        Ok((watts.is_finite() && count > 0).then(|| watts * busy / count as f64))
    }
}
