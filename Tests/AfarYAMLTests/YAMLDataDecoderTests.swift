import AfarCore
import AfarYAML
import Foundation
import Testing

/// Well-formed and harmless YAML.
@Suite struct YAMLDataDecoderTests {
    @Test func aValueIsDecoded() throws {
        #expect(try YAMLDataDecoder().decode(Service.self, from: Data(Service.yaml.utf8)) == .web)
    }

    @Test func aSliceIsDecoded() throws {
        let data = Data("xx".utf8) + Data(Service.yaml.utf8)
        #expect(try YAMLDataDecoder().decode(Service.self, from: data.dropFirst(2)) == .web)
    }

    @Test func aliasesAndMergedKeysAreResolved() throws {
        let yaml = """
            base: &base
              name: web
              ports: &ports [80, 443]
            other:
              <<: *base
              labels: {tier: front}
            third:
              name: third
              ports: *ports
            """
        let services = try YAMLDataDecoder().decode([String: Service].self, from: Data(yaml.utf8))
        #expect(services["other"] == .web)
        #expect(services["third"]?.ports == [80, 443])
    }

    /// YAML 1.2.2, section 5.2.
    @Test(
        arguments: [
            (String.Encoding.utf8, [0xEF, 0xBB, 0xBF]),
            (.utf16BigEndian, [0xFE, 0xFF]), (.utf16LittleEndian, [0xFF, 0xFE]),
            (.utf32BigEndian, [0, 0, 0xFE, 0xFF]), (.utf32LittleEndian, [0xFF, 0xFE, 0, 0]),
        ] as [(String.Encoding, [UInt8])])
    func theEncodingIsDetectedInTheFirstBytes(encoding: String.Encoding, mark: [UInt8]) throws {
        let data = try #require("name: grün\nports: []\n".data(using: encoding))
        for data in [data, Data(mark) + data] {
            #expect(try YAMLDataDecoder().decode(Service.self, from: data).name == "grün")
        }
    }

    @Test(arguments: ["name: [", "name: web", "- 1", "", "a: *missing", "name: web\nname: web\nports: []", "a: b\u{0}"])
    func undecodableYAMLIsADecodingError(yaml: String) {
        #expect(throws: DecodingError.self) { try YAMLDataDecoder().decode(Service.self, from: Data(yaml.utf8)) }
    }

    @Test func malformedBytesAreADecodingError() {
        #expect(throws: DecodingError.self) {
            try YAMLDataDecoder().decode(Service.self, from: Data([0x61, 0x3A, 0x20, 0xFF, 0xFE]))
        }
    }
}
