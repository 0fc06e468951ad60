import Afar
import Foundation

// A library between an app and this package, with its own name for every type.

typealias Method = Afar.HTTPMethod
typealias ParameterEncoding = Afar.ParameterEncoding
typealias JSONEncoding = Afar.JSONEncoding
typealias URLEncoding = Afar.URLEncoding
typealias RequestMultipartFormData = Afar.MultipartFormData
typealias DownloadDestination = Afar.DownloadRequest.Destination
typealias ProviderInterceptor = Afar.RequestInterceptor

/// The completion handler of all kinds of requests.
typealias RequestableCompletion = @Sendable (HTTPURLResponse?, URLRequest?, Data?, Swift.Error?) -> Void

protocol Requestable {
    func response(callbackQueue: DispatchQueue?, completionHandler: @escaping RequestableCompletion) -> Self
}

protocol RequestType {
    var request: URLRequest? { get }
    var sessionHeaders: [String: String] { get }
    func authenticate(username: String, password: String, persistence: URLCredential.Persistence) -> Self
    func authenticate(with credential: URLCredential) -> Self
    func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self
}

extension Request: RequestType {
    var sessionHeaders: [String: String] {
        task?.currentRequest?.allHTTPHeaderFields ?? [:]
    }
}

extension DataRequest: Requestable {
    func response(callbackQueue: DispatchQueue?, completionHandler: @escaping RequestableCompletion) -> Self {
        if let callbackQueue {
            response(queue: callbackQueue) { handler in
                completionHandler(handler.response, handler.request, handler.data, handler.error)
            }
        } else {
            response { handler in
                completionHandler(handler.response, handler.request, handler.data, handler.error)
            }
        }
        return self
    }
}

extension DownloadRequest: Requestable {
    func response(callbackQueue: DispatchQueue?, completionHandler: @escaping RequestableCompletion) -> Self {
        if let callbackQueue {
            response(queue: callbackQueue) { handler in
                completionHandler(handler.response, handler.request, nil, handler.error)
            }
        } else {
            response { handler in
                completionHandler(handler.response, handler.request, nil, handler.error)
            }
        }
        return self
    }
}

/// The kind of transfer that a target requires.
enum Job {
    case plain
    case data(Data)
    case encodable(Encodable & Sendable)
    case parameters(Parameters, encoding: ParameterEncoding)
    case uploadFile(URL)
    case uploadForm([(name: String, data: Data)])
    case download(DownloadDestination)
}

protocol TargetType {
    var baseURL: URL { get }
    var path: String { get }
    var method: Method { get }
    var job: Job { get }
    var headers: [String: String]? { get }
    var validCodes: [Int] { get }
}
