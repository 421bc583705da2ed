//! ALSA's library on Linux, loaded at run time: every sound server there offers it.

use std::env;
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::fs;
use std::path::Path;
use std::ptr::{self, NonNull};

use libloading::Library;

use super::super::RATE;
use super::Gone;

// From alsa/pcm.h.
const PLAYBACK: c_int = 0;
const S16_LITTLE_ENDIAN: c_int = 2;
const INTERLEAVED: c_int = 3;
const CHANNELS: c_uint = 2;

/// How much is made ahead, in microseconds: less is cut off when the machine is busy.
const AHEAD: c_uint = 50_000;

type Open = unsafe extern "C" fn(*mut *mut c_void, *const c_char, c_int, c_int) -> c_int;
type SetParams =
    unsafe extern "C" fn(*mut c_void, c_int, c_int, c_uint, c_uint, c_int, c_uint) -> c_int;
type Write = unsafe extern "C" fn(*mut c_void, *const c_void, c_ulong) -> c_long;
type Recover = unsafe extern "C" fn(*mut c_void, c_int, c_int) -> c_int;
type Simple = unsafe extern "C" fn(*mut c_void) -> c_int;

/// What is called of the library.
struct Calls {
    open: Open,
    set_params: SetParams,
    write: Write,
    recover: Recover,
    prepare: Simple,
    drain: Simple,
    close: Simple,
    /// It must stay loaded as long as its functions are called.
    _library: Library,
}

impl Calls {
    fn load() -> Option<Self> {
        // SAFETY: the library's initialisers are those of ALSA, which any thread may run; each
        // type is that of the function's declaration in alsa/pcm.h.
        unsafe {
            let library = Library::new("libasound.so.2").ok()?;
            Some(Calls {
                open: *library.get(b"snd_pcm_open\0").ok()?,
                set_params: *library.get(b"snd_pcm_set_params\0").ok()?,
                write: *library.get(b"snd_pcm_writei\0").ok()?,
                recover: *library.get(b"snd_pcm_recover\0").ok()?,
                prepare: *library.get(b"snd_pcm_prepare\0").ok()?,
                drain: *library.get(b"snd_pcm_drain\0").ok()?,
                close: *library.get(b"snd_pcm_close\0").ok()?,
                _library: library,
            })
        }
    }
}

/// A loudspeaker.
pub(in super::super) struct Device {
    calls: Calls,
    /// Open until this is dropped.
    pcm: NonNull<c_void>,
}

impl Device {
    /// `None` where there is no device, or no library.
    pub(in super::super) fn open() -> Option<Self> {
        // Without one, the library complains on stderr.
        if !has_card() && !has_server() {
            return None;
        }
        Device::open_named(c"default")
    }

    fn open_named(name: &CStr) -> Option<Self> {
        let calls = Calls::load()?;
        let mut pcm = ptr::null_mut();
        // SAFETY: `pcm` is a place for a pointer, and `name` ends with a zero.
        let opened = unsafe { (calls.open)(&mut pcm, name.as_ptr(), PLAYBACK, 0) };
        let pcm = NonNull::new(pcm).filter(|_| opened == 0)?;
        let device = Device { calls, pcm };
        let resample = 1;
        // SAFETY: `pcm` was opened above and is closed only when the device is dropped.
        let set = unsafe {
            (device.calls.set_params)(
                device.pcm.as_ptr(),
                S16_LITTLE_ENDIAN,
                INTERLEAVED,
                CHANNELS,
                RATE,
                resample,
                AHEAD,
            )
        };
        (set == 0).then_some(device)
    }

    /// Waits until there is room, and plays what is given.
    pub(in super::super) fn write(&mut self, frames: &[[i16; 2]]) -> Result<(), Gone> {
        let mut left = frames;
        while !left.is_empty() {
            // SAFETY: `left` holds as many frames of two samples as are named, and they are
            // only read.
            let written = unsafe {
                (self.calls.write)(self.pcm.as_ptr(), left.as_ptr().cast(), left.len() as _)
            };
            match usize::try_from(written) {
                Ok(written) => left = &left[written.min(left.len())..],
                Err(_) => self.recover(written as c_int)?,
            }
        }
        Ok(())
    }

    /// Sound follows.
    pub(in super::super) fn wake(&mut self) -> Result<(), Gone> {
        self.call(self.calls.prepare)
    }

    /// Plays what is left, and then nothing.
    pub(in super::super) fn rest(&mut self) -> Result<(), Gone> {
        self.call(self.calls.drain)
    }

    fn call(&mut self, function: Simple) -> Result<(), Gone> {
        // SAFETY: as in `open_named`.
        match unsafe { function(self.pcm.as_ptr()) } {
            0.. => Ok(()),
            error => self.recover(error),
        }
    }

    /// After the machine was too busy, or asleep.
    fn recover(&mut self, error: c_int) -> Result<(), Gone> {
        let silent = 1;
        // SAFETY: as in `open_named`.
        match unsafe { (self.calls.recover)(self.pcm.as_ptr(), error, silent) } {
            0.. => Ok(()),
            _ => Err(Gone),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody calls with it again.
        unsafe { (self.calls.close)(self.pcm.as_ptr()) };
    }
}

fn has_card() -> bool {
    let Ok(entries) = fs::read_dir("/dev/snd") else { return false };
    // pcmC0D0p is the first card's first device for playing.
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("pcm") && name.ends_with('p')
    })
}

fn has_server() -> bool {
    let Some(folder) = env::var_os("XDG_RUNTIME_DIR") else { return false };
    ["pipewire-0", "pulse/native"].iter().any(|name| Path::new(&folder).join(name).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_plays_into_the_void_where_it_is_installed() {
        let Some(mut device) = Device::open_named(c"null") else {
            eprintln!("skipped: libasound.so.2 is not installed");
            return;
        };
        for _ in 0..2 {
            assert_eq!(device.wake(), Ok(()));
            assert_eq!(device.write(&[[0; 2]; 480]), Ok(()));
            assert_eq!(device.rest(), Ok(()));
        }
    }
}
