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
