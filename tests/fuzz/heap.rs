//! An allocator that counts: the most bytes in use, to find a file that makes a reader take too much; and the
//! allocations, to find a step that makes one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, counted.
pub struct Counting;

/// No reader may come here: the allocation is refused, which ends the process.
const REFUSED: usize = 3 << 30;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Starts to count anew.
pub fn reset() {
    MOST.store(NOW.load(Relaxed), Relaxed);
}

/// The most bytes in use at once since the last [`reset`], beyond those in use then.
pub fn most_since(start: usize) -> usize {
    MOST.load(Relaxed).saturating_sub(start)
}

/// Returns the number of allocations so far; a block that is resized counts again.
pub fn count() -> usize {
    COUNT.load(Relaxed)
}

/// Bytes in use.
pub fn now() -> usize {
    NOW.load(Relaxed)
}

fn take(bytes: usize) -> bool {
    COUNT.fetch_add(1, Relaxed);
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(now, Relaxed);
    if now > REFUSED {
        NOW.fetch_sub(bytes, Relaxed);
    }
    now <= REFUSED
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// Every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return std::ptr::null_mut();
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return std::ptr::null_mut();
        }
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !take(size) {
            return std::ptr::null_mut();
        }
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}
