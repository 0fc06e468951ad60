import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTPTypes
import ServiceLifecycle
import Synchronization

/// A Hummingbird server on 127.0.0.1, with HTTP/2 and HTTP/1.1 over TLS. Releasing this object stops it.
package final class HummingbirdServer: Sendable {
    /// The folder with the server's certificate and key, which `check` creates.
    package static var certificateFolder: URL {
        get throws {
            guard let path = ProcessInfo.processInfo.environment["AFAR_CERTIFICATE"] else {
                throw ServerError(description: "AFAR_CERTIFICATE isn't set. Run Tests/HummingbirdPeer/check.")
            }
            return URL(filePath: path)
        }
    }

    package let port: Int
    /// Requests for `/held` wait at this gate.
    package let gate: Gate
    private let services: ServiceGroup
    private let running: Task<Void, any Error>

    private init(port: Int, _ gate: Gate, _ services: ServiceGroup, _ running: Task<Void, any Error>) {
        (self.port, self.gate, self.services, self.running) = (port, gate, services, running)
    }

    deinit { running.cancel() }

    /// Starts a server and returns when it accepts connections.
    ///
    /// - Parameters:
    ///   - port: The port. With 0, the system chooses one.
    ///   - handlesSIGTERM: Whether the signal SIGTERM shuts the server down gracefully.
    ///   - change: Changes the configuration of HTTP/2.
    package static func start(
        port: Int = 0, handlesSIGTERM: Bool = false, _ change: (inout HTTP2ChannelConfiguration) -> Void = { _ in }
    ) async throws -> HummingbirdServer {
        var configuration = HTTP2ChannelConfiguration(
            streamConfiguration: .init(additionalChannelHandlers: [TrailerEcho()]))
        change(&configuration)
        let folder = try certificateFolder
        let certificates = try NIOSSLCertificate.fromPEMFile(folder.appending(path: "certificate.pem").path)
        let key = try NIOSSLPrivateKey(file: folder.appending(path: "key.pem").path, format: .pem)
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
        let gate = Gate()
        let (ports, onStart) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: routes(gate),
            server: HTTPServerBuilder { [configuration] respond in
                try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: configuration) {
                    (request, writer: consuming ResponseWriter, channel) in
                    try await sendInformationalHeads(request, writer)
                    try await respond(request, writer, channel)
                }
            },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { onStart.yield(port) }
            },
            logger: Logger(label: "Hummingbird") { _ in SwiftLogNoOpLogHandler() })
        let services = ServiceGroup(
            configuration: .init(
                services: [application], gracefulShutdownSignals: handlesSIGTERM ? [.sigterm] : [],
                logger: application.logger))
        let running = Task {
            defer { onStart.finish() }
            try await services.run()
        }
        guard let actualPort = await ports.first(where: { _ in true }) else {
            try await running.value
            throw ServerError(description: "The server ended before it accepted connections.")
        }
        return HummingbirdServer(port: actualPort, gate, services, running)
    }

    /// Shuts the server down gracefully: it closes its port, announces the end of each connection, and waits for the running requests.
    package func shutDown() async throws {
        await services.triggerGracefulShutdown()
        try await wait()
    }

    /// Waits until the server has shut down.
    package func wait() async throws { try await running.value }

    // MARK: Responses

    /// Sends `100 (Continue)` to clients that expect it, and for `/hints`, `103 (Early Hints)`.
    private static func sendInformationalHeads(_ request: Request, _ writer: borrowing ResponseWriter) async throws {
        if request.headers[.expect] == "100-continue" {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        guard request.uri.path == "/hints" else { return }
        for number in 0..<2 {
            let fields = HTTPFields("Link", "</\(number)>; rel=preload")
            try await writer.writeInformationalHead(HTTPResponse(status: .earlyHints, headerFields: fields))
        }
    }

    private static func routes(_ gate: Gate) -> Router<BasicRequestContext> {
        let router = Router()
        router.get("small") { _, _ in "small" }
        router.head("small") { _, _ in Response(status: .ok, headers: [.contentLength: "5"]) }
        router.get("hints") { _, _ in "ok" }
        router.get("status") { request, _ in
            Response(status: .init(code: try request.uri.queryParameters.require("code", as: Int.self)))
        }
        router.post("early") { _, _ in
            Response(status: .contentTooLarge, body: ResponseBody(byteBuffer: ByteBuffer(string: "enough")))
        }
        router.get("held") { request, _ in try await hold(request, at: gate) }
        router.post("held") { request, _ in try await hold(request, at: gate) }
        // Sends each part of the body as soon as it has arrived.
        router.post("echo") { request, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    for try await part in request.body { try await writer.write(part) }
                    try await writer.finish(nil)
                })
        }
        // Compares the body with the bytes that clients send.
        router.post("compare") { request, _ in
            var count = 0
            var isEqual = true
            for try await part in request.body {
                let start = count
                count += part.readableBytes
                isEqual = isEqual && Data(part.readableBytesView) == Data.varied(count)[start...]
            }
            return "\(count) \(isEqual)"
        }
        router.get("bytes") { request, _ in
            let query = request.uri.queryParameters
            let count = try query.require("count", as: Int.self)
            let body = ResponseBody(contentLength: query.get("length", as: Int.self)) { writer in
                let data = Data.varied(count)
                for start in stride(from: 0, to: count, by: 50_000) {
                    try await writer.write(ByteBuffer(bytes: data[start..<min(start + 50_000, count)]))
                }
                if query.get("aborts", as: Bool.self) == true { throw ServerError(description: "aborted") }
                try await writer.finish(query.get("trailers", as: Bool.self) == true ? HTTPFields("X-Sum", "7") : nil)
            }
            return Response(status: .ok, body: body)
        }
        return router
    }

    /// Responds when the gate is open, unless the client resets the stream.
    private static func hold(_ request: Request, at gate: Gate) async throws -> String {
        try await request.body.consumeWithCancellationOnInboundClose { _ in try await gate.pass() }
        return "held"
    }
}

