import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Names that were changed still compile, with a warning, and mean the same.
@Suite struct EarlierNamesTests {
    @available(*, deprecated)
    @Test func charsets() async throws {
        #expect(try TextDecoding.charsetElseLatin1.decode(Data([0xE9])).text == "é")
        let options: TextDecoding = .charsetElseLatin1
        #expect(try options.decode(Data([0xC3])).text == TextDecoding.charsetOrLatin1.decode(Data([0xC3])).text)
    }

    @available(*, deprecated)
    @Test func parametersThatAreNestedTooDeep() async throws {
        var nested: [String: any Sendable] = [:]
        for _ in 0...AFError.ParametersNestedTooDeep.limit { nested = ["a": nested] }
        let parameters = nested
        let request = URLRequest(url: try #require(URL(string: "http://example.org/")))
        do {
            _ = try URLEncoding.default.encode(request, with: ["a": parameters])
            Issue.record("encoded")
        } catch let error as AFError {
            let inner = try #require(error.underlyingError as? AFError.ParametersNestedTooDeep)
            #expect(inner.parameter == "a")
        }
        #expect(AFError.ParametersNestedTooDeep(parameter: "x").errorDescription?.contains("x") == true)
    }

    @available(*, deprecated)
    @Test func secretHeaders() async throws {
        var configuration = SessionConfiguration()
        configuration.secretHeaders = ["X-Customer"]
        configuration.secretHeaders.insert("X-Other")
        #expect(configuration.sensitiveHeaders == ["X-Customer", "X-Other"])
        let transport = MockTransport { _ in .text("hello").breakingOff(after: 2) }
        let session = Session(configuration: configuration, transport: transport)
        let request = session.request("http://example.org/", headers: ["X-Customer": "Emma"])
        let response = await request.serializingData().response
        #expect(response.data == Data("he".utf8))
        #expect((response.error?.underlyingError as? URLError)?.code == .networkConnectionLost)
        #expect(!response.debugDescription.contains("Emma"))
        let other = MockTransport { _ in .text("hello").breakingOff(after: 1, with: .timedOut) }
        let late = await Session(transport: other).request("http://example.org/").serializingData().response
        #expect(late.error?.isSessionTaskError == true || late.error?.isSessionDeinitializedError == true)
    }
}
