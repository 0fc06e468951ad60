import AfarImage
import Foundation

/// A terminal that images are drawn on.
struct TerminalCanvas {
    /// How.
    enum Means: Equatable {
        /// Two pixels in a character, one above the other.
        case halfBlocks(isTrueColor: Bool)
        /// Bright and dark letters, where there are no colours or no blocks.
        case letters
        case sixels
    }

    // What a character is at least wide and high in pixels, where that is not known.
    private static let cell = (width: 8, height: 16)

    let means: Means
    /// What an image must fit into, in pixels.
    let size: ImageSize

    init(means: Means, columns: Int, rows: Int) {
        self.means = means
        let (columns, rows) = (max(1, columns), max(1, rows))
        switch means {
        case .halfBlocks: size = ImageSize(width: columns, height: 2 * rows)
        // Letters are twice as high as they are wide: every other row is drawn.
        case .letters: size = ImageSize(width: columns, height: 2 * rows)
        case .sixels: size = ImageSize(width: columns * Self.cell.width, height: rows * Self.cell.height)
        }
    }

    /// Decides how to draw; throws when there is nothing to draw on.
    init(_ options: ImageOptions, _ facts: OutputFacts, _ style: Style) throws {
        guard style.isPretty || options.sixel else {
            throw Failure(
                .usage,
                "The output is no terminal. Write the image into a file with --output, or ask for --color always.")
        }
        let means: Means
        if options.sixel || facts.isTerminal && style.isColoured && TerminalQuery.hasSixels {
            means = .sixels
        } else if style.isColoured, facts.isUTF8 {
            means = .halfBlocks(isTrueColor: facts.hasTrueColor)
        } else {
            means = .letters
        }
        // The line of the prompt that comes after it stays free.
        self.init(means: means, columns: facts.columns, rows: facts.rows - 1)
    }

    /// What is written to the terminal for an image.
    func text(of image: Image) -> String {
        switch means {
        case .halfBlocks(let isTrueColor): HalfBlocks(isTrueColor: isTrueColor).text(of: image)
        case .letters: Self.letters(image)
        case .sixels: Sixels.text(of: image)
        }
    }

    private static func letters(_ image: Image) -> String {
        let letters = Array(" .:-=+*#%@")
        return stride(from: 0, to: image.height, by: 2).map { y in
            (0..<image.width).reduce(into: "") { line, x in
                let pixel = image[x, y] ?? .clear
                let brightness = (Int(pixel.red) * 3 + Int(pixel.green) * 6 + Int(pixel.blue)) / 10
                line.append(letters[brightness * (letters.count - 1) / 255])
            } + "\n"
        }
        .joined()
    }
}

// MARK: - Asking the terminal

/// Asks the terminal what it can do.
enum TerminalQuery {
    /// How long the answer may take, in tenths of a second.
    private static let patience: UInt8 = 2

    /// Whether the terminal says that it understands sixels; false where input or output is none.
    static var hasSixels: Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return false }
        // One that is in the background would be stopped.
        guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return false }
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return false }
        // The answer comes as if it had been typed: it is neither to be shown nor to wait for a line's end.
        var silent = before
        silent.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &silent.c_cc) { characters in
            characters[Int(VMIN)] = 0
            characters[Int(VTIME)] = patience
        }
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { return false }
        defer { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
        // Primary device attributes (ECMA-48, section 8.3.24).
        guard (try? StandardOutput.write("\u{1B}[c")) != nil else { return false }
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while answer.count < 100, read(STDIN_FILENO, &byte, 1) == 1 {
            answer.append(byte)
            if byte == UInt8(ascii: "c") { break }
        }
        return namesSixels(String(decoding: answer, as: UTF8.self))
    }

    /// Whether an answer such as `ESC [ ? 6 2 ; 4 c` has sixels, number 4, among the terminal's abilities.
    static func namesSixels(_ answer: String) -> Bool {
        guard answer.hasPrefix("\u{1B}[?"), answer.hasSuffix("c") else { return false }
        return answer.dropFirst(3).dropLast().split(separator: ";").dropFirst().contains("4")
    }
}

// MARK: - Half blocks

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

// MARK: - Sixels

/// An image in sixels, the graphics of DEC's VT340: bands of six rows, in each of which every colour is written for itself.
enum Sixels {
    /// The levels of red, green and blue.
    private static let levels = 6
    // Where between two levels a pixel is rounded up, in an order that the eye sees as the level in between (Bayer).
    private static let thresholds = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    static func text(of image: Image) -> String {
        // Pixels that are not written stay as they are.
        var text = "\u{1B}P0;1;0q\"1;1;\(image.width);\(image.height)"
        for color in 0..<levels * levels * levels {
            let channels = [color / (levels * levels), color / levels % levels, color % levels]
            text += "#\(color);2;" + channels.map { "\($0 * 100 / (levels - 1))" }.joined(separator: ";")
        }
        for top in stride(from: 0, to: image.height, by: 6) { text += band(of: image, from: top) + "-" }
        return text + "\u{1B}\\\n"
    }

    private static func band(of image: Image, from top: Int) -> String {
        var columns: [Int: [UInt8]] = [:]
        for y in top..<min(top + 6, image.height) {
            for x in 0..<image.width {
                guard let pixel = image[x, y], pixel.alpha >= 128 else { continue }
                columns[color(pixel, x, y), default: [UInt8](repeating: 0, count: image.width)][x] |= 1 << (y - top)
            }
        }
        return columns.sorted { $0.key < $1.key }.map { "#\($0.key)" + runs($0.value) }.joined(separator: "$")
    }

    private static func color(_ pixel: Image.Pixel, _ x: Int, _ y: Int) -> Int {
        let threshold = thresholds[y % 4 * 4 + x % 4]
        return [pixel.red, pixel.green, pixel.blue].reduce(0) { color, channel in
            // In sixteenths of a level.
            let place = Int(channel) * (levels - 1) * 16 / 255
            return color * levels + min(place / 16 + (place % 16 > threshold ? 1 : 0), levels - 1)
        }
    }

    /// Six rows of one colour; what repeats is counted.
    private static func runs(_ columns: [UInt8]) -> String {
        var text = ""
        var rest = columns[...]
        while let column = rest.first {
            let count = rest.prefix { $0 == column }.count
            rest = rest.dropFirst(count)
            let character = String(UnicodeScalar(63 + column))
            text += count > 3 ? "!\(count)\(character)" : String(repeating: character, count: count)
        }
        return text
    }
}
