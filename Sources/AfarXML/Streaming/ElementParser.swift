public import AfarCore
import CLibxml2
public import Foundation

extension XML {
    /// A parser that converts selected elements of a streamed document to values. Each value is delivered as soon as
    /// its element is complete.
    ///
    /// The parser keeps only the selected element that it is reading, so memory use doesn't grow with the document.
    ///
    /// ```swift
    /// for await stream in AF.streamRequest(url).serializing(.xmlElements(matching: "/feed/entry", as: Entry.self)) { … }
    /// ```
    ///
    /// If the document isn't well-formed, the last result is a failure with an ``XML/Error``. If an element can't be
    /// converted, its result is a failure, and parsing continues with the next element.
    ///
    /// A path of names selects elements: `entry` (at any depth), `feed/entry`, `/feed/entry` (from the outermost element),
    /// `//entry/link` or `*`. Several paths can be joined by `|`. A name without a prefix refers to an element without a
    /// namespace. Elements inside a selected element are part of it and aren't selected again.
    public struct ElementParser<Value: Sendable>: DataStreamParser {
        private var streaming: DocumentStreaming<Value>

        /// Creates a parser that converts each element with a closure.
        ///
        /// - Parameters:
        ///   - pattern: The path that selects elements.
        ///   - namespaces: The namespace URIs by the prefixes that the pattern uses. The default is empty.
        ///   - options: The options and limits for parsing.
        ///   - transform: A closure that converts an element to a value. The element is the root of a separate
        ///     document, so the closure can store the element.
        public init(
            matching pattern: String, namespaces: [String: String] = [:], options: ParsingOptions = ParsingOptions(),
            transform: @escaping @Sendable (Element) throws -> Value
        ) {
            self.init(pattern, namespaces, options, areKept: true, transform)
        }

        /// - Parameter areKept: Whether elements can be used after `transform` has returned.
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

        /// Stores the charset of the response's head.
        public mutating func begin(_ head: ResponseHead) { streaming.begin(head) }

        /// Returns the values of the elements that a chunk completes.
        public mutating func parse(_ chunk: Data) -> [Result<Value, AFError>] { streaming.parse(chunk) }

        /// Returns a failure if the document is incomplete.
        public mutating func finish() -> [Result<Value, AFError>] { streaming.finish() }
    }
}

extension XML.ElementParser where Value: Decodable {
    /// Creates a parser that decodes a value from each element.
    ///
    /// - Parameters:
    ///   - pattern: The path that selects elements.
    ///   - type: The type to decode.
    ///   - namespaces: The namespace URIs by the prefixes that the pattern uses. The default is empty.
    ///   - decoder: The decoder to use. Its parsing options also apply to the document.
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
    /// Returns a parser that decodes a value from each matching element of an XML body as soon as the element is
    /// complete. Memory use doesn't grow with the body.
    ///
    /// - Parameters:
    ///   - pattern: A path of names, as described in ``XML/ElementParser``.
    ///   - type: The type to decode.
    ///   - namespaces: The namespace URIs by the prefixes that the pattern uses. The default is empty.
    ///   - decoder: The decoder to use. Its parsing options also apply to the body.
    public static func xmlElements<Value: Decodable & Sendable>(
        matching pattern: String, as type: Value.Type, namespaces: [String: String] = [:],
        decoder: XMLDecoder = XMLDecoder()
    ) -> Self where Self == XML.ElementParser<Value> {
        XML.ElementParser(matching: pattern, as: type, namespaces: namespaces, decoder: decoder)
    }
}

/// A pattern that selects elements of a stream. It isn't thread-safe.
final class ElementPattern {
    /// The libxml2 matcher, which is notified of the beginning and end of each element.
    let stream: xmlStreamCtxtPtr
    private let pattern: xmlPatternPtr

    init(_ text: String, _ namespaces: [String: String]) throws(XML.Error) {
        // Reject patterns that no element can match. libxml2 accepts them.
        let steps = text.split(whereSeparator: { "/|".contains($0) }).map { $0.trimmingCharacters(in: .whitespaces) }
        let choosesElements = !text.contains("@") && !text.contains("attribute::") && !steps.contains(".")
        let pattern = choosesElements ? Self.compiled(text, namespaces) : nil
        guard let pattern, xmlPatternStreamable(pattern) == 1, let stream = xmlPatternGetStreamCtxt(pattern) else {
            xmlFreePattern(pattern)
            throw XML.Error(
                .invalidXPath,
                "“\(text)” can't select elements of a stream. Join names with / and //, and define all prefixes"
            )
        }
        self.pattern = pattern
        self.stream = stream
        // Enter the document, the parent of the outermost element.
        xmlStreamPush(stream, nil, nil)
    }

    deinit {
        xmlFreeStreamCtxt(stream)
        xmlFreePattern(pattern)
    }

    private static func compiled(_ text: String, _ namespaces: [String: String]) -> xmlPatternPtr? {
        guard !text.utf8.contains(0) else { return nil }
        // Alternating namespaces and prefixes, terminated by NULL.
        let texts: [String] = namespaces.flatMap { [$0.value, $0.key] }
        var names = texts.map { UnsafePointer<xmlChar>(xmlStrdup($0)) }
        defer { for name in names { afar_xml_free(UnsafeMutablePointer(mutating: name)) } }
        names.append(nil)
        return xmlPatterncompile(text, nil, 0, &names)
    }
}
