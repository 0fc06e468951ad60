public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that decodes a value from a response.
public final class DecodableResponseSerializer<T: Decodable>: ResponseSerializer {
    /// The preprocessor to apply to the body before serialization.
    public let dataPreprocessor: any DataPreprocessor
    /// The decoder to use. The default is a ``SessionDecoder``, which stands for the session's decoder.
    public let decoder: any DataDecoder
    /// The status codes that allow an empty body.
    public let emptyResponseCodes: Set<Int>
    /// The request methods that allow an empty response body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer.defaultDataPreprocessor,
        decoder: any DataDecoder = SessionDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.decoder = decoder
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Returns the decoded value. For an allowed empty body, returns the empty value of `T`, which must be an
    /// ``EmptyResponse``.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` if decoding fails,
    ///   ``AFError/ResponseSerializationFailureReason/invalidEmptyResponse(type:)`` if `T` has no empty value, or the
    ///   errors of ``ResponseSerializer/bytes(of:)``.
    public func serialize(_ input: SerializationInput) throws -> T {
        guard let data = try bytes(of: input) else {
            guard let empty = (T.self as? any EmptyResponse.Type)?.emptyValue() as? T else {
                throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(T.self)"))
            }
            return empty
        }
        do {
            return try decoder.decodeChecked(T.self, from: data, of: input.head)
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }

    /// Returns the decoded value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> T {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Returns a serializer that decodes a value.
    public static func decodable<T: Decodable>(
        of type: T.Type,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = SessionDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> DecodableResponseSerializer<T> where Self == DecodableResponseSerializer<T> {
        DecodableResponseSerializer(
            dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}

// MARK: - Requests

extension DataRequest {
    /// Adds a handler for a value decoded from the response.
    ///
    /// - Parameters:
    ///   - type: The type to decode. By default, it is inferred from the context.
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - completionHandler: The handler to call once with the result.
    @preconcurrency
    @discardableResult
    public func responseDecodable<T: Decodable>(
        of type: T.Type = T.self,
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = SessionDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<T>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: DecodableResponseSerializer<T>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// Returns a task that decodes a value from the response.
    ///
    /// - Parameters:
    ///   - type: The type to decode. By default, it is inferred from the context.
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    public func serializingDecodable<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = SessionDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> DataTask<T> {
        serializingResponse(
            using: DecodableResponseSerializer<T>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

extension DownloadRequest {
    /// Adds a handler for a value decoded from the file.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - type: The type to decode. By default, it is inferred from the context.
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - completionHandler: The handler to call once with the result.
    @preconcurrency
    @discardableResult
    public func responseDecodable<T: Decodable>(
        of type: T.Type = T.self,
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = SessionDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<T>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: DecodableResponseSerializer<T>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// Returns a task that decodes a value from the file.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - type: The type to decode. By default, it is inferred from the context.
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    public func serializingDecodable<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = SessionDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> DownloadTask<T> {
        serializingDownload(
            using: DecodableResponseSerializer<T>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

// MARK: - Streams

/// A serializer that decodes a value from each chunk of a streamed response.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
    /// The decoder to use. The default is a ``SessionDecoder``, which stands for the session's decoder.
    public let decoder: any DataDecoder
    /// The preprocessor to apply to each chunk.
    public let dataPreprocessor: any DataPreprocessor

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - dataPreprocessor: The preprocessor to apply to each chunk.
    public init(
        decoder: any DataDecoder = SessionDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
    }

    /// Returns the value decoded from a chunk.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` or the preprocessor's error.
    public func serialize(_ data: Data) throws -> T {
        let data = try dataPreprocessor.preprocess(data)
        do {
            return try decoder.decodeChecked(T.self, from: data, of: nil)
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}

extension DataStreamSerializer {
    /// Returns a serializer that decodes a value from each chunk.
    public static func decodable<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = SessionDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> Self where Self == DecodableStreamSerializer<T> {
        DecodableStreamSerializer(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}

extension DataStreamRequest {
    /// Adds a handler for a value decoded from each chunk.
    ///
    /// Each chunk must be a complete document. Servers and networks can split a body anywhere, so use this method only
    /// if you know how the body is split.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - queue: The queue on which to call the handler. The default is the main queue.
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - preprocessor: The preprocessor to apply to each chunk.
    ///   - stream: The handler to call for each chunk and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamDecodable<T: Decodable & Sendable>(
        of type: T.Type = T.self,
        on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = SessionDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        stream: @escaping Handler<T, AFError>
    ) -> Self {
        responseStream(
            using: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor), on: queue,
            stream: stream)
    }
}

extension DataStreamTask {
    /// Returns a sequence with one value for each chunk, decoded from the chunk. Each chunk must be a complete document.
    /// Iterating starts the request, unless requests must be started explicitly.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early or canceling its task cancels the request. The
    ///     default is `true`.
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - preprocessor: The preprocessor to apply to each chunk.
    ///   - bufferingPolicy: How values are buffered for a slow loop. The default, `nil`, buffers no values and slows the server
    ///     down instead.
    public func streamingDecodables<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoder: any DataDecoder = SessionDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy? = nil
    ) -> Stream<T, AFError> {
        streamingResponses(
            serializedUsing: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}

// MARK: - Validated decoding

extension DataDecoder {
    /// Decodes data from a server. In addition to what Foundation's decoders do, this method accepts byte-order marks and older
    /// encodings of JSON, and reports the line of an error. It rejects property lists that would exhaust the stack or memory.
    func decodeChecked<T: Decodable>(_ type: T.Type, from data: Data, of head: ResponseHead?) throws -> T {
        switch resolved {
        case let decoder as JSONDecoder:
            return try JSONText.decode(type, from: data, with: decoder)
        case is PropertyListDecoder:
            do {
                try PropertyListCheck.check(data, allowedFormats: [.xml, .binary])
            } catch {
                throw DecodingError.dataCorrupted(by: error)
            }
            return try decode(type, from: data)
        default:
            return try decode(type, from: data, of: head)
        }
    }
}
