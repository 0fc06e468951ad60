public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets the body as text while it comes, read as UTF-8. A character is never split between two
    /// calls; what is no UTF-8 becomes U+FFFD.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - stream: Called for each piece of text, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamString(
        on queue: DispatchQueue = .main, stream: @escaping Handler<String, Never>
    ) -> Self {
        let text = UTF8Stream()
        return addHandler(on: queue, { text.append($0).map { .success($0) } }, atEnd: text.finish, stream)
    }
}
