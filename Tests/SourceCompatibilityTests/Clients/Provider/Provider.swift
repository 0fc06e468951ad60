import Afar
import Foundation

struct ProviderResponse: Sendable {
    let statusCode: Int
    let data: Data
    let request: URLRequest?
    let response: HTTPURLResponse?
}

enum ProviderError: Swift.Error {
    case encodableMapping(Swift.Error)
    case parameterEncoding(Swift.Error)
    case statusCode(ProviderResponse)
    case underlying(Swift.Error, ProviderResponse?)
}

/// Allows the caller to cancel a request.
final class CancellableToken: @unchecked Sendable, CustomDebugStringConvertible {
    let cancelAction: () -> Void
    let request: Request?
    private(set) var isCancelled = false
    private let lock = DispatchSemaphore(value: 1)

    init(request: Request) {
        self.request = request
        cancelAction = { request.cancel() }
    }

    func cancel() {
        _ = lock.wait(timeout: DispatchTime.distantFuture)
        defer { lock.signal() }
        guard !isCancelled else { return }
        isCancelled = true
        cancelAction()
    }

    var debugDescription: String {
        request?.cURLDescription() ?? "Empty Request"
    }
}

/// Calls a plug-in before a request is sent.
final class ProviderRequestInterceptor: RequestInterceptor, @unchecked Sendable {
    var prepare: ((URLRequest) -> URLRequest)?

    init(prepare: ((URLRequest) -> URLRequest)? = nil) {
        self.prepare = prepare
    }

    func adapt(
        _ urlRequest: URLRequest, for session: Afar.Session, completion: @escaping (Result<URLRequest, Error>) -> Void
    ) {
        let request = prepare?(urlRequest) ?? urlRequest
        completion(.success(request))
    }
}

final class Provider<Target: TargetType> {
    typealias Completion = @Sendable (Result<ProviderResponse, ProviderError>) -> Void

    let session: Session
    let prepare: ((URLRequest) -> URLRequest)?

    static func defaultAlamofireSession() -> Session {
        let configuration = URLSessionConfiguration.default
        configuration.headers = .default
        return Session(configuration: configuration, startRequestsImmediately: false)
    }

    init(session: Session = Provider.defaultAlamofireSession(), prepare: ((URLRequest) -> URLRequest)? = nil) {
        self.session = session
        self.prepare = prepare
    }

    @discardableResult
    func request(
        _ target: Target, callbackQueue: DispatchQueue? = .none,
        progress: (@Sendable (Progress) -> Void)? = .none, completion: @escaping Completion
    ) -> CancellableToken? {
        do {
            let urlRequest = try self.urlRequest(target)
            let interceptor = ProviderRequestInterceptor(prepare: prepare)
            switch target.job {
            case .plain, .data, .encodable, .parameters:
                let request = session.requestQueue.sync { session.request(urlRequest, interceptor: interceptor) }
                return send(
                    target.validCodes.isEmpty ? request : request.validate(statusCode: target.validCodes),
                    callbackQueue, progress, completion)
            case let .uploadFile(file):
                let request = session.upload(file, with: urlRequest, interceptor: interceptor)
                return send(request, callbackQueue, progress, completion)
            case let .uploadForm(parts):
                let form = RequestMultipartFormData(fileManager: .default, boundary: nil)
                for part in parts { form.append(part.data, withName: part.name) }
                let request = session.upload(multipartFormData: form, with: urlRequest, interceptor: interceptor)
                return send(request, callbackQueue, progress, completion)
            case let .download(destination):
                let request = session.download(urlRequest, interceptor: interceptor, to: destination)
                return send(request.validate(statusCode: 200..<400), callbackQueue, progress, completion)
            }
        } catch {
            completion(.failure(error as? ProviderError ?? .underlying(error, nil)))
            return nil
        }
    }

    private func urlRequest(_ target: Target) throws -> URLRequest {
        var request = try URLRequest(
            url: target.baseURL.appendingPathComponent(target.path), method: target.method,
            headers: target.headers.map { HTTPHeaders($0) })
        switch target.job {
        case .plain, .uploadFile, .uploadForm, .download:
            return request
        case let .data(data):
            request.httpBody = data
            return request
        case let .encodable(value):
            do {
                request.httpBody = try JSONEncoder().encode(value)
                if request.value(forHTTPHeaderField: "Content-Type") == nil {
                    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
                }
                return request
            } catch {
                throw ProviderError.encodableMapping(error)
            }
        case let .parameters(parameters, encoding):
            do {
                return try encoding.encode(request, with: parameters)
            } catch {
                throw ProviderError.parameterEncoding(error)
            }
        }
    }

    private func send<R>(
        _ alamofireRequest: R, _ callbackQueue: DispatchQueue?, _ progress: (@Sendable (Progress) -> Void)?,
        _ completion: @escaping Completion
    ) -> CancellableToken where R: Requestable, R: Request {
        var progressRequest = alamofireRequest
        if let progress {
            switch progressRequest {
            case let downloadRequest as DownloadRequest:
                if let request = downloadRequest.downloadProgress(closure: progress) as? R { progressRequest = request }
            case let uploadRequest as UploadRequest:
                if let request = uploadRequest.uploadProgress(queue: .main, closure: progress) as? R {
                    progressRequest = request
                }
            case let dataRequest as DataRequest:
                if let request = dataRequest.downloadProgress(queue: callbackQueue ?? .main, closure: progress) as? R {
                    progressRequest = request
                }
            default: break
            }
        }
        let completionHandler: RequestableCompletion = { response, request, data, error in
            switch (response, data, error) {
            case let (.some(response), data, .none):
                completion(
                    .success(
                        .init(
                            statusCode: response.statusCode, data: data ?? Data(), request: request, response: response)
                    ))
            case let (.some(response), _, .some(error)):
                let response = ProviderResponse(
                    statusCode: response.statusCode, data: data ?? Data(), request: request, response: response)
                completion(.failure(.underlying(error, response)))
            case let (_, _, .some(error)):
                completion(.failure(.underlying(error, nil)))
            default:
                completion(.failure(.underlying(URLError(.unknown), nil)))
            }
        }
        progressRequest = progressRequest.response(callbackQueue: callbackQueue, completionHandler: completionHandler)
        progressRequest.resume()
        return CancellableToken(request: progressRequest)
    }
}