package struct ServerError: Error, CustomStringConvertible {
    package let description: String
}

extension HTTPFields {
    /// Creates fields with one field.
    fileprivate init(_ name: String, _ value: String) {
        self.init(HTTPField.Name(name).map { [HTTPField(name: $0, value: value)] } ?? [])
    }
}

/// A gate at which the handlers of requests wait.
package final class Gate: Sendable {
    package struct Counts {
        /// The number of requests that are waiting.
        package fileprivate(set) var waiting = 0
        /// The highest number of requests that have waited at the same time.
        package fileprivate(set) var maximum = 0
        /// The number of requests whose streams have ended while they waited.
        package fileprivate(set) var cancelled = 0
    }

    private struct State {
        var isOpen = false
        var counts = Counts()
        var continuations: [UUID: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Mutex(State())

    package var counts: Counts { state.withLock(\.counts) }

    /// Waits until the gate is open.
    func pass() async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled {
                        state.counts.cancelled += 1
                        return .failure(CancellationError())
                    }
                    guard !state.isOpen else { return .success(()) }
                    state.continuations[id] = continuation
                    state.counts.waiting += 1
                    state.counts.maximum = max(state.counts.maximum, state.counts.waiting)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.continuations.removeValue(forKey: id)
                if continuation != nil {
                    state.counts.waiting -= 1
                    state.counts.cancelled += 1
                }
                return continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    package func open() {
        let continuations = state.withLock { state in
            state.isOpen = true
            state.counts.waiting = 0
            defer { state.continuations = [:] }
            return state.continuations.values
        }
        for continuation in continuations { continuation.resume() }
    }

    /// Waits until the counts satisfy a condition.
    package func wait(until condition: (Counts) -> Bool) async throws {
        while !condition(counts) { try await Task.sleep(for: .milliseconds(1)) }
    }
}

/// Sends the trailer fields of a request back after the response. Hummingbird's `Request` doesn't contain them.
private final class TrailerEcho: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var trailers: HTTPFields?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end(let trailers?) = unwrapInboundIn(data) { self.trailers = trailers }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end(nil) = unwrapOutboundIn(data), let trailers else {
            return context.write(data, promise: promise)
        }
        context.write(wrapOutboundOut(.end(trailers)), promise: promise)
    }
}

extension Data {
    /// Creates data whose parts differ from each other.
    package static func varied(_ count: Int) -> Data { variedBlocks.prefix(count) }

    /// The block's length is a prime number, so it doesn't divide the size of any buffer.
    private static let variedBlocks = {
        let block = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
        return (0..<200).reduce(into: Data()) { data, _ in data += block }
    }()
}
