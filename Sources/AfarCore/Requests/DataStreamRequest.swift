public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request whose response is delivered as it arrives and is never stored.
///
/// The next chunk is read after all handlers have processed the previous one. A slow handler therefore slows down the server,
/// if the transport supports this. Validators check the response's head before the first chunk is delivered. If a retrier
/// retries in the middle of a body, the new body is delivered from its first byte.
public final class DataStreamRequest: Request, @unchecked Sendable {
    // Sendable: adds only constants.

    /// A Boolean value that indicates whether the request is canceled when a serializer throws. A handler that throws always
    /// cancels the request.
    public let automaticallyCancelOnStreamError: Bool
    let chunks = StreamSink()

    init(
        convertible: any URLRequestConvertible,
        uploadBody: UploadBody? = nil,
        automaticallyCancelOnStreamError: Bool,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?
    ) {
        self.automaticallyCancelOnStreamError = automaticallyCancelOnStreamError
        super.init(
            convertible: convertible, uploadBody: uploadBody, sink: chunks, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, countsBytes: true)
    }
}

extension DataStreamRequest {
    /// A closure that receives the events of a stream, one at a time.
    ///
    /// If the closure throws an error, the request is canceled and fails with
    /// ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``. Only the completion is delivered after
    /// that.
    public typealias Handler<Success, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

    /// An event of a stream, with a way to cancel the request.
    public struct Stream<Success, Failure: Error> {
        /// The event.
        public let event: Event<Success, Failure>
        /// A token that cancels the request.
        public let token: CancellationToken

        /// Cancels the request.
        public func cancel() { token.cancel() }
    }

    /// An event of a stream.
    public enum Event<Success, Failure: Error> {
        /// The value of a chunk that arrived, or the error if it couldn't be serialized.
        case stream(Result<Success, Failure>)
        /// The request has finished. No other event follows.
        case complete(Completion)
    }

    /// A description of the end of a streamed response or a WebSocket.
    public struct Completion: Sendable {
        /// The request that was sent, after adaptation.
        public let request: URLRequest?
        /// The metrics of the last attempt.
        public let metrics: TaskMetrics?
        /// The trailer fields, which the server sent after the response's body (RFC 9110, section 6.5). `URLSessionTransport` doesn't
        /// report them.
        public let trailers: HTTPHeaders
        /// The error that ended the request, or nil if the whole body arrived or the WebSocket was closed.
        public let error: AFError?
        private let head: ResponseHead?

        /// The response's head.
        public var response: HTTPURLResponse? { head?.httpURLResponse }

        init(of request: Request) {
            self.init(
                request: request.request, metrics: request.metrics, trailers: request.trailers,
                error: request.completionError, head: request.responseHead)
        }

        private init(
            request: URLRequest?, metrics: TaskMetrics?, trailers: HTTPHeaders, error: AFError?, head: ResponseHead?
        ) {
            self.request = request
            self.metrics = metrics
            self.trailers = trailers
            self.error = error
            self.head = head
        }
    }

    /// A token that cancels a request without retaining it.
    public struct CancellationToken: Sendable {
        private weak let request: DataStreamRequest?

        init(_ request: DataStreamRequest?) { self.request = request }

        /// Cancels the request, which fails with ``AFError/explicitlyCancelled``.
        public func cancel() { request?.cancel() }
    }
}

extension DataStreamRequest.Stream: Sendable where Success: Sendable {}
extension DataStreamRequest.Event: Sendable where Success: Sendable {}

extension DataStreamRequest.Stream {
    /// The value or error of a chunk, or nil if the event isn't a chunk.
    public var result: Result<Success, Failure>? {
        if case .stream(let result) = event { result } else { nil }
    }

    /// The value of a chunk, or nil if the event isn't a chunk or couldn't be serialized.
    public var value: Success? { result?.value }

    /// The error of a chunk, or nil if the event isn't a chunk or has a value.
    public var error: Failure? { result?.error }

    /// The end of the request, or nil if the event is a chunk.
    public var completion: DataStreamRequest.Completion? {
        if case .complete(let completion) = event { completion } else { nil }
    }
}

extension DataStreamRequest.Completion: SettledResponse {
    func failing(with error: AFError) -> Self {
        Self(request: request, metrics: metrics, trailers: trailers, error: error, head: head)
    }
}

