public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets the chunks as they come.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue: in a program whose main thread is blocked it
    ///     is never called, and the request waits.
    ///   - stream: Called for each chunk, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>
    ) -> Self {
        addHandler(on: queue, { .success($0) }, stream)
    }

    /// Adds a handler that gets a value for each chunk.
    ///
    /// - Parameters:
    ///   - serializer: Makes a value of each chunk by itself, on the session's serialization queue if it has one, else in
    ///     the request's task.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - stream: Called for each chunk, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer,
        on queue: DispatchQueue = .main,
        stream: @escaping Handler<Serializer.SerializedObject, AFError>
    ) -> Self {
        addHandler(on: queue, Self.parse(using: serializer), stream)
    }

    /// Adds a handler, and starts the request if that is what handlers do here.
    ///
    /// - Parameters:
    ///   - parse: Makes a value of a chunk; nil when there is none yet.
    ///   - rest: What is left when the last chunk has come.
    package func addHandler<Success: Sendable, Failure: Error>(
        on queue: DispatchQueue,
        _ parse: @escaping @Sendable (Data) -> Result<Success, Failure>?,
        atEnd rest: @escaping @Sendable () -> Success? = { nil },
        _ handler: @escaping Handler<Success, Failure>
    ) -> Self {
        append { request, chunk in
            guard let result = await request.parsed(chunk, by: parse) else { return }
            await request.onQueue(queue) { request.call(handler, with: .stream(result)) }
        }
        addHandler(on: queue, Completion.init(of:)) { [weak self] completion in
            let token = CancellationToken(self)
            if let rest = rest() { try? handler(Stream(event: .stream(.success(rest)), token: token)) }
            try? handler(Stream(event: .complete(completion), token: token))
        }
        return self
    }

    /// Makes a value of a chunk. A chunk that is not what it should be may end the request.
    func parsed<Success: Sendable, Failure: Error>(
        _ chunk: Data, by parse: @escaping @Sendable (Data) -> Result<Success, Failure>?
    ) async -> Result<Success, Failure>? {
        let result = await onQueue(context.serializationQueue) { parse(chunk) }
        if case .failure = result, automaticallyCancelOnStreamError { cancel() }
        return result
    }

    static func parse<Serializer: DataStreamSerializer>(
        using serializer: Serializer
    ) -> @Sendable (Data) -> AFResult<Serializer.SerializedObject>? {
        { chunk in
            Result { try serializer.serialize(chunk) }.mapError { error in
                error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
            }
        }
    }

    private func call<Success, Failure: Error>(
        _ handler: Handler<Success, Failure>, with event: Event<Success, Failure>
    ) {
        do {
            try handler(Stream(event: event, token: CancellationToken(self)))
        } catch {
            if automaticallyCancelOnStreamError { cancel() }
        }
    }
}
