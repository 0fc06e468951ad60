import Afar
import Foundation

/// An app's session that records each request, adds a header, and rejects some requests.
final class SigningSession: Session, @unchecked Sendable {
    static let shared = SigningSession(configuration: .af.default, interceptor: Interceptor(retriers: [RetryPolicy()]))

    let notes = Notes()

    private func signed(_ headers: HTTPHeaders?) -> HTTPHeaders {
        var headers = headers ?? HTTPHeaders()
        headers.update(name: "X-Signature", value: "signed")
        return headers
    }

    override func request(
        _ convertible: URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: RequestInterceptor? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        notes.add("parameters")
        return super.request(
            convertible, method: method, parameters: parameters, encoding: encoding, headers: signed(headers),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier)
    }

    override func request<P: Encodable & Sendable>(
        _ convertible: URLConvertible, method: HTTPMethod = .get, parameters: P? = nil,
        encoder: ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        interceptor: RequestInterceptor? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        notes.add("encodable")
        return super.request(
            convertible, method: method, parameters: parameters, encoder: encoder, headers: signed(headers),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier)
    }

    override func request(
        _ convertible: URLRequestConvertible, interceptor: RequestInterceptor? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        notes.add("convertible")
        return super.request(
            convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    override func streamRequest(
        _ convertible: URLRequestConvertible, automaticallyCancelOnStreamError: Bool = false,
        interceptor: RequestInterceptor? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        notes.add("stream")
        return super.streamRequest(
            convertible, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    override func download(
        _ convertible: URLRequestConvertible, interceptor: RequestInterceptor? = nil,
        shouldAutomaticallyResume: Bool? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        notes.add("download")
        return super.download(
            convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            to: destination)
    }

    override func download(
        resumingWith data: Data, interceptor: RequestInterceptor? = nil, shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        notes.add("resuming")
        return super.download(
            resumingWith: data, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            to: destination)
    }

    override func upload(
        _ data: Data, to convertible: URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: RequestInterceptor? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        notes.add("upload data")
        return super.upload(
            data, to: convertible, method: method, headers: signed(headers), interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager,
            requestModifier: requestModifier)
    }

    override func upload(
        _ fileURL: URL, with convertible: URLRequestConvertible, interceptor: RequestInterceptor? = nil,
        shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default
    ) -> UploadRequest {
        notes.add("upload file")
        return super.upload(
            fileURL, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    override func upload(
        multipartFormData: MultipartFormData, to url: URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil, interceptor: RequestInterceptor? = nil,
        shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        notes.add("upload form")
        return super.upload(
            multipartFormData: multipartFormData, to: url, usingThreshold: encodingMemoryThreshold, method: method,
            headers: signed(headers), interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager, requestModifier: requestModifier)
    }
}
