//! Datatypes: their constructors and what they tell.

use super::{
    attributes::{copies_of_type, delete_all_of_type},
    communicators::shorten,
    count,
    environment::fitting,
};
use crate::{
    arguments::{Count, In, ResultPlace, TextIn, TextOut},
    datatypes::{
        ArrayOrder, Combiner, Datatype, DistributedArray, Distribution, Recipe,
        named::{NAMED, index_of, named_index},
    },
    faces::{Face, HandleKind},
    fault::{Answer, ErrorClass, fault},
    library::{Library, calls},
};
use std::{ffi::c_int, rc::Rc};

/// The arguments of a constructor as they come: counts are large ones in the forms for them.
#[derive(Default)]
struct GivenArguments {
    integers: Vec<i64>,
    addresses: Vec<i64>,
    counts: Vec<i64>,
}

impl GivenArguments {
    /// Counts of a kind.
    fn count<N: Count>(mut self, values: &[i64]) -> Self {
        if N::LARGE { &mut self.counts } else { &mut self.integers }.extend(values);
        self
    }

    /// Integers in all forms.
    fn integers(mut self, values: impl IntoIterator<Item = c_int>) -> Self {
        self.integers.extend(values.into_iter().map(i64::from));
        self
    }

    /// Addresses: large counts in the forms for them.
    fn addresses<N: Count>(mut self, values: &[i64]) -> Self {
        if N::LARGE {
            &mut self.counts
        } else {
            &mut self.addresses
        }
        .extend(values);
        self
    }

    fn recipe(self, combiner: Combiner, types: Vec<Rc<Datatype>>) -> Recipe {
        Recipe {
            combiner,
            integers: self.integers,
            addresses: self.addresses,
            counts: self.counts,
            types,
        }
    }
}

/// Gives a new datatype to the program.
fn give<F: Face>(library: &Library, datatype: Datatype, to: ResultPlace<F::Handle>) -> Answer {
    to.set(library.keep_datatype::<F>(Rc::new(datatype)))
}

/// Blocks of lengths at displacements; these in extents of the old type, or in bytes.
struct TypeBlocks {
    lengths: Vec<i64>,
    displacements: Vec<i64>,
    in_extents: bool,
}

fn indexed<F: Face>(
    library: &Library,
    blocks: &TypeBlocks,
    old: &Rc<Datatype>,
    recipe: Recipe,
    to: ResultPlace<F::Handle>,
) -> Answer {
    let unit = if blocks.in_extents { old.extent() } else { 1 };
    let far = |displacement: &i64| {
        displacement
            .checked_mul(unit)
            .map_or_else(|| fault(ErrorClass::Arg, "a displacement is too large"), Ok)
    };
    let list = blocks.lengths.iter().copied().zip(blocks.displacements.iter().map(far));
    give::<F>(library, Datatype::indexed(old, list, recipe)?, to)
}

fn order<F: Face>(order: c_int) -> Answer<ArrayOrder> {
    match i64::from(order) {
        number if number == F::C.order_c => Ok(ArrayOrder::C),
        number if number == F::C.order_fortran => Ok(ArrayOrder::Fortran),
        _ => fault(ErrorClass::Arg, format!("{order} is no order of arrays")),
    }
}

fn distribution<F: Face>(kind: c_int, argument: c_int) -> Answer<Distribution> {
    let length = if i64::from(argument) == F::C.distribute_dflt_darg {
        None
    } else {
        Some(i64::from(argument))
    };
    match i64::from(kind) {
        number if number == F::C.distribute_none => Ok(Distribution::None),
        number if number == F::C.distribute_block => Ok(Distribution::Block(length)),
        number if number == F::C.distribute_cyclic => Ok(Distribution::Cyclic(length)),
        _ => fault(ErrorClass::Arg, format!("{kind} is no distribution")),
    }
}

