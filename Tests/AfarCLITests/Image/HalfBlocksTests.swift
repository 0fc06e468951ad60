import AfarImage
import Testing

@testable import AfarCLI

struct HalfBlocksTests {
    @Test func transparentPixelsShowTheBackground() throws {
        let pixels: [UInt8] = [
            1, 2, 3, 255, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 1, 2, 3, 255, 0, 0, 0, 0,
            4, 5, 6, 255, 4, 5, 6, 255, 0, 0, 0, 0,
        ]
        let image = try Image(width: 3, height: 3, premultipliedRGBA: pixels)
        #expect(
            HalfBlocks(isTrueColor: true).text(of: image) == """
                \u{1B}[38;2;1;2;3;49m▀▄\u{1B}[39;49m \u{1B}[0m
                \u{1B}[38;2;4;5;6;49m▀▀\u{1B}[39;49m \u{1B}[0m

                """)
    }

    @Test(arguments: [
        (Image.Pixel(red: 0, green: 0, blue: 0), 16), (.white, 231), (Image.Pixel(red: 255, green: 0, blue: 0), 196),
        (Image.Pixel(red: 128, green: 128, blue: 128), 244), (Image.Pixel(red: 94, green: 136, blue: 174), 67),
        (Image.Pixel(red: 8, green: 8, blue: 8), 232),
    ])
    func theNearestOf256ColorsIsUsed(pixel: Image.Pixel, index: Int) {
        #expect(HalfBlocks.index(pixel) == index)
    }
}
