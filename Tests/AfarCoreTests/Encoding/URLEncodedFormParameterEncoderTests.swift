import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("URLEncodedFormParameterEncoder")
struct URLEncodedFormParameterEncoderTests {
    @Test(
        "the method determines the destination unless it is specified",
        arguments: [
            (URLEncodedFormParameterEncoder.Destination.methodDependent, HTTPMethod.get, true),
            (.methodDependent, .head, true), (.methodDependent, .delete, true), (.methodDependent, .post, false),
            (.methodDependent, .query, false), (.queryString, .put, true), (.httpBody, .get, false),
        ])
    func destinations(destination: URLEncodedFormParameterEncoder.Destination, method: HTTPMethod, inURL: Bool) throws {
        let encoder: some ParameterEncoder = .urlEncodedForm(destination: destination)
        let request = try encoder.encode(["k": "é"], into: URLRequest(url: "https://h/", method: method))
        #expect(request.url?.query(percentEncoded: true) == (inURL ? "k=%C3%A9" : nil))
        #expect(request.httpBody == (inURL ? nil : Data("k=%C3%A9".utf8)))
        #expect(request.headers["Content-Type"] == (inURL ? nil : "application/x-www-form-urlencoded; charset=utf-8"))
    }

    @Test("an existing query is left unchanged")
    func keepsQuery() throws {
        let request = try URLRequest(url: "https://h/?a=%20&b=1+2#f", method: .get)
        let encoded = try URLEncodedFormParameterEncoder.default.encode(["k": "%"], into: request)
        #expect(encoded.url?.absoluteString == "https://h/?a=%20&b=1+2&k=%25#f")
        let none: [String: String]? = nil
        #expect(try URLEncodedFormParameterEncoder.default.encode(none, into: request).parts == request.parts)
        #expect(
            try URLEncodedFormParameterEncoder.default.encode([String: Int](), into: request).parts == request.parts)
    }

    @Test("allowed characters that are invalid in a URL are escaped, and nothing is escaped twice")
    func unsafeCharacters() throws {
        let allowed = CharacterSet.afURLQueryAllowed.union(CharacterSet(charactersIn: "^é#"))
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(allowedCharacters: allowed))
        let encoded = try encoder.encode(["k": "a ^é#"], into: URLRequest(url: "https://h/?x=%20", method: .get))
        #expect(encoded.url?.absoluteString == "https://h/?x=%20&k=a%20%5E%C3%A9%23")
    }

    @Test("an unescaped percent sign throws an error instead of trapping")
    func barePercent() throws {
        let allowed = CharacterSet.afURLQueryAllowed.union(CharacterSet(charactersIn: "%"))
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(allowedCharacters: allowed))
        let request = try URLRequest(url: "https://h/", method: .get)
        #expect(throws: AFError.self) { try encoder.encode(["k": "50%"], into: request) }
    }

    @Test("a missing URL is an error")
    func noURL() throws {
        var request = try URLRequest(url: "https://h/", method: .get)
        request.url = nil
        #expect {
            try URLEncodedFormParameterEncoder.default.encode(["k": 1], into: request)
        } throws: { error in
            guard case .parameterEncoderFailed(.missingRequiredComponent(.url)) = error as? AFError else {
                return false
            }
            return true
        }
    }
}
