public import AfarCore
import AfarTransport
import Foundation
import HTTPTypes
public import Tracing

#if !Tracing
    #error("AfarTracing needs the package trait Tracing: .package(url: …, traits: [\"Tracing\"])")
#endif

/// A stage that makes a client span of each request that goes out, with the names that OpenTelemetry has for HTTP, and tells
/// the server of it in header fields.
///
/// ```swift
/// let session = Session(stages: [TracingStage()])
/// ```
///
/// A span is a child of the one in whose task the request was made. Redirects, answers to challenges and retries are requests
/// of their own, with spans of their own (`http.request.resend_count` counts the former two). A span ends when the response is
/// there, with its body; of one whose body is streamed, when its head is. It is an error when the response's status is 400 or
/// more, or when there is none: `error.type` is the status, or the code of the ``TransportError``. Secrets in URLs are hidden.
public struct TracingStage: ExchangeStage {
    private let tracer: (any Tracer)?

    /// Makes a stage.
    ///
    /// - Parameter tracer: Who makes the spans. The default is the one that the program has bootstrapped, looked up for each
    ///   request; without any, nothing is done.
    public init(tracer: (any Tracer)? = nil) { self.tracer = tracer }

    /// Takes part in each exchange.
    public func begin(_ hop: Hop) -> (any StageRun)? {
        let tracer = tracer ?? InstrumentationSystem.tracer
        return tracer is NoOpTracer ? nil : Run(tracer, context: .current ?? .topLevel)
    }

    private final class Run: StageRun {
        private let tracer: any Tracer
        private let context: ServiceContext
        private let lock = NSLock()
        // Safe because it is used under the lock only.
        private nonisolated(unsafe) var span: (any Span)?

        init(_ tracer: any Tracer, context: ServiceContext) { (self.tracer, self.context) = (tracer, context) }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            let method = hop.exchange.request.method.rawValue
            let span = tracer.startAnySpan(method, context: context, ofKind: .client)
            lock.withLock { self.span = span }
            span.describe(hop, method: method)
            var exchange = hop.exchange
            tracer.inject(span.context, into: &exchange.request.headerFields, using: FieldInjector())
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            lock.withLock { span }?.describe(head)
            return .now(.pass)
        }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
            guard let span = lock.withLock({ span.take() }) else { return }
            if case .failure(let error) = result { span.describe(error) }
            span.end()
        }
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key) else { return }
        fields[name] = value
    }
}

/// The names are those of OpenTelemetry's semantic conventions for HTTP client spans.
extension Span {
    fileprivate func describe(_ hop: Hop, method: String) {
        let request = hop.exchange.request
        var isChallenge = false
        if case .challenge = hop.reason { isChallenge = true }
        let resendCount = hop.redirectCount + (isChallenge ? 1 : 0)
        updateAttributes { attributes in
            attributes["http.request.method"] = method
            attributes["url.full"] = Redaction.standard.url(hop.exchange.url)
            attributes["url.scheme"] = request.scheme ?? ""
            attributes["server.address"] = hop.exchange.host
            attributes["server.port"] = hop.exchange.port
            if resendCount > 0 { attributes["http.request.resend_count"] = resendCount }
        }
    }

    fileprivate func describe(_ head: ResponseHead) {
        let isError = head.status >= 400
        updateAttributes { attributes in
            attributes["http.response.status_code"] = head.status
            attributes["network.protocol.version"] = String(head.httpVersion.drop { $0 != "/" }.dropFirst())
            if isError { attributes["error.type"] = String(head.status) }
        }
        if isError { setStatus(SpanStatus(code: .error)) }
    }

    fileprivate func describe(_ error: any Error) {
        updateAttributes { attributes in
            attributes["error.type"] = (error as? TransportError)?.code.description ?? "\(type(of: error))"
        }
        recordError(error)
        setStatus(SpanStatus(code: .error))
    }
}
