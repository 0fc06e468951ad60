import AfarCore
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct HTTPRequestURLRequestTests {
    private func refusal(of url: String) throws -> AFError? {
        let request = URLRequest(url: try #require(URL(string: url)))
        return #expect(throws: AFError.self) { try HTTPRequest(request, bodyLength: nil) }
    }

    @Test func aURLThatCanBeReadInSeveralWaysIsRefusedWithItsReason() throws {
        let error = try refusal(of: "http://0x7f.1/")
        guard case .urlRequestValidationFailed(.ambiguousURL(let url, let reason)) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect("\(url)" == "http://0x7f.1/")
        #expect(reason.contains("several addresses"))
    }

    @Test func anotherSchemeIsRefusedByName() throws {
        let error = try refusal(of: "ftp://example.com/")
        guard case .urlRequestValidationFailed(.unsupportedScheme("ftp")) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test func aURLWithoutAHostIsInvalid() throws {
        #expect(try refusal(of: "http:///x")?.isInvalidURLError == true)
    }

    @Test func aPasswordNeverShowsInTheError() throws {
        #expect(try refusal(of: "http://ada:secret@0x7f.1/")?.localizedDescription.contains("secret") == false)
    }
}