/// A combiner as the program reads it.
fn combiner<F: Face>(combiner: Combiner) -> c_int {
    let c = &F::C;
    (match combiner {
        Combiner::Named => c.combiner_named,
        Combiner::Dup => c.combiner_dup,
        Combiner::Contiguous => c.combiner_contiguous,
        Combiner::Vector => c.combiner_vector,
        Combiner::Hvector => c.combiner_hvector,
        Combiner::Indexed => c.combiner_indexed,
        Combiner::Hindexed => c.combiner_hindexed,
        Combiner::IndexedBlock => c.combiner_indexed_block,
        Combiner::HindexedBlock => c.combiner_hindexed_block,
        Combiner::Struct => c.combiner_struct,
        Combiner::Subarray => c.combiner_subarray,
        Combiner::Darray => c.combiner_darray,
        Combiner::Resized => c.combiner_resized,
        Combiner::F90Real => c.combiner_f90_real,
        Combiner::F90Complex => c.combiner_f90_complex,
        Combiner::F90Integer => c.combiner_f90_integer,
    }) as c_int
}

/// The handle of a datatype in a recipe: that of the standard, or a new one of the program's.
fn handle_of<F: Face>(library: &Library, of: &Rc<Datatype>) -> F::Handle {
    match of.named {
        Some(index) if of.is_named() => library.datatype_handle::<F>(index),
        _ => library.keep_datatype::<F>(of.clone()),
    }
}

/// A number that a function has no place for is told as undefined.
fn or_undefined<F: Face, N: Count>(to: ResultPlace<N>, value: i64) -> Answer {
    let undefined = fitting::<N>(F::C.undefined)?;
    to.set(N::fit(value).unwrap_or(undefined))
}

/// Datatypes of Fortran with a precision: named ones that remember what was asked for.
fn of_precision<F: Face>(
    library: &Library,
    name: u32,
    given: GivenArguments,
    combiner: Combiner,
    to: ResultPlace<F::Handle>,
) -> Answer {
    let same = |of: &Datatype| of.recipe.combiner == combiner && of.recipe.integers == given.integers;
    if let Some(index) = library.find_type(same) {
        return to.set(library.datatype_handle::<F>(index));
    }
    let datatype = Datatype::of_name(name).copy(given.recipe(combiner, vec![]));
    datatype.committed.set(true);
    give::<F>(library, datatype, to)
}

/// Which real number has that many digits and that exponent.
fn real(digits: c_int, range: c_int, undefined: i64) -> Answer<bool> {
    let given = |value: c_int| i64::from(value) != undefined;
    if !given(digits) && !given(range) {
        return fault(ErrorClass::Arg, "neither digits nor a range");
    }
    if given(digits) && digits > 15 || given(range) && range > 307 {
        return fault(
            ErrorClass::Arg,
            format!("no number has {digits} digits and a range of {range}"),
        );
    }
    Ok(given(digits) && digits > 6 || given(range) && range > 37)
}

fn extent<F: Face, N: Count>(
    library: &Library,
    datatype: F::Handle,
    to: (ResultPlace<N>, ResultPlace<N>),
    is_true: bool,
) -> Answer {
    let of = library.datatype::<F>(datatype)?;
    let (lower, upper) = if is_true {
        (of.true_lower, of.true_upper)
    } else {
        (of.lower, of.upper)
    };
    to.0.set(fitting::<N>(lower)?)?;
    to.1.set(fitting::<N>(upper - lower)?)
}

/// Fills what fits of a list; refuses if there is too little room.
fn all<T: Copy>(to: ResultPlace<T>, room: i64, values: impl ExactSizeIterator<Item = T>) -> Answer {
    if room < values.len() as i64 {
        return fault(ErrorClass::Arg, format!("room for {room} of {} values", values.len()));
    }
    values
        .enumerate()
        .try_for_each(|(place, value)| to.set_at(place, value))
}

/// Refuses to tell how a datatype of the standard is made.
fn made<F: Face>(library: &Library, datatype: F::Handle) -> Answer<Rc<Datatype>> {
    let of = library.datatype::<F>(datatype)?;
    if of.is_named() {
        return fault(ErrorClass::Type, "a datatype of the standard has no contents");
    }
    Ok(of)
}

