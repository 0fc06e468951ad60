import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("URLRequest, HTTPURLResponse and URLSessionConfiguration with typed values")
struct URLRequestHTTPTests {
    @Test("the method and headers are stored")
    func initializer() throws {
        let request = try URLRequest(url: "https://example.com/a", method: .patch, headers: ["X-A": "1"])
        #expect(request.url?.absoluteString == "https://example.com/a")
        #expect(request.method == .patch)
        #expect(request.httpMethod == "PATCH")
        #expect(request.headers == ["X-A": "1"])
        #expect(try URLRequest(url: "https://example.com", method: .get).headers.isEmpty)
    }

    @Test("setting headers replaces all of them")
    func headers() throws {
        var request = try URLRequest(url: "https://example.com/", method: .get, headers: ["A": "1", "B": "2"])
        request.headers = ["C": "3"]
        #expect(request.headers == ["C": "3"])
        request.headers.update(.accept("x/y"))
        request.headers.remove(name: "c")
        #expect(request.allHTTPHeaderFields == ["Accept": "x/y"])
    }

    @Test("methods are case-sensitive and can be extended")
    func method() throws {
        var request = try URLRequest(url: "https://example.com/", method: HTTPMethod(rawValue: "PURGE"))
        #expect(request.httpMethod == "PURGE")
        #expect(HTTPMethod(rawValue: "get") != .get)
        request.method = .query
        #expect(request.httpMethod == "QUERY")
    }

    @Test("a line break in a header is an error")
    func injection() {
        #expect(throws: AFError.self) {
            try URLRequest(url: "https://example.com/", method: .get, headers: ["X": "a\r\nEvil: 1"])
        }
        #expect(throws: AFError.self) {
            try URLRequest(url: "https://example.com/", method: HTTPMethod(rawValue: "GET / HTTP/1.1\r\nX:"))
        }
        #expect(throws: AFError.self) { try URLRequest(url: "https://example.com/", method: HTTPMethod(rawValue: "")) }
    }

    @Test("a GET request with a body is invalid")
    func validation() throws {
        var request = try URLRequest(url: "https://example.com/", method: .get)
        try request.validate()
        request.httpBody = Data("x".utf8)
        #expect {
            try request.validate()
        } throws: { error in
            guard case .urlRequestValidationFailed(.bodyDataInGETRequest(let body)) = error as? AFError else {
                return false
            }
            return body == Data("x".utf8)
        }
        request.method = .post
        try request.validate()
    }

    @Test("a response's header names are case-insensitive")
    func response() throws {
        let url = try "https://example.com/".asURL()
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["X-Thing": "1"])
        )
        #expect(response.headers["x-thing"] == "1")
    }

    @Test("a configuration's headers can be set")
    func configuration() {
        let configuration = URLSessionConfiguration.ephemeral
        #expect(configuration.headers.isEmpty)
        configuration.headers = .default
        #expect(configuration.headers.sorted() == HTTPHeaders.default.sorted())
    }
}
