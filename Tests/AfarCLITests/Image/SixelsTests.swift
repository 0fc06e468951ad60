import AfarImage
import Testing

@testable import AfarCLI

struct SixelsTests {
    @Test func everyColorOfABandIsWrittenSeparately() throws {
        // Five columns and seven rows of red, except for a blue right column and a transparent bottom left pixel.
        let bytes = (0..<35).flatMap { place -> [UInt8] in
            if place == 30 { return [0, 0, 0, 0] }
            return place % 5 == 4 ? [0, 0, 255, 255] : [255, 0, 0, 255]
        }
        let text = Sixels.text(of: try Image(width: 5, height: 7, premultipliedRGBA: bytes))
        #expect(text.hasPrefix("\u{1B}P0;1;0q\"1;1;5;7#0;2;0;0;0#1;2;0;0;20"))
        // Blue is color 5, and red is color 180. "~" is six pixels, "@" only the top one, and "?" none.
        #expect(text.hasSuffix("#215;2;100;100;100#5!4?~$#180!4~?-#5!4?@$#180?@@@?-\u{1B}\\\n"))
    }

    @Test func intermediateLevelsAreDithered() throws {
        // A tenth of the way from black to white is halfway to the first color level.
        let bytes = (0..<16).flatMap { _ -> [UInt8] in [25, 25, 25, 255] }
        let text = Sixels.text(of: try Image(width: 4, height: 4, premultipliedRGBA: bytes))
        let picture = text.split(separator: "#215;2;100;100;100").last ?? ""
        #expect(picture.contains("#0") && picture.contains("#43"))
    }
}
