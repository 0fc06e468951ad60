import AfarImage

/// An image in characters, each of which has a pixel above another.
struct HalfBlocks {
    /// Whether colours have 24 bits; otherwise there are 256 of them.
    let isTrueColor: Bool

    func text(of image: Image) -> String {
        var text = ""
        for y in stride(from: 0, to: image.height, by: 2) {
            var before = ""
            for x in 0..<image.width {
                let (color, character) = cell(color(image[x, y]), color(image[x, y + 1]))
                // What is the same as before needs no mention.
                if color != before { text += "\u{1B}[\(color)m" }
                before = color
                text += character
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }

    /// The colours and the character of two pixels. What is transparent shows the terminal's own background.
    private func cell(_ top: String?, _ bottom: String?) -> (color: String, character: String) {
        switch (top, bottom) {
        case (let top?, let bottom?): ("38;\(top);48;\(bottom)", "▀")
        case (let top?, nil): ("38;\(top);49", "▀")
        case (nil, let bottom?): ("38;\(bottom);49", "▄")
        case (nil, nil): ("39;49", " ")
        }
    }

    /// The parameters that follow 38 or 48 (ISO 8613-6); nil for what is transparent, or outside of the image.
    private func color(_ pixel: Image.Pixel?) -> String? {
        guard let pixel, pixel.alpha >= 128 else { return nil }
        return isTrueColor
            ? "2;\(pixel.red);\(pixel.green);\(pixel.blue)" : "5;\(Self.index(pixel))"
    }

    private static let levels = [0, 95, 135, 175, 215, 255]

    /// The nearest of xterm's 256 colours that are the same everywhere: a cube of six levels, and 24 grays.
    static func index(_ pixel: Image.Pixel) -> Int {
        let channels = [pixel.red, pixel.green, pixel.blue].map(Int.init)
        let cube = channels.map { channel in
            levels.indices.min { abs(levels[$0] - channel) < abs(levels[$1] - channel) } ?? 0
        }
        let gray = min(max((channels.reduce(0, +) / 3 - 3) / 10, 0), 23)
        func distance(_ color: [Int]) -> Int { zip(color, channels).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } }
        return distance(cube.map { levels[$0] }) <= distance([Int](repeating: 8 + 10 * gray, count: 3))
            ? 16 + 36 * cube[0] + 6 * cube[1] + cube[2] : 232 + gray
    }
}
