import AfarMultipart
import Foundation

extension Subject {
    static let multipart = [
        Subject("multipart", seeds: multipartSeeds, tokens: multipartTokens) {
            (input, random) throws(Contradiction) in
            let whole = parts(of: [input])
            try Contradiction.check(whole, parts(of: random.chunks(of: input)), "parts, cut")
            return whole.error == nil
        }
    ]

    private struct Parts: Equatable {
        var headers: [MultipartHeader] = []
        var bodies: [Data] = []
        var endCount = 0
        var error: MultipartError?
    }

    private static func parts(of chunks: [Data]) -> Parts {
        var limits = MultipartLimits()
        (limits.maximumParts, limits.maximumHeaderSize, limits.maximumPartSize) = (5, 60, 200)
        var parts = Parts()
        do throws(MultipartError) {
            var parser = try MultipartParser(contentType: "multipart/mixed; boundary=b", limits: limits)
            for chunk in chunks {
                for event in try parser.parse(chunk) {
                    switch event {
                    case .header(let header):
                        parts.headers.append(header)
                        parts.bodies.append(Data())
                        _ = (header.name, header.fileName, header.mediaType, header.contentRange)
                    case .data(let data): parts.bodies[parts.bodies.count - 1] += data
                    case .end: parts.endCount += 1
                    }
                }
            }
            try parser.finish()
        } catch {
            // A whole body can fail before its first parts are returned.
            return Parts(error: error)
        }
        return parts
    }

    private static let multipartSeeds = [
        "preamble\r\n--b\r\nA: 1\r\n 2\r\n\r\none\r\n--b \t\r\n\r\n\r\n--b--\r\nepilogue",
        "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b\\\"c\"\r\nContent-Range: bytes 0-9/*\r\n\r\nx\r\n--b--",
    ]

    private static let multipartTokens = [
        "\r\n", "\r", "\n", "--b", "--b--", "\r\n--b", "\r\n--b--", "\r\n\r\n", "--", "A: ", ":", " ", "; name=", "\"",
        "\\", "filename*=UTF-8''%e2", "é", "\0",
    ]
}
