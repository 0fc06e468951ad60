import Afar
import Foundation

struct ServiceError: Decodable, Error, Equatable, Sendable {
    let code: Int
    let reason: String
}

extension DataRequest {
    @discardableResult
    func responseByteArray(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<[UInt8]>) -> Void
    ) -> Self {
        responseData(
            queue: queue, dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        ) { response in
            completionHandler(response.map { [UInt8]($0) })
        }
    }

    @discardableResult
    func responseModel<T: Decodable & Sendable>(
        of type: T.Type = T.self, queue: DispatchQueue = .main,
        dataPreprocessor: DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<T, AFError>) -> Void
    ) -> Self {
        responseDecodable(
            of: type, queue: queue, dataPreprocessor: dataPreprocessor, decoder: decoder,
            emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods,
            completionHandler: completionHandler)
    }

    @discardableResult
    func responseText(
        queue: DispatchQueue = .main,
        dataPreprocessor: DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
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

    /// Decodes a service's response or its error.
    @discardableResult
    func responseTwoDecodable<T: Decodable & Sendable>(
        of type: T.Type, queue: DispatchQueue = DispatchQueue.global(qos: .userInitiated),
        completionHandler: @escaping @Sendable (DataResponse<Result<T, ServiceError>, AFError>) -> Void
    ) -> Self {
        response(
            queue: .main, responseSerializer: TwoDecodableResponseSerializer<T>()
        ) { response in
            queue.async { completionHandler(response) }
        }
    }

    @discardableResult
    func validateService() -> Self {
        validate { request, response, data in
            guard !(200...299).contains(response.statusCode) else { return .success(()) }
            guard let data, let error = try? JSONDecoder().decode(ServiceError.self, from: data) else {
                return .failure(
                    AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.statusCode)))
            }
            return .failure(error)
        }
    }
}

extension DownloadRequest {
    @discardableResult
    func responseModel<T: Decodable & Sendable>(
        of type: T.Type, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<T>) -> Void
    ) -> Self {
        responseDecodable(of: type, queue: queue, completionHandler: completionHandler)
    }
}

/// Combines two serializers.
final class TwoDecodableResponseSerializer<T: Decodable & Sendable>: ResponseSerializer {
    private let bytes = DataResponseSerializer(emptyResponseCodes: [200, 204])
    private let successSerializer: DecodableResponseSerializer<T>
    private let errorSerializer = DecodableResponseSerializer<ServiceError>(decoder: JSONDecoder())

    init(decoder: JSONDecoder = JSONDecoder()) {
        decoder.dateDecodingStrategy = .iso8601
        successSerializer = DecodableResponseSerializer<T>(decoder: decoder)
    }

    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?
    ) throws -> Result<T, ServiceError> {
        guard error == nil else {
            return .failure(ServiceError(code: -1, reason: error?.asAFError?.errorDescription ?? "unknown"))
        }
        guard let response else { return .failure(ServiceError(code: -2, reason: "empty")) }
        let data = try bytes.serialize(request: request, response: response, data: data, error: nil)
        if response.statusCode < 200 || response.statusCode >= 300 {
            let result = try errorSerializer.serialize(
                request: request, response: response, data: data, error: nil)
            return .failure(result)
        }
        return .success(try successSerializer.serialize(request: request, response: response, data: data, error: nil))
    }
}

/// Removes a prefix from each response.
struct PrefixPreprocessor: DataPreprocessor {
    let count: Int

    func preprocess(_ data: Data) throws -> Data { data.dropFirst(count) }
}

extension DataPreprocessor where Self == PrefixPreprocessor {
    static func dropping(_ count: Int) -> PrefixPreprocessor { PrefixPreprocessor(count: count) }
}

/// Decodes lines of key-value pairs.
struct PairDecoder: DataDecoder {
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        var pairs: [String: String] = [:]
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no pair: \(line)"))
            }
            pairs[String(parts[0])] = String(parts[1])
        }
        return try JSONDecoder().decode(type, from: JSONEncoder().encode(pairs))
    }
}

/// Encodes key-value pairs as lines.
struct PairEncoder: ParameterEncoder {
    func encode<Parameters: Encodable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(parameters))
        let pairs = (object as? [String: Any] ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        request.httpBody = Data(pairs.joined(separator: "\n").utf8)
        request.headers.update(.contentType("text/pairs"))
        return request
    }
}

extension ParameterEncoder where Self == PairEncoder {
    static var pairs: PairEncoder { PairEncoder() }
}

/// Encodes a list as the body. The built-in encoding supports lists only as members of an object.
struct ArrayEncoding: ParameterEncoding {
    static let key = "array"

    func encode(_ urlRequest: URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var urlRequest = try urlRequest.asURLRequest()
        guard let array = parameters?[Self.key] else { return urlRequest }
        do {
            urlRequest.httpBody = try JSONSerialization.data(withJSONObject: array, options: [])
            urlRequest.setValue("application/json", forHTTPHeaderField: "Content-Type")
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        return urlRequest
    }
}

/// Serializes the words of a stream.
struct WordSerializer: DataStreamSerializer {
    func serialize(_ data: Data) throws -> [String] {
        String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }
}

extension DataStreamSerializer where Self == WordSerializer {
    static var words: WordSerializer { WordSerializer() }
}
