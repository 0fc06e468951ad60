import AfarTransport
import Foundation
import HTTPTypes

/// An exchange that delivers a connection: libcurl makes the connection, Afar sends the request over it, if there is one to
/// send, and reads the response's head.
final class ConnectionExchange: PreparedExchange {
    private let hop: Hop
    private let transport: CurlTransport
    private let task = Locked<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

    /// - Throws: A ``TransportError`` when the exchange can't be begun.
    init(_ hop: Hop, over transport: CurlTransport) throws {
        var capabilities = transport.capabilities
        capabilities.features.remove(.connectionAuthentication)
        try capabilities.check(hop.exchange)
        guard hop.exchange.body.length == 0 else {
            throw hop.failure(.invalidUse, "a request for a connection has no body")
        }
        (self.hop, self.transport) = (hop, transport)
    }

    func start(completion: @escaping @Sendable (Result<TransportResponse, any Error>) -> Void) {
        let started = Task(executorPreference: QueueExecutor.global) { [self] in
            do { completion(.success(try await response())) } catch { completion(.failure(error)) }
        }
        let isCancelled = task.withLock { state in
            state.task = started
            return state.isCancelled
        }
        if isCancelled { started.cancel() }
    }

    func cancel() {
        let started = task.withLock { state in
            state.isCancelled = true
            return state.task
        }
        started?.cancel()
    }

    /// Whether nothing is sent over the connection.
    private var isTunnel: Bool { hop.exchange.request.method == .connect }

    private func response() async throws -> TransportResponse {
        let connection = try await transport.connect(
            to: ConnectionTarget(hop, applicationProtocols: isTunnel ? [] : ["http/1.1"]))
        do {
            let head =
                isTunnel
                ? ResponseHead(status: 200, httpVersion: "", url: hop.exchange.url)
                : try await Upgrade(hop, connection).head()
            hop.observer?.exchangeDidReceiveHead(head)
            let isOpen = isTunnel || head.status == 101
            // The decision can take long.
            if !isOpen { connection.close() }
            let decision = await hop.headArrived(head).settled()
            return try TransportResponse(
                head: head, body: isOpen ? .connection(connection) : .data(Data()), report: report(of: connection)
            ).applying(decision, instead: .connection).get()
        } catch {
            connection.close()
            guard var error = error as? TransportError else { throw error }
            error.url = hop.exchange.url
            if error.report.transactions.isEmpty { error.report = report(of: connection) }
            throw error
        }
    }

    private func report(of connection: any Connection) -> TransportReport {
        var metrics = connection.metrics
        if !isTunnel { metrics.networkProtocolName = "http/1.1" }
        return TransportReport(transactions: [metrics])
    }
}

extension ConnectionTarget {
    /// Where a hop goes.
    fileprivate init(_ hop: Hop, applicationProtocols: [String]) {
        let request = hop.exchange.request
        let isSecure = request.scheme == "https"
        self.init(
            host: HostName(ofAuthority: request.authority ?? "").text,
            port: HostName.port(ofAuthority: request.authority ?? "") ?? (isSecure ? 443 : 80), isSecure: isSecure,
            applicationProtocols: applicationProtocols, options: hop.exchange.options)
        options.totalTimeout = hop.totalTimeout
        proxyAuthorization = request.headerFields[.proxyAuthorization]
    }
}

/// A request that asks a server to speak another protocol over its connection (RFC 9110, section 7.8).
private struct Upgrade {
    private let hop: Hop
    private let options: ExchangeOptions
    private let connection: SocketConnection

    init(_ hop: Hop, _ connection: SocketConnection) {
        (self.hop, self.connection) = (hop, connection)
        options = hop.exchange.options
    }

    /// Sends the request, and reads up to the final head of the response.
    func head() async throws -> ResponseHead {
        let deadline = ContinuousClock.now + Duration(timeout: min(options.idleTimeout, hop.totalTimeout))
        try await connection.write(requestHead, timeout: options.idleTimeout)
        var bytes = Data()
        var searchedCount = 0
        var count = 0
        while true {
            // The end may have begun in what was searched before.
            let rest = bytes.dropFirst(max(0, searchedCount - 3))
            searchedCount = bytes.count
            if let end = rest.range(of: Data("\r\n\r\n".utf8)) {
                let head = try head(of: [UInt8](bytes[..<end.lowerBound]) + [0x0D, 0x0A])
                bytes = Data(bytes[end.upperBound...])
                searchedCount = 0
                guard (100...199).contains(head.status), head.status != 101 else {
                    connection.putBack(bytes)
                    return head
                }
                hop.observer?.exchangeDidReceiveInformational(head)
                count += 1
                guard count <= options.maximumInformationalResponses else {
                    throw failure(.malformedResponse, "there are too many informational (1xx) responses")
                }
                continue
            }
            guard bytes.count <= options.maximumHeadBytes else {
                throw failure(.headTooLarge, "the response's head exceeds \(options.maximumHeadBytes) bytes")
            }
            let left = max(0, ContinuousClock.now.duration(to: deadline) / .seconds(1))
            let part = try await connection.read(atMost: 16 * 1024, timeout: left)
            guard !part.isEmpty else {
                throw failure(.malformedResponse, "the connection closed before the response's head was complete")
            }
            bytes.append(part)
        }
    }

    private var requestHead: Data {
        var fields = hop.exchange.fields
        // There is no body either way. What is for a proxy has reached it.
        for name in [.contentLength, .transferEncoding, .acceptEncoding, .proxyAuthorization] as [HTTPField.Name] {
            fields[name] = nil
        }
        let request = hop.exchange.request
        let host = fields.first { $0.name.canonicalName == "host" }?.value ?? request.authority ?? ""
        var lines = "\(request.method.rawValue) \(request.path ?? "/") HTTP/1.1\r\nHost: \(host)\r\n"
        for field in fields where field.name.canonicalName != "host" {
            lines += "\(field.name.rawName): \(field.value)\r\n"
        }
        return Data((lines + "\r\n").utf8)
    }

    private func head(of lines: [UInt8]) throws -> ResponseHead {
        let first = lines.prefix { $0 != 0x0D && $0 != 0x0A }
        let parts = first.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard first.starts(with: "HTTP/1.".utf8), parts.count >= 2, parts[1].count == 3, parts[1].allSatisfy(\.isDigit),
            parts[1].first != 0x30
        else { throw failure(.malformedResponse, "the answer is not one of HTTP/1.1") }
        guard lines.count(where: { $0 == 0x0A }) - 1 <= options.maximumFieldCount else {
            throw failure(.headTooLarge, "the response's head has more than \(options.maximumFieldCount) fields")
        }
        return ResponseHead(
            status: parts[1].reduce(0) { $0 * 10 + Int($1 - 0x30) },
            httpVersion: String(decoding: parts[0], as: UTF8.self), raw: RawHead(bytes: lines),
            url: hop.exchange.responseURL)
    }

    private func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
        TransportError(code, phase: .awaitingResponse, url: hop.exchange.url, message: message)
    }
}
