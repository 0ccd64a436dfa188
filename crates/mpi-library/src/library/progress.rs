//! Waiting for requests, and looking at them.

pub use super::network::{WantedTrap, fault_of};

use super::{
    Library,
    requests::{EndedRequest, Finish, LibraryRequest, RequestKind},
};
use crate::{communicators::Comm, fault::Answer};
use coupling::{
    RankEntry,
    entry::{NO_PAYLOAD, kind},
};
use std::{cell::RefCell, rc::Rc};

impl Library {
    /// How a request ended, if it has. Of a persistent one that is not started: as one that received nothing.
    #[unsafe(link_section = ".text.hot")]
    pub fn ended(&self, request: &LibraryRequest) -> Answer<Option<EndedRequest>> {
        match &request.kind {
            RequestKind::Persistent { active, .. } => match active.get() {
                None => Ok(Some(EndedRequest::EMPTY)),
                Some(inner) => self.ended(&*self.request(inner)?),
            },
            RequestKind::Several {
                parts,
                status_of,
                finish,
            } if request.ended.get().is_none() => {
                let mut whole = EndedRequest::EMPTY;
                for (place, part) in parts.borrow().iter().enumerate() {
                    let Some(ended) = self.ended(&*self.request(*part)?)? else {
                        return Ok(None);
                    };
                    if *status_of == Some(place) {
                        whole = EndedRequest {
                            code: whole.code.or(ended.code),
                            ..ended
                        };
                    }
                    whole.code = whole.code.or(ended.code);
                }
                for part in parts.borrow_mut().drain(..) {
                    self.let_go(part)?;
                }
                if let Some(finish) = finish.borrow_mut().take()
                    && let Err(fault) = finish(self)
                {
                    whole.code = whole.code.or(Some(fault.code));
                }
                request.ended.set(Some(whole));
                Ok(Some(whole))
            }
            _ => Ok(request.ended.get()),
        }
    }

    /// Whether a request waits for anything: a persistent one that is not started does not.
    pub fn is_active(request: &LibraryRequest) -> bool {
        !matches!(&request.kind, RequestKind::Persistent { active, .. } if active.get().is_none())
    }

    /// The names on the network that a request waits for.
    #[unsafe(link_section = ".text.hot")]
    fn names_of(&self, request: &LibraryRequest, names: &mut Vec<u32>) -> Answer {
        match &request.kind {
            RequestKind::Persistent { active, .. } => {
                if let Some(inner) = active.get() {
                    self.names_of(&*self.request(inner)?, names)?;
                }
            }
            RequestKind::Several { parts, .. } => {
                let parts = parts.borrow().clone();
                for part in parts {
                    self.names_of(&*self.request(part)?, names)?;
                }
            }
            _ => names.extend(request.name.get()),
        }
        Ok(())
    }

    /// Waits until all of these requests have ended. The network is told of the wait for each, also where it is over.
    pub fn wait_for(&self, indices: &[u32]) -> Answer {
        self.wait_for_all(indices.iter().copied())
    }

    /// The same of indices that are no list.
    #[unsafe(link_section = ".text.hot")]
    pub fn wait_for_all(&self, indices: impl Iterator<Item = u32> + Clone) -> Answer {
        let mut names = self.spare_names.take();
        let mut all_over = true;
        for index in indices.clone() {
            let request = self.request(index)?;
            all_over &= self.ended(&request)?.is_some();
            self.names_of(&request, &mut names)?;
        }
        let last = names.len().saturating_sub(1);
        for (place, name) in names.drain(..).enumerate() {
            let entry = RankEntry {
                kind: kind::WAIT,
                request: name,
                payload: NO_PAYLOAD,
                ..RankEntry::default()
            };
            if place == last && !all_over {
                self.ask(entry);
            } else {
                self.append(entry);
            }
        }
        self.spare_names.set(names);
        for index in indices {
            let request = self.request(index)?;
            while self.ended(&request)?.is_none() {
                self.ask(RankEntry {
                    kind: kind::WAIT_NEWS,
                    payload: NO_PAYLOAD,
                    ..RankEntry::default()
                });
            }
        }
        Ok(())
    }

    /// Tells the network of the wait for a request that has ended.
    fn waited(&self, request: &LibraryRequest) -> Answer {
        let mut names = Vec::new();
        self.names_of(request, &mut names)?;
        for name in names {
            self.append(RankEntry {
                kind: kind::WAIT,
                request: name,
                payload: NO_PAYLOAD,
                ..RankEntry::default()
            });
        }
        Ok(())
    }

    /// Waits until `found` finds something, news by news.
    pub fn wait_until<T>(&self, mut found: impl FnMut() -> Answer<Option<T>>) -> Answer<T> {
        loop {
            if let Some(found) = found()? {
                return Ok(found);
            }
            self.ask(RankEntry {
                kind: kind::WAIT_NEWS,
                payload: NO_PAYLOAD,
                ..RankEntry::default()
            });
        }
    }

    /// Looks for news once.
    pub fn poll(&self) {
        self.ask(RankEntry {
            kind: kind::POLL,
            payload: NO_PAYLOAD,
            ..RankEntry::default()
        });
    }

    /// Tells the network of a wait that a look made unnecessary, where the program waited for any of several.
    pub fn waited_for(&self, index: u32) -> Answer {
        self.waited(&*self.request(index)?)
    }

    /// Lets go of a request that has ended; of a persistent one, of its current start. Returns whether the handle is gone with it.
    #[unsafe(link_section = ".text.hot")]
    pub fn let_go(&self, index: u32) -> Answer<bool> {
        let request = self.request(index)?;
        if let RequestKind::Persistent { active, .. } = &request.kind {
            if let Some(inner) = active.take() {
                self.let_go(inner)?;
            }
            return Ok(false);
        }
        self.forget(index, &request);
        Ok(true)
    }

    /// The program gives a request up: it goes at once if it has ended, else when it ends.
    pub fn give_up(&self, index: u32) -> Answer {
        let request = self.request(index)?;
        if let RequestKind::Persistent { active, .. } = &request.kind {
            if let Some(inner) = active.take() {
                self.give_up(inner)?;
            }
            self.forget(index, &request);
            return Ok(());
        }
        let parts = match &request.kind {
            RequestKind::Several { parts, .. } => parts.borrow().clone(),
            _ => Vec::new(),
        };
        for part in &parts {
            self.give_up(*part)?;
        }
        if !parts.is_empty() || request.ended.get().is_some() {
            self.forget(index, &request);
        } else {
            request.given_up.set(true);
        }
        Ok(())
    }

    /// A request that ends with others.
    pub fn keep_several(
        &self,
        comm: &Rc<Comm>,
        parts: Vec<u32>,
        status_of: Option<usize>,
        finish: Option<Finish>,
    ) -> u32 {
        let kind = RequestKind::Several {
            parts: RefCell::new(parts),
            status_of,
            finish: RefCell::new(finish),
        };
        self.keep_request(LibraryRequest::new(Some(comm.clone()), kind))
    }
}
