import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("AFError properties")
struct AFErrorTests {
    struct Cause: Error, Equatable {}

    static let flags: [@Sendable (AFError) -> Bool] = [
        { $0.isCreateUploadableError }, { $0.isCreateURLRequestError }, { $0.isDownloadedFileMoveError },
        { $0.isExplicitlyCancelledError }, { $0.isInvalidURLError }, { $0.isMultipartEncodingError },
        { $0.isParameterEncodingError }, { $0.isParameterEncoderError }, { $0.isRequestAdaptationError },
        { $0.isRequestRetryError }, { $0.isResponseValidationError }, { $0.isResponseSerializationError },
        { $0.isServerTrustEvaluationError }, { $0.isSessionDeinitializedError }, { $0.isSessionInvalidatedError },
        { $0.isSessionTaskError }, { $0.isURLRequestValidationError },
    ]

    static let errors: [AFError] = [
        .createUploadableFailed(error: Cause()), .createURLRequestFailed(error: Cause()),
        .downloadedFileMoveFailed(error: Cause(), source: URL(filePath: "/a"), destination: URL(filePath: "/b")),
        .explicitlyCancelled, .invalidURL(url: ""),
        .multipartEncodingFailed(reason: .bodyPartFileIsDirectory(at: URL(filePath: "/d"))),
        .parameterEncodingFailed(reason: .missingURL), .parameterEncoderFailed(reason: .missingRequiredComponent(.url)),
        .requestAdaptationFailed(error: Cause()), .requestRetryFailed(retryError: Cause(), originalError: Cause()),
        .responseValidationFailed(reason: .dataFileNil), .responseSerializationFailed(reason: .inputFileNil),
        .serverTrustEvaluationFailed(reason: .noCertificatesFound), .sessionDeinitialized,
        .sessionInvalidated(error: nil), .sessionTaskFailed(error: Cause()),
        .urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data())),
    ]

    @Test("exactly one flag is set", arguments: errors.indices)
    func oneFlag(index: Int) {
        let set = Self.flags.indices.filter { Self.flags[$0](Self.errors[index]) }
        #expect(set == [index])
    }

    @Test(
        "the underlying error is available",
        arguments: [
            AFError.createUploadableFailed(error: Cause()), .createURLRequestFailed(error: Cause()),
            .downloadedFileMoveFailed(error: Cause(), source: URL(filePath: "/a"), destination: URL(filePath: "/b")),
            .requestAdaptationFailed(error: Cause()),
            .requestRetryFailed(retryError: Cause(), originalError: URLError(.badURL)),
            .sessionInvalidated(error: Cause()), .sessionTaskFailed(error: Cause()),
            .multipartEncodingFailed(reason: .outputStreamWriteFailed(error: Cause())),
            .multipartEncodingFailed(
                reason: .bodyPartFileNotReachableWithError(atURL: URL(filePath: "/a"), error: Cause())
            ),
            .parameterEncodingFailed(reason: .jsonEncodingFailed(error: Cause())),
            .parameterEncoderFailed(reason: .encoderFailed(error: Cause())),
            .responseValidationFailed(reason: .customValidationFailed(error: Cause())),
            .responseSerializationFailed(reason: .decodingFailed(error: Cause())),
            .serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: Cause())),
            .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: Cause())),
        ])
    func underlying(error: AFError) {
        #expect(error.underlyingError is Cause)
    }

    @Test("without a cause, there is no underlying error")
    func noUnderlying() {
        #expect(AFError.explicitlyCancelled.underlyingError == nil)
        #expect(AFError.sessionInvalidated(error: nil).underlyingError == nil)
        #expect(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 500)).underlyingError == nil)
    }

    @Test("each detail has a property")
    func facts() {
        let status = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 503))
        #expect(status.responseCode == 503)
        #expect(AFError.explicitlyCancelled.responseCode == nil)
        let type = AFError.responseValidationFailed(
            reason: .unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: "x/y")
        )
        #expect(type.acceptableContentTypes == ["a/b"])
        #expect(type.responseContentType == "x/y")
        let missing = AFError.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: ["a/b"]))
        #expect(missing.acceptableContentTypes == ["a/b"])
        #expect(missing.responseContentType == nil)
        let text = AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: .ascii))
        #expect(text.failedStringEncoding == .ascii)
        let (a, b) = (URL(filePath: "/a"), URL(filePath: "/b"))
        let move = AFError.downloadedFileMoveFailed(error: Cause(), source: a, destination: b)
        #expect(move.sourceURL == a)
        #expect(move.destinationURL == b)
        #expect(AFError.multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: a)).url == a)
        #expect(AFError.invalidURL(url: "x y").urlConvertible as? String == "x y")
    }

    @Test("resume data comes from the underlying URLError")
    func resumeData() {
        let interrupted = URLError(.networkConnectionLost, userInfo: [AFError.resumeDataKey: Data([1, 2])])
        #expect(AFError.sessionTaskFailed(error: interrupted).downloadResumeData == Data([1, 2]))
        #expect(AFError.sessionTaskFailed(error: Cause()).downloadResumeData == nil)
    }

    @Test("any error can be converted to an AFError")
    func conversion() {
        #expect(Cause().asAFError == nil)
        let cancelled: any Error = AFError.explicitlyCancelled
        #expect(cancelled.asAFError?.isExplicitlyCancelledError == true)
        #expect(cancelled.asAFError(orFailWith: "never").isExplicitlyCancelledError)
        #expect(Cause().asAFError(orFailWith: "no trap").underlyingError is Cause)
        #expect(Cause().asAFError(or: .sessionDeinitialized).isSessionDeinitializedError)
    }

    @Test("properties of a result")
    func results() {
        let success = Result<Int, AFError>.success(3)
        let failure = Result<Int, AFError>.failure(.explicitlyCancelled)
        #expect(success.value == 3 && success.error == nil)
        #expect(failure.value == nil && failure.error != nil)
    }
}
