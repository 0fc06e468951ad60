import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// This request as a redirect changes it.
    func redirected(
        to url: URL, method: HTTPTypes.HTTPRequest.Method, fields: HTTPFields, body: RequestBody
    ) -> URLRequest {
        var request = self
        request.url = url
        request.httpMethod = method.rawValue
        request.headers = HTTPHeaders(fields)
        switch body {
        case .data(let data): request.httpBody = data
        case .stream where request.httpBodyStream != nil: break
        case .none, .file, .stream:
            request.httpBody = nil
            request.httpBodyStream = nil
        }
        return request
    }

    /// This request as the last redirect of its attempt left it.
    func following(_ redirect: Redirect) -> URLRequest {
        redirected(
            to: redirect.url, method: redirect.request.method, fields: redirect.request.headerFields,
            body: redirect.body)
    }
}
