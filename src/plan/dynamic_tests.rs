//! What columns whose cells have types of their own are compared as.

use super::{casts::cast_side, pair_types};
use crate::model::{CanonicalType as C, Conversion, LogicalType as L};

fn dynamic(hint: L) -> L {
    L::Dynamic(Box::new(hint))
}

fn hints() -> [L; 5] {
    [L::Integer { bits: 64, signed: true }, L::Decimal { declared: None }, L::Float { bits: 64 }, L::Text, L::Binary]
}

/// What each hint, in the order of [`hints`], is compared as beside `partner`; `None` is a refusal.
#[track_caller]
fn check(partner: &L, expected: [Option<C>; 5]) {
    for (hint, expected) in hints().into_iter().zip(expected) {
        let column = dynamic(hint);
        let found = pair_types(&column, partner);
        assert_eq!(found.clone().ok(), expected, "{column:?} and {partner:?}");
        assert_eq!(pair_types(partner, &column), found, "{partner:?} and {column:?}");
        if let Err(refusal) = found {
            assert!(refusal.hint.is_some(), "{column:?} and {partner:?}");
        }
    }
}

fn all(canonical: &C) -> [Option<C>; 5] {
    [0; 5].map(|_| Some(canonical.clone()))
}

#[test]
fn the_partner_decides() {
    for partner in [L::Text, L::Char, L::Enum, L::Xml] {
        check(&partner, all(&C::Text));
    }
    check(&L::Integer { bits: 32, signed: true }, all(&C::Number));
    check(&L::Decimal { declared: Some((12, 0)) }, all(&C::Number));
    check(&L::Float { bits: 32 }, all(&C::Float));
    check(&L::Binary, all(&C::Binary));
    check(&L::Boolean, [Some(C::Number), Some(C::Number), None, None, None]);
    for partner in [L::Untyped, L::Null] {
        check(&partner, [Some(C::Number), Some(C::Number), Some(C::Float), Some(C::Text), Some(C::Binary)]);
    }
    for partner in [L::Date, L::Timestamp { digits: 6 }, L::Uuid, L::Json, L::List(Box::new(L::Text))] {
        check(&partner, [None, None, None, None, None]);
    }
}

#[test]
fn floats_are_no_decimals() {
    for declared in [None, Some((12, 2))] {
        let partner = L::Decimal { declared };
        check(&partner, [Some(C::Number), Some(C::Number), None, Some(C::Number), Some(C::Number)]);
        let hint = pair_types(&dynamic(L::Float { bits: 64 }), &partner).err().and_then(|refusal| refusal.hint);
        assert!(hint.is_some_and(|hint| hint.contains("--cast COLUMN=number")));
    }
}

#[test]
fn two_dynamic_columns_take_the_wider_hint() {
    let expected = [C::Number, C::Number, C::Float, C::Text, C::Binary];
    for (place, one) in hints().into_iter().enumerate() {
        for (other_place, other) in hints().into_iter().enumerate() {
            let found = pair_types(&dynamic(one.clone()), &dynamic(other)).ok();
            assert_eq!(found.as_ref(), Some(&expected[place.min(other_place)]));
        }
    }
}

#[test]
fn refusals_name_the_cast() {
    for (partner, cast) in [(L::Date, "date"), (L::Uuid, "uuid"), (L::Instant { digits: 6 }, "timestamptz")] {
        let hint = pair_types(&dynamic(L::Text), &partner).err().and_then(|refusal| refusal.hint);
        assert!(hint.is_some_and(|hint| hint.contains(&format!("--cast COLUMN={cast}"))), "{partner:?}");
    }
    for target in [C::Number, C::Float, C::Boolean, C::Date, C::Uuid, C::Json, C::Binary] {
        for hint in hints() {
            assert_eq!(cast_side(&dynamic(hint), &target).map(|cast| cast.conversion), Ok(Conversion::Parse));
        }
    }
    assert_eq!(cast_side(&dynamic(L::Text), &C::Text).map(|cast| cast.conversion), Ok(Conversion::Render));
}
