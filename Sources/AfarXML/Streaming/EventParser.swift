public import AfarCore
import CLibxml2
public import Foundation

extension XML {
    /// A parser that reports the elements and text of a streamed document as they arrive. Memory use doesn't depend on the
    /// document's length.
    ///
    /// ```swift
    /// for await stream in AF.streamRequest(url).streamTask().streamingResponses(parsedUsing: XML.EventParser()) { … }
    /// ```
    ///
    /// If the document isn't well-formed, the last result is a failure with an ``XML/Error``.
    public struct EventParser: DataStreamParser {
        private var streaming: DocumentStreaming<Event>

        /// Creates a parser.
        ///
        /// - Parameter options: The options and limits for parsing.
        public init(options: ParsingOptions = ParsingOptions()) {
            streaming = DocumentStreaming { contentType throws(XML.Error) in
                let push = try PushRun(options, contentType: contentType)
                let stream = DocumentStream<Event>(push)
                push.run.onEvent = { [unowned stream] in stream.add(.success($0)) }
                push.run.reportEvents()
                return stream
            }
        }

        /// Stores the charset of the response's head.
        public mutating func begin(_ head: ResponseHead) { streaming.begin(head) }

        /// Returns the events in the next bytes of the document.
        public mutating func parse(_ chunk: Data) -> [Result<Event, AFError>] { streaming.parse(chunk) }

        /// Returns a failure if the document is incomplete.
        public mutating func finish() -> [Result<Event, AFError>] { streaming.finish() }
    }
}

extension XML {
    /// A part of a document, in document order.
    public enum Event: Hashable, Sendable {
        /// The start of an element.
        case startElement(StartTag)
        /// The end of an element.
        case endElement(Name)
        /// Text or CDATA. A run of text can be split into several events.
        case text(String)
        /// A comment.
        case comment(String)
        /// A processing instruction.
        case processingInstruction(target: String, data: String)
    }

    /// The name of an element or an attribute.
    public struct Name: Hashable, Sendable {
        /// The name without a prefix.
        public let localName: String
        /// The prefix as written. Use ``namespaceURI`` to identify a namespace.
        public let prefix: String?
        /// The namespace URI, if any.
        public let namespaceURI: String?
    }

    /// The start tag of an element.
    public struct StartTag: Hashable, Sendable {
        /// The name of the element.
        public let name: Name
        /// The attributes in document order.
        public let attributes: [(name: Name, value: String)]
    }
}

extension XML.StartTag {
    /// Returns the value of an attribute without a namespace. Most attributes have no namespace.
    public subscript(localName: String) -> String? {
        attributes.first { $0.name.localName == localName && $0.name.namespaceURI == nil }?.value
    }

    /// Returns a Boolean value that indicates whether both tags have the same name and the same attributes in the same
    /// order.
    public static func == (one: Self, other: Self) -> Bool {
        one.name == other.name && one.attributes.elementsEqual(other.attributes, by: ==)
    }

    /// Hashes the name and the attributes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for attribute in attributes {
            hasher.combine(attribute.name)
            hasher.combine(attribute.value)
        }
    }
}

extension ParseRun {
    /// Makes libxml2 report events instead of creating a tree.
    func reportEvents() {
        afar_xml_install_event_hooks(
            context,
            { context, name, prefix, uri, _, _, count, _, attributes in
                guard let context, afar_xml_admits(context) else { return }
                let tag = XML.StartTag(
                    name: XML.Name(name, prefix, uri), attributes: attributesOf(attributes, count: Int(count)))
                ParseRun.of(context)?.onEvent?(.startElement(tag))
            },
            { context, name, prefix, uri in
                ParseRun.of(context)?.onEvent?(.endElement(XML.Name(name, prefix, uri)))
            },
            { context, text, length in
                let bytes = UnsafeBufferPointer(start: text, count: Int(length))
                ParseRun.of(context)?.onEvent?(.text(String(decoding: bytes, as: UTF8.self)))
            },
            { context, text in ParseRun.of(context)?.onEvent?(.comment(String(xml: text))) },
            { context, target, data in
                guard let context, afar_xml_admits_names(context) else { return }
                let event = XML.Event.processingInstruction(target: String(xml: target), data: String(xml: data))
                ParseRun.of(context)?.onEvent?(event)
            })
    }
}

/// Returns attributes from libxml2's representation. Each attribute has five pointers: the name, prefix and namespace, and
/// the start and end of the value.
private func attributesOf(
    _ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int
) -> [(name: XML.Name, value: String)] {
    guard let pointers else { return [] }
    return (0..<count).map { index in
        let attribute = pointers + 5 * index
        let length = attribute[3].flatMap { start in attribute[4].map { $0 - start } } ?? 0
        let value = UnsafeBufferPointer(start: attribute[3], count: length)
        return (XML.Name(attribute[0], attribute[1], attribute[2]), String(decoding: value, as: UTF8.self))
    }
}

extension XML.Name {
    fileprivate init(
        _ name: UnsafePointer<xmlChar>?, _ prefix: UnsafePointer<xmlChar>?, _ uri: UnsafePointer<xmlChar>?
    ) {
        self.init(
            localName: String(xml: name), prefix: prefix.map { String(xml: $0) },
            namespaceURI: uri.map { String(xml: $0) })
    }
}
