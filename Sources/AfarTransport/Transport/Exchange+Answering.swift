public import Foundation
public import HTTPTypes

// What transports need that answer an exchange by themselves.
extension Exchange {
    /// All header fields that are sent: the request's own, and the default ones that it does not have.
    public var fields: HTTPFields {
        var fields = request.headerFields
        for field in options.defaultFields.fields where !request.headerFields.contains(field.name) {
            fields.append(field)
        }
        return fields
    }

    /// For transports that need it whole: the body of the request, whatever form it has. The observer is told.
    ///
    /// - Throws: A ``TransportError`` of the code ``TransportError/Code-swift.struct/requestBodyFailed``, or
    ///   ``TransportError/Code-swift.struct/cancelled`` when the task was cancelled.
    public func collectBody() async throws -> Data {
        try await collectBody { count in observer?.exchangeDidSend(bytes: Int64(count), expected: body.length) }
    }

    /// - Parameter tell: Called as often as bytes were read, with how many there are in all so far.
    package func collectBody(_ tell: (Int) async -> Void) async throws -> Data {
        func failure(_ message: String, _ cause: (any Error)? = nil) -> TransportError {
            TransportError(.requestBodyFailed, phase: .sending, url: url, message: message, underlying: cause)
        }
        var bytes = Data()
        switch body {
        case .none: return bytes
        case .data(let data): bytes = data
        case .file(let url):
            do { bytes = try Data(contentsOf: url) } catch { throw failure("the file could not be read", error) }
        case .stream(let stream):
            let read = stream.reader()
            do {
                while let chunk = try await read() {
                    bytes.append(chunk)
                    await tell(bytes.count)
                }
            } catch {
                // Who cancels has most readers fail, too.
                throw Task.isCancelled ? cancellation : failure("the body's reader failed", error)
            }
            if let length = stream.length, length != Int64(bytes.count) {
                throw failure("the body has \(bytes.count) bytes, not \(length) as it said")
            }
            return bytes
        }
        await tell(bytes.count)
        return bytes
    }

    /// For transports that have it whole: the response, after what ``headArrived(_:)`` says has been done with it. The body goes
    /// where the exchange wants it, its limit is kept, and the observer is told.
    ///
    /// - Throws: A ``TransportError``.
    public func answer(with head: ResponseHead, body: Data) async throws -> TransportResponse {
        observer?.exchangeDidReceiveHead(head)
        let decision = await headArrived(head).settled()
        guard !Task.isCancelled else { throw cancellation }
        let body = request.method == .head ? Data() : body
        if case .take(let other) = decision, let limit = (other ?? delivery).limit, body.count > limit {
            throw TransportError(
                .responseTooLarge, phase: .receiving, url: url, message: "the body has more than \(limit) bytes")
        }
        let report = TransportReport(transactions: [TransactionMetrics()])
        let response = TransportResponse(head: head, body: .data(body), report: report)
        let delivered = try response.applying(decision, instead: delivery).get()
        if !body.isEmpty, case .take = decision {
            observer?.exchangeDidReceive(bytes: Int64(body.count), expected: head.contentLength)
        }
        return delivered
    }

    private var cancellation: TransportError {
        TransportError(.cancelled, phase: .awaitingResponse, url: url, message: "the exchange was cancelled")
    }
}

extension TransportCapabilities {
    /// All that a transport can do which answers by itself, and reaches no server.
    package static func withoutNetwork(name: String) -> TransportCapabilities {
        TransportCapabilities(
            name: name,
            features: [
                .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
                .connectTimeout, .minimumTLSVersion, .informationalResponses, .trailers, .anyMethod,
                // There is no server to be trusted, nor one to show a certificate to.
                .serverTrust, .clientIdentity,
                // There is no way to a server for which these would matter.
                .networkSettings, .proxies, .http2, .http3,
            ]
        )
    }
}
