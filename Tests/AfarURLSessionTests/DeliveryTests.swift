import AfarCore
import AfarURLSession
import Foundation
import HTTPTypes
import Testing

@Suite struct DeliveryTests {
    let transport = URLSessionTransport()
    let hundredBytes = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + String(repeating: "x", count: 100)

    @Test func collectingStopsAtTheLimit() async throws {
        let server = try ScriptedServer(answer: hundredBytes)
        let fits = try await transport.send(.get(server) { $0.delivery = .collect(limit: 100) })
        #expect(fits.text?.count == 100)
        let error = await failure { _ = try await transport.send(.get(server) { $0.delivery = .collect(limit: 99) }) }
        #expect(error?.code == .responseTooLarge)
    }

    @Test func bodyIsWrittenToTheDescriptor() async throws {
        let server = try ScriptedServer(answer: hundredBytes)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).bin")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        let response = try await transport.send(
            .get(server) { $0.delivery = .file(descriptor: handle.fileDescriptor) })
        guard case .file(100) = response.body else { throw Unexpected(what: "not in the file") }
        #expect(try Data(contentsOf: file).count == 100)
    }

    @Test func failedWriteReportsErrno() async throws {
        let server = try ScriptedServer(answer: hundredBytes)
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let error = await failure {
            _ = try await transport.send(.get(server) { $0.delivery = .file(descriptor: full.fileDescriptor) })
        }
        #expect(error?.code == .deliveryFailed)
        #expect(error?.systemError == ENOSPC)
    }

    @Test func streamArrivesInChunks() async throws {
        let next = DispatchSemaphore(value: 0)
        let server = try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
            for piece in ["ab", "cd", "ef"] {
                next.wait()
                connection.send(piece)
            }
        }
        let response = try await transport.send(.get(server) { $0.delivery = .stream() })
        guard case .stream(let stream) = response.body else { throw Unexpected(what: "no stream") }
        next.signal()
        var pieces: [String] = []
        for try await chunk in stream {
            pieces.append(String(decoding: chunk, as: UTF8.self))
            next.signal()
        }
        #expect(pieces == ["ab", "cd", "ef"])
        #expect(await stream.report().transactions.first?.countOfResponseBodyBytesAfterDecoding == 6)
    }

    @Test func brokenStreamFailsItsReader() async throws {
        let server = try ScriptedServer { connection in
            if connection.readRequest() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc") }
        }
        let response = try await transport.send(.get(server) { $0.delivery = .stream() })
        guard case .stream(let stream) = response.body else { throw Unexpected(what: "no stream") }
        let error = await failure { for try await _ in stream {} }
        #expect(error?.code == .bodyIncomplete)
    }

    @Test func droppedStreamEndsTheExchange() async throws {
        let closed = Event()
        let server = try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
            connection.waitForClose()
            closed.happen()
        }
        var response: TransportResponse? = try await transport.send(.get(server) { $0.delivery = .stream() })
        #expect(response?.head.status == 200)
        response = nil
        await closed.wait()
    }
}
