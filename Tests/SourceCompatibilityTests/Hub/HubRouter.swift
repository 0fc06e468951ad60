import Afar

/// The requests that the service supports.
enum HubRouter: URLRequestConvertible {
    case repository(owner: String, name: String)
    case issues(repository: String, filter: IssueFilter)
    case createIssue(repository: String, NewTicket)
    case editIssue(repository: String, number: Int, changes: Parameters)
    case deleteIssue(repository: String, number: Int)

    nonisolated(unsafe) static var base = "http://localhost"

    var method: HTTPMethod {
        switch self {
        case .repository, .issues: return .get
        case .createIssue: return .post
        case .editIssue: return .patch
        case .deleteIssue: return .delete
        }
    }

    var path: String {
        switch self {
        case let .repository(owner, name): return "/repos/\(owner)/\(name)"
        case let .issues(repository, _), let .createIssue(repository, _): return "/repos/\(repository)/issues"
        case let .editIssue(repository, number, _), let .deleteIssue(repository, number):
            return "/repos/\(repository)/issues/\(number)"
        }
    }

    func asURLRequest() throws -> URLRequest {
        let url = try HubRouter.base.asURL().appendingPathComponent(path)
        var request = try URLRequest(url: url, method: method, headers: [.accept("application/vnd.hub+json")])
        request.timeoutInterval = 20
        switch self {
        case .repository, .deleteIssue:
            return request
        case let .issues(_, filter):
            let encoder = URLEncodedFormEncoder(arrayEncoding: .noBrackets, keyEncoding: .convertToSnakeCase)
            return try URLEncodedFormParameterEncoder(encoder: encoder, destination: .queryString)
                .encode(filter, into: request)
        case let .createIssue(_, issue):
            return try JSONParameterEncoder.sortedKeys.encode(issue, into: request)
        case let .editIssue(_, _, changes):
            return try JSONEncoding.default.encode(request, with: changes)
        }
    }
}
