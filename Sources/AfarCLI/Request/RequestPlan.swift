import Afar
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request, checked as far as that is possible before it is made.
struct RequestPlan {
    var method: HTTPMethod
    var url: String
    var headers: HTTPHeaders
    var body: Body?

    init(
        _ method: HTTPMethod, _ address: AddressArgument, _ options: some RequestSending,
        _ bodyOptions: BodyOptions? = nil
    ) throws {
        self.method = method
        guard !address.isBlank else {
            throw Failure(.usage, "The URL is empty. Write it as in: afar \(method.rawValue.lowercased()) example.com")
        }
        let query = try options.sending.query.map { try NamedValue($0, option: "--query") }
        url = URLText.complete(address.url, query: query)
        headers = try HTTPHeaders(arguments: options.sending.headers)
        if let authorization = try options.security.authorization() {
            guard headers["Authorization"] == nil else {
                throw Failure(.usage, "Choose between -H 'Authorization: …' and --bearer or --auth basic.")
            }
            headers.add(authorization)
        }
        guard let bodyOptions else { return }
        let isWithoutBody = method == .get || method == .head
        if isWithoutBody, !(bodyOptions.json.isEmpty && bodyOptions.form.isEmpty && bodyOptions.data == nil) {
            throw Failure(
                .usage, "A \(method.rawValue) has no body. Use --query for its parameters, or afar post to send a body."
            )
        }
        body = try Body(bodyOptions)
        if let body, headers.value(for: "Content-Type") == nil {
            headers.add(.contentType(body.contentType))
        }
    }

    /// The request as Foundation has it, without the body.
    func urlRequest() throws -> URLRequest { try URLRequest(url: url, method: method, headers: headers) }

    /// Throws the failure that sending would throw before anything is sent.
    func check() throws {
        do {
            _ = try HTTPRequest(urlRequest(), bodyLength: Int64(body?.bytes.count ?? 0))
        } catch let error as AFError {
            throw Failure(error, url: url)
        }
    }
}
