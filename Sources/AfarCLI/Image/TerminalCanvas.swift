import AfarImage

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
