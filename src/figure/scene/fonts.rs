//! The fonts of the window and of every figure, inside the program once: a picture looks the same on every computer.

/// Each by its name, as a font file.
pub static FONTS: [(&str, &[u8]); 3] = [
    (
        "Inter",
        include_bytes!("../../../assets/fonts/Inter-Medium.ttf"),
    ),
    (
        "Inter SemiBold",
        include_bytes!("../../../assets/fonts/Inter-SemiBold.ttf"),
    ),
    (
        "JetBrains Mono",
        include_bytes!("../../../assets/fonts/JetBrainsMono-Medium.ttf"),
    ),
];
