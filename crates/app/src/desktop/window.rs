//! Opens the window, or says why it cannot.

use std::cell::{Cell, RefCell};
use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use macroquad::Window;
use macroquad::conf::Conf;
use macroquad::math::{Vec2, vec2};
use macroquad::miniquad::conf::{Conf as WindowConf, Icon, LinuxBackend, Platform};
use macroquad::window::{request_new_screen_size, screen_height, screen_width, set_fullscreen};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::brush;
use crate::screen::Program;

/// How large the window is at first.
const SIZE: (i32, i32) = (1280, 720);

/// There is no window: what was to be shown in it, and why.
pub(crate) struct Unopened {
    pub(crate) program: Program,
    pub(crate) sentence: String,
}

/// Whether there is a display to open a window on.
pub(crate) fn has_display() -> bool {
    cfg!(any(windows, target_os = "macos")) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Why no window can be opened, where that is known before a library tries and complains by itself.
#[cfg(all(unix, not(target_os = "macos")))]
fn obstacle() -> Option<String> {
    use std::os::unix::net::UnixStream;
    use std::path::PathBuf;
    if is_set("DISPLAY") {
        return None;
    }
    let Some(name) = env::var_os("WAYLAND_DISPLAY").filter(|name| !name.is_empty()) else {
        return Some("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set".to_owned());
    };
    // An absolute path is taken as it is.
    let folder = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).unwrap_or_default();
    let socket = folder.join(&name);
    let refused = UnixStream::connect(&socket).err()?;
    Some(format!("the display {} does not answer ({refused})", socket.display()))
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn obstacle() -> Option<String> {
    None
}

/// Opens the window and runs what `face` makes of the program until it ends. The flag is set by a
/// signal.
pub(super) fn open<F, R>(program: Program, face: F) -> Result<(), Box<Unopened>>
where
    F: FnOnce(Program, Arc<AtomicBool>) -> R + 'static,
    R: Future<Output = ()> + 'static,
{
    if let Some(why) = obstacle() {
        let sentence = format!("no window can be opened here: {why}");
        return Err(Box::new(Unopened { program, sentence }));
    }
    let fullscreen = program.settings().fullscreen;
    let stopped = Arc::new(AtomicBool::new(false));
    let signals = [SIGINT, SIGTERM].into_iter();
    // On the desktop a terminal that goes away is no reason to stop; where it is one, nobody asks.
    signals.for_each(|signal| _ = flag::register(signal, Arc::clone(&stopped)));
    // The library panics if anything goes wrong while a window opens.
    let waiting = Rc::new(RefCell::new(Some(program)));
    let opened = Rc::new(Cell::new(false));
    let words = Arc::new(Mutex::new(String::new()));
    let usual = panic::take_hook();
    let heard = Arc::clone(&words);
    panic::set_hook(Box::new(move |info| {
        let said = info.payload_as_str().unwrap_or("no reason was given");
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = said.to_owned();
    }));
    let future = {
        let (waiting, opened) = (Rc::clone(&waiting), Rc::clone(&opened));
        async move {
            let program = waiting.take();
            panic::set_hook(usual);
            opened.set(true);
            macroquad::input::prevent_quit();
            if let Some(program) = program {
                face(program, stopped).await;
            }
        }
    };
    let conf = conf(fullscreen);
    let ran = panic::catch_unwind(AssertUnwindSafe(|| Window::from_config(conf, future)));
    match ran {
        Ok(()) if opened.get() => Ok(()),
        Err(panic) if opened.get() => panic::resume_unwind(panic),
        _ => {
            let _ = panic::take_hook();
            let words = words.lock().unwrap_or_else(PoisonError::into_inner);
            let why = words.lines().next().unwrap_or_default().trim_end_matches(['!', '.']);
            let sentence = format!("no window can be opened here ({why})");
            waiting.take().map_or(Ok(()), |program| Err(Box::new(Unopened { program, sentence })))
        }
    }
}

/// Whether the window fills the screen, and how large it is where it does not.
pub(super) struct Extent {
    fullscreen: bool,
    size: Vec2,
}

impl Extent {
    /// As the window was opened.
    pub(super) fn new(fullscreen: bool) -> Self {
        Extent { fullscreen, size: vec2(SIZE.0 as f32, SIZE.1 as f32) }
    }

    /// Makes it so.
    pub(super) fn follow(&mut self, fullscreen: bool) {
        if fullscreen == self.fullscreen {
            return;
        }
        self.fullscreen = fullscreen;
        if fullscreen {
            self.size = vec2(screen_width(), screen_height());
        }
        set_fullscreen(fullscreen);
        // X11 and Windows leave the window as large as the screen was.
        if !fullscreen && !cfg!(target_os = "macos") {
            request_new_screen_size(self.size.x, self.size.y);
        }
    }
}

/// How a window is opened.
pub(super) fn conf(fullscreen: bool) -> Conf {
    Conf {
        miniquad_conf: window_conf(fullscreen),
        draw_call_vertex_capacity: brush::MAX_VERTICES + 4,
        draw_call_index_capacity: brush::MAX_INDICES + 6,
        ..Conf::default()
    }
}

fn window_conf(fullscreen: bool) -> WindowConf {
    // Where both are there X is asked: its window has a frame on every desktop.
    let linux_backend = match is_set("DISPLAY") {
        true => LinuxBackend::X11Only,
        false => LinuxBackend::WaylandOnly,
    };
    WindowConf {
        window_title: "Backspin".into(),
        window_width: SIZE.0,
        window_height: SIZE.1,
        high_dpi: true,
        fullscreen,
        icon: Some(icon()),
        platform: Platform {
            linux_backend,
            linux_wm_class: "backspin",
            swap_interval: Some(1),
            ..Platform::default()
        },
        ..WindowConf::default()
    }
}

/// A ball between two paddles.
fn icon() -> Icon {
    fn paint<const LEN: usize>(side: usize) -> [u8; LEN] {
        let mut pixels = [0; LEN];
        for (i, pixel) in pixels.chunks_exact_mut(4).enumerate() {
            let at = |n: usize| (n as f32 + 0.5) / side as f32;
            let (x, y) = (at(i % side), at(i / side));
            let ball = (x - 0.5).hypot(y - 0.45) < 0.12;
            let rgba = match () {
                () if (0.1..0.2).contains(&x) && (0.2..0.6).contains(&y) => [61, 232, 255, 255],
                () if (0.8..0.9).contains(&x) && (0.4..0.8).contains(&y) => [255, 95, 168, 255],
                () if ball => [255, 255, 255, 255],
                () => [10, 12, 28, 255],
            };
            pixel.copy_from_slice(&rgba);
        }
        pixels
    }
    Icon { small: paint(16), medium: paint(32), big: paint(64) }
}
