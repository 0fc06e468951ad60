package import Foundation

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
