import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes

extension ConformanceCase {
    static let requests: [ConformanceCase] =
        ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PROPFIND"].map {
            method in
            ConformanceCase(.requests, "\(method) is sent unchanged") { trial in
                let lines = try await trial.echo(trial.exchange("/echo", method))
                try expectEqual(lines.first, "\(method) /echo")
            }
        } + [
            ConformanceCase(.requests, "a response to HEAD has no body, whatever its length") { trial in
                let response = try await trial.send(trial.exchange("/bytes/100", "HEAD"))
                try expectEqual(response.head.status, 200)
                try await expectEqual(response.data, Data())
            },
            ConformanceCase(.requests, "a method keeps its case", needs: .anyMethod) { trial in
                let lines = try await trial.echo(trial.exchange("/echo", "Fetch"))
                try expectEqual(lines.first, "Fetch /echo")
            },
            ConformanceCase(.requests, "a path and a query are sent unchanged") { trial in
                let target = "/echo/a%20b/%2F/c;d?x=1&y=%26&z"
                try await expectEqual(trial.echo(trial.exchange(target)).first, "GET \(target)")
            },
            ConformanceCase(.requests, "an empty query is kept") { trial in
                try await expectEqual(trial.echo(trial.exchange("/echo?")).first, "GET /echo?")
            },
            ConformanceCase(.requests, "a long path is sent completely") { trial in
                let path = "/echo/" + String(repeating: "x", count: 6000)
                try await expectEqual(trial.echo(trial.exchange(path)).first, "GET \(path)")
            },
            ConformanceCase(.requests, "header fields arrive in order, also with repeated names") { trial in
                let fields = [("X-B", "1"), ("X-A", "2"), ("X-B", "3")]
                let lines = try await trial.echo(trial.exchange("/echo", fields: fields)).filter { $0.hasPrefix("X-") }
                try expectEqual(lines, ["X-B: 1", "X-A: 2", "X-B: 3"])
            },
            ConformanceCase(.requests, "an empty header field is sent") { trial in
                let lines = try await trial.echo(trial.exchange("/echo", fields: [("X-Empty", "")]))
                try expect(lines.contains { $0.hasPrefix("X-Empty:") }, "X-Empty among \(lines)")
            },
            ConformanceCase(.requests, "a long header field is sent completely") { trial in
                let value = String(repeating: "v", count: 6000)
                let lines = try await trial.echo(trial.exchange("/echo", fields: [("X-Long", value)]))
                try expect(lines.contains("X-Long: \(value)"), "a field of 6000 bytes")
            },
            ConformanceCase(.requests, "default fields are sent unless the request has its own") { trial in
                let lines = try await trial.echo(
                    trial.exchange("/echo", fields: [("X-Own", "request")]) { exchange in
                        var fields = HTTPFields()
                        for (name, value) in [("X-Own", "default"), ("X-Default", "default")] {
                            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
                        }
                        exchange.options.defaultFields = DefaultFields(fields)
                    })
                try expect(lines.contains("X-Own: request"), "the request's own field among \(lines)")
                try expect(!lines.contains("X-Own: default"), "no default field of the same name among \(lines)")
                try expect(lines.contains("X-Default: default"), "the default field among \(lines)")
            },
            ConformanceCase(.requests, "no field that identifies the client is added") { trial in
                let lines = try await trial.echo(trial.exchange("/echo"))
                let added = lines.filter {
                    $0.lowercased().hasPrefix("user-agent:") || $0.lowercased().hasPrefix("cookie:")
                }
                try expectEqual(added, [])
            },
            ConformanceCase(.requests, "fifty concurrent exchanges do not mix") { trial in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<50 {
                        group.addTask {
                            let body = RequestBody.data(ConformanceServer.bytes(number * 100))
                            let lines = try await trial.echo(trial.exchange("/echo/\(number)", "POST", body: body))
                            try expectEqual(lines.first, "POST /echo/\(number)")
                            try expect(lines.last?.hasPrefix("body \(number * 100) ") == true, "its own body")
                        }
                    }
                    try await group.waitForAll()
                }
            },
        ]

    static let uploads: [ConformanceCase] = [
        ConformanceCase(.uploads, "a GET without a body has no framing fields") { trial in
            let lines = try await trial.echo(trial.exchange("/echo")).map { $0.lowercased() }
            let framing = lines.filter { $0.hasPrefix("content-length:") || $0.hasPrefix("transfer-encoding:") }
            try expectEqual(framing, [])
        },
        ConformanceCase(.uploads, "an empty body is sent as a body") { trial in
            let lines = try await trial.echo(trial.exchange("/echo", "POST", body: .data(Data())))
            try expect(lines.last?.hasPrefix("body 0 ") == true, "a body of no bytes, but found \(lines)")
        },
        ConformanceCase(.uploads, "bytes in memory arrive") { trial in
            try await trial.expectArrival(of: 10_000) { .data($0) }
        },
        ConformanceCase(.uploads, "3 MB in memory arrive") { trial in
            try await trial.expectArrival(of: 3_000_000) { .data($0) }
        },
        ConformanceCase(.uploads, "a file arrives", needs: .fileUpload) { trial in
            let file = try ScratchFile(ConformanceServer.bytes(300_000))
            try await trial.expectArrival(of: 300_000) { _ in .file(file.url) }
        },
        ConformanceCase(.uploads, "a missing file fails the exchange", needs: .fileUpload) { trial in
            let file = RequestBody.file(URL(fileURLWithPath: "/nowhere/at/all"))
            _ = try await trial.failure(trial.exchange("/echo", "POST", body: file), .requestBodyFailed)
        },
        ConformanceCase(.uploads, "a stream of known length arrives", needs: .streamedUpload) { trial in
            try await trial.expectArrival(of: 200_000) { .stream(.chunks(of: $0, length: 200_000)) }
        },
        ConformanceCase(.uploads, "a stream of unknown length arrives", needs: .streamedUpload) { trial in
            try await trial.expectArrival(of: 200_000) { .stream(.chunks(of: $0, length: nil)) }
        },
        ConformanceCase(.uploads, "an empty stream arrives", needs: .streamedUpload) { trial in
            try await trial.expectArrival(of: 0) { .stream(.chunks(of: $0, length: nil)) }
        },
        ConformanceCase(.uploads, "a failing stream fails the exchange", needs: .streamedUpload) { trial in
            struct Broken: Error {}
            let stream = RequestBodyStream(length: nil, isReplayable: false) { { throw Broken() } }
            let error = try await trial.failure(
                trial.exchange("/echo", "POST", body: .stream(stream)), .requestBodyFailed)
            try expect(error.underlying is Broken, "the reader's error as the cause")
        },
        ConformanceCase(.uploads, "a stream shorter than its length fails the exchange", needs: .streamedUpload) {
            trial in
            let stream = RequestBodyStream.chunks(of: ConformanceServer.bytes(100), length: 200)
            _ = try await trial.failure(
                trial.exchange("/echo", "POST", body: .stream(stream)) { $0.options.idleTimeout = 5 },
                .requestBodyFailed)
        },
        ConformanceCase(.uploads, "a response before the body's end is accepted", needsSockets: true) { trial in
            let (exchange, _) = try await trial.exchange(
                with: [
                    .receiveHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                    .receiveAll,
                ], "POST", body: .data(ConformanceServer.bytes(3_000_000)))
            try await expectEqual(trial.send(exchange).head.status, 413)
        },
        ConformanceCase(
            .uploads, "a body continues after a successful head", needs: [.streamedUpload, .duplex], needsSockets: true
        ) { trial in
            let (chunks, input) = AsyncStream.makeStream(of: Data.self)
            let (exchange, server) = try await trial.exchange(
                with: [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .receive(15), .send("ok"),
                ], "POST", body: .stream(RequestBodyStream(chunks)), delivery: .stream())
            let response = try await trial.send(exchange)
            try expectEqual(response.head.status, 200)
            input.yield(Data("after".utf8))
            input.finish()
            try await expectEqual(response.data, Data("ok".utf8))
            try expect(server.received(by: 0).hasSuffix("5\r\nafter\r\n0\r\n\r\n"), "the rest of the body")
        },
        ConformanceCase(.uploads, "a body can depend on the response", needs: .duplex, needsSockets: true) { trial in
            let (chunks, input) = AsyncStream.makeStream(of: Data.self)
            let answer = RawServer.Step.send("4\r\npong\r\n")
            let (exchange, _) = try await trial.exchange(
                with: [
                    .respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), answer,
                    .receive(9), answer, .receive(9), answer, .receive(5), .send("0\r\n\r\n"),
                ], "POST", body: .stream(RequestBodyStream(chunks)) { $0.isDuplex = true }, delivery: .stream())
            var count = 0
            for try await chunk in try await trial.send(exchange).stream {
                count += chunk.count
                guard count % 4 == 0 else { continue }
                if count < 12 { input.yield(Data("ping".utf8)) } else { input.finish() }
            }
            try expectEqual(count, 12)
        },
        ConformanceCase(
            .uploads, "a complete response ends a duplex request", needs: .duplex, needsSockets: true
        ) { trial in
            let (chunks, input) = AsyncStream.makeStream(of: Data.self)
            let (exchange, server) = try await trial.exchange(
                with: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForever], "POST",
                body: .stream(RequestBodyStream(chunks)) { $0.isDuplex = true })
            try await expectEqual(trial.send(exchange).data, Data("ok".utf8))
            try await server.peerClosed(0)
            input.finish()
        },
        ConformanceCase(.uploads, "trailers are sent", needs: .requestTrailers, needsSockets: true) { trial in
            guard let name = HTTPField.Name("X-Checksum") else { return }
            let (exchange, server) = try await trial.exchange(
                with: [
                    .receiveHead, .receive(38), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                ], "POST",
                body: .stream(.chunks(of: Data("body".utf8), length: 4)) { $0.trailers = { [name: "1a2b3c4d5e"] } })
            _ = try await trial.send(exchange)
            let head = try await server.head()
            try expect(
                head.contains("Transfer-Encoding: chunked") && !head.contains("Content-Length"), "chunks, not \(head)")
            try expect(
                server.received(by: 0).hasSuffix("4\r\nbody\r\n0\r\nX-Checksum: 1a2b3c4d5e\r\n\r\n"), "trailers")
        },
        ConformanceCase(
            .uploads, "a field that trailers can't contain fails the exchange", needs: .requestTrailers,
            needsSockets: true
        ) { trial in
            let body = RequestBody.stream(.chunks(of: Data("body".utf8), length: nil)) {
                $0.trailers = { [.authorization: "Basic eDp5"] }
            }
            let (exchange, server) = try await trial.exchange(with: [.receiveHead, .waitForever], "POST", body: body)
            let error = try await trial.failure(exchange, .requestBodyFailed)
            try expect(error.message.contains("Authorization"), "the field's name in: \(error.message)")
            try await server.peerClosed(0)
            try expect(!server.received(by: 0).hasSuffix("\r\n0\r\n\r\n"), "an incomplete body")
        },
        ConformanceCase(.uploads, "failing trailers fail the exchange", needs: .requestTrailers) { trial in
            struct Broken: Error {}
            let body = RequestBody.stream(.chunks(of: ConformanceServer.bytes(100), length: nil)) {
                $0.trailers = { throw Broken() }
            }
            let error = try await trial.failure(trial.exchange("/echo", "POST", body: body), .requestBodyFailed)
            try expect(error.underlying is Broken, "the cause")
        },
    ]
}

