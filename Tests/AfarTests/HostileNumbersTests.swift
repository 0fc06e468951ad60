import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Settings with invalid numbers: NaN, infinities, negative numbers, and the minimum and maximum.
///
/// Each request ends with a response or an error.
@Suite(.timeLimit(.minutes(2))) struct HostileNumbersTests {
    /// The first `unlimited` values set no limit.
    static let seconds: [TimeInterval] = [
        .nan, .infinity, .greatestFiniteMagnitude, -.infinity, -.greatestFiniteMagnitude, -1, 0, .leastNonzeroMagnitude,
    ]
    static let unlimited = 3
    static let counts: [Int] = [.min, -1, 0, .max]

    /// A setting and its name.
    struct Setting<Owner, Value>: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout Owner, Value) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout Owner, Value) -> Void) {
            (testDescription, self.set) = (name, set)
        }
    }

    @Test(
        arguments: TransportKind.allCases,
        [
            Setting<SessionConfiguration, TimeInterval>("timeoutIntervalForRequest") {
                $0.timeoutIntervalForRequest = $1
            },
            Setting("timeoutIntervalForResource") { $0.timeoutIntervalForResource = $1 },
            Setting("timeoutIntervalForConnect") { $0.timeoutIntervalForConnect = $1 },
            Setting("minimumTransferRate") { $0.minimumTransferRate = $1 },
        ])
    func aSessionsTimes(kind: TransportKind, setting: Setting<SessionConfiguration, TimeInterval>) async throws {
        let server = try await TestServer.start()
        for (number, value) in Self.seconds.enumerated() {
            let session = kind.session { setting.set(&$0, value) }
            let error = await session.request(server.url("/get")).serializingData().response.error
            if number < Self.unlimited { #expect(error == nil, "\(value)") }
        }
        await server.stop()
    }

    @Test(
        arguments: TransportKind.allCases,
        [
            Setting<SessionConfiguration, Int>("httpMaximumConnectionsPerHost") {
                $0.httpMaximumConnectionsPerHost = $1
            },
            Setting("maximumResponseBodySize") { $0.maximumResponseBodySize = Int64($1) },
            Setting("maximumResponseHeadSize") { $0.maximumResponseHeadSize = $1 },
            Setting("maximumRedirects") { $0.maximumRedirects = $1 },
            Setting("decompressionLimit") {
                $0.decompressionLimit = DecompressionLimit(size: Int64($1), ratio: Int64($1))
            },
            Setting("cookieStore") {
                $0.cookieStore = MemoryCookieStore(limits: CookieJar.Limits(perDomain: $1, total: $1))
            },
            Setting("cacheStore") { $0.cacheStore = MemoryCacheStore(capacity: $1) },
        ])
    func aSessionsLimits(kind: TransportKind, setting: Setting<SessionConfiguration, Int>) async throws {
        let server = try await TestServer.start()
        for value in Self.counts {
            let session = kind.session { setting.set(&$0, value) }
            for path in ["/get", "/redirect/1", "/gzip", "/cookies/set?a=1&b=2", "/cache/60", "/bytes/100000"] {
                let request = session.request(server.url(path))
                let error = await request.serializingData().response.error
                if value == .max { #expect(error == nil, "\(path)") }
                #expect(!request.cURLDescription().contains("--max-redirs -"))
            }
        }
        await server.stop()
    }

    @Test(arguments: [
        Setting<RequestOptions, TimeInterval>("deadline") { $0.deadline = $1 },
        Setting("totalTimeout") { $0.totalTimeout = $1 }, Setting("connectTimeout") { $0.connectTimeout = $1 },
        Setting("idleTimeout") { $0.idleTimeout = $1 },
    ])
    func aRequestsTimes(setting: Setting<RequestOptions, TimeInterval>) async throws {
        let server = try await TestServer.start()
        for (number, value) in Self.seconds.enumerated() {
            let session = TransportKind.platform.session()
            let request = session.request(server.url("/get")).options { setting.set(&$0, value) }
            let error = await request.serializingData().response.error
            if number < Self.unlimited { #expect(error == nil, "\(value)") }
        }
        await server.stop()
    }

    #if os(Linux)
        @Test(arguments: [
            Setting<CurlTransport.Configuration, Int>("maximumConnectionsPerHost") {
                $0.maximumConnectionsPerHost = $1
            },
            Setting("maximumIdleConnections") { $0.maximumIdleConnections = $1 },
            Setting("maximumThreads") { $0.maximumThreads = $1 },
            Setting("maximumLookups") { $0.maximumLookups = $1 },
            Setting("maximumIdleTime") { $0.maximumIdleTime = seconds[abs($1 % seconds.count)] },
        ])
        func aTransportsLimits(setting: Setting<CurlTransport.Configuration, Int>) async throws {
            let server = try await TestServer.start()
            for value in Self.counts + Array(Self.seconds.indices) {
                var configuration = CurlTransport.Configuration()
                setting.set(&configuration, value)
                let session = Session(transport: CurlTransport(configuration: configuration))
                let url = "http://localhost:\(server.url("/").port ?? 0)/get"
                for _ in 0..<2 {
                    #expect(await session.request(url).serializingData().response.error == nil, "\(value)")
                }
            }
            await server.stop()
        }

        @Test(arguments: [Int.min, -1, 0, 65_536, .max]) func aStreamsPort(port: Int) async throws {
            let session = TransportKind.platform.session()
            let stream = session.stream(withHostName: "127.0.0.1", port: port)
            let error = await #expect(throws: AFError.self) { try await stream.readData(ofMinLength: 1, maxLength: 1) }
            #expect(error?.isInvalidURLError == true)
            #expect(error?.localizedDescription.contains("its port is not a number from 1 to 65535") == true)
        }

        @Test(arguments: counts, counts) func aStreamsReads(minimum: Int, maximum: Int) async throws {
            let server = try await RawServer.start([.send("twelve bytes"), .close])
            let session = TransportKind.platform.session()
            for timeout in Self.seconds {
                let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
                try await stream.write(Data("x".utf8), timeout: timeout)
                let read = try? await stream.readData(ofMinLength: minimum, maxLength: maximum, timeout: timeout)
                #expect(read?.0.map { "twelve bytes".hasPrefix(String(decoding: $0, as: UTF8.self)) } ?? true)
                stream.close()
            }
            await server.stop()
        }
    #endif

    @Test(arguments: counts) func anUploadsLength(length: Int) async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(Data("body".utf8))
        continuation.finish()
        let request = session.upload(chunks, length: Int64(length), to: server.url("/anything"))
        let response = await request.serializingString().response
        // A negative length means an unknown length.
        if length < 0 { #expect(response.value?.contains("\"body\"") == true) }
        if length == .max { #expect(response.error != nil) }
        await server.stop()
    }

    @Test(arguments: [0, 1, UInt64.max]) func aFormsLengths(length: UInt64) async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        for threshold in [0, UInt64.max] {
            let upload = session.upload(
                multipartFormData: { form in
                    for name in ["a", "b"] {
                        let stream = InputStream(data: Data("xy".utf8))
                        form.append(stream, withLength: length, name: name, fileName: name, mimeType: "text/plain")
                    }
                }, to: server.url("/anything"), usingThreshold: threshold)
            let error = await upload.serializingData().response.error
            #expect((error == nil) == (length < 3))
        }
        await server.stop()
    }

    @Test(arguments: counts) func anInputStreamsBuffer(size: Int) async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        let request = session.streamRequest(server.url("/bytes/100000"))
        nonisolated(unsafe) let stream = try #require(request.asInputStream(bufferSize: size))
        let count = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                stream.open()
                var buffer = [UInt8](repeating: 0, count: 4096)
                var count = 0
                while case let read = stream.read(&buffer, maxLength: buffer.count), read > 0 { count += read }
                continuation.resume(returning: count)
            }
        }
        #expect(count == 100_000)
        await server.stop()
    }

    @Test func aRetriersDelays() async throws {
        let server = try await TestServer.start()
        for value in Self.seconds {
            let isOver = value > 1
            let retrier = Retrier { request, _, _, completion in
                guard request.retryCount == 0 else { return completion(.doNotRetry) }
                completion(.retryWithDelay(value))
                if isOver { request.cancel() }
            }
            let session = TransportKind.platform.session()
            let request = session.request(server.url("/status/503"), interceptor: Interceptor(retriers: [retrier]))
            let error = await request.validate().serializingData().response.error
            #expect(error?.isExplicitlyCancelledError == isOver && error != nil, "\(value)")
        }
        await server.stop()
    }

    @Test func aPolicysDelays() async throws {
        let server = try await TestServer.start()
        for value in Self.seconds where !(value > 1) {
            for jitter in [RetryPolicy.Jitter.none, .full] {
                let policy = RetryPolicy(
                    retryLimit: 1, exponentialBackoffBase: .max, exponentialBackoffScale: value, jitter: jitter,
                    maximumRetryAfter: value)
                let session = TransportKind.platform.session(interceptor: policy)
                let request = session.request(server.url("/status/503")).validate()
                #expect(await request.serializingData().response.error?.responseCode == 503)
                #expect(request.retryCount == 1)
            }
        }
        await server.stop()
    }

    @Test func aLimitersRates() async throws {
        let server = try await TestServer.start()
        for rate in Self.seconds {
            for count in Self.counts {
                let limiter = RateLimiter(
                    requestsPerSecond: rate, burst: count, maximumRetryAfter: rate, retryLimit: count)
                let session = TransportKind.platform.session(interceptor: limiter)
                #expect(await session.request(server.url("/get")).serializingData().response.error == nil)
            }
        }
        for count in Self.counts {
            let session = Session(stages: [RequestLimit(perHost: count)])
            #expect(await session.request(server.url("/get")).serializingData().response.error == nil)
        }
        await server.stop()
    }

    @Test(arguments: seconds) func aShutdownsLimit(limit: TimeInterval) async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let session = TransportKind.platform.session()
        let response = session.request(server.url).serializingData()
        async let error = response.response.error
        try await server.head()
        if limit > 1 {
            async let isDrained = session.shutdown(drainingFor: limit)
            response.cancel()
            _ = await isDrained
        } else {
            #expect(await session.shutdown(drainingFor: limit) == false)
        }
        #expect(await error != nil)
        await server.stop()
    }
}
