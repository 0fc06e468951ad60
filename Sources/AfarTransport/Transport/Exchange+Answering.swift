public import Foundation
public import HTTPTypes

// For transports without a network.
extension Exchange {
    /// All header fields to send: those of the request, and the default fields that the request doesn't override.
    public var fields: HTTPFields {
        var fields = request.headerFields
        for field in options.defaultFields.fields where !request.headerFields.contains(field.name) {
            fields.append(field)
        }
        return fields
    }

    /// Reads the whole body of the request into memory and notifies the observer.
    ///
    /// - Throws: A ``TransportError`` with the code ``TransportError/Code-swift.struct/requestBodyFailed``, or
    ///   ``TransportError/Code-swift.struct/cancelled`` if the task was canceled.
    public func collectBody() async throws -> Data {
        try await collectBody { count in observer?.exchangeDidSend(bytes: Int64(count), expected: body.length) }
    }

    /// Reads the whole body of the request into memory without notifying the observer.
    ///
    /// - Parameter report: Called after each read with the total number of bytes so far.
    /// - Throws: Like ``collectBody()``.
    public func collectBody(_ report: (Int) async -> Void) async throws -> Data {
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
                    await report(bytes.count)
                }
            } catch {
                // Cancellation makes most readers fail.
                throw Task.isCancelled ? cancellation : failure("the body's reader failed", error)
            }
            if let length = stream.length, length != Int64(bytes.count) {
                throw failure("the body has \(bytes.count) bytes, but its declared length is \(length)")
            }
            return bytes
        }
        await report(bytes.count)
        return bytes
    }

    /// Creates a response from a complete head and body, and applies the decision of ``headArrived(_:)``.
    ///
    /// Sends the body to the exchange's delivery, enforces the delivery's limit, and notifies the observer.
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
        let delivered = try response.applying(decision, deliveringTo: delivery).get()
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
    /// Returns all capabilities that a transport without a network can have. They don't include connection policies, because such a
    /// transport has no addresses to decide on.
    public static func withoutNetwork(name: String) -> TransportCapabilities {
        TransportCapabilities(
            name: name,
            features: [
                .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
                .connectTimeout, .minimumTLSVersion, .informationalResponses, .trailers, .anyMethod,
                // These settings have no effect without a network.
                .serverTrust, .clientIdentity,
                .networkSettings, .proxies, .http2, .http3,
            ]
        )
    }
}
