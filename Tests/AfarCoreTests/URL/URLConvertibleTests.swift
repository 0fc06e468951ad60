import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Conversions to URLs and requests")
struct URLConvertibleTests {
    @Test("strings, URLs and components are converted to URLs")
    func converts() throws {
        #expect(try "https://example.com/a?b=c".asURL().absoluteString == "https://example.com/a?b=c")
        let url = try #require(URL(string: "https://example.com"))
        #expect(try url.asURL() == url)
        var components = URLComponents()
        components.scheme = "https"
        components.host = "example.com"
        #expect(try components.asURL() == url)
    }

    @Test("escapes in strings are left unchanged")
    func keepsEscapes() throws {
        for (text, url) in [
            ("http://h/?a=%26|&b[]=%5B", "http://h/?a=%26%7C&b%5B%5D=%5B"), ("http://h/%zz%2", "http://h/%25zz%252"),
            ("http://bücher.example/%20é", "http://xn--bcher-kva.example/%20%C3%A9"),
            ("http://u|%40:p%40@h/[", "http://u%7C%40:p%40@h/%5B"),
            ("http://[::1]:80/[#a#%20]", "http://[::1]:80/%5B#a%23%20%5D"),
            ("http://h/a\\b", "http://h/a%5Cb"), ("?\u{301}#\u{301}", "?%CC%81#%CC%81"), ("/a:b|", "/a:b%7C"),
        ] {
            #expect(try text.asURL().absoluteString == url)
        }
    }

    @Test("the error contains the invalid URL", arguments: ["", "http://[::1", "http://a b/", "http://a|b/%20|"])
    func rejects(text: String) {
        #expect { try text.asURL() } throws: { $0.asAFError?.urlConvertible as? String == text }
    }

    @Test("the error contains the invalid components")
    func rejectsComponents() {
        var components = URLComponents()
        components.host = "example.com"
        components.path = "no-slash"
        #expect { try components.asURL() } throws: { $0.asAFError?.urlConvertible is URLComponents }
    }

    @Test("a request is returned unchanged")
    func request() throws {
        let request = try URLRequest(url: "https://example.com", method: .put)
        #expect(request.urlRequest == request)
        struct Failing: URLRequestConvertible {
            func asURLRequest() throws -> URLRequest { throw AFError.explicitlyCancelled }
        }
        #expect(Failing().urlRequest == nil)
    }
}
