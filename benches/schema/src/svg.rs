//! What all pictures have in common: ground, title and description, texts, boxes and keys. How they look, in light
//! and in dark, `svg.css` says.

use maud::{Markup, PreEscaped, Render, html};

/// How lines, boxes and texts look, in files and on pages.
pub const STYLE: &str = include_str!("svg.css");

/// The look of our default type, in every picture.
pub const OURS: usize = 0;
/// The look of the crate that it replaces.
pub const REPLACED: usize = 1;
/// The look of a GPU beside a CPU.
pub const GPU: usize = 2;

/// The text of a file, with what those hear who do not see it. Places are from the left, and from `top` on down.
#[must_use]
pub fn file(
    (title, describe): (&str, &str),
    top: f64,
    (width, height): (f64, f64),
    content: &Markup,
) -> String {
    let content = html! {
        title { (title) }
        @if !describe.is_empty() { desc { (describe) } }
        style { (PreEscaped(STYLE)) }
        rect class="ground" x="0.5" y=(top + 0.5) width=(width - 1.0) height=(height - 1.0) rx="6" {}
        (content)
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 {top} {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">{}</svg>\n",
        content.into_string()
    )
}

/// A text that begins, ends or has its middle at a place, as its class says.
pub fn text(class: &str, (x, y): (f64, f64), text: impl Render) -> Markup {
    html! { text class=(class) x=(px(x)) y=(px(y)) { (text) } }
}

/// A box without an edge.
#[must_use]
pub fn bar(class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) -> Markup {
    html! { rect class=(class) x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) {} }
}

/// A box with an edge, and in its middle a text.
pub fn cell(class: &str, at: (f64, f64), size: (f64, f64), content: impl Render) -> Markup {
    html! {
        (bar(&format!("cell {class}"), at, size))
        (text("code", (at.0 + size.0 / 2.0, at.1 + 22.0), content))
    }
}

/// What a colour means.
#[must_use]
pub fn key(class: &str, (x, y): (f64, f64), name: &str) -> Markup {
    html! { (bar(class, (x, y), (14.0, 14.0))) (text("label", (x + 20.0, y + 12.0), name)) }
}

/// A place, to a tenth of a unit.
#[must_use]
pub fn px(place: f64) -> String {
    format!("{place:.1}").trim_end_matches(".0").to_owned()
}
