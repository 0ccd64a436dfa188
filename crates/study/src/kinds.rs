//! Kinds: what a study chooses by name and a run holds as one value, each with keys of its own. A kind is a file and a line of a list.

use crate::Entry;

/// Something with a name in studies.
pub trait Described {
    /// Its name, line, keys, source and limits.
    const ENTRY: Entry;
}

/// Declares an enum of kinds from a list of them, a line each: the variant with its fields. Every kind becomes a struct of the same name
/// and fields, which is [`Described`] and what else is `asked` of the kinds of this enum: a trait with a function `read`, whose argument is
/// of the type in brackets.
///
/// The enum has `ENTRIES`, in the order of the list; `read`, which finds the kind by its name; and `kind`, the trait's object that
/// answers for a value.
///
/// Routings have a list of their own (`routings!` in the crate `fabric`), on purpose: a kind here is one value, asked before a run through an
/// object, while a routing is two, what a study holds and what is made of it for a run, and the second is asked for every packet without a
/// call by pointer.
#[macro_export]
macro_rules! kinds {
    ($(#[$about:meta])* pub enum $name:ident: $asked:ident($from:ty) {
        $(
            $(#[$own:meta])*
            $variant:ident $({ $($(#[$meaning:meta])* $field:ident: $type:ty),+ })? $(($inner:ident: $inner_type:ty))?;
        )+
    }) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$own])* $variant $({ $($(#[$meaning])* $field: $type),+ })? $(($inner_type))?,)+
        }

        $(
            $(#[$own])*
            pub(crate) struct $variant {
                $($($(#[$meaning])* pub(crate) $field: $type),+)?
                $(pub(crate) $inner: $inner_type)?
            }
        )+

        impl $name {
            /// What studies may say of each, in the order of the documentation.
            pub const ENTRIES: &'static [$crate::Entry] = &[$(<$variant as $crate::Described>::ENTRY),+];

            /// The kind of this name with the values of its keys; `None` after errors.
            pub fn read(name: &str, from: $from) -> Option<$name> {
                $(
                    if name == <$variant as $crate::Described>::ENTRY.name {
                        let $variant { $($($field),+)? $($inner)? } = <$variant as $asked>::read(from)?;
                        return Some($name::$variant $({ $($field),+ })? $(($inner))?);
                    }
                )+
                unreachable!("{name:?} is in the registry and not in the list of kinds")
            }

            /// What answers for it.
            pub fn kind(&self) -> Box<dyn $asked> {
                match self {
                    $(
                        $name::$variant $({ $($field),+ })? $(($inner))? => Box::new($variant {
                            $($($field: Clone::clone($field)),+)?
                            $($inner: Clone::clone($inner))?
                        }),
                    )+
                }
            }
        }
    };
}
