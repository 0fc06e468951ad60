import Foundation

/// Answers that take time or come in pieces.
enum Streams {
    static func delay(_ request: ServerRequest) throws -> ServerResponse {
        var response = try Echo.answer(request)
        response.delay = try request.seconds("seconds")
        return response
    }

    static func drip(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("bytes", default: 10)
        let seconds = try request.seconds("seconds", default: 1)
        // Pauses shorter than 5 ms would drift: then several bytes go at once.
        let steps = max(1, min(count, Int(seconds / 0.005)))
        return ServerResponse(headers: ["Content-Type": "application/octet-stream"]) { body in
            for step in 0..<steps {
                try body.wait(seconds: seconds / Double(steps))
                try body.write(PatternBytes.bytes((count * step / steps)..<(count * (step + 1) / steps)))
            }
        }
    }

    static func chunks(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        return ServerResponse(headers: ["Content-Type": "text/plain; charset=utf-8"]) { body in
            for index in 0..<count { try body.write("chunk \(index)\n") }
        }
    }

    static func lines(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        return ServerResponse(headers: ["Content-Type": "application/x-ndjson"]) { body in
            for index in 0..<count { try body.write(#"{"id":\#(index),"text":"line \#(index)"}"# + "\n") }
        }
    }

    static func events(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
        guard count > 0, last >= 0, last < count else { return ServerResponse(status: 204) }
        return ServerResponse(headers: ["Content-Type": "text/event-stream"]) { body in
            for id in (last + 1)...count { try body.write("event: tick\nid: \(id)\ndata: event \(id)\n\n") }
        }
    }
}
