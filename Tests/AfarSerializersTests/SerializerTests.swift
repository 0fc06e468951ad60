import AfarCore
import AfarSerializers
import Foundation
import HTTPTypes
import Testing

/// Serializers with given bytes, response heads and errors.
@Suite struct SerializerTests {
    private func input(
        _ data: Data?, status: Int = 200, type: String? = nil, error: AFError? = nil
    ) -> SerializationInput {
        var fields = HTTPFields()
        if let type { fields[.contentType] = type }
        return SerializationInput(
            request: nil, head: ResponseHead(status: status, fields: fields, url: "http://h/"), data: data, error: error
        )
    }

    struct Named: Decodable, Sendable, Equatable {
        let name: String
    }

    @Test func anEarlierErrorIsForwarded() {
        let failed = input(Data("x".utf8), error: .explicitlyCancelled)
        #expect(throws: AFError.self) { try DataResponseSerializer().serialize(failed) }
        #expect(throws: AFError.self) { try StringResponseSerializer().serialize(failed) }
        #expect(throws: AFError.self) { try JSONResponseSerializer().serialize(failed) }
        #expect(throws: AFError.self) { try PropertyListResponseSerializer().serialize(failed) }
        #expect(throws: AFError.self) { try DecodableResponseSerializer<Named>().serialize(failed) }
    }

    @Test func anEarlierErrorOfAnyTypeIsForwardedUnchanged() {
        struct Mine: Error {}
        #expect(throws: Mine.self) {
            try DataResponseSerializer().serialize(request: nil, response: nil, data: nil, error: Mine())
        }
        #expect(throws: Mine.self) {
            try StringResponseSerializer().serialize(request: nil, response: nil, data: nil, error: Mine())
        }
        #expect(throws: Mine.self) {
            try DecodableResponseSerializer<Named>().serialize(request: nil, response: nil, data: nil, error: Mine())
        }
    }

    @Test func anEmptyBodyIsAnErrorForMostStatuses() throws {
        for data in [nil, Data()] {
            let error = #expect(throws: AFError.self) { try DataResponseSerializer().serialize(input(data)) }
            guard case .responseSerializationFailed(.inputDataNilOrZeroLength) = error else {
                Issue.record("unexpected error: \(String(describing: error))")
                continue
            }
        }
        #expect(try DataResponseSerializer().serialize(input(nil, status: 204)).isEmpty)
        #expect(try StringResponseSerializer().serialize(input(nil, status: 205)) == "")
        #expect(try JSONResponseSerializer().serialize(input(nil, status: 204)) is NSNull)
        #expect(try DecodableResponseSerializer<Empty>().serialize(input(nil, status: 204)) == Empty.value)
        #expect(throws: AFError.self) { try DecodableResponseSerializer<Named>().serialize(input(nil, status: 204)) }
        #expect(try DataResponseSerializer(emptyResponseCodes: [200]).serialize(input(nil)).isEmpty)
    }

    @Test func thePreprocessorRunsFirst() throws {
        let json = Data(")]}',\n{\"name\":\"Ada\"}".utf8)
        let serializer = DecodableResponseSerializer<Named>(dataPreprocessor: .googleXSSI)
        #expect(try serializer.serialize(input(json)) == Named(name: "Ada"))
    }

    @Test(arguments: [
        (Data("gr\u{fc}n".utf8), "text/plain; charset=utf-8", "grün"),
        (Data([0x67, 0x72, 0xFC, 0x6E]), "text/plain; charset=\"ISO-8859-1\"", "grün"),
        (Data([0x80]), "text/plain; charset=windows-1252", "€"),
        (Data([0xFF, 0xFE, 0x41, 0x00]), "text/plain; charset=utf-8", "A"),
        (Data([0xEF, 0xBB, 0xBF, 0x41]), "text/plain", "A"),
        (Data([0x67, 0x72, 0xFC, 0x6E]), "text/plain", "grün"),
        (Data("gr\u{fc}n".utf8), "application/json", "grün"),
    ])
    func textIsDecodedByMarkThenCharsetThenUTF8(data: Data, type: String, text: String) throws {
        #expect(try StringResponseSerializer().serialize(input(data, type: type)) == text)
    }

    @Test func anUnknownCharsetIsNotGuessed() throws {
        let error = #expect(throws: AFError.self) {
            try StringResponseSerializer().serialize(input(Data([0xFC]), type: "text/plain; charset=martian"))
        }
        #expect(
            (error?.underlyingError as? TextDecodingError)?.reason == .unknownCharset(label: "martian"),
            "\(String(describing: error))")
    }

    @Test func anExplicitEncodingTakesPrecedence() throws {
        let serializer = StringResponseSerializer(encoding: .isoLatin1)
        #expect(try serializer.serialize(input(Data([0xFC]), type: "text/plain; charset=utf-8")) == "ü")
    }

    @Test func brokenJSONIsATypedError() {
        let error = #expect(throws: AFError.self) { try JSONResponseSerializer().serialize(input(Data("{".utf8))) }
        guard case .responseSerializationFailed(.jsonSerializationFailed) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
    }

    @Test func jsonFragmentsAreRead() throws {
        #expect(try JSONResponseSerializer().serialize(input(Data("\"x\"".utf8))) as? String == "x")
    }

    @Test func decodingFailuresContainTheDecodersError() {
        let error = #expect(throws: AFError.self) {
            try DecodableResponseSerializer<Named>().serialize(input(Data("{}".utf8)))
        }
        #expect(error?.underlyingError is DecodingError)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func propertyListsAreRead(format: PropertyListSerialization.PropertyListFormat) throws {
        let data = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: format, options: 0)
        #expect(try PropertyListResponseSerializer().serialize(input(data)) as? [String: Int] == ["a": 1])
    }

    @Test func invalidPropertyListsAreReported() {
        let error = #expect(throws: AFError.self) {
            try PropertyListResponseSerializer().serialize(input(Data("{ a = 1; }".utf8)))
        }
        #expect(error?.underlyingError is PropertyListError)
        #expect(error?.localizedDescription.contains("OpenStep") == true)
    }
}
