import Afar
import Foundation

/// An app's message for each failure.
enum FailureMessage: Equatable {
    case ownFault(String)
    case offline
    case timeout
    case cancelled
    case signIn
    case notFound
    case service(Int)
    case unreadable(String)
    case other

    init(_ error: AFError) {
        switch error {
        case let .invalidURL(url: url):
            self = .ownFault("URL \(url)")
        case .createURLRequestFailed(error: let error):
            self = .ownFault("request \(error)")
        case .createUploadableFailed, .parameterEncodingFailed, .parameterEncoderFailed, .multipartEncodingFailed:
            self = .ownFault("body")
        case let .urlRequestValidationFailed(reason: reason):
            switch reason {
            case let .bodyDataInGETRequest(data): self = .ownFault("GET with \(data.count) bytes")
            }
        case .requestAdaptationFailed(error: _):
            self = .signIn
        case let .requestRetryFailed(retryError: retryError, originalError: _):
            self = retryError.asAFError.map(FailureMessage.init) ?? .other
        case let .responseValidationFailed(reason: reason):
            switch reason {
            case .dataFileNil, .dataFileReadFailed: self = .other
            case let .missingContentType(types): self = .unreadable(types.joined(separator: ","))
            case let .unacceptableContentType(acceptableContentTypes: types, responseContentType: type):
                self = .unreadable("\(type), not \(types.joined(separator: ","))")
            case .unacceptableStatusCode(code: 401): self = .signIn
            case .unacceptableStatusCode(code: 404): self = .notFound
            case let .unacceptableStatusCode(code: code): self = .service(code)
            case .customValidationFailed: self = .other
            }
        case let .responseSerializationFailed(reason: reason):
            switch reason {
            case .decodingFailed(error: DecodingError.keyNotFound(let key, _)):
                self = .unreadable("no \(key.stringValue)")
            case .decodingFailed(let error): self = .unreadable("\(type(of: error))")
            case .inputDataNilOrZeroLength: self = .unreadable("empty")
            case .jsonSerializationFailed: self = .unreadable("JSON")
            case .stringSerializationFailed(encoding: _): self = .unreadable("text")
            case .inputFileNil, .inputFileReadFailed(at: _), .customSerializationFailed(error: _),
                .invalidEmptyResponse(type: _):
                self = .unreadable("other")
            }
        case let .sessionTaskFailed(error: error):
            switch (error as? URLError)?.code {
            case .timedOut?: self = .timeout
            case .cannotConnectToHost?, .notConnectedToInternet?, .networkConnectionLost?: self = .offline
            default: self = .other
            }
        case .explicitlyCancelled:
            self = .cancelled
        case .downloadedFileMoveFailed, .sessionDeinitialized, .sessionInvalidated(error: _):
            self = .other
        case .serverTrustEvaluationFailed:
            self = .other
        }
    }
}
