//! An SBOM in `CycloneDX` 1.6 (ECMA-424): what something is made of, for programs that compare it with lists of faults.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use spdx::{Expression, ParseMode};

use super::shipped::{Key, Part, Parts, Product};
use crate::kernels::host::hex;

/// The bill of a product at a time, as ISO 8601 writes it. The same parts at the same time give the same bytes.
pub(super) fn bill(product: &Product, parts: &Parts, time: &str) -> Result<Value> {
    let of_product = |key: &&Key| key.0 == product.package;
    let root = parts.keys().find(of_product).context("a product is a part of itself")?;
    let mut itself = component(root, &parts[root])?;
    itself["type"] = json!(product.kind);
    itself["name"] = json!(product.name);
    let others = parts.iter().filter(|(key, _)| *key != root);
    let components: Vec<_> =
        others.map(|(key, part)| component(key, part)).collect::<Result<_>>()?;
    let needs = parts.iter().map(|(key, part)| {
        let needs: Vec<_> = part.needs.iter().map(reference).collect();
        json!({ "ref": reference(key), "dependsOn": needs })
    });
    let tool = json!({ "type": "application", "name": "cargo xtask release" });
    let mut bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "lifecycles": [{ "phase": "build" }],
            "tools": { "components": [tool] },
            "component": itself,
        },
        "components": components,
        "dependencies": needs.collect::<Vec<_>>(),
    });
    bill["serialNumber"] = json!(serial_number(&bill));
    Ok(bill)
}

/// One package. What only builds is excluded from what runs.
fn component(key: &Key, part: &Part) -> Result<Value> {
    let (name, version) = key;
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(key),
        "name": name,
        "version": version,
        "scope": if part.is_linked { "required" } else { "excluded" },
        "licenses": [{ "expression": expression(part).with_context(|| reference(key))? }],
    });
    if part.package["publish"].is_null() {
        component["purl"] = json!(reference(key));
    }
    if let Some(sum) = &part.archive {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    if !part.text("repository").is_empty() {
        let repository = part.text("repository");
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    Ok(component)
}

/// The licence, if it is one that SPDX knows.
fn expression(part: &Part) -> Result<String> {
    let licence = part.licence();
    Expression::parse_mode(&licence, ParseMode::STRICT)?;
    Ok(licence)
}

/// A package as other programs name it.
fn reference((name, version): &Key) -> String {
    // A `+` is written so in addresses.
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// A UUID of version 8 (RFC 9562), made of the digest of the bill: random ones would be others in each build.
fn serial_number(bill: &Value) -> String {
    let mut digest = Sha256::digest(bill.to_string().as_bytes());
    digest[6] = digest[6] & 0x0f | 0x80;
    digest[8] = digest[8] & 0x3f | 0x80;
    let text = hex(&digest[..16]);
    let cuts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|cut| &text[cut]);
    format!("urn:uuid:{}", cuts.join("-"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{
        super::shipped::tests::{name, parts},
        *,
    };

    const PROGRAM: Product = Product { name: "a.so", package: "program", kind: "library" };
    const TIME: &str = "2026-11-27T00:00:00Z";

    #[test]
    fn a_bill_has_parts_sums_and_who_needs_whom() {
        let bill = bill(&PROGRAM, &parts(Path::new("/r")), TIME).expect("a bill");
        assert_eq!(bill["metadata"]["component"]["name"], "a.so");
        assert_eq!(bill["metadata"]["timestamp"], TIME);
        let components = bill["components"].as_array().expect("a list");
        let found = |name: &str| components.iter().find(|component| component["name"] == name);
        let (hash, derive) = (found("hash").expect("linked"), found("derive").expect("builds"));
        assert!(found("program").is_none() && found("judge").is_none());
        assert_eq!((&hash["scope"], &derive["scope"]), (&json!("required"), &json!("excluded")));
        assert_eq!(hash["hashes"][0]["content"], "ab".repeat(32));
        assert_eq!(hash["licenses"], json!([{ "expression": "MIT OR Apache-2.0" }]));
        let needs = bill["dependencies"].as_array().expect("a list");
        let of_program =
            json!({ "ref": reference(&name("program")), "dependsOn": ["pkg:cargo/hash@1.0.0"] });
        assert!(needs.contains(&of_program), "{needs:?}");
    }

    #[test]
    fn the_number_is_that_of_the_contents() {
        let number = |time: &str| {
            let bill = bill(&PROGRAM, &parts(Path::new("/r")), time).expect("a bill");
            bill["serialNumber"].as_str().expect("text").to_owned()
        };
        assert_eq!(number(TIME), number(TIME));
        assert_ne!(number(TIME), number("2026-11-28T00:00:00Z"));
        let number = number(TIME);
        assert!(number.len() == 45 && number[22..].starts_with("-8"), "{number}");
        assert_eq!(reference(&("a".to_owned(), "1.0.0+b".to_owned())), "pkg:cargo/a@1.0.0%2Bb");
    }

    #[test]
    fn a_licence_that_nobody_knows_is_refused() {
        let mut parts = parts(Path::new("/r"));
        for part in parts.values_mut() {
            part.package["license"] = json!("Mine");
        }
        let error = bill(&PROGRAM, &parts, TIME).expect_err("it is no licence");
        assert!(format!("{error:#}").contains("pkg:cargo/"), "{error:#}");
    }
}
