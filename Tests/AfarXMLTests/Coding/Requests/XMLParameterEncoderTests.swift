import AfarCore
import AfarXML
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// XML as a request body.
@Suite struct XMLParameterEncoderTests {
    struct Order: Codable, Sendable, Equatable { var number: Int }

    private func request() throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "https://example.org/")))
    }

    @Test func theBodyAndItsTypeAreSet() throws {
        let encoder: any ParameterEncoder = .xml
        let request = try encoder.encode(Order(number: 1), into: request())
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/xml")
        let body = try #require(request.httpBody)
        #expect(
            String(decoding: body, as: UTF8.self)
                == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Order><number>1</number></Order>")
    }

    @Test func anExistingContentTypeIsKept() throws {
        var request = try request()
        request.setValue("application/soap+xml", forHTTPHeaderField: "Content-Type")
        request = try XMLParameterEncoder(encoder: XMLEncoder(rootName: "o")).encode(Order(number: 1), into: request)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/soap+xml")
        #expect(String(decoding: request.httpBody ?? Data(), as: UTF8.self).hasSuffix("<o><number>1</number></o>"))
    }

    @Test func nothingIsSetForNoParameters() throws {
        let request = try XMLParameterEncoder.default.encode(Order?.none, into: request())
        #expect(request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test func anUnencodableValueIsAnAFError() throws {
        let error = #expect(throws: AFError.self) {
            try XMLParameterEncoder.prettyPrinted.encode(["a b": 1], into: request())
        }
        #expect(error?.underlyingError is EncodingError)
    }

    @Test func anXMLDecoderIsADataDecoder() throws {
        let decoder: any DataDecoder = XMLDecoder()
        #expect(try decoder.decode(Order.self, from: Data("<o number='3'/>".utf8)) == Order(number: 3))
    }
}
