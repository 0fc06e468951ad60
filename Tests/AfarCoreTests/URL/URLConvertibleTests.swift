import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("URLs and requests of other values")
struct URLConvertibleTests {
    @Test("text, URLs and components become URLs")
    func converts() throws {
        #expect(try "https://example.com/a?b=c".asURL().absoluteString == "https://example.com/a?b=c")
        let url = try #require(URL(string: "https://example.com"))
        #expect(try url.asURL() == url)
        var components = URLComponents()
        components.scheme = "https"
        components.host = "example.com"
        #expect(try components.asURL() == url)
    }

    @Test("what is no URL comes back in the error", arguments: ["", "http://[::1", "http://a b/"])
    func refuses(text: String) {
        #expect { try text.asURL() } throws: { $0.asAFError?.urlConvertible as? String == text }
    }

    @Test("components that form no URL come back in the error")
    func refusesComponents() {
        var components = URLComponents()
        components.host = "example.com"
        components.path = "no-slash"
        #expect { try components.asURL() } throws: { $0.asAFError?.urlConvertible is URLComponents }
    }

    @Test("a request is its own request")
    func request() throws {
        let request = try URLRequest(url: "https://example.com", method: .put)
        #expect(request.urlRequest == request)
        struct Failing: URLRequestConvertible {
            func asURLRequest() throws -> URLRequest { throw AFError.explicitlyCancelled }
        }
        #expect(Failing().urlRequest == nil)
    }
}
