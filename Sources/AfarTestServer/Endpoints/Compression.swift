import Foundation

/// Answers with a content coding.
enum Compression {
    static func gzip(_ request: ServerRequest) throws -> ServerResponse {
        try encoded(request, "gzip") { Deflate.gzip($0) }
    }

    static func deflate(_ request: ServerRequest) throws -> ServerResponse {
        try encoded(request, "deflate") { Deflate.zlib($0) }
    }

    static func bomb(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.number("bytes", in: 0...1_000_000_000, default: 50_000_000)
        return .content("application/octet-stream", Data(Deflate.gzip(zeros: count)))
            .adding("Content-Encoding", "gzip")
    }

    private static func encoded(
        _ request: ServerRequest,
        _ coding: String,
        _ encode: ([UInt8]) -> [UInt8]
    ) throws -> ServerResponse {
        var document = Echo.document(request)
        document["encoding"] = coding
        var response = try Echo.json(document)
        if case .data(let data) = response.body { response.body = .data(Data(encode(Array(data)))) }
        return response.adding("Content-Encoding", coding)
    }
}