extension DataStreamRequest {
    /// Adds a handler that receives the chunks as they arrive.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default is the main queue. If the program blocks its main
    ///     thread, the handler is never called and the request waits.
    ///   - stream: Called for each chunk, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>
    ) -> Self {
        addHandler(.plain, on: queue, stream)
        return self
    }

    /// Adds a handler that receives the values that a parser reads from the body, as in `.response(.jsonLines(of: Entry.self))
    /// { … }`. A value can span several chunks. The handler also receives each parsing error, and finally the completion.
    @preconcurrency
    @discardableResult
    public func response<Parser: DataStreamParser>(
        _ parser: Parser,
        on queue: DispatchQueue = .main,
        stream: @escaping Handler<Parser.Value, AFError>
    ) -> Self {
        responseStream(using: parser, on: queue, stream: stream)
    }

    /// Adds a handler that receives a value for each chunk. The serializer runs on the session's serialization queue if there
    /// is one, otherwise in the request's task.
    @preconcurrency
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer,
        on queue: DispatchQueue = .main,
        stream: @escaping Handler<Serializer.SerializedObject, AFError>
    ) -> Self {
        addHandler(Parser(serializer), on: queue, stream)
        return self
    }

    /// Adds a handler that receives the values that a parser reads from the body. A value can span several chunks.
    ///
    /// The parser runs on the session's serialization queue if there is one, otherwise in the request's task. A new copy of the
    /// parser parses each body.
    @preconcurrency
    @discardableResult
    public func responseStream<Parser: DataStreamParser>(
        using parser: Parser,
        on queue: DispatchQueue = .main,
        stream: @escaping Handler<Parser.Value, AFError>
    ) -> Self {
        addHandler(DataStreamRequest.Parser(parser), on: queue, stream)
        return self
    }
}

/// A type that creates one value from each chunk of a streamed response.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
    /// The type of the values.
    associatedtype SerializedObject: Sendable

    /// Creates a value from a chunk.
    ///
    /// - Throws: Any error. An error that isn't an ``AFError`` is wrapped in one.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// A serializer that returns chunks unchanged.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// Creates the serializer.
    public init() {}

    /// Returns the bytes unchanged.
    public func serialize(_ data: Data) throws -> Data { data }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// Returns chunks unchanged.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

/// A type that creates values, such as lines, records or events, from a streamed body. A value can span several chunks.
///
/// A ``DataStreamSerializer`` processes each chunk separately. A parser keeps the incomplete end of the last chunk. A new copy
/// of the parser parses each body, so a retry starts without data from an earlier body.
///
/// ```swift
/// struct LengthParser: DataStreamParser {
///     mutating func parse(_ chunk: Data) -> [Result<Int, AFError>] { [.success(chunk.count)] }
/// }
/// ```
public protocol DataStreamParser<Value>: Sendable {
    /// The type of the values.
    associatedtype Value: Sendable

    /// Called when a body begins. The default implementation does nothing.
    ///
    /// - Parameter head: The head of the response, which can specify the encoding of the body.
    mutating func begin(_ head: ResponseHead)

    /// Parses the next bytes of the body.
    ///
    /// Limit the amount of data that the parser stores, because the server controls how much it sends.
    ///
    /// - Returns: The values that these bytes complete, in order. A failure is delivered like a value, and ends the request if
    ///   ``DataStreamRequest/automaticallyCancelOnStreamError`` is true.
    mutating func parse(_ chunk: Data) -> [Result<Value, AFError>]

    /// Called at the end of a complete body. It isn't called if the body was interrupted. The default implementation returns no
    /// values.
    ///
    /// - Returns: The values that the end of the body completes, in order.
    mutating func finish() -> [Result<Value, AFError>]
}

extension DataStreamParser {
    /// Does nothing.
    public mutating func begin(_ head: ResponseHead) {}

    /// Returns no values.
    public mutating func finish() -> [Result<Value, AFError>] { [] }
}

extension DataStreamRequest {
    /// Turns the chunks of a body into values.
    package struct Parser<Success: Sendable, Failure: Error>: Sendable {
        let begin: @Sendable (ResponseHead) -> Void
        let parse: @Sendable (Data) -> [Result<Success, Failure>]
        let finish: @Sendable (_ isWhole: Bool) -> [Result<Success, Failure>]
        let isTrivial: Bool

        /// - Parameters:
        ///   - begin: Called with the response's head when a body begins. The closure discards the state of an earlier body.
        ///   - isTrivial: Whether the values are the chunks themselves.
        ///   - parse: Returns the values of a chunk.
        ///   - finish: Returns the remaining values after the last chunk. Its argument indicates whether the body is complete.
        package init(
            begin: @escaping @Sendable (ResponseHead) -> Void = { _ in },
            isTrivial: Bool = false,
            parse: @escaping @Sendable (Data) -> [Result<Success, Failure>],
            finish: @escaping @Sendable (_ isWhole: Bool) -> [Result<Success, Failure>] = { _ in [] }
        ) {
            self.begin = begin
            self.parse = parse
            self.finish = finish
            self.isTrivial = isTrivial
        }
    }
}

