//! CUDA C++ to PTX with NVRTC, for `cargo xtask kernels`; nothing at run time needs it.

use std::{ffi::CString, path::Path};

use cudarc::nvrtc::result;

/// Why a source did not compile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The compiler library could not be opened.
    #[error("{path}: {reason}")]
    Library {
        /// Where it was looked for.
        path: String,
        /// What the loader said.
        reason: String,
    },
    /// The compiler refused the source.
    #[error("{source_name} does not compile:\n{log}")]
    Source {
        /// The file.
        source_name: String,
        /// What the compiler said.
        log: String,
    },
}

/// NVRTC, opened from a given file.
#[derive(Debug)]
pub struct Compiler {
    /// cudarc finds the library by name once it is open, so it stays so.
    _library: libloading::Library,
}

/// For sources in which a function that does not say where it runs is the device's.
pub const ON_DEVICE: &str = "--device-as-default-execution-space";

impl Compiler {
    /// Opens `libnvrtc.so.12` at `path`.
    ///
    /// # Errors
    /// [`CompileError::Library`] where there is no such library.
    pub fn open(path: &Path) -> Result<Self, CompileError> {
        // SAFETY: NVRTC's initialisers set up its own state only.
        let library = unsafe { libloading::Library::new(path) };
        let library = library.map_err(|error| CompileError::Library {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        Ok(Self { _library: library })
    }

    /// Compiles `source`, named `name` in messages, for `architecture` (`"compute_75"`); `folder`
    /// is where its includes start, and `options` are the compiler's own beside the standard, C++17.
    ///
    /// # Errors
    /// [`CompileError::Source`] with the compiler's log.
    pub fn ptx(
        &self,
        source: &str,
        name: &str,
        folder: &Path,
        architecture: &str,
        options: &[&str],
    ) -> Result<String, CompileError> {
        let refused = |log: String| CompileError::Source { source_name: name.to_owned(), log };
        let text = |text: &str| {
            CString::new(text).map_err(|_| refused("the text contains a zero byte".into()))
        };
        let program = result::create_program(&text(source)?, Some(&text(name)?))
            .map_err(|error| refused(error.to_string()))?;
        let mut options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        options.extend([
            format!("--gpu-architecture={architecture}"),
            "--std=c++17".to_owned(),
            format!("--include-path={}", folder.display()),
        ]);
        // SAFETY: the program was just created; it is destroyed once, after its last use.
        let (ptx, log, destroyed) = unsafe {
            let compiled = result::compile_program(program, &options);
            let ptx = compiled.and_then(|()| result::get_ptx(program));
            (ptx, result::get_program_log(program), result::destroy_program(program))
        };
        destroyed.map_err(|error| refused(error.to_string()))?;
        match ptx {
            Ok(ptx) => Ok(from_c(&ptx)),
            Err(_) => Err(refused(log.map_or_else(|error| error.to_string(), |log| from_c(&log)))),
        }
    }
}

/// Text up to the zero byte that ends it.
fn from_c(text: &[std::ffi::c_char]) -> String {
    let bytes = text.iter().map(|&byte| byte.cast_unsigned()).take_while(|&byte| byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}
