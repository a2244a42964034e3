//! The compression of GIF (LZW, codes of up to 12 bits), quick where a colour repeats: most of a frame is one
//! long run of what has not changed, and a run of k pixels takes some √k steps.

/// Bits of a pixel.
const PIXEL: u32 = 8;
/// Forget all strings.
const CLEAR: u16 = 1 << PIXEL;
/// Nothing follows.
const END: u16 = CLEAR + 1;
/// Bits of the longest code.
const LONGEST: u32 = 12;
/// What stands for a string that has no code.
const NONE: u16 = 0;

/// These pixels, behind the number of bits of each, in which runs of `often` are expected.
pub(super) fn compress(pixels: &[u8], often: u8) -> Vec<u8> {
    let mut codes = Codes::new(often);
    codes.put(CLEAR);
    let Some((&first, _)) = pixels.split_first() else {
        codes.put(END);
        return codes.finish();
    };
    let (mut code, mut at) = (u16::from(first), 1);
    // How long the string of `code` is, as far as it is a run of `often`, and where that run ends.
    let (mut run, mut run_end) = (usize::from(first == often), codes.run_end(pixels, 0));
    while let Some(&pixel) = pixels.get(at) {
        if run > 0 && pixel == often {
            // As far as there are codes for a run, at once.
            let known = (run_end - at).min(codes.runs.len() - run);
            (run, at) = (run + known, at + known);
            code = codes.runs[run - 1];
            if known > 0 {
                continue;
            }
        }
        let place = usize::from(code) << PIXEL | usize::from(pixel);
        at += 1;
        match codes.longer[place] {
            NONE => {
                codes.put(code);
                codes.learn(place, run > 0 && pixel == often);
                code = u16::from(pixel);
                if pixel == often && run == 0 {
                    run_end = codes.run_end(pixels, at - 1);
                }
                run = usize::from(pixel == often);
            }
            longer => (code, run) = (longer, 0),
        }
    }
    codes.put(code);
    codes.widen();
    codes.put(END);
    codes.finish()
}

/// The strings that have codes, and the codes so far.
struct Codes {
    bytes: Vec<u8>,
    /// Bits that are no whole byte yet, and how many.
    bits: u32,
    count: u32,
    /// Bits of a code.
    width: u32,
    /// The code of the next string.
    next: u16,
    /// For every code and pixel the code of the string with that pixel more.
    longer: Vec<u16>,
    /// Where in `longer` there is something.
    used: Vec<usize>,
    often: u8,
    /// The codes of runs of `often`: of one, of two, …
    runs: Vec<u16>,
}

impl Codes {
    fn new(often: u8) -> Self {
        Self {
            bytes: vec![PIXEL as u8],
            bits: 0,
            count: 0,
            width: PIXEL + 1,
            next: END + 1,
            longer: vec![NONE; 1 << (LONGEST + PIXEL)],
            used: Vec::new(),
            often,
            runs: vec![u16::from(often)],
        }
    }

    /// Where the run of `often` ends that begins here, if one does.
    fn run_end(&self, pixels: &[u8], start: usize) -> usize {
        let mut rest = pixels[start..].iter();
        let length = rest.position(|&pixel| pixel != self.often);
        length.map_or(pixels.len(), |length| start + length)
    }

    fn put(&mut self, code: u16) {
        self.bits |= u32::from(code) << self.count;
        self.count += self.width;
        while self.count >= 8 {
            self.bytes.push(self.bits as u8);
            (self.bits, self.count) = (self.bits >> 8, self.count - 8);
        }
    }

    /// The string that has just been found to have no code gets one, or all are forgotten.
    fn learn(&mut self, place: usize, is_run: bool) {
        if self.next == 1 << LONGEST {
            self.put(CLEAR);
            (self.width, self.next) = (PIXEL + 1, END + 1);
            for place in self.used.drain(..) {
                self.longer[place] = NONE;
            }
            self.runs.truncate(1);
            return;
        }
        self.widen();
        self.longer[place] = self.next;
        self.used.push(place);
        if is_run {
            self.runs.push(self.next);
        }
        self.next += 1;
    }

    /// Codes get longer when the next one would not fit.
    fn widen(&mut self) {
        if self.width < LONGEST && self.next == 1 << self.width {
            self.width += 1;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.bits as u8);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// What another program reads.
    fn read(pixels: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let palette = [0; 768];
        let width = pixels.len() as u16;
        let mut encoder = gif::Encoder::new(&mut bytes, width, 1, &palette).unwrap();
        let frame = gif::Frame {
            width,
            height: 1,
            buffer: Cow::Owned(compress(pixels, 0)),
            ..gif::Frame::default()
        };
        encoder.write_lzw_pre_encoded_frame(&frame).unwrap();
        drop(encoder);
        let mut decoder = gif::Decoder::new(bytes.as_slice()).unwrap();
        decoder.read_next_frame().unwrap().unwrap().buffer.to_vec()
    }

    #[test]
    fn any_pixels_are_read_as_they_were() {
        let mut state = 1_u32;
        let mut random = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % most
        };
        for (colours, longest) in [(1, 9), (2, 5), (7, 300), (256, 1), (256, 40)] {
            let mut pixels = Vec::new();
            while pixels.len() < 40_000 {
                let pixel = random(colours) as u8;
                let length = if pixel == 0 { longest } else { 2 };
                let length = pixels.len() + 1 + random(length) as usize;
                pixels.resize(length, pixel);
            }
            for end in [1, 2, 3, 255, 256, 4000, pixels.len()] {
                assert!(read(&pixels[..end]) == pixels[..end], "{colours} {end}");
            }
        }
        let run = vec![0; 60_000];
        assert!(read(&run) == run);
        assert!(compress(&run, 0).len() < 700);
    }
}
