//! The bytes of a file, unpacked as its first bytes say.

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fs::File;
use std::io::{BufRead, BufReader, Error, Read, Result};
use std::path::Path;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 18;
/// Most memory for unpacking: what the strongest settings of `xz -9` and `zstd --long` need.
const MOST_MEMORY: u32 = 1 << 28;

/// A file's text and the name of its packing.
pub fn open(path: &Path) -> Result<(Box<dyn Read>, &'static str)> {
    // A named pipe would be opened for ever.
    if !std::fs::metadata(path)?.is_file() {
        return Err(Error::other("it is not a file"));
    }
    let mut file = BufReader::with_capacity(BLOCK, File::open(path)?);
    let start = file.fill_buf()?;
    Ok(match start {
        [0x1f, 0x8b, ..] => (Box::new(MultiGzDecoder::new(file)), "gzip"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            let reader = XzReader::new_mem_limit(file, true, MOST_MEMORY >> 10);
            (Box::new(reader), "xz")
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => (Box::new(ZstdFrames::new(file)), "zstd"),
        _ => (Box::new(file), "plain"),
    })
}

/// All frames of a zstd file, with their checksums.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    /// A frame has been begun and not ended.
    open: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MOST_MEMORY.into());
        ZstdFrames {
            source,
            decoder,
            open: false,
        }
    }

    fn close(&mut self) -> Result<()> {
        let (told, found) = (
            self.decoder.get_checksum_from_data(),
            self.decoder.get_calculated_checksum(),
        );
        self.open = false;
        match told {
            Some(told) if Some(told) != found => Err(Error::other("the checksum is another")),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        loop {
            if self.open && self.decoder.can_collect() > 0 {
                return self.decoder.read(out);
            }
            if self.open && !self.decoder.is_finished() {
                let some = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.source, some);
                decoded.map_err(Error::other)?;
                continue;
            }
            if self.open {
                self.close()?;
            }
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => self.open = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = std::io::copy(&mut (&mut self.source).take(length.into()), &mut std::io::sink())?;
                    if skipped < length.into() {
                        return Err(Error::other("it ends within a frame to skip"));
                    }
                }
                Err(error) => return Err(Error::other(error)),
            }
        }
    }
}
