package import Foundation

extension DataStreamRequest {
    /// How chunks become values.
    package struct Parser<Success: Sendable, Failure: Error>: Sendable {
        let begin: @Sendable (ResponseHead) -> Void
        let parse: @Sendable (Data) -> [Result<Success, Failure>]
        let finish: @Sendable (_ isWhole: Bool) -> [Result<Success, Failure>]
        /// Whether chunks are values as they are.
        let isTrivial: Bool

        /// - Parameters:
        ///   - begin: Called with the head when a body begins; drops what is left of another one.
        ///   - isTrivial: Whether chunks are values as they are.
        ///   - parse: Makes values of a chunk.
        ///   - finish: Makes values of what is left when the last chunk has come. Its argument is whether the body is
        ///     complete.
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
    /// Chunks as they are.
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
        // One chunk is parsed at a time, and not under the lock: it is somebody's code.
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
    /// Adds a handler on a queue, and starts the request if handlers start it.
    package func addHandler<Success: Sendable, Failure: Error>(
        _ parser: Parser<Success, Failure>, on queue: DispatchQueue, _ handler: @escaping Handler<Success, Failure>
    ) {
        addListener(
            parser,
            each: { request, stream in await request.onQueue(queue) { request.call(handler, with: stream) } },
            last: { streams in
                queue.asyncWithTransport { for stream in streams { try? handler(stream) } }
            })
    }

    /// Adds a listener for chunks and for the end, and starts the request if handlers start it.
    ///
    /// - Parameters:
    ///   - each: Called for each value; the next chunk is read when it has returned for all of this one's.
    ///   - last: Called once, with the completion at the end.
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

    /// Notifies the monitors of what was made of a chunk, or of what was left at the end.
    private func didParse<Success: Sendable, Failure: Error>(_ result: Result<Success, Failure>) {
        guard let events else { return }
        events.request(self, didParseStream: result.mapError { $0.asAFError(or: .sessionTaskFailed(error: $0)) })
    }

    private func call<Success, Failure>(_ handler: Handler<Success, Failure>, with stream: Stream<Success, Failure>) {
        // What could not be read may be why the request has ended; a value comes too late.
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
