import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("JSON and property list bodies")
struct BodyEncodingTests {
    struct Thing: Codable, Equatable, Sendable {
        var b = 1
        var a = "é"
    }

    struct Unwritable: Encodable {
        func encode(to encoder: any Encoder) throws { throw AFError.explicitlyCancelled }
    }

    let request = URLRequest(url: URL(filePath: "/"))

    @Test("parameters are encoded as JSON")
    func json() throws {
        let parameters: Parameters = [
            "a": [1, true, NSNull(), "é"] as [any Sendable], "b": ["c": 1.5], "n": Optional(2),
        ]
        let encoded = try JSONEncoding.default.encode(request, with: parameters)
        #expect(encoded.headers["Content-Type"] == "application/json")
        let body = try #require(encoded.httpBody)
        let object = try #require(try JSONSerialization.jsonObject(with: body) as? NSDictionary)
        #expect(object == ["a": [1, true, NSNull(), "é"] as [Any], "b": ["c": 1.5], "n": 2] as NSDictionary)
        #expect(try JSONEncoding.default.encode(request, with: nil).parts == request.parts)
    }

    @Test("pretty-printed JSON has line breaks, and an array can be the root")
    func prettyAndArray() throws {
        let pretty = try JSONEncoding.prettyPrinted.encode(request, with: ["a": 1]).httpBody
        #expect(pretty?.contains(UInt8(ascii: "\n")) == true)
        let array = try JSONEncoding.default.encode(request, withJSONObject: ["a", 1] as [Any]).httpBody
        #expect(array == Data(#"["a",1]"#.utf8))
        let fragment = try JSONEncoding(options: .fragmentsAllowed).encode(request, withJSONObject: "x").httpBody
        #expect(fragment == Data(#""x""#.utf8))
        #expect(try JSONEncoding.default.encode(request).parts == request.parts)
    }

    @Test(
        "values that aren't JSON throw an error instead of trapping",
        arguments: [
            Double.nan, Double.infinity, Date(), Thing(), [1: 2], Data(), URL(filePath: "/"),
        ] as [any Sendable])
    func invalidJSON(value: any Sendable) {
        #expect {
            try JSONEncoding.default.encode(request, with: ["nested": [["x": value]]])
        } throws: { error in
            guard case .parameterEncodingFailed(.jsonEncodingFailed(let cause)) = error as? AFError else {
                return false
            }
            return cause is JSONEncoding.Error
        }
        #expect(throws: AFError.self) { try JSONEncoding.default.encode(request, withJSONObject: value) }
    }

    @Test("parameters are encoded as a property list")
    func propertyList() throws {
        let parameters: Parameters = [
            "a": [1, true, "é", Data([1])] as [any Sendable], "d": Date(timeIntervalSince1970: 0),
        ]
        for encoding in [PropertyListEncoding.default, .xml, .binary] {
            let encoded = try encoding.encode(request, with: parameters)
            #expect(encoded.headers["Content-Type"] == "application/x-plist")
            let body = try #require(encoded.httpBody)
            var format = PropertyListSerialization.PropertyListFormat.openStep
            let list = try PropertyListSerialization.propertyList(from: body, format: &format)
            #expect(format == encoding.format)
            #expect(((list as? [String: Any])?["a"] as? [Any])?.count == 4)
        }
        #expect(try PropertyListEncoding.default.encode(request, with: nil).parts == request.parts)
    }

    @Test(
        "values that aren't property lists throw an error instead of trapping",
        arguments: [
            NSNull(), Thing(), [1: 2], URL(filePath: "/"), Optional<Int>.none,
        ] as [any Sendable])
    func invalidPropertyList(value: any Sendable) {
        for encoding in [PropertyListEncoding.xml, .binary] {
            #expect {
                try encoding.encode(request, with: ["a": [value]])
            } throws: { error in
                guard case .parameterEncodingFailed(.customEncodingFailed) = error as? AFError else {
                    return false
                }
                return true
            }
        }
    }

    @Test("an Encodable is encoded as JSON")
    func jsonEncoder() throws {
        let encoded = try JSONParameterEncoder.sortedKeys.encode(Thing(), into: request)
        #expect(encoded.httpBody == Data(#"{"a":"é","b":1}"#.utf8))
        #expect(encoded.headers["Content-Type"] == "application/json")
        let pretty = try JSONParameterEncoder.prettyPrinted.encode(Thing(), into: request).httpBody
        #expect(pretty?.contains(UInt8(ascii: "\n")) == true)
        #expect(try JSONParameterEncoder.default.encode(Thing?.none, into: request).parts == request.parts)
        let encoder: some ParameterEncoder = .json
        #expect(
            try JSONDecoder().decode(Thing.self, from: encoder.encode(Thing(), into: request).httpBody ?? Data())
                == Thing())
    }

    @Test("an Encodable is encoded as a property list")
    func propertyListEncoder() throws {
        let encoder: some ParameterEncoder = .propertyList
        let encoded = try encoder.encode(Thing(), into: request)
        #expect(try PropertyListDecoder().decode(Thing.self, from: encoded.httpBody ?? Data()) == Thing())
        #expect(encoded.headers["Content-Type"] == "application/x-plist")
    }

    @Test("an existing content type is kept")
    func contentType() throws {
        var request = request
        request.headers = ["content-type": "x/y"]
        #expect(try JSONEncoding.default.encode(request, with: [:]).headers["Content-Type"] == "x/y")
        #expect(try JSONParameterEncoder.default.encode(Thing(), into: request).headers["Content-Type"] == "x/y")
        #expect(try PropertyListEncoding.default.encode(request, with: [:]).headers["Content-Type"] == "x/y")
    }

    /// `JSONEncoding` fails with the same error.
    @Test func anInvalidJSONValueIsTheErrorsCause() {
        #expect {
            try JSONParameterEncoder.default.encode(Unwritable(), into: request)
        } throws: { error in
            guard case .parameterEncodingFailed(.jsonEncodingFailed) = error as? AFError else { return false }
            return "\(error)".contains("cancelled")
        }
    }

    @Test(
        "an error thrown by a value is the underlying error",
        arguments: [
            PropertyListParameterEncoder.default, URLEncodedFormParameterEncoder.default,
        ] as [any ParameterEncoder])
    func rejects(encoder: any ParameterEncoder) {
        #expect {
            try encoder.encode(Unwritable(), into: request)
        } throws: { error in
            guard case .parameterEncoderFailed(.encoderFailed) = error as? AFError else { return false }
            return "\(error)".contains("cancelled")
        }
    }
}
