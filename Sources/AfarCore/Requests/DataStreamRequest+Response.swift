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
        addHandler(.plain, on: queue, stream)
        return self
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
        addHandler(Parser(serializer), on: queue, stream)
        return self
    }
    /// Adds a handler that gets values of the body wherever its chunks end.
    ///
    /// - Parameters:
    ///   - parser: Makes values of chunks, on the session's serialization queue if it has one, else in the request's task.
    ///     Each body is read by a copy of it.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - stream: Called for each value and for what could not be read, and once at the end.
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
