public import Foundation

/// A ``DataStreamRequest`` whose chunks are awaited.
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
/// The last element of each sequence is the completion. Without a buffering policy the next chunk is read when the loop
/// asks for it, so a slow loop holds the server back, where the transport can do that; with one, chunks are kept as it
/// says.
public struct DataStreamTask: Sendable {
    /// What happens on a stream, as a sequence.
    public typealias Stream<Success: Sendable, Failure: Error> = StreamOf<DataStreamRequest.Stream<Success, Failure>>

    package let request: DataStreamRequest

    init(request: DataStreamRequest) { self.request = request }

    /// The chunks as they come. The request starts with the iteration, if handlers start requests here.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - bufferingPolicy: Which chunks are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Data, Never>.BufferingPolicy? = nil
    ) -> Stream<Data, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            .plain
        }
    }

    /// A value for each chunk. The request starts with the iteration, if handlers start requests here.
    ///
    /// - Parameters:
    ///   - serializer: Makes a value of each chunk by itself.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingResponses<Serializer: DataStreamSerializer>(
        serializedUsing serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Serializer.SerializedObject, AFError>.BufferingPolicy? = nil
    ) -> Stream<Serializer.SerializedObject, AFError> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            DataStreamRequest.Parser(serializer)
        }
    }

    /// Values of the body wherever its chunks end. The request starts with the iteration, if handlers start requests here.
    ///
    /// - Parameters:
    ///   - parser: Makes values of chunks. Each body is read by a copy of it.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingResponses<Parser: DataStreamParser>(
        parsedUsing parser: Parser,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Parser.Value, AFError>.BufferingPolicy? = nil
    ) -> Stream<Parser.Value, AFError> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            DataStreamRequest.Parser(parser)
        }
    }

    /// - Parameter makeParser: Called once in each iteration.
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
    /// The request's chunks, to await.
    public func streamTask() -> DataStreamTask { DataStreamTask(request: self) }
}
