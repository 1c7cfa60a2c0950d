//! Cells of the table: compared, timed, printed.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// How long a round is at least; a call that takes longer is a round by itself.
const ROUND: Duration = Duration::from_micros(60);
/// Rounds of a cell, at least and at most.
const ROUNDS: (usize, usize) = (3, 41);
/// Names of the three ways in a line.
const NAMES: [&str; 3] = ["theirs", "ours_under_theirs", "ours"];

/// What a call works on.
pub(crate) struct Message {
    /// Encrypted or decrypted in place.
    pub(crate) data: Vec<u8>,
    /// What is not data: a tag.
    pub(crate) tag: Vec<u8>,
}

impl Message {
    fn new(bytes: usize) -> Self {
        let data = (0..bytes).map(|i| ((i * i) >> 3) as u8).collect();
        Self { data, tag: Vec::with_capacity(16) }
    }
}

/// One way to do the work of a cell: so many calls in a row. The loop is inside, so that a call costs what it
/// costs a user, who names types.
pub(crate) struct Way<'a>(Box<dyn FnMut(&mut Message, u32) + 'a>);

/// Makes a way of one call.
pub(crate) fn way<'a>(mut call: impl FnMut(&mut Message) + 'a) -> Way<'a> {
    Way(Box::new(move |message, calls| {
        for _ in 0..calls {
            call(black_box(&mut *message));
        }
    }))
}

impl Way<'_> {
    fn time(&mut self, message: &mut Message, calls: u32) -> Duration {
        let start = Instant::now();
        self.0(message, calls);
        start.elapsed()
    }

    /// As many calls as make a round. Of three tries the fastest says so: a busy machine makes one as long as
    /// it likes.
    fn calls(&mut self, message: &mut Message) -> u32 {
        let mut calls = 1;
        while (0..3).any(|_| self.time(message, calls) < ROUND) {
            calls *= 2;
        }
        calls
    }
}

/// What is to be measured, and of which cipher.
pub(crate) struct Table {
    /// The cipher that is measured now, and the bits of its key.
    pub(crate) cipher: (&'static str, u32),
    /// Sizes of messages.
    pub(crate) sizes: Vec<usize>,
    budget: Duration,
}

impl Table {
    pub(crate) fn new(sizes: Vec<usize>, budget: Duration) -> Self {
        Self { cipher: ("", 0), sizes, budget }
    }

    /// Measures a call over messages of all sizes up to `most`; `ways` makes the three for a size.
    pub(crate) fn row<'a>(
        &self,
        call: &str,
        most: usize,
        ways: impl Fn(usize) -> [Option<Way<'a>>; 3],
    ) {
        for &bytes in self.sizes.iter().filter(|&&bytes| bytes <= most) {
            self.cell(call, bytes, Message::new(bytes), ways(bytes));
        }
    }

    /// Measures a call whose length is its own.
    pub(crate) fn single(&self, call: &str, ways: [Option<Way<'_>>; 3]) {
        self.cell(call, 0, Message::new(16), ways);
    }

    fn cell(&self, call: &str, bytes: usize, message: Message, mut ways: [Option<Way<'_>>; 3]) {
        let (cipher, bits) = self.cipher;
        assert_ways_agree(&format!("{cipher}-{bits}, {call}, {bytes} bytes"), &message, &mut ways);
        let times = self.times(message, &mut ways);
        let texts = times.iter().zip(NAMES).map(|(times, name)| {
            let times: Vec<String> = times.iter().map(|time| format!("{time:.2}")).collect();
            format!(",\"{name}\":[{}]", times.join(","))
        });
        println!(
            "{{\"cipher\":\"{cipher}\",\"key_bits\":{bits},\"call\":\"{call}\",\"bytes\":{bytes}{}}}",
            texts.collect::<String>()
        );
    }

    /// Nanoseconds of a call in each round. A round of one way follows a round of another, so that what the
    /// core's clock does happens to all of them, and all of them work on the same memory.
    fn times(&self, mut message: Message, ways: &mut [Option<Way<'_>>; 3]) -> [Vec<f64>; 3] {
        let mut calls = [0; 3];
        for (calls, way) in calls.iter_mut().zip(ways.iter_mut()) {
            *calls = way.as_mut().map_or(0, |way| way.calls(&mut message));
        }
        let mut times = [const { Vec::new() }; 3];
        // Without what else the machine does: it is to cost time, not rounds.
        let mut fastest = Duration::MAX;
        for round in 0..ROUNDS.1 {
            if round >= ROUNDS.0 && fastest * round as u32 > self.budget {
                break;
            }
            let mut whole = Duration::ZERO;
            for (i, way) in ways.iter_mut().enumerate() {
                let Some(way) = way else { continue };
                let time = way.time(&mut message, calls[i]);
                times[i].push(time.as_nanos() as f64 / f64::from(calls[i]));
                whole += time;
            }
            fastest = fastest.min(whole);
        }
        times
    }
}

/// A speed of wrong results is none. Two calls, as what is kept between them must agree too.
///
/// # Panics
/// Where the ways differ.
fn assert_ways_agree(what: &str, message: &Message, ways: &mut [Option<Way<'_>>; 3]) {
    let outputs = ways.iter_mut().flatten().map(|way| {
        let mut message = Message { data: message.data.clone(), tag: Vec::new() };
        way.0(&mut message, 2);
        (message.data, message.tag)
    });
    let outputs: Vec<_> = outputs.collect();
    assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]), "{what}: the outputs differ");
}
