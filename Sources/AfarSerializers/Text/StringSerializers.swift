public import AfarCore
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes text of a response.
///
/// Which encoding the bytes are taken for, and what happens to those that are none, are a ``TextDecoding``'s rules:
/// ``TextDecoding/automatic`` unless others are given. ``TextResponseSerializer`` tells of the choice, too.
public final class StringResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The encoding to use whatever the response says; nil to go by the rules.
    public let encoding: String.Encoding?
    /// How bytes become text.
    public let decoding: TextDecoding
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - encoding: The encoding to use whatever the response says. The default is nil: go by the response.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.encoding = encoding
        decoding = TextDecoding(encoding: encoding.flatMap { TextEncoding($0) })
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Makes a serializer with rules of one's own.
    ///
    /// - Parameters:
    ///   - decoding: How bytes become text.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        decoding: TextDecoding,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        encoding = decoding.encoding?.stringEncoding
        self.decoding = decoding
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The text.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/textDecodingFailed(encoding:error:)`` with a
    ///   ``TextDecodingError`` when the bytes are not of the encoding or the charset is unknown, and what
    ///   ``ResponseSerializer/bytes(of:)`` throws. For the few encodings that only Foundation knows it is
    ///   ``AFError/ResponseSerializationFailureReason/stringSerializationFailed(encoding:)``.
    public func serialize(_ input: SerializationInput) throws -> String {
        guard let data = try bytes(of: input) else { return "" }
        guard let encoding, decoding.encoding == nil else { return try decoding.decode(data, of: input.head).text }
        guard let text = String(data: data, encoding: encoding) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
        }
        return text
    }

    /// The text.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> String {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// Makes text.
    public static var string: StringResponseSerializer { StringResponseSerializer() }

    /// Makes text.
    public static func string(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> StringResponseSerializer {
        StringResponseSerializer(
            dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }

    /// Makes text, with rules of one's own.
    public static func string(decoding: TextDecoding) -> StringResponseSerializer {
        StringResponseSerializer(decoding: decoding)
    }
}

// MARK: - Text and its encoding

/// Makes text of a response, and tells which encoding it was in and why that one.
public final class TextResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// How bytes become text.
    public let decoding: TextDecoding
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - decoding: How bytes become text. The default is ``TextDecoding/automatic``.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        decoding: TextDecoding = .automatic,
        dataPreprocessor: any DataPreprocessor = TextResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = TextResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = TextResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.decoding = decoding
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The text.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/textDecodingFailed(encoding:error:)`` with a
    ///   ``TextDecodingError``, and what ``ResponseSerializer/bytes(of:)`` throws.
    public func serialize(_ input: SerializationInput) throws -> DecodedText {
        try decoding.decode(bytes(of: input) ?? Data(), of: input.head)
    }

    /// The text.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> DecodedText {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == TextResponseSerializer {
    /// Decodes text, and reports its encoding.
    public static var text: TextResponseSerializer { TextResponseSerializer() }

    /// Decodes text, and reports its encoding.
    public static func text(decoding: TextDecoding) -> TextResponseSerializer {
        TextResponseSerializer(decoding: decoding)
    }
}

// MARK: - Requests

extension DataRequest {
    /// Adds a handler that gets the response as text.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - encoding: The encoding to use whatever the response says. The default is nil: go by the response.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<String>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// The response as text, awaited.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - encoding: The encoding to use whatever the response says. The default is nil: go by the response.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<String> {
        serializingResponse(
            using: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

extension DownloadRequest {
    /// Adds a handler that gets the file as text.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - encoding: The encoding to use whatever the response says. The default is nil: go by the response.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<String>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// The file as text, awaited.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - encoding: The encoding to use whatever the response says. The default is nil: go by the response.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadTask<String> {
        serializingDownload(
            using: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

// MARK: - Streams

/// Reads each chunk of a streamed response as UTF-8 text, by itself: a character that lies across two chunks is lost.
/// ``DataStreamRequest/responseStreamString(on:stream:)`` keeps it whole.
public struct StringStreamSerializer: DataStreamSerializer {
    /// Makes the serializer.
    public init() {}

    /// The text. What is no UTF-8 becomes U+FFFD.
    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// Reads each chunk as UTF-8 text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}

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

/// Makes text of a streamed body: in the encoding that a byte-order mark or the charset of the head tells, else UTF-8.
struct TextStream: Sendable {
    private let decoder = Locked(TextDecoder(.utf8))

    func begin(_ head: ResponseHead) {
        let label = head.mediaType.charset
        let encoding = label.flatMap { TextEncoding(label: $0) } ?? .utf8
        decoder.withLock { $0 = TextDecoder(encoding, findsByteOrderMarks: true) }
    }

    /// The text up to the last character that is whole; nil when there is none.
    func append(_ chunk: Data) -> String? {
        let text = decoder.withLock { $0.decode(chunk) }
        return text.isEmpty ? nil : text
    }

    /// What stands for a character whose rest never came; nil when there is none.
    func finish() -> String? {
        let text = decoder.withLock { $0.finish() }
        return text.isEmpty ? nil : text
    }
}