extension RequestBody {
    /// A stream with settings.
    static func stream(_ stream: RequestBodyStream, _ change: (inout RequestBodyStream) -> Void) -> RequestBody {
        var stream = stream
        change(&stream)
        return .stream(stream)
    }
}

extension Data {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count) == Data(text.utf8) }
}

extension ConformanceTrial {
    /// Sends a body, and checks what the server received.
    fileprivate func expectArrival(of count: Int, _ make: (Data) -> RequestBody) async throws {
        let data = ConformanceServer.bytes(count)
        let expected = ConformanceServer.response(
            to: .init(method: "POST", target: "/echo", fields: HTTPFields(), body: data))
        let lines = try await echo(exchange("/echo", "POST", body: make(data)))
        try expectEqual(lines.last, String(decoding: expected.body, as: UTF8.self).components(separatedBy: "\n").last)
    }
}

extension RequestBodyStream {
    /// Creates a stream that sends data in pieces of 10,000 bytes.
    static func chunks(of data: Data, length: Int64?) -> RequestBodyStream {
        RequestBodyStream(length: length, isReplayable: true) {
            let rest = Locked(data)
            return {
                rest.withLock { rest in
                    guard !rest.isEmpty else { return nil }
                    defer { rest = rest.dropFirst(10_000) }
                    return rest.prefix(10_000)
                }
            }
        }
    }
}

/// A temporary file that is removed with this object.
final class ScratchFile: Sendable {
    let url: URL

    init(_ data: Data = Data()) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("afar-conformance-\(UUID().uuidString)")
        try data.write(to: url)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var contents: Data { get throws { try Data(contentsOf: url) } }

    /// Calls a closure with the open file, positioned at an offset.
    func open<Value>(at offset: Int = 0, _ body: (Int32) async throws -> Value) async throws -> Value {
        let handle = try FileHandle(forUpdating: url)
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        return try await body(handle.fileDescriptor)
    }
}
