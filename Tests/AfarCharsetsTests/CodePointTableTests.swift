import AfarCharsets
import Testing

/// Parsing of the tables. The decoders' tests compare the contents with the Encoding Standard.
@Suite struct CodePointTableTests {
    @Test func theFirstAndTheLastPointerHaveTheirCodePoints() {
        let table = CodePointTable.koi8R
        #expect(table.count == 128)
        #expect(table[0] == 0x2500)
        #expect(table[127] == 0x42A)
    }

    @Test(arguments: [-1, 128, .min, .max]) func invalidPointersHaveNoCodePoint(pointer: Int) {
        #expect(CodePointTable.koi8R[pointer] == 0)
    }

    @Test func aHoleOfAnIndexHasNoCodePoint() {
        #expect(CodePointTable.windows874[0xFC - 0x80] == 0)
        #expect(CodePointTable.big5[0] == 0)
    }

    @Test func codePointsBeyondTheFirstPlaneAreComplete() {
        // The bytes 87 40.
        #expect(CodePointTable.big5[942] == 0x43F0)
        // The bytes 87 45.
        #expect(CodePointTable.big5[947] == 0x27267)
    }

    @Test func aLineHasAnEncodingsNameAndItsLabels() {
        let lines = EncodingLabels.lines.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.count == 40)
        #expect(lines.first?.first == "UTF-8")
        let labels = lines.flatMap { $0.dropFirst() }
        #expect(labels.count == 228)
        #expect(Set(labels).count == labels.count)
    }
}
