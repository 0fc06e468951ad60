import Afar
import AfarTestServer
import AfarTesting
import AfarTransport
import AfarURLSession
import Foundation
import Testing

/// Bodies with a limited rate. Pauses pass only when a test advances the clock.
@Suite(.serialized, .timeLimit(.minutes(2))) struct BandwidthTests {
    private static let body = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 / 251) })

    private let clock = ManualClock()

    private func session(_ limiter: BandwidthLimiter?, _ transport: (any Transport)? = nil) -> Session {
        var configuration = SessionConfiguration.default
        configuration.timeSource = clock.timeSource
        configuration.bandwidthLimiter = limiter
        return Session(configuration: configuration, transport: transport ?? HTTPTransport())
    }

    private func server() async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/body") { _ in .content("application/octet-stream", Self.body) }
        server.route("/echo") { .content("application/octet-stream", $0.body) }
        return server
    }

    /// Performs work, and ends each pause of a limiter. Returns the result and the time that has passed, in seconds.
    private func passingTime<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> (Value, TimeInterval) {
        let start = clock.date
        let driver = Task {
            while !Task.isCancelled {
                await clock.waitForSleepers()
                clock.advance(by: .milliseconds(10))
            }
        }
        defer { driver.cancel() }
        let value = try await work()
        return (value, clock.date.timeIntervalSince(start))
    }

    @Test(arguments: [false, true])
    func downloadsAreLimited(usesCurl: Bool) async throws {
        let server = try await server()
        let session = session(BandwidthLimiter(download: 1 << 19), usesCurl ? CurlTransport() : HTTPTransport())
        let (data, seconds) = try await passingTime {
            try await session.request(server.url("/body")).serializingData().value
        }
        #expect(data == Self.body)
        // The last part isn't followed by a pause.
        #expect(seconds >= 1.4)
        await server.stop()
    }

    @Test(arguments: [false, true])
    func uploadsAreLimited(usesCurl: Bool) async throws {
        let server = try await server()
        let session = session(BandwidthLimiter(upload: 1 << 18), usesCurl ? CurlTransport() : HTTPTransport())
        let body = Data(Self.body + Self.body + Self.body + Self.body)
        let (data, seconds) = try await passingTime {
            try await session.upload(body, to: server.url("/echo")).serializingData().value
        }
        #expect(data == body)
        // The system's buffers accept the end of the body at once.
        #expect(seconds >= 1)
        await server.stop()
    }

    @Test func requestsShareTheLimitOfTheirSession() async throws {
        let server = try await server()
        let session = session(BandwidthLimiter(download: 1 << 20))
        let (bodies, seconds) = try await passingTime {
            async let first = session.request(server.url("/body")).serializingData().value
            async let second = session.request(server.url("/body")).serializingData().value
            async let third = session.request(server.url("/body")).serializingData().value
            return try await [first, second, third]
        }
        #expect(bodies == [Self.body, Self.body, Self.body])
        #expect(seconds >= 2)
        await server.stop()
    }

    @Test func aRequestCanHaveItsOwnLimit() async throws {
        let server = try await server()
        let session = session(BandwidthLimiter(upload: 1, download: 1))
        let data = try await session.request(server.url("/body"))
            .options { $0.bandwidthLimiter = .some(nil) }
            .serializingData().value
        #expect(data == Self.body)
        let (_, seconds) = try await passingTime {
            try await session.request(server.url("/body"))
                .options { $0.bandwidthLimiter = BandwidthLimiter(download: 1 << 20) }
                .serializingData().value
        }
        #expect(seconds >= 0.7 && seconds < 60)
        await server.stop()
    }

    @Test func aSuspendedRequestIsntResumedByThePause() async throws {
        let server = try await server()
        let session = session(BandwidthLimiter(download: 1 << 10))
        let request = session.request(server.url("/body"))
        let task = Task { await request.serializingData().response }
        await clock.waitForSleepers()
        request.suspend()
        clock.advance(by: .seconds(10_000))
        #expect(clock.sleeperCount == 0)
        let received = request.downloadProgress.completedUnitCount
        #expect(received < Self.body.count)
        request.resume()
        let driver = Task {
            while !Task.isCancelled {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(10_000))
            }
        }
        #expect(await task.value.value == Self.body)
        driver.cancel()
        await server.stop()
    }

    /// A request can be resumed while its exchange starts.
    @Test func suspensionsDuringTheStartAreNotLost() async throws {
        let server = try await server()
        let session = session(BandwidthLimiter(download: 1 << 40))
        let bodies = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    let request = session.request(server.url("/get"))
                    async let response = request.serializingString().response
                    for _ in 0..<20 {
                        request.suspend()
                        request.resume()
                    }
                    return await response.value
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies.count == 500 && bodies.allSatisfy { $0 != nil })
        await server.stop()
    }

    @Test func aCanceledRequestEndsDuringAPause() async throws {
        let server = try await server()
        let session = session(BandwidthLimiter(download: 1))
        let request = session.request(server.url("/body"))
        let task = Task { await request.serializingData().response }
        await clock.waitForSleepers()
        request.cancel()
        #expect(await task.value.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    /// A transport that can't suspend an exchange would ignore the limit.
    @Test func transportsThatCannotSuspendRefuseALimit() async throws {
        guard !URLSessionTransport().capabilities.features.contains(.suspension) else { return }
        let server = try await server()
        let session = session(BandwidthLimiter(download: 1_000_000), URLSessionTransport())
        let error = await session.request(server.url("/body")).serializingData().response.error?.transportError
        #expect(error?.code == .unsupportedByTransport, "\(String(describing: error))")
        #expect(error?.message.contains("suspension, which a bandwidth limiter requires") == true)
        let data = try await session.request(server.url("/body")).options { $0.bandwidthLimiter = .some(nil) }
            .serializingData().value
        #expect(data == Self.body)
        await server.stop()
    }
}
