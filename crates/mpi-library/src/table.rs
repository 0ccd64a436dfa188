//! Things by a small number that is given anew once it is free: what stands behind the handles of programs.

/// A table whose free places are filled first, the lowest last freed first.
#[derive(Debug)]
pub struct HandleTable<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for HandleTable<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> HandleTable<T> {
    /// Sees to it that so many more things have room without its memory moving.
    pub fn reserve(&mut self, more: usize) {
        self.places.reserve(more);
        self.free.reserve(more);
    }

    /// Puts a thing into a free place and returns its number.
    pub fn insert(&mut self, thing: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(thing);
            return place;
        }
        self.places.push(Some(thing));
        self.places.len() as u32 - 1
    }

    /// The thing with this number, if there is one.
    pub fn get(&self, place: u32) -> Option<&T> {
        self.places.get(place as usize)?.as_ref()
    }

    /// The thing with this number, to change it.
    pub fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    /// Takes the thing with this number out.
    pub fn remove(&mut self, place: u32) -> Option<T> {
        let thing = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(thing)
    }

    /// How many things the table holds.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether the table holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All things with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.places
            .iter()
            .enumerate()
            .filter_map(|(place, thing)| Some((place as u32, thing.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::HandleTable;

    #[test]
    fn a_free_place_is_used_again() {
        let mut table = HandleTable::default();
        let (a, b) = (table.insert('a'), table.insert('b'));
        assert_eq!(table.remove(a), Some('a'));
        assert_eq!((table.remove(a), table.get(a), table.len()), (None, None, 1));
        assert_eq!(table.insert('c'), a);
        assert_eq!(
            (table.get(a), table.get(b), table.get(7)),
            (Some(&'c'), Some(&'b'), None)
        );
        assert_eq!(table.iter().map(|(_, thing)| *thing).collect::<String>(), "cb");
    }
}
