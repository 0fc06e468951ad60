public import AfarCore
import CLibxml2
public import Foundation

extension XML {
    /// Tells of a streamed document's elements and texts as they come, in little memory however long it is.
    ///
    /// ```swift
    /// for await stream in AF.streamRequest(url).streamTask().streamingResponses(parsedUsing: XML.EventParser()) { … }
    /// ```
    ///
    /// What is no well-formed document is a failure with an ``XML/Error`` inside, and the last result.
    public struct EventParser: DataStreamParser {
        private var streaming: DocumentStreaming<Event>

        /// Makes a parser.
        ///
        /// - Parameter options: What the document may be and hold.
        public init(options: ParsingOptions = ParsingOptions()) {
            streaming = DocumentStreaming { contentType throws(XML.Error) in
                let push = try PushRun(options, contentType: contentType)
                let stream = DocumentStream<Event>(push)
                push.run.onEvent = { [unowned stream] in stream.add(.success($0)) }
                push.run.tellOfEvents()
                return stream
            }
        }

        /// Takes the charset from the head.
        public mutating func begin(_ head: ResponseHead) { streaming.begin(head) }

        /// What happens in the document's next bytes.
        public mutating func parse(_ chunk: Data) -> [Result<Event, AFError>] { streaming.parse(chunk) }

        /// A failure if the document is not whole.
        public mutating func finish() -> [Result<Event, AFError>] { streaming.finish() }
    }
}

// MARK: - Events

extension XML {
    /// What a document consists of, in the order written.
    public enum Event: Hashable, Sendable {
        /// An element begins.
        case startElement(StartTag)
        /// An element ends.
        case endElement(Name)
        /// Text, whether in CDATA or not. One text may come in several pieces.
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
        /// The prefix as written. What counts is ``namespaceURI``.
        public let prefix: String?
        /// The name of the namespace, if it is in one.
        public let namespaceURI: String?
    }

    /// How an element begins.
    public struct StartTag: Hashable, Sendable {
        /// The element's name.
        public let name: Name
        /// The attributes, in the order written.
        public let attributes: [(name: Name, value: String)]
    }
}

extension XML.StartTag {
    /// The value of an attribute that is in no namespace, as most are.
    public subscript(localName: String) -> String? {
        attributes.first { $0.name.localName == localName && $0.name.namespaceURI == nil }?.value
    }

    /// Whether both have the same name and the same attributes in the same order.
    public static func == (one: Self, other: Self) -> Bool {
        one.name == other.name && one.attributes.elementsEqual(other.attributes, by: ==)
    }

    /// Feeds name and attributes into the hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for attribute in attributes {
            hasher.combine(attribute.name)
            hasher.combine(attribute.value)
        }
    }
}

// MARK: - Events from libxml2

extension ParseRun {
    /// Makes events instead of a tree.
    func tellOfEvents() {
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

/// libxml2 gives an attribute as five pointers: name, prefix, namespace, and the value's first byte and end.
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
