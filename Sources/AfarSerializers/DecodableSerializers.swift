public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Decodes a value from a response.
public final class DecodableResponseSerializer<T: Decodable>: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// Decodes.
    public let decoder: any DataDecoder
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.decoder = decoder
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The value. An allowed empty body is `T`'s empty value, if `T` is an ``EmptyResponse``.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` when decoding fails,
    ///   ``AFError/ResponseSerializationFailureReason/invalidEmptyResponse(type:)`` when `T` has no empty value, and what
    ///   ``ResponseSerializer/bytes(of:)`` throws.
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

    /// The value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> T {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Decodes a value.
    public static func decodable<T: Decodable>(
        of type: T.Type,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
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
    /// Adds a handler that gets a value decoded from the response.
    ///
    /// - Parameters:
    ///   - type: What is decoded. The default is what the context says.
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseDecodable<T: Decodable>(
        of type: T.Type = T.self,
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
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

    /// A value decoded from the response, awaited.
    ///
    /// - Parameters:
    ///   - type: What is decoded. The default is what the context says.
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public func serializingDecodable<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
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
    /// Adds a handler that gets a value decoded from the file.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - type: What is decoded. The default is what the context says.
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseDecodable<T: Decodable>(
        of type: T.Type = T.self,
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
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

    /// A value decoded from the file, awaited.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - type: What is decoded. The default is what the context says.
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public func serializingDecodable<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
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

/// Decodes a value from each chunk of a streamed response.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
    /// Decodes.
    public let decoder: any DataDecoder
    /// Changes each chunk before.
    public let dataPreprocessor: any DataPreprocessor

    /// Makes the serializer.
    ///
    /// - Parameters:
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - dataPreprocessor: Changes each chunk before.
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
    }

    /// The value.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)``, or what the preprocessor throws.
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
    /// Decodes a value from each chunk.
    public static func decodable<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> Self where Self == DecodableStreamSerializer<T> {
        DecodableStreamSerializer(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}

extension DataStreamRequest {
    /// Adds a handler that gets a value decoded from each chunk, which must be a whole document by itself.
    ///
    /// Servers and networks may cut a body anywhere, so this is for bodies whose chunks are known to be whole.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - preprocessor: Changes each chunk before.
    ///   - stream: Called for each chunk, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamDecodable<T: Decodable & Sendable>(
        of type: T.Type = T.self,
        on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        stream: @escaping Handler<T, AFError>
    ) -> Self {
        responseStream(
            using: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor), on: queue,
            stream: stream)
    }
}

extension DataStreamTask {
    /// A value decoded from each chunk, which must be a whole document by itself. The request starts with the iteration, if
    /// handlers start requests here.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - preprocessor: Changes each chunk before.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingDecodables<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy? = nil
    ) -> Stream<T, AFError> {
        streamingResponses(
            serializedUsing: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}

// MARK: - Checks

extension DataDecoder {
    /// Decodes what came from a server, with what Foundation's decoders lack: byte-order marks and old encodings of JSON,
    /// errors that tell the line, and property lists that would exhaust stack or memory.
    func decodeChecked<T: Decodable>(_ type: T.Type, from data: Data, of head: ResponseHead?) throws -> T {
        switch self {
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
