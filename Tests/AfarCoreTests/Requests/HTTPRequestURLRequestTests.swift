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

    @Test func anAmbiguousURLIsRejectedWithItsReason() throws {
        let error = try refusal(of: "http://0x7f.1/")
        guard case .ambiguousURL(let url, let reason)? = error?.invalidRequest else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect("\(url)" == "http://0x7f.1/")
        #expect(reason.contains("several addresses"))
    }

    @Test(arguments: [
        ("http://example.com:65536/", "port"), ("http://example.com:0/", "port"),
        ("http://exam$ple.com/", "characters"),
        ("http://[::zz]/", "IPv6"), ("http://ada:%FF@example.com/", "UTF-8"),
    ])
    func aMalformedURLIsRejectedWithItsReason(url: String, reason: String) throws {
        guard URL(string: url) != nil else { return }
        let error = try refusal(of: url)
        guard case .malformedURL(let url, let found)? = error?.invalidRequest else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(error?.url == url)
        #expect(found.contains(reason))
        #expect(error?.localizedDescription.contains("ambiguous") == false)
    }

    @Test(arguments: [
        (" http://example.com/", "white space"), ("http://example.com\n", "white space"), ("http://a b/", "spaces"),
        ("http://example.com:x/", "port"), ("http://example.com:-1/", "port"), ("http://example.com:80:80/", "port"),
        ("http://[::1/", "bracket"),
    ])
    func invalidTextIsRejectedWithItsReason(text: String, reason: String) throws {
        let error = #expect(throws: AFError.self) { try text.asURL() }
        #expect(error?.localizedDescription.contains(reason) == true, "\(error?.localizedDescription ?? "")")
    }

    @Test func anUnsupportedSchemeIsNamed() throws {
        let error = try refusal(of: "ftp://example.com/")
        guard case .unsupportedScheme("ftp")? = error?.invalidRequest else {
            Issue.record("unexpected error: \(String(describing: error))")
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
