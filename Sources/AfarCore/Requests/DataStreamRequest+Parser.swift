package import Foundation

extension DataStreamRequest {
    /// Turns the chunks of a body into values.
    package struct Parser<Success: Sendable, Failure: Error>: Sendable {
        let begin: @Sendable (ResponseHead) -> Void
        let parse: @Sendable (Data) -> [Result<Success, Failure>]
        let finish: @Sendable (_ isWhole: Bool) -> [Result<Success, Failure>]
        /// Whether chunks are the values.
        let isTrivial: Bool

        /// - Parameters:
        ///   - begin: Called with the response's head when a body begins. It discards the state of an earlier body.
        ///   - isTrivial: Whether chunks are the values.
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
        // One chunk is parsed at a time. The parser is user code, so it doesn't run under the lock.
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
    /// Adds a handler that is called on a queue, and starts the request if handlers start requests.
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

    /// Adds a listener for the chunks and the end of a stream, and starts the request if handlers start requests.
    ///
    /// - Parameters:
    ///   - each: Called for each value. The next chunk is read after it has returned for all values of the current one.
    ///   - last: Called once, with the remaining values and the completion.
    func addListener<Success: Sendable, Failure: Error>(
        _ parser: Parser<Success, Failure>,
        each: @escaping @Sendable (DataStreamRequest, Stream<Success, Failure>) async -> Void,
        last: @escaping @Sendable ([Stream<Success, Failure>]) -> Void
    ) {
        chunks.append(
            StreamSink.Consumer(begin: parser.begin) { [weak self] chunk in
                guard let self else { return }
                for result in await onQueue(session.queues.serialization, { parser.parse(chunk) }) {
                    guard !hasEnded else { return }
                    if !parser.isTrivial { didParse(result) }
                    if case .failure = result, automaticallyCancelOnStreamError { cancel() }
                    await each(self, Stream(event: .stream(result), token: CancellationToken(self)))
                }
            })
        addHandler(Completion.init(of:)) { [weak self] completion in
            let results = parser.finish(completion.error == nil)
            if let self, !parser.isTrivial { for result in results { self.didParse(result) } }
            let rest = results.map { Event<Success, Failure>.stream($0) }
            last((rest + [.complete(completion)]).map { Stream(event: $0, token: CancellationToken(self)) })
        }
    }

    /// Notifies the monitors of a value or an error that the parser returned.
    private func didParse<Success: Sendable, Failure: Error>(_ result: Result<Success, Failure>) {
        guard let events else { return }
        events.request(self, didParseStream: result.mapError { $0.asAFError(or: .sessionTaskFailed(error: $0)) })
    }

    private func call<Success, Failure>(_ handler: Handler<Success, Failure>, with stream: Stream<Success, Failure>) {
        // An error can be the reason why the request ended, so it is still delivered. A value is too late.
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
