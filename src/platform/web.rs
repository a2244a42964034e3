//! A browser: turns between its frames, files as bytes, and what lies beside the page.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::{Closure, JsCast, JsValue, wasm_bindgen};
use wasm_bindgen_futures::spawn_local;

use super::Chosen;

/// True where there is a file system.
pub const HAS_FILES: bool = false;

#[wasm_bindgen(module = "/web/platform.js")]
extern "C" {
    /// Calls `run` once, as soon as the browser has answered whoever waits.
    fn soon(run: JsValue);
    /// Calls `turn` again and again, with so many milliseconds between as it says, until that is less than 0.
    fn repeat(turn: JsValue);
    /// Hands a file over as a download.
    fn download(name: &str, bytes: Uint8Array);
    /// The address of the page, up to the `#`.
    fn here() -> String;
    /// Asks for a file: its name and its bytes, or undefined.
    async fn pick() -> JsValue;
    /// The bytes at an address, or the words that say why not.
    async fn load(address: &str) -> JsValue;
}

/// Does something beside the caller: when the browser has answered whoever waits.
pub fn aside(work: impl FnOnce() + 'static) {
    soon(Closure::once_into_js(work));
}

/// What is done beside the caller, one thing after the other.
pub struct Queue<T>(Rc<RefCell<dyn FnMut(T) -> bool>>);

impl<T: 'static> Queue<T> {
    /// Everything that is put in is given to `work`; what that says matters only where there are threads.
    pub fn new(work: impl FnMut(T) -> bool + 'static) -> Self {
        Self(Rc::new(RefCell::new(work)))
    }

    /// Puts something in.
    pub fn put(&self, item: T) {
        let work = self.0.clone();
        aside(move || {
            work.borrow_mut()(item);
        });
    }
}

/// What is called again and again beside the caller.
#[derive(Debug)]
pub struct Repeated;

impl Repeated {
    /// Calls `turn` again and again, with as much rest after each call as that says, until it says none.
    ///
    /// # Errors
    /// None in a browser.
    pub fn start(
        _name: &str,
        mut turn: impl FnMut() -> Option<Duration> + 'static,
    ) -> io::Result<Self> {
        let turn = move || turn().map_or(-1.0, |rest| rest.as_secs_f64() * 1e3);
        repeat(Closure::<dyn FnMut() -> f64>::new(turn).into_js_value());
        Ok(Self)
    }

    /// Nothing goes on while somebody waits.
    pub fn wait(self) {}
}

/// Asks for a file to open; to save needs no asking, the browser knows where downloads go.
pub fn choose(save: bool, suggestion: &str, answer: impl FnOnce(Option<Chosen>) + 'static) {
    if save {
        let path = PathBuf::from(suggestion);
        return answer(Some(Chosen { path, bytes: None }));
    }
    spawn_local(async move { answer(chosen(&pick().await)) });
}

fn chosen(picked: &JsValue) -> Option<Chosen> {
    let pair = picked.dyn_ref::<Array>()?;
    let bytes: Uint8Array = pair.get(1).dyn_into().ok()?;
    Some(Chosen {
        path: pair.get(0).as_string()?.into(),
        bytes: Some(bytes.to_vec()),
    })
}

/// Hands a file over to the person, as a download.
pub fn hand_over(name: &str, bytes: &[u8]) {
    download(name, Uint8Array::from(bytes));
}

/// Where others find this page, up to what is shown of it.
pub fn address() -> Option<String> {
    Some(here())
}

/// Fetches what lies beside the page; the words say why it is not there.
pub fn fetch(address: &str, answer: impl FnOnce(Result<Vec<u8>, String>) + 'static) {
    let address = address.to_owned();
    spawn_local(async move { answer(fetched(&address).await) });
}

/// [`fetch`], for those who can wait.
///
/// # Errors
/// The words say why it is not there.
pub async fn fetched(address: &str) -> Result<Vec<u8>, String> {
    match load(address).await.dyn_into::<Uint8Array>() {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(words) => Err(words.as_string().unwrap_or_default()),
    }
}
