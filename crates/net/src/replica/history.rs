//! temporary
use super::{Schema, State, delta};
use crate::wire::Full;

#[derive(Debug, Default)]
pub struct History { states: Vec<State> }
impl History {
    pub fn push(&mut self, state: &State) {
        if self.states.len() < 33 { self.states.resize_with(33, State::default); }
        let slot = state.tick as usize % 33;
        self.states[slot].clone_from(state);
    }
    pub fn at(&self, tick: u32) -> Option<&State> {
        self.states.get(tick as usize % 33).filter(|state| state.tick == tick)
    }
}
#[derive(Debug, Default)]
pub struct Bodies { cached: Vec<(Option<u32>, Vec<u8>)> , len: usize }
impl Bodies {
    pub fn clear(&mut self) { self.len = 0; }
    pub fn body(&mut self, schema: &Schema, history: &History, tick: u32, back: Option<u32>) -> Result<&[u8], Full> {
        if let Some(i) = self.cached[..self.len].iter().position(|(b, _)| *b == back) {
            return Ok(&self.cached[i].1);
        }
        if self.len == self.cached.len() { self.cached.push((None, Vec::new())); }
        let state = history.at(tick).ok_or(Full)?;
        let base = back.and_then(|back| history.at(tick.wrapping_sub(back)));
        let (key, body) = &mut self.cached[self.len];
        *key = back;
        body.resize(16384, 0);
        let len = delta::encode(schema, base, state, body)?;
        body.truncate(len);
        self.len += 1;
        Ok(&self.cached[self.len - 1].1)
    }
}
