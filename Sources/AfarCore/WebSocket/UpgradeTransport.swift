import AfarTransport
import AfarWebSocket
import Foundation
import HTTPTypes

/// A WebSocket that was opened: the connection, what has come over it already, and what was agreed on.
struct OpenedWebSocket: Sendable {
    let connection: any Connection
    let received: Data
    let agreement: WebSocketHandshake.Agreement
}

/// Sends the request that opens a WebSocket (RFC 6455, section 4), over a connection of its own. Stages see it like any
/// other: redirects are followed, challenges answered, cookies sent.
struct UpgradeTransport: Transport {
    let base: any ConnectionTransport
    let slot: ConnectionSlot<OpenedWebSocket>

    var capabilities: TransportCapabilities {
        var capabilities = base.capabilities
        capabilities.features.remove(.connectionAuthentication)
        capabilities.features.insert(.streamedDelivery)
        return capabilities
    }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        let connection = try await base.connect(
            to: ConnectionTarget(exchange, applicationProtocols: ["http/1.1"]))
        let deadline =
            ContinuousClock.now + Duration(timeout: min(exchange.options.idleTimeout, exchange.options.totalTimeout))
        do {
            let handshake = WebSocketHandshake(for: exchange.request.headerFields)
            try await connection.write(
                requestHead(of: exchange, handshake), timeout: exchange.options.idleTimeout)
            let (head, rest) = try await responseHead(over: connection, to: exchange, until: deadline)
            exchange.observer?.exchangeDidReceiveHead(head)
            guard head.status == 101 else {
                connection.close()
                return TransportResponse(withoutBody: head, report(of: connection))
            }
            let agreement = try handshake.agreement(in: head.fields)
            slot.put(
                OpenedWebSocket(connection: connection, received: rest, agreement: agreement), over: connection)
            return TransportResponse(withoutBody: head, report(of: connection))
        } catch let violation as WebSocketViolation {
            connection.close()
            throw failure(exchange, .malformedResponse, violation.description, report(of: connection))
        } catch {
            connection.close()
            guard var error = error as? TransportError else { throw error }
            error.url = exchange.url
            if error.report.transactions.isEmpty { error.report = report(of: connection) }
            throw error
        }
    }

    private func requestHead(of exchange: Exchange, _ handshake: WebSocketHandshake) -> Data {
        var fields = exchange.request.headerFields
        for field in exchange.options.defaultFields.fields where !fields.contains(field.name) {
            fields.append(field)
        }
        // There is no body either way. What is for a proxy has reached it.
        for name in [.contentLength, .transferEncoding, .acceptEncoding, .proxyAuthorization] as [HTTPField.Name] {
            fields[name] = nil
        }
        handshake.complete(&fields)
        let host = fields.first { $0.name.canonicalName == "host" }?.value ?? exchange.request.authority ?? ""
        var lines = "GET \(exchange.request.path ?? "/") HTTP/1.1\r\nHost: \(host)\r\n"
        for field in fields where field.name.canonicalName != "host" {
            lines += "\(field.name.rawName): \(field.value)\r\n"
        }
        return Data((lines + "\r\n").utf8)
    }

    /// Reads up to the final head.
    private func responseHead(
        over connection: any Connection, to exchange: Exchange, until deadline: ContinuousClock.Instant
    ) async throws -> (ResponseHead, rest: Data) {
        var bytes = Data()
        var searchedCount = 0
        var count = 0
        while true {
            // The end may have begun in what was searched before.
            let rest = bytes.dropFirst(max(0, searchedCount - 3))
            searchedCount = bytes.count
            if let end = rest.range(of: Data("\r\n\r\n".utf8)) {
                let lines = [UInt8](bytes[..<end.lowerBound]) + [0x0D, 0x0A]
                bytes = Data(bytes[end.upperBound...])
                searchedCount = 0
                let head = try head(of: lines, exchange)
                guard (100...199).contains(head.status), head.status != 101 else { return (head, bytes) }
                exchange.observer?.exchangeDidReceiveInformational(head)
                count += 1
                guard count <= exchange.options.maximumInformationalResponses else {
                    throw failure(exchange, .malformedResponse, "there are too many informational (1xx) responses")
                }
                continue
            }
            guard bytes.count <= exchange.options.maximumHeadBytes else {
                throw failure(
                    exchange, .headTooLarge,
                    "the response's head exceeds \(exchange.options.maximumHeadBytes) bytes")
            }
            let left = max(0, ContinuousClock.now.duration(to: deadline) / .seconds(1))
            let part = try await connection.read(atMost: 16 * 1024, timeout: left)
            guard !part.isEmpty else {
                throw failure(
                    exchange, .malformedResponse, "the connection closed before the response's head was complete")
            }
            bytes.append(part)
        }
    }

    private func head(of lines: [UInt8], _ exchange: Exchange) throws -> ResponseHead {
        let first = lines.prefix { $0 != 0x0D && $0 != 0x0A }
        let parts = first.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard first.starts(with: "HTTP/1.".utf8), parts.count >= 2, parts[1].count == 3, parts[1].allSatisfy(\.isDigit),
            parts[1].first != 0x30
        else { throw failure(exchange, .malformedResponse, "the answer is not one of HTTP/1.1") }
        let fieldCount = lines.count { $0 == 0x0A } - 1
        guard fieldCount <= exchange.options.maximumFieldCount else {
            throw failure(
                exchange, .headTooLarge,
                "the response's head has more than \(exchange.options.maximumFieldCount) fields")
        }
        return ResponseHead(
            status: parts[1].reduce(0) { $0 * 10 + Int($1 - 0x30) },
            httpVersion: String(decoding: parts[0], as: UTF8.self), raw: RawHead(bytes: lines),
            url: exchange.responseURL)
    }

    private func report(of connection: any Connection) -> TransportReport {
        var metrics = connection.metrics
        metrics.networkProtocolName = "http/1.1"
        return TransportReport(transactions: [metrics])
    }

    private func failure(
        _ exchange: Exchange, _ code: TransportError.Code, _ message: String,
        _ report: TransportReport = TransportReport()
    ) -> TransportError {
        var error = TransportError(code, phase: .awaitingResponse, url: exchange.url, message: message)
        error.report = report
        return error
    }
}
