import AfarImage
import Foundation

/// A terminal that images are drawn on.
struct TerminalCanvas {
    enum Mode: Equatable {
        /// Two pixels per character, one above the other.
        case halfBlocks(isTrueColor: Bool)
        /// Bright and dark characters, for terminals without colors or block characters.
        case letters
        case sixels
    }

    // The assumed minimum size of a character in pixels.
    private static let cell = (width: 8, height: 16)

    let mode: Mode
    /// The maximum size of an image in pixels.
    let size: ImageSize

    init(mode: Mode, columns: Int, rows: Int) {
        self.mode = mode
        let (columns, rows) = (max(1, columns), max(1, rows))
        switch mode {
        case .halfBlocks: size = ImageSize(width: columns, height: 2 * rows)
        // Characters are twice as tall as wide, so every other pixel row is drawn.
        case .letters: size = ImageSize(width: columns, height: 2 * rows)
        case .sixels: size = ImageSize(width: columns * Self.cell.width, height: rows * Self.cell.height)
        }
    }

    /// Chooses how to draw. Throws a ``Failure`` if the output isn't a terminal.
    init(_ options: ImageOptions, _ facts: OutputFacts, _ style: Style) throws {
        guard style.isPretty || options.sixel else {
            throw Failure(
                .usage,
                "The output isn't a terminal. Write the image to a file with --output, or use --color always.")
        }
        let mode: Mode
        if options.sixel || facts.isTerminal && style.isColored && TerminalQuery.hasSixels {
            mode = .sixels
        } else if style.isColored, facts.isUTF8 {
            mode = .halfBlocks(isTrueColor: facts.hasTrueColor)
        } else {
            mode = .letters
        }
        // One line is left for the prompt.
        self.init(mode: mode, columns: facts.columns, rows: facts.rows - 1)
    }

    /// Returns the terminal output for an image.
    func text(of image: Image) -> String {
        switch mode {
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

// MARK: - Terminal queries

/// Queries the terminal's capabilities.
enum TerminalQuery {
    /// The time limit for the reply, in tenths of a second.
    private static let replyTimeout: UInt8 = 2

    /// Whether the terminal reports sixel support; false if the input or the output isn't a terminal.
    static var hasSixels: Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return false }
        // A background process would be stopped by the calls below.
        guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return false }
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return false }
        // The reply arrives like typed input, so echo and line buffering are turned off.
        var silent = before
        silent.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &silent.c_cc) { characters in
            characters[Int(VMIN)] = 0
            characters[Int(VTIME)] = replyTimeout
        }
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { return false }
        defer { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
        // Primary device attributes (ECMA-48, section 8.3.24).
        guard (try? StandardOutput.write("\u{1B}[c")) != nil else { return false }
        var reply: [UInt8] = []
        var byte: UInt8 = 0
        while reply.count < 100, read(STDIN_FILENO, &byte, 1) == 1 {
            reply.append(byte)
            if byte == UInt8(ascii: "c") { break }
        }
        return namesSixels(String(decoding: reply, as: UTF8.self))
    }

    /// Returns whether a reply such as `ESC [ ? 6 2 ; 4 c` lists sixels, which have the number 4.
    static func namesSixels(_ reply: String) -> Bool {
        guard reply.hasPrefix("\u{1B}[?"), reply.hasSuffix("c") else { return false }
        return reply.dropFirst(3).dropLast().split(separator: ";").dropFirst().contains("4")
    }
}

// MARK: - Half blocks

/// Draws images with block characters that show two pixels each.
struct HalfBlocks {
    /// Whether colors have 24 bits; otherwise, 256 colors are used.
    let isTrueColor: Bool

    func text(of image: Image) -> String {
        var text = ""
        for y in stride(from: 0, to: image.height, by: 2) {
            var before = ""
            for x in 0..<image.width {
                let (color, character) = cell(color(image[x, y]), color(image[x, y + 1]))
                if color != before { text += "\u{1B}[\(color)m" }
                before = color
                text += character
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }

    /// Returns the colors and the character for two pixels. Transparent pixels show the terminal's background.
    private func cell(_ top: String?, _ bottom: String?) -> (color: String, character: String) {
        switch (top, bottom) {
        case (let top?, let bottom?): ("38;\(top);48;\(bottom)", "▀")
        case (let top?, nil): ("38;\(top);49", "▀")
        case (nil, let bottom?): ("38;\(bottom);49", "▄")
        case (nil, nil): ("39;49", " ")
        }
    }

    /// Returns the parameters that follow 38 or 48 (ISO 8613-6), or nil for a pixel that is transparent or outside the
    /// image.
    private func color(_ pixel: Image.Pixel?) -> String? {
        guard let pixel, pixel.alpha >= 128 else { return nil }
        return isTrueColor
            ? "2;\(pixel.red);\(pixel.green);\(pixel.blue)" : "5;\(Self.index(pixel))"
    }

    private static let levels = [0, 95, 135, 175, 215, 255]

    /// Returns the nearest of the xterm colors that are the same on all terminals: a cube of six levels, and 24 grays.
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

/// Draws images with sixels, the graphics of the DEC VT340: bands of six rows, written one color at a time.
enum Sixels {
    /// The number of levels of red, green and blue.
    private static let levels = 6
    // A Bayer matrix of rounding thresholds in sixteenths of a level.
    private static let thresholds = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    static func text(of image: Image) -> String {
        // The second parameter, 1, leaves undrawn pixels unchanged.
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

    /// Returns six rows of one color with run-length encoding.
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
