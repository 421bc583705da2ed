//! `backspin inspect` as its users meet it: the built binary, its output and its exit codes.

mod captures;
mod hex;
mod summary;
mod vectors;
mod writer;

use std::io::Write;
use std::process::{Command, Stdio};

/// What one run of the command left behind.
struct Run {
    stdout: String,
    stderr: String,
    code: Option<i32>,
}

/// Runs `backspin inspect` with nothing on stdin.
fn inspect(args: &[&str]) -> Run {
    inspect_stdin(args, b"")
}

/// Runs `backspin inspect` with `stdin` to read.
fn inspect_stdin(args: &[&str], stdin: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_backspin"))
        .arg("inspect")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("stdin is a pipe");
    let output = std::thread::scope(|scope| {
        // It may stop reading early; what it then prints is the test's matter.
        scope.spawn(move || pipe.write_all(stdin));
        child.wait_with_output().expect("the binary ends")
    });
    Run {
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        code: output.status.code(),
    }
}

impl Run {
    /// The output of a run that ended well.
    #[track_caller]
    fn done(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        self.stdout
    }

    /// The output of a run that failed with exactly this sentence.
    #[track_caller]
    fn failed(self, sentence: &str) -> String {
        assert_eq!(self.stderr, format!("backspin: {sentence}\n"), "{}", self.stdout);
        assert_eq!(self.code, Some(1));
        self.stdout
    }
}
