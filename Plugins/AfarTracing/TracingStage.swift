public import AfarCore
import AfarTransport
import Foundation
import HTTPTypes
public import Tracing

#if !Tracing
    #error("AfarTracing requires the package trait Tracing: .package(url: …, traits: [.defaults, \"Tracing\"])")
#endif

/// A stage that creates a client span for each sent request and propagates the span to the server in header fields. Spans use
/// OpenTelemetry's names for HTTP.
///
/// ```swift
/// let session = Session(stages: [TracingStage()])
/// ```
///
/// A span is a child of the current span of the task in which the request was created. Redirects, responses to challenges and
/// retries have their own spans (`http.request.resend_count` counts redirects and responses to challenges, but not retries). A
/// span ends when the response and its body have arrived or, for a streamed body, when the head has arrived. The span has an
/// error status if the response's status is 400 or higher or if there is no response. In these cases, `error.type` is the
/// response's status or the code of the ``TransportError``. Secrets in URLs are hidden.
public struct TracingStage: ExchangeStage {
    private let tracer: (any Tracer)?

    /// Creates a stage.
    ///
    /// - Parameter tracer: The tracer that creates the spans. The default is nil: for each request, the stage uses the tracer that is
    ///   bootstrapped at that time. Without a bootstrapped tracer, the stage has no effect.
    public init(tracer: (any Tracer)? = nil) { self.tracer = tracer }

    /// Returns the ``StageRun`` that handles one exchange, or nil if there is no tracer.
    public func begin(_ hop: Hop) -> (any StageRun)? {
        let tracer = tracer ?? InstrumentationSystem.tracer
        return tracer is NoOpTracer ? nil : Run(tracer, context: .current ?? .topLevel)
    }

    private final class Run: StageRun {
        private let tracer: any Tracer
        private let context: ServiceContext
        private let lock = NSLock()
        // Safe because it's only used under the lock.
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

/// Attributes with the names of OpenTelemetry's semantic conventions for HTTP client spans.
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
