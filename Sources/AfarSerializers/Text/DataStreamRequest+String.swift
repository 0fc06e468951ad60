public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets the body as text while it comes, in the encoding that a byte-order mark or the charset of
    /// the Content-Type tells, else as UTF-8. A character is never split between two calls; bytes that mean nothing in the
    /// encoding become U+FFFD.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - stream: Called for each piece of text, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamString(
        on queue: DispatchQueue = .main, stream: @escaping Handler<String, Never>
    ) -> Self {
        addHandler(Parser(TextStream()), on: queue, stream)
        return self
    }
}

extension DataStreamTask {
    /// The body as text while it comes, in the encoding that a byte-order mark or the charset of the Content-Type tells,
    /// else as UTF-8. A character is never split between two elements; bytes that mean nothing in the encoding become
    /// U+FFFD. The request starts with the iteration, if handlers start requests here.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - bufferingPolicy: Which pieces are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingStrings(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<String, Never>.BufferingPolicy? = nil
    ) -> Stream<String, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            DataStreamRequest.Parser(TextStream())
        }
    }
}

extension DataStreamRequest.Parser where Success == String, Failure == Never {
    fileprivate init(_ text: TextStream) {
        self.init(
            begin: text.begin,
            parse: { text.append($0).map { [.success($0)] } ?? [] },
            finish: { _ in text.finish().map { [.success($0)] } ?? [] })
    }
}
