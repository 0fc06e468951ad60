public import AfarCore
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that returns text.
///
/// A ``TextDecoding`` determines the encoding and the handling of malformed bytes. The default is
/// ``TextDecoding/automatic``. To obtain the detected encoding too, use ``TextResponseSerializer``.
public final class StringResponseSerializer: ResponseSerializer {
    /// The preprocessor to apply to the body before serialization.
    public let dataPreprocessor: any DataPreprocessor
    /// The encoding to use regardless of the response, or `nil` to apply the decoding rules.
    public let encoding: String.Encoding?
    /// The rules for decoding text.
    public let decoding: TextDecoding
    /// The status codes that allow an empty body.
    public let emptyResponseCodes: Set<Int>
    /// The request methods that allow an empty response body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - encoding: The encoding to use regardless of the response. By default, the response determines the encoding.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
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

    /// Creates a serializer with custom decoding rules.
    ///
    /// - Parameters:
    ///   - decoding: The rules for decoding text.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
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

    /// Returns the decoded text.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)`` with a
    ///   ``TextDecodingError`` if the bytes don't match the encoding or the charset is unknown. For the few encodings that only
    ///   Foundation supports, the error is ``AFError/ResponseSerializationFailureReason/stringSerializationFailed(encoding:)``.
    ///   Also throws the errors of ``ResponseSerializer/bytes(of:)``.
    public func serialize(_ input: SerializationInput) throws -> String {
        guard let data = try bytes(of: input) else { return "" }
        guard let encoding, decoding.encoding == nil else { return try decoding.decode(data, of: input.head).text }
        guard let text = String(data: data, encoding: encoding) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
        }
        return text
    }

    /// Returns the decoded text.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> String {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// A serializer that returns text.
    public static var string: StringResponseSerializer { StringResponseSerializer() }

    /// Returns a serializer for text.
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

    /// Returns a serializer for text with custom decoding rules.
    public static func string(decoding: TextDecoding) -> StringResponseSerializer {
        StringResponseSerializer(decoding: decoding)
    }
}

// MARK: - Text and its encoding

/// A serializer that returns text with its encoding and the reason for choosing that encoding.
public final class TextResponseSerializer: ResponseSerializer {
    /// The preprocessor to apply to the body before serialization.
    public let dataPreprocessor: any DataPreprocessor
    /// The rules for decoding text.
    public let decoding: TextDecoding
    /// The status codes that allow an empty body.
    public let emptyResponseCodes: Set<Int>
    /// The request methods that allow an empty response body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - decoding: The rules for decoding text. The default is ``TextDecoding/automatic``.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
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

    /// Returns the decoded text and its encoding.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)`` with a
    ///   ``TextDecodingError``, or the errors of ``ResponseSerializer/bytes(of:)``.
    public func serialize(_ input: SerializationInput) throws -> DecodedText {
        try decoding.decode(bytes(of: input) ?? Data(), of: input.head)
    }

    /// Returns the decoded text and its encoding.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> DecodedText {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == TextResponseSerializer {
    /// A serializer that decodes text and reports its encoding.
    public static var text: TextResponseSerializer { TextResponseSerializer() }

    /// Returns a serializer that decodes text and reports its encoding.
    public static func text(decoding: TextDecoding) -> TextResponseSerializer {
        TextResponseSerializer(decoding: decoding)
    }
}

// MARK: - Requests

extension DataRequest {
    /// Adds a handler that receives the response as text.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - encoding: The encoding to use regardless of the response. By default, the response determines the encoding.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - completionHandler: The handler to call once with the result.
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

    /// Returns a task that serializes the response as text.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - encoding: The encoding to use regardless of the response. By default, the response determines the encoding.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
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
    /// Adds a handler that receives the file's contents as text.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - encoding: The encoding to use regardless of the response. By default, the response determines the encoding.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - completionHandler: The handler to call once with the result.
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

    /// Returns a task that serializes the file's contents as text.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - encoding: The encoding to use regardless of the response. By default, the response determines the encoding.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
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

/// A serializer that decodes each chunk of a streamed response as UTF-8 text.
///
/// Chunks are decoded independently, so a character that is split between two chunks is lost. To preserve such
/// characters, use ``DataStreamRequest/responseStreamString(on:stream:)``.
public struct StringStreamSerializer: DataStreamSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the text of a chunk. Invalid UTF-8 becomes U+FFFD.
    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// A serializer that decodes each chunk as UTF-8 text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}

extension DataStreamRequest {
    /// Adds a handler that receives the body as text. The text is decoded as it arrives.
    ///
    /// A byte-order mark or the charset of the `Content-Type` determines the encoding. The default is UTF-8. Characters are
    /// never split between calls, and malformed bytes become U+FFFD.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default is the main queue.
    ///   - stream: The handler to call for each piece of text and once at the end.
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
    /// Returns a sequence of the body's text, which is decoded as it arrives.
    ///
    /// A byte-order mark or the charset of the `Content-Type` determines the encoding. The default is UTF-8. Characters are
    /// never split between elements, and malformed bytes become U+FFFD. Iterating starts the request, unless requests must be
    /// started explicitly.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early or canceling its task cancels the request. The
    ///     default is `true`.
    ///   - bufferingPolicy: How text is buffered for a slow loop. The default, `nil`, buffers no text and slows the server down
    ///     instead.
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

/// Decodes a streamed body. A byte-order mark or the head's charset determines the encoding. The default is UTF-8.
struct TextStream: Sendable {
    private let decoder = Locked(TextDecoder(.utf8))

    func begin(_ head: ResponseHead) {
        let label = head.mediaType.charset
        let encoding = label.flatMap { TextEncoding(label: $0) } ?? .utf8
        decoder.withLock { $0 = TextDecoder(encoding, findsByteOrderMarks: true) }
    }

    /// Returns the text up to the last complete character, or `nil` if no character is complete.
    func append(_ chunk: Data) -> String? {
        let text = decoder.withLock { $0.decode(chunk) }
        return text.isEmpty ? nil : text
    }

    /// Returns the replacement for an incomplete last character, or `nil` if the text is complete.
    func finish() -> String? {
        let text = decoder.withLock { $0.finish() }
        return text.isEmpty ? nil : text
    }
}
