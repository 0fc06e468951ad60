public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets a value decoded from each element of an XML body that matches, as soon as the element has
    /// come to its end. Memory does not grow with the body.
    ///
    /// ```swift
    /// AF.streamRequest(url).responseStreamXMLElements(matching: "/feed/entry", as: Entry.self) { stream in … }
    /// ```
    ///
    /// - Parameters:
    ///   - pattern: Which elements: a path of names, as ``XML/ElementParser`` says.
    ///   - type: What to decode.
    ///   - namespaces: The names of the namespaces by the prefixes that the pattern uses. The default is none.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - decoder: Decodes. Its parsing options hold for the body too.
    ///   - stream: Called for each value and for what could not be read, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamXMLElements<T: Decodable & Sendable>(
        matching pattern: String,
        as type: T.Type = T.self,
        namespaces: [String: String] = [:],
        on queue: DispatchQueue = .main,
        using decoder: XMLDecoder = XMLDecoder(),
        stream: @escaping Handler<T, AFError>
    ) -> Self {
        responseStream(
            using: XML.ElementParser(matching: pattern, as: type, namespaces: namespaces, decoder: decoder), on: queue,
            stream: stream)
    }
}

extension DataStreamTask {
    /// A value decoded from each element of an XML body that matches, as soon as the element has come to its end. Memory
    /// does not grow with the body. The request starts with the iteration, if handlers start requests here.
    ///
    /// - Parameters:
    ///   - pattern: Which elements: a path of names, as ``XML/ElementParser`` says.
    ///   - type: What to decode.
    ///   - namespaces: The names of the namespaces by the prefixes that the pattern uses. The default is none.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - decoder: Decodes. Its parsing options hold for the body too.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingXMLElements<T: Decodable & Sendable>(
        matching pattern: String,
        as type: T.Type = T.self,
        namespaces: [String: String] = [:],
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoder: XMLDecoder = XMLDecoder(),
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy? = nil
    ) -> Stream<T, AFError> {
        streamingResponses(
            parsedUsing: XML.ElementParser(matching: pattern, as: type, namespaces: namespaces, decoder: decoder),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
