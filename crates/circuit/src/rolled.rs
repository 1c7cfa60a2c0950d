//! Loops whose bodies repeat themselves under other names, as shorter ones that end with the exchange of names: long
//! bodies do not fit into instruction caches.

use lanecrypt_slicing::record::{Part, Plan, Whole};

/// The wholes of a plan with loops whose bodies have no more than this number of calls, where that can be.
pub(crate) fn rolled(plan: &Plan, calls: usize) -> Vec<Whole> {
    let roll =
        |whole: &Whole| Whole { parts: parts(&whole.parts, calls, plan.planes), ..whole.clone() };
    plan.wholes.iter().map(roll).collect()
}

/// Parts with loops whose bodies have no more than this number of calls, where that can be.
fn parts(all: &[Part], calls: usize, planes: usize) -> Vec<Part> {
    let roll = |part: &Part| match part {
        Part::Repeat { times, body } => match turn(body, calls, planes) {
            None => Part::Repeat { times: *times, body: parts(body, calls, planes) },
            Some(from) => {
                let rename = Part::Rename { from };
                let body_of_calls = body[..calls].iter().cloned().chain([rename]).collect();
                Part::Repeat { times: times * body.len() / calls, body: body_of_calls }
            }
        },
        other => other.clone(),
    };
    all.iter().map(roll).collect()
}

/// The names under which every part of a body is the one that stands this number of calls before it, or, for the
/// first ones, before the end of the body's next pass.
fn turn(body: &[Part], calls: usize, planes: usize) -> Option<Vec<usize>> {
    if calls >= body.len() || !body.len().is_multiple_of(calls) {
        return None;
    }
    let mut names = vec![None; planes];
    for (i, part) in body.iter().enumerate() {
        let (Part::Call { step, on }, Part::Call { step: next, on: next_on }) =
            (part, &body[(i + calls) % body.len()])
        else {
            return None;
        };
        let is_new = |(&plane, &name): (&usize, &usize)| *names[plane].get_or_insert(name) == name;
        if step != next || !on.iter().zip(next_on).all(is_new) {
            return None;
        }
    }
    Some(names.into_iter().enumerate().map(|(plane, name)| name.unwrap_or(plane)).collect())
}
