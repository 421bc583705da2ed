//! `backspin completions` and `backspin man`: files for packagers, made from the command line itself.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Command;
use clap_complete::Shell;

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin completions bash > /usr/share/bash-completion/completions/backspin
  backspin completions zsh > ~/.zfunc/_backspin
  backspin completions fish > ~/.config/fish/completions/backspin.fish")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

/// Print the manual page, or write one for every command
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin man | man -l -
  backspin man --dir /usr/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write backspin.1, backspin-pong.1 and so on into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Runs `backspin completions`.
pub(crate) fn completions(args: &CompletionsArgs, mut cli: Command) -> Result<(), Box<dyn Error>> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli, "backspin", &mut script);
    Ok(io::stdout().lock().write_all(&script)?)
}

/// Runs `backspin man`.
pub(crate) fn man(args: &ManArgs, cli: Command) -> Result<(), Box<dyn Error>> {
    if let Some(dir) = &args.dir {
        return std::fs::create_dir_all(dir)
            .and_then(|()| clap_mangen::generate_to(cli, dir))
            .map_err(|error| format!("cannot write to {}: {error}", dir.display()).into());
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(cli).render(&mut page)?;
    Ok(io::stdout().lock().write_all(&page)?)
}