calls! {
    /// Elements next to each other.
    type_contiguous<N> = "MPI_Type_contiguous"(count: N, old: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let old = library.datatype::<F>(old)?;
        let recipe = GivenArguments::default().count::<N>(&[count.get()]).recipe(Combiner::Contiguous, vec![old.clone()]);
        give::<F>(library, Datatype::contiguous(&old, super::count(count.get())?, recipe)?, new)
    };

    /// Blocks with a stride in extents.
    type_vector<N> = "MPI_Type_vector"(count: N, length: N, stride: N, old: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let old = library.datatype::<F>(old)?;
        let [blocks, length, stride] = [count, length, stride].map(N::get);
        let recipe = GivenArguments::default().count::<N>(&[blocks, length, stride]).recipe(Combiner::Vector, vec![old.clone()]);
        super::count(blocks)?;
        let Some(bytes) = stride.checked_mul(old.extent()) else {
            return fault(ErrorClass::Arg, "the stride is too large");
        };
        give::<F>(library, Datatype::vector(&old, (blocks, length), bytes, recipe)?, new)
    };

    /// Blocks with a stride in bytes.
    type_create_hvector<N> = "MPI_Type_create_hvector"(count: N, length: N, stride: i64, old: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let old = library.datatype::<F>(old)?;
        let given = GivenArguments::default().count::<N>(&[count.get(), length.get()]).addresses::<N>(&[stride]);
        super::count(count.get())?;
        let recipe = given.recipe(Combiner::Hvector, vec![old.clone()]);
        give::<F>(library, Datatype::vector(&old, (count.get(), length.get()), stride, recipe)?, new)
    };

    /// Blocks at displacements in extents.
    type_indexed<N> = "MPI_Type_indexed"(blocks: N, lengths: In<N>, displacements: In<N>, old: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let old = library.datatype::<F>(old)?;
        let number = count(blocks.get())?;
        let (lengths, displacements) = (lengths.wide(number)?, displacements.wide(number)?);
        let given = GivenArguments::default().count::<N>(&[number]).count::<N>(&lengths).count::<N>(&displacements);
        let recipe = given.recipe(Combiner::Indexed, vec![old.clone()]);
        indexed::<F>(library, &TypeBlocks { lengths, displacements, in_extents: true }, &old, recipe, new)
    };

    /// Blocks at displacements in bytes.
    type_create_hindexed<N> = "MPI_Type_create_hindexed"(
        blocks: N, lengths: In<N>, displacements: In<i64>, old: F::Handle, new: ResultPlace<F::Handle>,
    ) |library| {
        let old = library.datatype::<F>(old)?;
        let number = count(blocks.get())?;
        let (lengths, displacements) = (lengths.wide(number)?, displacements.wide(number)?);
        let given = GivenArguments::default().count::<N>(&[number]).count::<N>(&lengths).addresses::<N>(&displacements);
        let recipe = given.recipe(Combiner::Hindexed, vec![old.clone()]);
        indexed::<F>(library, &TypeBlocks { lengths, displacements, in_extents: false }, &old, recipe, new)
    };

    /// Blocks of one length at displacements in extents.
    type_create_indexed_block<N> = "MPI_Type_create_indexed_block"(
        blocks: N, length: N, displacements: In<N>, old: F::Handle, new: ResultPlace<F::Handle>,
    ) |library| {
        let old = library.datatype::<F>(old)?;
        let number = count(blocks.get())?;
        let displacements = displacements.wide(number)?;
        let given = GivenArguments::default().count::<N>(&[number, length.get()]).count::<N>(&displacements);
        let recipe = given.recipe(Combiner::IndexedBlock, vec![old.clone()]);
        let lengths = vec![length.get(); displacements.len()];
        indexed::<F>(library, &TypeBlocks { lengths, displacements, in_extents: true }, &old, recipe, new)
    };

    /// Blocks of one length at displacements in bytes.
    type_create_hindexed_block<N> = "MPI_Type_create_hindexed_block"(
        blocks: N, length: N, displacements: In<i64>, old: F::Handle, new: ResultPlace<F::Handle>,
    ) |library| {
        let old = library.datatype::<F>(old)?;
        let number = count(blocks.get())?;
        let displacements = displacements.wide(number)?;
        let given = GivenArguments::default().count::<N>(&[number, length.get()]).addresses::<N>(&displacements);
        let recipe = given.recipe(Combiner::HindexedBlock, vec![old.clone()]);
        let lengths = vec![length.get(); displacements.len()];
        indexed::<F>(library, &TypeBlocks { lengths, displacements, in_extents: false }, &old, recipe, new)
    };

    /// Blocks of different types at displacements in bytes.
    type_create_struct<N> = "MPI_Type_create_struct"(
        blocks: N, lengths: In<N>, displacements: In<i64>, types: In<F::Handle>, new: ResultPlace<F::Handle>,
    ) |library| {
        let number = count(blocks.get())?;
        let (lengths, displacements) = (lengths.wide(number)?, displacements.wide(number)?);
        let types = types.list(number)?.into_iter().map(|old| library.datatype::<F>(old)).collect::<Answer<Vec<_>>>()?;
        let given = GivenArguments::default().count::<N>(&[number]).count::<N>(&lengths).addresses::<N>(&displacements);
        let blocks: Vec<_> = lengths.into_iter().zip(displacements).zip(&types).map(|((a, b), of)| (a, b, of.clone())).collect();
        give::<F>(library, Datatype::structure(&blocks, given.recipe(Combiner::Struct, types))?, new)
    };

    /// A block of an array.
    type_create_subarray<N> = "MPI_Type_create_subarray"(
        dimensions: c_int, sizes: In<N>, subsizes: In<N>, starts: In<N>, array_order: c_int, old: F::Handle, new: ResultPlace<F::Handle>,
    ) |library| {
        let old = library.datatype::<F>(old)?;
        let number = count(dimensions.into())?;
        let [sizes, subsizes, starts] = [sizes.wide(number)?, subsizes.wide(number)?, starts.wide(number)?];
        let given = GivenArguments::default().integers([dimensions]).count::<N>(&sizes).count::<N>(&subsizes).count::<N>(&starts);
        let recipe = given.integers([array_order]).recipe(Combiner::Subarray, vec![old.clone()]);
        give::<F>(library, Datatype::subarray(&old, &sizes, (&subsizes, &starts), order::<F>(array_order)?, recipe)?, new)
    };

    /// What one process holds of an array.
    type_create_darray<N> = "MPI_Type_create_darray"(
        processes: c_int, rank: c_int, dimensions: c_int, sizes: In<N>, distributions: In<c_int>, arguments: In<c_int>,
        grid: In<c_int>, array_order: c_int, old: F::Handle, new: ResultPlace<F::Handle>,
    ) |library| {
        let old = library.datatype::<F>(old)?;
        let number = count(dimensions.into())?;
        let sizes = sizes.wide(number)?;
        let [kinds, arguments, grid] = [distributions.list(number)?, arguments.list(number)?, grid.list(number)?];
        let given = GivenArguments::default().integers([processes, rank, dimensions]).count::<N>(&sizes);
        let given = given.integers(kinds.iter().chain(&arguments).chain(&grid).copied()).integers([array_order]);
        let distributions = kinds.iter().zip(&arguments).map(|(kind, argument)| distribution::<F>(*kind, *argument));
        let array = DistributedArray {
            processes: processes.into(),
            rank: rank.into(),
            sizes: &sizes,
            distributions: &distributions.collect::<Answer<Vec<_>>>()?,
            grid: &grid.iter().map(|processes| i64::from(*processes)).collect::<Vec<_>>(),
            order: order::<F>(array_order)?,
        };
        give::<F>(library, Datatype::distributed(&old, &array, given.recipe(Combiner::Darray, vec![old.clone()]))?, new)
    };

    /// The same data between other bounds.
    type_create_resized = "MPI_Type_create_resized"(old: F::Handle, lower: i64, extent: i64, new: ResultPlace<F::Handle>) |library| {
        let old = library.datatype::<F>(old)?;
        let recipe = GivenArguments { addresses: vec![lower, extent], ..GivenArguments::default() }.recipe(Combiner::Resized, vec![old.clone()]);
        give::<F>(library, Datatype::resized(&old, lower, extent, recipe)?, new)
    };

    /// The same in the form with large counts.
    type_create_resized_c = "MPI_Type_create_resized_c"(old: F::Handle, lower: i64, extent: i64, new: ResultPlace<F::Handle>) |library| {
        let old = library.datatype::<F>(old)?;
        let recipe = GivenArguments { counts: vec![lower, extent], ..GivenArguments::default() }.recipe(Combiner::Resized, vec![old.clone()]);
        give::<F>(library, Datatype::resized(&old, lower, extent, recipe)?, new)
    };

    /// A duplicate.
    type_dup = "MPI_Type_dup"(old: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let of = library.datatype::<F>(old)?;
        let attributes = copies_of_type::<F>(library, &of, old)?;
        let datatype = of.copy(GivenArguments::default().recipe(Combiner::Dup, vec![of.clone()]));
        *datatype.attributes.borrow_mut() = attributes;
        give::<F>(library, datatype, new)
    };

    /// A real number of Fortran.
    type_create_f90_real = "MPI_Type_create_f90_real"(digits: c_int, range: c_int, new: ResultPlace<F::Handle>) |library| {
        let double = real(digits, range, F::C.undefined)?;
        let name = index_of(|c| if double { c.real8 } else { c.real4 });
        of_precision::<F>(library, name, GivenArguments::default().integers([digits, range]), Combiner::F90Real, new)
    };

    /// A complex number of Fortran.
    type_create_f90_complex = "MPI_Type_create_f90_complex"(digits: c_int, range: c_int, new: ResultPlace<F::Handle>) |library| {
        let double = real(digits, range, F::C.undefined)?;
        let name = index_of(|c| if double { c.complex16 } else { c.complex8 });
        of_precision::<F>(library, name, GivenArguments::default().integers([digits, range]), Combiner::F90Complex, new)
    };

    /// An integer of Fortran.
    type_create_f90_integer = "MPI_Type_create_f90_integer"(range: c_int, new: ResultPlace<F::Handle>) |library| {
        let name = match range {
            ..=2 => index_of(|c| c.integer1),
            3..=4 => index_of(|c| c.integer2),
            5..=9 => index_of(|c| c.integer4),
            10..=18 => index_of(|c| c.integer8),
            _ => return fault(ErrorClass::Arg, format!("no integer has a range of {range}")),
        };
        of_precision::<F>(library, name, GivenArguments::default().integers([range]), Combiner::F90Integer, new)
    };

    /// The datatype of a class with a size.
    type_match_size = "MPI_Type_match_size"(class: c_int, size: c_int, datatype: ResultPlace<F::Handle>) |library| {
        let class = i64::from(class);
        let content = [F::C.typeclass_integer, F::C.typeclass_real, F::C.typeclass_complex].iter().position(|known| *known == class);
        let fits = |prefix: &str| {
            NAMED.iter().position(|row| row.name.strip_prefix(prefix).is_some_and(|rest| rest.parse() == Ok(size)) && row.size as c_int == size)
        };
        let found = match content {
            Some(0) => fits("MPI_INTEGER"),
            Some(1) => fits("MPI_REAL"),
            Some(2) => fits("MPI_COMPLEX"),
            _ => return fault(ErrorClass::Arg, format!("{class} is no class of datatypes")),
        };
        match found {
            Some(index) => datatype.set(library.datatype_handle::<F>(index as u32)),
            None => fault(ErrorClass::Arg, format!("no datatype of that class has {size} bytes")),
        }
    };

    /// The pair of a value and an index.
    type_get_value_index = "MPI_Type_get_value_index"(value: F::Handle, index: F::Handle, pair: ResultPlace<F::Handle>) |library| {
        let (value, index) = (library.datatype::<F>(value)?, library.datatype::<F>(index)?);
        let names = |of: &Datatype| of.named.filter(|_| of.is_named()).map(|index| NAMED[index as usize].name);
        let found = match (names(&value), names(&index)) {
            (Some("MPI_FLOAT"), Some("MPI_INT")) => F::C.float_int,
            (Some("MPI_DOUBLE"), Some("MPI_INT")) => F::C.double_int,
            (Some("MPI_LONG"), Some("MPI_INT")) => F::C.long_int,
            (Some("MPI_SHORT"), Some("MPI_INT")) => F::C.short_int,
            (Some("MPI_INT"), Some("MPI_INT")) => F::C.two_int,
            (Some("MPI_LONG_DOUBLE"), Some("MPI_INT")) => F::C.long_double_int,
            (Some("MPI_REAL"), Some("MPI_REAL")) => F::C.two_real,
            (Some("MPI_DOUBLE_PRECISION"), Some("MPI_DOUBLE_PRECISION")) => F::C.two_double_precision,
            (Some("MPI_INTEGER"), Some("MPI_INTEGER")) => F::C.two_integer,
            _ => F::C.datatype_null,
        };
        pair.set(F::handle(found))
    };

    /// Makes a datatype fit for messages.
    type_commit = "MPI_Type_commit"(datatype: ResultPlace<F::Handle>) |library| {
        library.datatype::<F>(datatype.get()?)?.committed.set(true);
        Ok(())
    };

    /// Frees a datatype.
    type_free = "MPI_Type_free"(datatype: ResultPlace<F::Handle>) |library| {
        let handle = datatype.get()?;
        let of = library.datatype::<F>(handle)?;
        let index = F::index(HandleKind::Datatype, F::number(handle)).filter(|_| named_index::<F>(F::number(handle)).is_none());
        let remembered = matches!(of.recipe.combiner, Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer);
        let Some(index) = index.filter(|_| !remembered) else {
            return fault(ErrorClass::Type, "a datatype of the standard cannot be freed");
        };
        delete_all_of_type::<F>(library, &of, handle)?;
        library.remove_type(index);
        datatype.set(F::handle(F::C.datatype_null))
    };

    /// Bytes of data.
    type_size<N> = "MPI_Type_size"(datatype: F::Handle, size: ResultPlace<N>) |library| {
        or_undefined::<F, N>(size, library.datatype::<F>(datatype)?.size)
    };

    /// Lower bound and extent.
    type_get_extent<N> = "MPI_Type_get_extent"(datatype: F::Handle, lower: ResultPlace<N>, to: ResultPlace<N>) |library| {
        extent::<F, N>(library, datatype, (lower, to), false)
    };

    /// Where data begin, and from there to where they end.
    type_get_true_extent<N> = "MPI_Type_get_true_extent"(datatype: F::Handle, lower: ResultPlace<N>, to: ResultPlace<N>) |library| {
        extent::<F, N>(library, datatype, (lower, to), true)
    };

    /// The extent, by the name that MPI-1 gave it.
    type_extent = "MPI_Type_extent"(datatype: F::Handle, extent: ResultPlace<i64>) |library| extent.set(library.datatype::<F>(datatype)?.extent());

    /// The lower bound, likewise.
    type_lb = "MPI_Type_lb"(datatype: F::Handle, bound: ResultPlace<i64>) |library| bound.set(library.datatype::<F>(datatype)?.lower);

    /// The upper bound, likewise.
    type_ub = "MPI_Type_ub"(datatype: F::Handle, bound: ResultPlace<i64>) |library| bound.set(library.datatype::<F>(datatype)?.upper);

    /// Names a datatype.
    type_set_name = "MPI_Type_set_name"(datatype: F::Handle, name: TextIn) |library| {
        let mut name = name.get()?;
        shorten(&mut name, F::C.max_object_name);
        *library.datatype::<F>(datatype)?.name.borrow_mut() = name;
        Ok(())
    };

    /// The name of a datatype.
    type_get_name = "MPI_Type_get_name"(datatype: F::Handle, name: TextOut, length: ResultPlace<c_int>) |library| {
        // That of no datatype is empty, as tools ask.
        if F::number(datatype) == F::C.datatype_null {
            return length.set(name.set("MPI_DATATYPE_NULL", F::C.max_object_name)?);
        }
        let of = library.datatype::<F>(datatype)?;
        length.set(name.set(&of.name.borrow(), F::C.max_object_name)?)
    };

    /// How a datatype was made: how many arguments there were.
    type_get_envelope = "MPI_Type_get_envelope"(
        datatype: F::Handle, integers: ResultPlace<c_int>, addresses: ResultPlace<c_int>, types: ResultPlace<c_int>, kind: ResultPlace<c_int>,
    ) |library| {
        let of = library.datatype::<F>(datatype)?;
        if !of.recipe.counts.is_empty() {
            return fault(ErrorClass::Type, "the datatype was made with large counts: ask MPI_Type_get_envelope_c");
        }
        integers.set(of.recipe.integers.len() as c_int)?;
        addresses.set(of.recipe.addresses.len() as c_int)?;
        types.set(of.recipe.types.len() as c_int)?;
        kind.set(combiner::<F>(of.recipe.combiner))
    };

    /// The same with large counts.
    type_get_envelope_c = "MPI_Type_get_envelope_c"(
        datatype: F::Handle, integers: ResultPlace<i64>, addresses: ResultPlace<i64>, counts: ResultPlace<i64>, types: ResultPlace<i64>, kind: ResultPlace<c_int>,
    ) |library| {
        let of = library.datatype::<F>(datatype)?;
        integers.set(of.recipe.integers.len() as i64)?;
        addresses.set(of.recipe.addresses.len() as i64)?;
        counts.set(of.recipe.counts.len() as i64)?;
        types.set(of.recipe.types.len() as i64)?;
        kind.set(combiner::<F>(of.recipe.combiner))
    };

    /// How a datatype was made: the arguments.
    type_get_contents = "MPI_Type_get_contents"(
        datatype: F::Handle, most_integers: c_int, most_addresses: c_int, most_types: c_int,
        integers: ResultPlace<c_int>, addresses: ResultPlace<i64>, types: ResultPlace<F::Handle>,
    ) |library| {
        let of = made::<F>(library, datatype)?;
        if !of.recipe.counts.is_empty() {
            return fault(ErrorClass::Type, "the datatype was made with large counts: ask MPI_Type_get_contents_c");
        }
        all(integers, most_integers.into(), of.recipe.integers.iter().map(|value| *value as c_int))?;
        all(addresses, most_addresses.into(), of.recipe.addresses.iter().copied())?;
        all(types, most_types.into(), of.recipe.types.iter().map(|old| handle_of::<F>(library, old)))
    };

    /// The same with large counts.
    type_get_contents_c = "MPI_Type_get_contents_c"(
        datatype: F::Handle, most_integers: i64, most_addresses: i64, most_counts: i64, most_types: i64,
        integers: ResultPlace<c_int>, addresses: ResultPlace<i64>, counts: ResultPlace<i64>, types: ResultPlace<F::Handle>,
    ) |library| {
        let of = made::<F>(library, datatype)?;
        all(integers, most_integers, of.recipe.integers.iter().map(|value| *value as c_int))?;
        all(addresses, most_addresses, of.recipe.addresses.iter().copied())?;
        all(counts, most_counts, of.recipe.counts.iter().copied())?;
        all(types, most_types, of.recipe.types.iter().map(|old| handle_of::<F>(library, old)))
    };
}
