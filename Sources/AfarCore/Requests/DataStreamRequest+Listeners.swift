package import Foundation

extension DataStreamRequest {
    /// How chunks become values.
    package struct Parser<Success: Sendable, Failure: Error>: Sendable {
        let begin: @Sendable (ResponseHead) -> Void
        let parse: @Sendable (Data) -> Result<Success, Failure>?
        let rest: @Sendable () -> Success?
        /// Whether chunks are values as they are.
        let isTrivial: Bool

        /// - Parameters:
        ///   - begin: Is told of the head when a body begins. A retry sends the body from its first byte.
        ///   - parse: Makes a value of a chunk; nil when there is none yet.
        ///   - rest: Takes what is left when the last chunk has come.
        ///   - isTrivial: Whether chunks are values as they are.
        package init(
            atBegin begin: @escaping @Sendable (ResponseHead) -> Void = { _ in },
            _ parse: @escaping @Sendable (Data) -> Result<Success, Failure>?,
            atEnd rest: @escaping @Sendable () -> Success? = { nil },
            isTrivial: Bool = false
        ) {
            self.isTrivial = isTrivial
            self.begin = begin
            self.parse = parse
            self.rest = rest
        }

        init<Serializer: DataStreamSerializer>(_ serializer: Serializer)
        where Serializer.SerializedObject == Success, Failure == AFError {
            self.init { chunk in
                Result { try serializer.serialize(chunk) }.mapError { error in
                    error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
                }
            }
        }
    }

    /// Adds a handler on a queue, and starts the request if that is what handlers do here.
    package func addHandler<Success: Sendable, Failure: Error>(
        _ parser: Parser<Success, Failure>, on queue: DispatchQueue, _ handler: @escaping Handler<Success, Failure>
    ) {
        addListener(
            parser,
            each: { request, stream in await request.onQueue(queue) { request.call(handler, with: stream) } },
            last: { streams in
                queue.async { for stream in streams { try? handler(stream) } }
            })
    }

    /// Adds somebody who is told of chunks and of the end, and starts the request if that is what handlers do here.
    ///
    /// - Parameters:
    ///   - each: Called for each chunk; the next is read when it returns.
    ///   - last: Called once, with the completion at the end.
    func addListener<Success: Sendable, Failure: Error>(
        _ parser: Parser<Success, Failure>,
        each: @escaping @Sendable (DataStreamRequest, Stream<Success, Failure>) async -> Void,
        last: @escaping @Sendable ([Stream<Success, Failure>]) -> Void
    ) {
        append(
            Consumer(
                begin: parser.begin,
                consume: { request, chunk in
                    guard let result = await request.parsed(chunk, by: parser) else { return }
                    await each(request, Stream(event: .stream(result), token: CancellationToken(request)))
                }))
        addHandler(Completion.init(of:)) { [weak self] completion in
            let rest = parser.rest().map { Event<Success, Failure>.stream(.success($0)) }
            let events = [rest, .complete(completion)].compactMap { $0 }
            last(events.map { Stream(event: $0, token: CancellationToken(self)) })
        }
    }

    /// Makes a value of a chunk. A chunk that is not what it should be may end the request.
    private func parsed<Success, Failure>(
        _ chunk: Data, by parser: Parser<Success, Failure>
    ) async -> Result<Success, Failure>? {
        let result = await onQueue(context.serializationQueue) { parser.parse(chunk) }
        if let result, !parser.isTrivial, let events {
            let result = result.mapError { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
            events.request(self, didParseStream: result)
        }
        if case .failure = result, automaticallyCancelOnStreamError { cancel() }
        return result
    }

    private func call<Success, Failure>(_ handler: Handler<Success, Failure>, with stream: Stream<Success, Failure>) {
        // What could not be read may be why the request has ended; a value comes too late.
        if stream.value != nil, hasEnded { return }
        do {
            try handler(stream)
        } catch {
            if automaticallyCancelOnStreamError { cancel() }
        }
    }
}

extension DataStreamRequest.Parser where Success == Data, Failure == Never {
    /// Chunks as they are.
    static var plain: Self { Self({ .success($0) }, isTrivial: true) }
}
