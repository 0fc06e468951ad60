public import Foundation

/// A handle for reading the chunks of a ``DataStreamRequest`` with `for await`.
///
/// ```swift
/// for await stream in AF.streamRequest("https://example.com/feed").streamTask().streamingData() {
///     switch stream.event {
///     case .stream(let result): use(result)
///     case .complete(let completion): print(completion.error ?? "whole")
///     }
/// }
/// ```
///
/// The last element of each sequence is the completion. Without a buffering policy, the next chunk is read when the loop requests
/// it, so a slow loop slows the server down if the transport supports backpressure. With a buffering policy, chunks are buffered
/// accordingly.
public struct DataStreamTask: Sendable {
    /// A sequence of the events of a stream.
    public typealias Stream<Success: Sendable, Failure: Error> = StreamOf<DataStreamRequest.Stream<Success, Failure>>

    package let request: DataStreamRequest

    init(request: DataStreamRequest) { self.request = request }

    /// Returns a sequence of the chunks as they arrive. Iterating starts the request, unless requests must be started explicitly.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The default is
    ///     true.
    ///   - bufferingPolicy: How chunks are buffered for a slow loop. The default, nil, buffers none and slows the server down.
    public func streamingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Data, Never>.BufferingPolicy? = nil
    ) -> Stream<Data, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            .plain
        }
    }

    /// Returns a sequence with one value per chunk. Iterating starts the request, unless requests must be started explicitly.
    ///
    /// - Parameters:
    ///   - serializer: Converts each chunk to a value independently.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The default is
    ///     true.
    ///   - bufferingPolicy: How values are buffered for a slow loop. The default, nil, buffers none and slows the server down.
    public func streamingResponses<Serializer: DataStreamSerializer>(
        serializedUsing serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Serializer.SerializedObject, AFError>.BufferingPolicy? = nil
    ) -> Stream<Serializer.SerializedObject, AFError> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            DataStreamRequest.Parser(serializer)
        }
    }

    /// Returns a sequence of values parsed from the body, regardless of chunk boundaries. Iterating starts the request, unless
    /// requests must be started explicitly.
    ///
    /// - Parameters:
    ///   - parser: Parses values from chunks. Each body is parsed by its own copy.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The default is
    ///     true.
    ///   - bufferingPolicy: How values are buffered for a slow loop. The default, nil, buffers none and slows the server down.
    public func streamingResponses<Parser: DataStreamParser>(
        parsedUsing parser: Parser,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Parser.Value, AFError>.BufferingPolicy? = nil
    ) -> Stream<Parser.Value, AFError> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            DataStreamRequest.Parser(parser)
        }
    }

    /// - Parameter makeParser: Called once per iteration.
    package func stream<Success: Sendable, Failure: Error>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        bufferingPolicy: Stream<Success, Failure>.BufferingPolicy?,
        _ makeParser: @escaping @Sendable () -> DataStreamRequest.Parser<Success, Failure>
    ) -> Stream<Success, Failure> {
        let onTermination: @Sendable () -> Void = { [request] in
            if shouldAutomaticallyCancel { request.cancel() }
        }
        guard let bufferingPolicy else {
            return Stream(onTermination: onTermination) { [request] handoff in
                request.addListener(makeParser(), each: { await handoff.give($1) }, last: { handoff.finish(with: $0) })
            }
        }
        return Stream(bufferingPolicy: bufferingPolicy, onTermination: onTermination) { [request] continuation in
            request.addListener(makeParser(), each: { continuation.yield($1) }) { last in
                for stream in last { continuation.yield(stream) }
                continuation.finish()
            }
        }
    }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Resumes the request.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension DataStreamRequest {
    /// Returns a sequence of values parsed from the body, regardless of chunk boundaries. Iterating starts the request, unless
    /// requests must be started explicitly.
    ///
    /// ```swift
    /// for await stream in AF.streamRequest("https://example.com/feed").serializing(.jsonLines(of: Entry.self)) {
    ///     if let entry = stream.value { use(entry) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - parser: Parses values from chunks. Use the factory method of a format. Each body is parsed by its own copy.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The default is
    ///     true.
    ///   - bufferingPolicy: How values are buffered for a slow loop. The default, nil, buffers none and slows the server down.
    public func serializing<Parser: DataStreamParser>(
        _ parser: Parser,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: DataStreamTask.Stream<Parser.Value, AFError>.BufferingPolicy? = nil
    ) -> DataStreamTask.Stream<Parser.Value, AFError> {
        streamTask().streamingResponses(
            parsedUsing: parser, automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }

    /// Returns a handle for reading the request's chunks with `for await`.
    public func streamTask() -> DataStreamTask { DataStreamTask(request: self) }
}
