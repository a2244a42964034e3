//! A browser: turns between its frames, files as bytes, and files next to the page.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::Duration;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::{Closure, JsCast, JsValue, wasm_bindgen};
use wasm_bindgen_futures::spawn_local;
use web_time::Instant;

use super::Chosen;

/// True if there is a file system.
pub const HAS_FILES: bool = false;

#[wasm_bindgen(module = "/web/platform.js")]
extern "C" {
    /// Calls `run` once, as soon as the browser has handled waiting events.
    fn soon(run: JsValue);
    /// Calls `turn` repeatedly, after the number of milliseconds that it returns, until that is less than 0.
    fn repeat(turn: JsValue);
    /// Hands a file over as a download.
    fn download(name: &str, bytes: Uint8Array);
    /// The address of the page, up to the `#`.
    fn here() -> String;
    /// Copies a text to the clipboard; where that is not allowed, shows it and returns false.
    #[wasm_bindgen(js_name = copy)]
    async fn to_clipboard(text: &str) -> JsValue;
    /// True where the system asks for less motion.
    #[wasm_bindgen(js_name = reducesMotion)]
    fn motion_is_reduced() -> bool;
    /// Asks for a file: its name and its bytes, or undefined.
    async fn pick() -> JsValue;
    /// Returns the bytes at an address, or an error message.
    async fn load(address: &str) -> JsValue;
}

/// Runs a task next to the caller, as soon as the browser has handled waiting events.
pub fn spawn(work: impl AsyncFnOnce() + 'static) {
    spawn_local(async move {
        Rest::default().await;
        work().await;
    });
}

/// Time slice of work between two turns: a part of a frame of the screen.
const TURN: Duration = Duration::from_millis(8);

/// The turns of something that takes long.
#[derive(Debug)]
pub struct TimeSlice(Instant);

impl TimeSlice {
    /// The first one begins.
    pub fn begin() -> Self {
        Self(Instant::now())
    }

    /// Lets other work run, if it is time for that.
    pub async fn yield_now(&mut self) {
        if self.0.elapsed() >= TURN {
            Rest::default().await;
            self.0 = Instant::now();
        }
    }
}

/// Until the browser has done what waits.
#[derive(Default)]
struct Rest {
    has_begun: bool,
}

impl Future for Rest {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        soon(Closure::once_into_js(move || waker.wake()));
        Poll::Pending
    }
}

/// A queue of tasks next to the caller, run one after the other.
pub struct Queue<T>(Box<dyn Fn(T)>);

impl<T: 'static> Queue<T> {
    /// Creates a queue whose items are given to `work`; its result matters only where there are threads.
    pub fn new(work: impl AsyncFnMut(T) -> bool + 'static) -> Self {
        // Taken while it runs; what is put in meanwhile waits.
        let work = Rc::new(RefCell::new(Some(work)));
        let waiting = Rc::new(RefCell::new(VecDeque::new()));
        Self(Box::new(move |item| {
            waiting.borrow_mut().push_back(item);
            let Some(mut worker) = work.take() else {
                return;
            };
            let (work, waiting) = (work.clone(), waiting.clone());
            spawn(async move || {
                loop {
                    let next = waiting.borrow_mut().pop_front();
                    let Some(item) = next else { break };
                    worker(item).await;
                    Rest::default().await;
                }
                work.replace(Some(worker));
            });
        }))
    }

    /// Puts something in.
    pub fn put(&self, item: T) {
        (self.0)(item);
    }
}

/// A function that is called repeatedly next to the caller.
#[derive(Debug)]
pub struct RepeatingTask;

impl RepeatingTask {
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

    /// Does nothing: no thread runs while events wait.
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

/// Copies a text to the clipboard. Where the browser does not allow it, shows the text to be copied by hand and returns
/// false.
pub async fn copy(text: &str) -> bool {
    to_clipboard(text).await.is_truthy()
}

/// True where the system asked for less motion when the page began: a page that ends is told otherwise.
pub fn reduces_motion() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(motion_is_reduced)
}

/// Returns the address under which others find this page, without the part for its state.
pub fn address() -> Option<String> {
    Some(here())
}

/// Fetches a file next to the page, or returns an error message.
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
