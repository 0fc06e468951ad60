import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes

extension ConformanceCase {
    static let responses: [ConformanceCase] =
        [200, 201, 202, 206, 299, 301, 400, 404, 418, 500, 503, 599].map { status in
            ConformanceCase(.responses, "status \(status) is a response") { trial in
                try await expectEqual(trial.send(trial.exchange("/status/\(status)")).head.status, status)
            }
        }
        + [204, 304].map { status in
            ConformanceCase(.responses, "status \(status) has no body") { trial in
                let response = try await trial.send(trial.exchange("/status/\(status)"))
                try expectEqual(response.head.status, status)
                try await expectEqual(response.data, Data())
            }
        } + [
            ConformanceCase(.responses, "repeated fields stay separate and in order") { trial in
                let head = try await trial.send(trial.exchange("/fields")).head
                try expectEqual(head.values(for: .setCookie), ["a=1; Path=/", "b=2"])
                guard let name = HTTPField.Name("x-twice") else { return }
                try expectEqual(head.values(for: name), ["one", "two"])
                try expectEqual(head.value(for: name), "one, two")
            },
            ConformanceCase(.responses, "an empty field is kept") { trial in
                let head = try await trial.send(trial.exchange("/fields")).head
                guard let name = HTTPField.Name("X-Empty") else { return }
                try expectEqual(head.values(for: name), [""])
            },
            ConformanceCase(.responses, "fields keep the server's order and spelling", needsSockets: true) { trial in
                let (exchange, _) = try await trial.exchange(
                    with: [.respond("HTTP/1.1 200 OK\r\nx-B: 1\r\nContent-Length: 0\r\nX-a: 2\r\nx-B: 3\r\n\r\n")])
                let fields = try await trial.send(exchange).head.fields.map { "\($0.name.rawName): \($0.value)" }
                try expectEqual(fields, ["x-B: 1", "Content-Length: 0", "X-a: 2", "x-B: 3"])
            },
            ConformanceCase(.responses, "a redirect is not followed") { trial in
                let response = try await trial.send(trial.exchange("/redirect"))
                try expectEqual(response.head.status, 302)
                try expectEqual(response.head.value(for: .location), "/echo")
                try await expectEqual(response.data, Data("elsewhere".utf8))
            },
            ConformanceCase(.responses, "a challenge is not answered") { trial in
                let response = try await trial.send(trial.exchange("/challenge"))
                try expectEqual(response.head.status, 401)
                try expectEqual(response.head.value(for: .wwwAuthenticate), #"Basic realm="suite""#)
            },
            ConformanceCase(.responses, "cookies are not stored") { trial in
                _ = try await trial.send(trial.exchange("/fields"))
                let lines = try await trial.echo(trial.exchange("/echo"))
                try expect(!lines.contains { $0.lowercased().hasPrefix("cookie:") }, "no cookie among \(lines)")
            },
            ConformanceCase(.responses, "the head has the requested URL") { trial in
                let exchange = try trial.exchange("/status/200?x=1")
                try await expectEqual(trial.send(exchange).head.url, exchange.url)
            },
            ConformanceCase(.responses, "chunks are joined", needsSockets: true) { trial in
                let (exchange, _) = try await trial.exchange(
                    with: [
                        .respond(
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                    ])
                try await expectEqual(trial.send(exchange).data, Data("abcde".utf8))
            },
            ConformanceCase(.responses, "a body without a length ends with the connection", needsSockets: true) {
                trial in
                let (exchange, _) = try await trial.exchange(
                    with: [.respond("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it"), .close])
                try await expectEqual(trial.send(exchange).data, Data("all of it".utf8))
            },
            ConformanceCase(.responses, "a gzip body is decoded", needsSockets: true) { trial in
                guard trial.transport.capabilities.contentCodings.contains("gzip") else { return }
                let gzip: [UInt8] = [
                    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5,
                    0, 0, 0,
                ]
                let (exchange, _) = try await trial.exchange(
                    with: [
                        .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n"),
                        .send(gzip),
                    ], fields: [("Accept-Encoding", "gzip")])
                try await expectEqual(trial.send(exchange).data, Data("hello".utf8))
            },
            ConformanceCase(.responses, "trailers are reported", needs: .trailers, needsSockets: true) { trial in
                let (exchange, _) = try await trial.exchange(
                    with: [
                        .respond(
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-End: yes\r\n\r\n")
                    ])
                let trailers = try await trial.send(exchange).report.trailers
                try expectEqual(trailers.map { "\($0.name.canonicalName): \($0.value)" }, ["x-end: yes"])
            },
            ConformanceCase(.responses, "interim responses do not replace the final one", needsSockets: true) { trial in
                let (exchange, _) = try await trial.exchange(
                    with: [
                        .respond("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
                        .send("HTTP/1.1 102 Processing\r\n\r\n"),
                        .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                    ])
                let response = try await trial.send(exchange)
                try expectEqual(response.head.status, 200)
                try await expectEqual(response.data, Data("ok".utf8))
            },
            ConformanceCase(
                .responses, "interim responses are reported", needs: .informationalResponses, needsSockets: true
            ) { trial in
                let observer = RecordingObserver()
                let (exchange, _) = try await trial.exchange(
                    with: [
                        .respond("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
                        .send("HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /upload/1\r\n\r\n"),
                        .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                    ]) { $0.observer = observer }
                _ = try await trial.send(exchange)
                try expectEqual(observer.heads, [103, 104, 200])
            },
        ]

    static let delivery: [ConformanceCase] =
        [0, 1, 1000, 3_000_000].map { count in
            ConformanceCase(.delivery, "\(count) bytes are collected") { trial in
                try await expectEqual(
                    trial.send(trial.exchange("/bytes/\(count)")).data, ConformanceServer.bytes(count))
            }
        }
        + [0, 1000, 3_000_000].map { count in
            ConformanceCase(.delivery, "\(count) bytes are written to a file", needs: .fileDelivery) { trial in
                let file = try ScratchFile()
                let response = try await file.open {
                    try await trial.send(trial.exchange("/bytes/\(count)", delivery: .file(descriptor: $0)))
                }
                guard case .file(let written) = response.body else {
                    throw ConformanceFailure(description: "expected a file")
                }
                try expectEqual(written, Int64(count))
                try expectEqual(file.contents, ConformanceServer.bytes(count))
            }
        }
        + [0, 1000, 3_000_000].map { count in
            ConformanceCase(.delivery, "\(count) bytes are streamed", needs: .streamedDelivery) { trial in
                let response = try await trial.send(trial.exchange("/bytes/\(count)", delivery: .stream()))
                _ = try response.stream
                try await expectEqual(response.data, ConformanceServer.bytes(count))
            }
        } + [
            ConformanceCase(.delivery, "a file is written from its current offset", needs: .fileDelivery) { trial in
                let file = try ScratchFile(Data("before".utf8))
                _ = try await file.open(at: 6) {
                    try await trial.send(trial.exchange("/bytes/10", delivery: .file(descriptor: $0)))
                }
                try expectEqual(file.contents, Data("before".utf8) + ConformanceServer.bytes(10))
            },
            ConformanceCase(.delivery, "a stream is returned when its head arrives", needs: .streamedDelivery) {
                trial in
                let start = ContinuousClock.now
                let response = try await trial.send(trial.exchange("/stuck", delivery: .stream()))
                try expect(.now - start < .seconds(2), "the head to arrive before the body")
                try response.stream.cancel()
            },
            ConformanceCase(.delivery, "a slowly read stream is complete", needs: .streamedDelivery) { trial in
                let response = try await trial.send(
                    trial.exchange("/bytes/400000", delivery: .stream(highWaterMark: 1000)))
                var data = Data()
                for try await chunk in try response.stream {
                    data += chunk
                    if data.count < 100_000 { try await Task.sleep(for: .milliseconds(1)) }
                }
                try expectEqual(data, ConformanceServer.bytes(400_000))
            },
            ConformanceCase(
                .delivery, "an incomplete stream throws an error", needs: .streamedDelivery, needsSockets: true
            ) { trial in
                let (exchange, _) = try await trial.exchange(
                    with: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .close], delivery: .stream())
                let response = try await trial.send(exchange)
                _ = try await trial.failure([.bodyIncomplete, .connectionLost]) { _ = try await response.data }
            },
            ConformanceCase(.delivery, "a stream has its report at its end", needs: [.streamedDelivery, .metrics]) {
                trial in
                let response = try await trial.send(trial.exchange("/bytes/1000", delivery: .stream()))
                _ = try await response.data
                let report = try await response.stream.report()
                try expectEqual(report.transactions.last?.countOfResponseBodyBytesAfterDecoding, 1000)
            },
        ]

    static let decisions: [ConformanceCase] = [
        ConformanceCase(.decisions, "the decision is requested once, before the body is delivered") { trial in
            let calls = Locked(0)
            let exchange = try trial.exchange("/bytes/1000") {
                $0.decide = { _ in
                    calls.withLock { $0 += 1 }
                    return .take()
                }
            }
            try await expectEqual(trial.send(exchange).data.count, 1000)
            try expectEqual(calls.withLock { $0 }, 1)
        },
        ConformanceCase(.decisions, "a discarded body is not returned") { trial in
            let exchange = try trial.exchange("/bytes/1000") { $0.decide = { _ in .discard(upTo: 10_000) } }
            let response = try await trial.send(exchange)
            try expectEqual(response.head.status, 200)
            try await expectEqual(response.data, Data())
        },
        ConformanceCase(.decisions, "a refusal fails the exchange and is its cause") { trial in
            struct Refusal: Error {}
            let exchange = try trial.exchange("/bytes/1000") { $0.decide = { _ in .refuse(Refusal()) } }
            let error = try await trial.failure(exchange, .cancelled)
            try expect(
                error.underlying is Refusal,
                "the refusal as the cause, but found \(String(describing: error.underlying))")
        },
        ConformanceCase(.decisions, "the decision can choose another file", needs: .fileDelivery) { trial in
            let (first, second) = (try ScratchFile(), try ScratchFile())
            _ = try await first.open { one in
                try await second.open { two in
                    try await trial.send(
                        trial.exchange("/bytes/1000", delivery: .file(descriptor: one)) {
                            $0.decide = { _ in .take(.file(descriptor: two)) }
                        })
                }
            }
            try expectEqual(first.contents, Data())
            try expectEqual(second.contents, ConformanceServer.bytes(1000))
        },
        ConformanceCase(.decisions, "the decision can be made later") { trial in
            let exchange = try trial.exchange("/bytes/1000") {
                $0.decide = { _ in
                    let pending = PendingHeadDecision()
                    Task {
                        try? await Task.sleep(for: .milliseconds(30))
                        pending.fulfill(.take())
                    }
                    return .deferred(pending)
                }
            }
            try await expectEqual(trial.send(exchange).data, ConformanceServer.bytes(1000))
        },
        ConformanceCase(.decisions, "a dropped decision is a refusal") { trial in
            let exchange = try trial.exchange("/bytes/1000") { $0.decide = { _ in .deferred(PendingHeadDecision()) } }
            _ = try await trial.failure(exchange, .cancelled)
        },
        ConformanceCase(.decisions, "a refused stream fails at its head", needs: .streamedDelivery) { trial in
            let exchange = try trial.exchange("/bytes/1000", delivery: .stream()) {
                $0.decide = { _ in .refuse(CancellationError()) }
            }
            _ = try await trial.failure(exchange, .cancelled)
        },
    ]
}
