//! Tables of what kernels reached of their roofs, and throughput in cycles.

use lanecrypt_record::{
    Figure, Place, Record, groups,
    roof::{PIPES, Roof},
};

use super::table::{Section, percent, throughput};

/// Kernels at their largest size beside their roofs, with the names of runs; none where no roof is known.
pub(crate) fn section(record: &Record, runs: &[String]) -> Option<Section> {
    let gpu = record.environment.gpu_details.as_ref();
    let resident = record.measurements().iter().filter(|m| m.place == Place::Resident);
    let kernel = |m: &&Figure| (m.cipher.clone(), m.key_bits, m.backend.clone(), m.work);
    let row = |(_, sizes): (_, Vec<&Figure>)| {
        let m = sizes.into_iter().max_by_key(|m| m.bytes)?;
        let roof = Roof::of(m, gpu)?;
        let mut cells = vec![
            format!("{} {}, {}", m.keyed(), m.work, m.backend),
            throughput(m.gbit_per_second()),
            throughput(roof.gbit_per_second),
            percent(roof.reached),
        ];
        cells.extend(roof.of_pipes().map(percent));
        cells.push(runs[m.run].clone());
        Some(cells)
    };
    let [a, b, c, d] = PIPES.map(|(pipe, _)| pipe);
    let header = ["kernel", "Gbit/s", "roof, Gbit/s", "of its roof", a, b, c, d, "run"];
    Section::of("", "", header, groups(resident, kernel).into_iter().filter_map(row).collect())
}

/// Throughput for comparing GPUs, in bits per multiprocessor and clock cycle; of a CPU there is none.
pub(crate) fn per_clock(record: &Record, figure: &Figure) -> Option<f64> {
    let details = record.environment.gpu_details.as_ref()?;
    let cycles = f64::from(details.multiprocessors) * details.gigahertz;
    (figure.place != Place::Cpu).then(|| figure.gbit_per_second() / cycles)
}
