import AfarImage
import AfarTestServer
import Foundation
import Testing

/// Tests for `afar image`: images in the terminal, and conversion to other sizes and formats.
struct ImageTests {
    /// Runs the tool on an image from a server. The left half is red, and the right half is blue.
    private func run(
        _ path: String, _ arguments: String..., in directory: ScratchDirectory? = nil
    ) async throws -> Tool.Outcome {
        let server = try await TestServer.start()
        let image = try Self.picture(width: 80, height: 40)
        let (png, jpeg) = try (image.pngData(), image.jpegData(compressionQuality: 1))
        server.route("/photo.png") { _ in .content("image/png", png) }
        server.route("/photo.jpg") { _ in .content("text/plain", jpeg) }
        server.route("/cut.png") { _ in .content("image/png", png.dropLast(30)) }
        server.route("/missing") { _ in .content("text/html", Data("<p>no".utf8), status: 404) }
        return try await Tool.run(["image", server.url(path).absoluteString] + arguments, directory: directory?.url)
    }

    private static func picture(width: Int, height: Int) throws -> Image {
        let bytes = (0..<width * height).flatMap { place -> [UInt8] in
            place % width < width / 2 ? [255, 0, 0, 255] : [0, 0, 255, 255]
        }
        return try Image(width: width, height: height, premultipliedRGBA: bytes)
    }

    @Test(arguments: [
        ("320x", "a.webp", "RIFF", 320, 160), ("x10", "a.jpeg", "\u{FF}\u{D8}", 20, 10),
        ("40x40", "a.png", "\u{89}PNG", 40, 20),
    ])
    func anImageIsWrittenInAnotherSizeAndFormat(
        size: String, name: String, magic: String, width: Int, height: Int
    ) async throws {
        let directory = try ScratchDirectory()
        let outcome = try await run("/photo.jpg", "--resize", size, "--output", name, in: directory)
        #expect(outcome.status == 0 && outcome.errors == "" && outcome.text == "\(name)\n")
        let data = try Data(contentsOf: directory.url.appending(path: name))
        #expect(data.starts(with: magic.unicodeScalars.map { UInt8($0.value) }))
        let image = try Image(data: data)
        #expect(image.width == width && image.height == height)
        let left = try #require(image[1, height / 2])
        #expect(left.red > 240 && left.blue < 20)
    }

    @Test func aSizeBeyondTheLimitIsAUsageError() async throws {
        let directory = try ScratchDirectory()
        let outcome = try await run("/photo.png", "--resize", "30000x", "--output", "a.png", in: directory)
        #expect(outcome.status == 2, "\(outcome.errors)")
        #expect(outcome.errors.contains("cannot be scaled to 30000 × 15000 pixels"))
        #expect(outcome.errors.contains("50000000 in total"))
        #expect(!FileManager.default.fileExists(atPath: directory.url.appending(path: "a.png").path))
    }

    @Test func filesAreReadToo() async throws {
        let directory = try ScratchDirectory()
        try Self.picture(width: 8, height: 8).pngData().write(to: directory.url.appending(path: "in.png"))
        let arguments = ["image", "in.png", "-o", "out.jpg", "--quality", "50"]
        let outcome = try await Tool.run(arguments, directory: directory.url)
        #expect(outcome.status == 0)
        let again = try await Tool.run(arguments, directory: directory.url)
        #expect(again.status == 2 && again.errors.contains("out.jpg already exists. Replace it with --force"))
        #expect(try await Tool.run(arguments + ["--force"], directory: directory.url).status == 0)
        #expect(try Image(data: Data(contentsOf: directory.url.appending(path: "out.jpg"))).width == 8)
    }

    @Test func aTerminalShowsHalfBlocks() async throws {
        let directory = try ScratchDirectory()
        let path = directory.url.appending(path: "in.png").path
        try Self.picture(width: 4, height: 2).pngData().write(to: URL(filePath: path))
        let colors = ["LC_ALL": "C.UTF-8", "COLORTERM": "truecolor"]
        let outcome = try await Tool.runOnTerminal("image", path, environment: colors)
        #expect(outcome.status == 0)
        #expect(
            outcome.text
                == "\u{1B}[38;2;255;0;0;48;2;255;0;0m▀▀\u{1B}[38;2;0;0;255;48;2;0;0;255m▀▀\u{1B}[0m\n")
        let few = try await Tool.runOnTerminal("image", path, environment: ["LC_ALL": "C.UTF-8", "COLORTERM": ""])
        #expect(few.text == "\u{1B}[38;5;196;48;5;196m▀▀\u{1B}[38;5;21;48;5;21m▀▀\u{1B}[0m\n")
        let none = try await Tool.runOnTerminal("image", path, "--color", "never", environment: colors)
        #expect(none.text == "::  \n")
    }

    @Test func anImageFitsIntoTheTerminal() async throws {
        let directory = try ScratchDirectory()
        let path = directory.url.appending(path: "in.png").path
        try Self.picture(width: 400, height: 600).pngData().write(to: URL(filePath: path))
        let colors = ["LC_ALL": "C.UTF-8"]
        // One of the terminal's 24 lines is left for the prompt.
        let outcome = try await Tool.runOnTerminal("image", path, environment: colors)
        #expect(outcome.text.split(separator: "\n").count == 23)
        let resized = try await Tool.runOnTerminal("image", path, "--resize", "4x", environment: colors)
        #expect(resized.text.split(separator: "\n").count == 3)
    }

    @Test func sixelsAreWrittenOnRequest() async throws {
        let outcome = try await run("/photo.png", "--sixel")
        #expect(outcome.status == 0)
        #expect(outcome.text.hasPrefix("\u{1B}P0;1;0q\"1;1;80;40#0;2;0;0;0"))
        #expect(outcome.text.hasSuffix("-\u{1B}\\\n"))
    }

    @Test func anInvalidImageIsReported() async throws {
        let missing = try await run("/missing", "--color", "always")
        #expect(missing.status == 6)
        #expect(missing.errors.contains("not an image in a known format") && missing.errors.contains("404"))
        let cut = try await run("/cut.png", "--color", "always")
        #expect(cut.status == 6 && cut.errors.contains("The PNG image ends before its data is complete"))
    }

    @Test(arguments: [
        (["--output", "a.gif"], "The extension of a.gif must be .png, .jpg or .webp"),
        (["--output", "a.png", "--quality", "5"], "--quality doesn't apply"),
        (["--output", "a.jpg", "--quality", "0"], "--quality must be a number from 1 to 100"),
        (["--quality", "5", "--sixel"], "--quality requires an output file"),
        (["--resize", "5"], "'5' is invalid for '--resize"),
        ([], "The output isn't a terminal"),
    ])
    func usageErrorsAreDetectedBeforeSending(arguments: [String], message: String) async throws {
        let outcome = try await Tool.run(["image", "127.0.0.1:1/a.png"] + arguments)
        #expect(outcome.status == 2 && outcome.errors.contains(message), "\(outcome.errors)")
    }
}
