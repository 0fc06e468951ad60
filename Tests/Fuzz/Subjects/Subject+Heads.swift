import AfarCore
import AfarHTTP1
import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Subject {
    static let heads = [
        Subject("response-head", seeds: headSeeds, tokens: headTokens) { (input, random) throws(Contradiction) in
            var request = ResponseParser.Request(method: .get, url: "http://localhost/")
            request.allowsLaterVersions = true
            var parser = ResponseParser(request, options: ExchangeOptions())
            var isAccepted = false
            do {
                for line in lines(of: input) {
                    var offset = 0
                    let event = try line.withUnsafeBytes { line throws(Fault) -> ResponseParser.Event? in
                        guard isAccepted else { return try parser.next(in: line, at: &offset) }
                        try parser.receiveTrailers(line)
                        return nil
                    }
                    if case .head(let head) = event {
                        isAccepted = true
                        _ = (head.fields, head.httpURLResponse?.allHeaderFields.count, parser.declaredLength)
                        _ = (head.value(for: .location), head.values(for: .setCookie))
                        _ = AuthenticationChallenge.challenges(in: head.values(for: .wwwAuthenticate))
                        _ = head.mediaType
                        _ = head.values(for: .contentDisposition).map { ContentDisposition($0).fileNames }
                    }
                }
            } catch {
                _ = "\(error)"
            }
            _ = parser.trailers
            return isAccepted
        },
        Subject(
            "location", seeds: locationSeeds, tokens: ["/", "//", "..", ":", "@", "?", "#", "%", "[", "]", "\\", "é"]
        ) {
            (input, _) throws(Contradiction) in
            let text = String(decoding: input, as: UTF8.self)
            let reference = URLReference(text)
            _ = (reference.scheme, reference.authority, reference.path, reference.query, reference.fragment)
            return (try? HTTPRequest(URLRequest(url: text.asURL()), bodyLength: 0)) != nil
        },
        Subject("resume-data", seeds: resumeSeeds, tokens: ["{", "\"", "version", "0", "null", "etag"]) {
            (input, _) throws(Contradiction) in (try? ResumeData(decoding: input)) != nil
        },
    ]

    private static let headSeeds = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 12\r\nX-A: 1\r\nX-A: 2\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 No\nWWW-Authenticate: Basic realm=\"a\\\"b\", Digest nonce=x\n folded\n\n",
        "HTTP/1.0 302\r\nLocation: ../x\r\nSet-Cookie: a=b; Path=/\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\n\r\nTrailer: 1\r\n\r\n",
    ]

    private static let headTokens = [
        "\r\n", "\n", "\r", ":", " ", "\t", "HTTP/1.1 ", "200", "Content-Length: ", "Transfer-Encoding: chunked\r\n",
        "WWW-Authenticate: Basic realm=",
        "Content-Disposition: attachment; filename*=UTF-8''%e2%82%ac", ",",
        "\0", "é", "99999999999999999999", "-1", "Content-Type: ", ";", "=", "\"", "Location: ", "x: y\r\n",
    ]

    private static let locationSeeds = [
        "https://ada:pw@example.com:8443/a/../b?c=d#e", "//example.com/x", "/a%20b/ü", "?q", "http://[::1]:80/",
        "../../x;y=1",
        "http://0x7f.1/",
    ]

    private static let resumeSeeds: [Data] = [
        Data("AfarResumeData/2 crc32=00000000\n{}".utf8),
        URL(string: "https://example.com/a?b").map { url in
            ResumeData(
                url: url, headers: ["Accept": "*/*"], validator: .entityTag("\"x\""), path: "/tmp/x", byteCount: 12,
                totalLength: 34
            ).encoded()
        } ?? Data(),
    ]

    /// Splits the input into lines including their line breaks. The last line may have none.
    private static func lines(of input: Data) -> [Data] {
        var lines: [Data] = []
        var rest = input[...]
        while let end = rest.firstIndex(of: 0x0A) {
            lines.append(Data(rest[...end]))
            rest = rest[(end + 1)...]
        }
        return rest.isEmpty ? lines : lines + [Data(rest)]
    }
}
