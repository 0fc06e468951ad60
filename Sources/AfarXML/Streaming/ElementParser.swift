public import AfarCore
import CLibxml2
public import Foundation

extension XML {
    /// Makes values of some elements of a streamed document, each as soon as it has come to its end, and keeps nothing else:
    /// memory does not grow with the document.
    ///
    /// ```swift
    /// for await stream in AF.streamRequest(url).serializing(.xmlElements(matching: "/feed/entry", as: Entry.self)) { … }
    /// ```
    ///
    /// What is no well-formed document is a failure with an ``XML/Error`` inside, and the last result. An element of
    /// which no value can be made is a failure too; those after it are read.
    ///
    /// Elements are chosen by a path of names: `entry` (wherever it is), `feed/entry`, `/feed/entry` (from the outermost
    /// element), `//entry/link`, `*`, joined by `|`. A name without a prefix means one that is in no namespace. What lies
    /// inside a chosen element belongs to it, and is not chosen again.
    public struct ElementParser<Value: Sendable>: DataStreamParser {
        private var streaming: DocumentStreaming<Value>

        /// Makes a parser that gives what a closure makes of each element.
        ///
        /// - Parameters:
        ///   - pattern: Which elements.
        ///   - namespaces: The names of the namespaces by the prefixes that the pattern uses. The default is none.
        ///   - options: What the document may be and hold.
        ///   - transform: Makes the value. The element is a document of its own, and may be kept.
        public init(
            matching pattern: String, namespaces: [String: String] = [:], options: ParsingOptions = ParsingOptions(),
            transform: @escaping @Sendable (Element) throws -> Value
        ) {
            self.init(pattern, namespaces, options, areKept: true, transform)
        }

        /// - Parameter areKept: Whether elements may be used after `transform` has returned.
        init(
            _ pattern: String, _ namespaces: [String: String], _ options: ParsingOptions, areKept: Bool,
            _ transform: @escaping @Sendable (Element) throws -> Value
        ) {
            streaming = DocumentStreaming { contentType throws(XML.Error) in
                let push = try PushRun(options, contentType: contentType)
                let pattern = try ElementPattern(pattern, namespaces)
                let stream = DocumentStream<Value>(push, owning: pattern)
                push.run.rules.pointee.wanted = pattern.stream
                push.run.onTree = { [unowned stream] tree in
                    guard let document = try? Document(owning: tree) else { return }
                    let result = Result { try transform(document.root) }
                    stream.add(
                        result.mapError { error in
                            error.asAFError
                                ?? .responseSerializationFailed(reason: .customSerializationFailed(error: error))
                        })
                }
                afar_xml_install_stream_hooks(push.run.context, areKept)
                return stream
            }
        }

        /// Takes the charset from the head.
        public mutating func begin(_ head: ResponseHead) { streaming.begin(head) }

        /// The values of the elements that a chunk completes.
        public mutating func parse(_ chunk: Data) -> [Result<Value, AFError>] { streaming.parse(chunk) }

        /// A failure if the document is not whole.
        public mutating func finish() -> [Result<Value, AFError>] { streaming.finish() }
    }
}

extension XML.ElementParser where Value: Decodable {
    /// Makes a parser that decodes a value from each element.
    ///
    /// - Parameters:
    ///   - pattern: Which elements.
    ///   - type: What to decode.
    ///   - namespaces: The names of the namespaces by the prefixes that the pattern uses. The default is none.
    ///   - decoder: Decodes. Its parsing options hold for the document too.
    public init(
        matching pattern: String, as type: Value.Type = Value.self, namespaces: [String: String] = [:],
        decoder: XMLDecoder = XMLDecoder()
    ) {
        self.init(pattern, namespaces, decoder.parsingOptions, areKept: false) { element in
            do {
                return try decoder.decode(Value.self, from: element)
            } catch {
                throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
            }
        }
    }
}

extension DataStreamParser {
    /// Decodes a value from each element of an XML body that matches, as soon as the element is complete. The memory that this needs does
    /// not grow with the body.
    ///
    /// - Parameters:
    ///   - pattern: A path of names, as described in ``XML/ElementParser``.
    ///   - type: The type of the values.
    ///   - namespaces: The names of the namespaces, by the prefixes that the pattern uses. The default is none.
    ///   - decoder: Decodes the values. Its parsing options apply to the body, too.
    public static func xmlElements<Value: Decodable & Sendable>(
        matching pattern: String, as type: Value.Type, namespaces: [String: String] = [:],
        decoder: XMLDecoder = XMLDecoder()
    ) -> Self where Self == XML.ElementParser<Value> {
        XML.ElementParser(matching: pattern, as: type, namespaces: namespaces, decoder: decoder)
    }
}

// MARK: - Patterns

/// Which elements of a stream are wanted. Used by one thread at a time.
final class ElementPattern {
    /// libxml2's matcher, which is notified of each element as it begins and ends.
    let stream: xmlStreamCtxtPtr
    private let pattern: xmlPatternPtr

    init(_ text: String, _ namespaces: [String: String]) throws(XML.Error) {
        // libxml2 takes these for patterns, though no element of a stream could match.
        let steps = text.split(whereSeparator: { "/|".contains($0) }).map { $0.trimmingCharacters(in: .whitespaces) }
        let choosesElements = !text.contains("@") && !text.contains("attribute::") && !steps.contains(".")
        let pattern = choosesElements ? Self.compiled(text, namespaces) : nil
        guard let pattern, xmlPatternStreamable(pattern) == 1, let stream = xmlPatternGetStreamCtxt(pattern) else {
            xmlFreePattern(pattern)
            throw XML.Error(
                .invalidXPath,
                "“\(text)” cannot choose elements of a stream: that is done by names joined by / and //, with prefixes given"
            )
        }
        self.pattern = pattern
        self.stream = stream
        // The document, in which the outermost element begins.
        xmlStreamPush(stream, nil, nil)
    }

    deinit {
        xmlFreeStreamCtxt(stream)
        xmlFreePattern(pattern)
    }

    private static func compiled(_ text: String, _ namespaces: [String: String]) -> xmlPatternPtr? {
        guard !text.utf8.contains(0) else { return nil }
        // Names and prefixes by turns, then NULL.
        let texts: [String] = namespaces.flatMap { [$0.value, $0.key] }
        var names = texts.map { UnsafePointer<xmlChar>(xmlStrdup($0)) }
        defer { for name in names { afar_xml_free(UnsafeMutablePointer(mutating: name)) } }
        names.append(nil)
        return xmlPatterncompile(text, nil, 0, &names)
    }
}
