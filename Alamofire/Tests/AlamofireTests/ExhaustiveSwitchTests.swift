import Alamofire
import Testing

/// Switches that list exactly the cases of Alamofire 5, without a default.
@Suite struct ExhaustiveSwitchTests {
    private func name(of error: AFError) -> String {
        switch error {
        case .createUploadableFailed(let error): "upload: \(error)"
        case .createURLRequestFailed(let error): "request: \(error)"
        case .downloadedFileMoveFailed(_, let source, let destination): "move: \(source), \(destination)"
        case .explicitlyCancelled: "cancelled"
        case .invalidURL(let url): "URL: \(url)"
        case .multipartEncodingFailed(let reason): "form: \(name(of: reason))"
        case .parameterEncodingFailed(let reason): "encoding: \(name(of: reason))"
        case .parameterEncoderFailed(let reason): "encoder: \(name(of: reason))"
        case .requestAdaptationFailed(let error): "adapter: \(error)"
        case .requestRetryFailed(let retryError, let originalError): "retrier: \(retryError), \(originalError)"
        case .responseValidationFailed(let reason): "validation: \(name(of: reason))"
        case .responseSerializationFailed(let reason): "serialization: \(name(of: reason))"
        case .serverTrustEvaluationFailed(let reason): "trust: \(name(of: reason))"
        case .sessionDeinitialized: "deinitialized"
        case .sessionInvalidated(let error): "invalidated: \(String(describing: error))"
        case .sessionTaskFailed(let error): "task: \(error)"
        case .urlRequestValidationFailed(.bodyDataInGETRequest(let body)): "body of \(body.count) bytes"
        }
    }

    private func name(of reason: AFError.MultipartEncodingFailureReason) -> String {
        switch reason {
        case .bodyPartURLInvalid(let url), .bodyPartFilenameInvalid(let url), .bodyPartFileNotReachable(let url),
            .bodyPartFileIsDirectory(let url), .bodyPartFileSizeNotAvailable(let url),
            .bodyPartInputStreamCreationFailed(let url), .outputStreamCreationFailed(let url),
            .outputStreamFileAlreadyExists(let url), .outputStreamURLInvalid(let url):
            "\(url)"
        case .bodyPartFileNotReachableWithError(let url, let error),
            .bodyPartFileSizeQueryFailedWithError(let url, let error):
            "\(url): \(error)"
        case .outputStreamWriteFailed(let error): "write: \(error)"
        case .inputStreamReadFailed(let error): "read: \(error)"
        }
    }

    private func name(of reason: AFError.ParameterEncodingFailureReason) -> String {
        switch reason {
        case .missingURL: "no URL"
        case .jsonEncodingFailed(let error): "JSON: \(error)"
        case .customEncodingFailed(let error): "own: \(error)"
        }
    }

    private func name(of reason: AFError.ParameterEncoderFailureReason) -> String {
        switch reason {
        case .missingRequiredComponent(.url): "no URL"
        case .missingRequiredComponent(.httpMethod(let rawValue)): "method \(rawValue)"
        case .encoderFailed(let error): "\(error)"
        }
    }

    private func name(of reason: AFError.ResponseValidationFailureReason) -> String {
        switch reason {
        case .dataFileNil: "no file"
        case .dataFileReadFailed(let url): "\(url)"
        case .missingContentType(let types): "\(types)"
        case .unacceptableContentType(let types, let type): "\(type), not \(types)"
        case .unacceptableStatusCode(let code): "\(code)"
        case .customValidationFailed(let error): "\(error)"
        }
    }

    private func name(of reason: AFError.ResponseSerializationFailureReason) -> String {
        switch reason {
        case .inputDataNilOrZeroLength: "empty"
        case .inputFileNil: "no file"
        case .inputFileReadFailed(let url): "\(url)"
        case .stringSerializationFailed(let encoding): "\(encoding)"
        case .jsonSerializationFailed(let error): "JSON: \(error)"
        case .decodingFailed(let error): "decoding: \(error)"
        case .customSerializationFailed(let error): "own: \(error)"
        case .invalidEmptyResponse(let type): type
        }
    }

    private func name(of reason: AFError.ServerTrustFailureReason) -> String {
        switch reason {
        case .noRequiredEvaluator(let host): host
        case .noCertificatesFound, .noPublicKeysFound, .revocationPolicyCreationFailed: "none"
        case .policyApplicationFailed, .settingAnchorCertificatesFailed: "never"
        case .trustEvaluationFailed(let error): "\(String(describing: error))"
        case .defaultEvaluationFailed(let output), .hostValidationFailed(let output): output.host
        case .revocationCheckFailed(let output, _): output.host
        case .certificatePinningFailed(let host, _, _, _): host
        case .publicKeyPinningFailed(let host, _, _, _): host
        case .customEvaluationFailed(let error): "\(error)"
        }
    }

    private func name(of body: UploadRequest.Uploadable) -> String {
        switch body {
        case .data(let data): "\(data.count) bytes"
        case .file(let url, let shouldRemove): "\(url), \(shouldRemove)"
        case .stream: "stream"
        }
    }

    @Test func everyErrorHasItsCase() async {
        let invalid = await AF.request("http://localhost/", method: HTTPMethod(rawValue: "G T")).serializingData()
            .response.error
        #expect(invalid.map(name)?.hasPrefix("request: ") == true)
        let body = AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data(count: 3)))
        #expect(name(of: body) == "body of 3 bytes")
        let form = MultipartFormData(boundary: "a b;")
        let unsent = await AF.upload(multipartFormData: form, to: "http://localhost/").serializingData().response.error
        #expect(unsent.map(name)?.hasPrefix("form: write: ") == true)
        #expect(name(of: UploadRequest.Uploadable.data(Data(count: 2))) == "2 bytes")
    }

    @Test func chunksAreAStream() async {
        let upload = AF.upload(AsyncStream { nil as Data? }, to: "http://localhost:1/")
        _ = await upload.serializingData().response
        #expect(upload.uploadable.map(name) == "stream")
    }
}