extension DataStreamRequest.Parser where Success == Data, Failure == Never {
    /// A parser that returns chunks unchanged.
    static var plain: Self { Self(isTrivial: true, parse: { [.success($0)] }) }
}

extension DataStreamRequest.Parser where Failure == AFError {
    init<Serializer: DataStreamSerializer>(_ serializer: Serializer) where Serializer.SerializedObject == Success {
        self.init(parse: { chunk in
            let result = Result { try serializer.serialize(chunk) }
            return [
                result.mapError { error in
                    error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
                }
            ]
        })
    }

    init<Parser: DataStreamParser>(_ parser: Parser) where Parser.Value == Success {
        let current = Locked<Parser?>(nil)
        // Calls are sequential, so user code can run outside the lock.
        @Sendable func use<Value>(_ body: (inout Parser) -> Value) -> Value {
            var inUse = current.withLock { $0.take() } ?? parser
            let value = body(&inUse)
            current.withLock { [inUse] in $0 = inUse }
            return value
        }
        self.init(
            begin: { head in
                use {
                    $0 = parser
                    $0.begin(head)
                }
            },
            parse: { chunk in use { $0.parse(chunk) } },
            finish: { isWhole in isWhole ? use { $0.finish() } : [] })
    }
}

extension DataStreamRequest {
    /// Adds a handler that is called on a queue. Starts the request unless automatic starting is turned off.
    package func addHandler<Success: Sendable, Failure: Error>(
        _ parser: Parser<Success, Failure>, on queue: DispatchQueue, _ handler: @escaping Handler<Success, Failure>
    ) {
        addListener(
            parser,
            each: { request, stream in await request.onQueue(queue) { request.call(handler, with: stream) } },
            last: { streams in
                queue.asyncKeepingTransport { for stream in streams { try? handler(stream) } }
            })
    }

    /// Adds a listener for the chunks and the end of a stream. Starts the request unless automatic starting is turned off.
    ///
    /// - Parameters:
    ///   - each: Called for each value. The next chunk is read after this closure has returned for all values of the current
    ///     chunk.
    ///   - last: Called once, with the remaining values and the completion.
    func addListener<Success: Sendable, Failure: Error>(
        _ parser: Parser<Success, Failure>,
        each: @escaping @Sendable (DataStreamRequest, Stream<Success, Failure>) async -> Void,
        last: @escaping @Sendable ([Stream<Success, Failure>]) -> Void
    ) {
        chunks.append(
            StreamSink.Consumer(begin: parser.begin) { [weak self] chunk in
                guard let self else { return }
                for result in await onQueue(session.queues.serialization, { parse(chunk, with: parser) }) {
                    guard !hasEnded else { return }
                    if !parser.isTrivial { didParse(result) }
                    if case .failure = result, automaticallyCancelOnStreamError { cancel() }
                    await each(self, Stream(event: .stream(result), token: CancellationToken(self)))
                }
            })
        addHandler(Completion.init(of:)) { [weak self] completion in
            let finish = { parser.finish(completion.error == nil) }
            let results = self?.withSessionDecoder(finish) ?? finish()
            if let self, !parser.isTrivial { for result in results { self.didParse(result) } }
            let rest = results.map { Event<Success, Failure>.stream($0) }
            last((rest + [.complete(completion)]).map { Stream(event: $0, token: CancellationToken(self)) })
        }
    }

    private func parse<Success: Sendable, Failure: Error>(
        _ chunk: Data, with parser: Parser<Success, Failure>
    ) -> [Result<Success, Failure>] {
        parser.isTrivial ? parser.parse(chunk) : withSessionDecoder { parser.parse(chunk) }
    }

    /// Notifies the monitors of a value or an error that the parser returned.
    private func didParse<Success: Sendable, Failure: Error>(_ result: Result<Success, Failure>) {
        guard let events else { return }
        let result = result.mapError { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
        events.receive(.requestDidParse(self, RequestEvent.ParsedValue(self, result)))
    }

    private func call<Success, Failure>(_ handler: Handler<Success, Failure>, with stream: Stream<Success, Failure>) {
        // An error is delivered even if the request has ended, because the error can be the reason.
        if stream.value != nil, hasEnded { return }
        do {
            try handler(stream)
        } catch {
            cancel(
                because: error.asAFError(
                    or: .responseSerializationFailed(reason: .customSerializationFailed(error: error))))
        }
    }
}
