import Afar

/// Creates the requests for a recipe service.
enum RecipeRouter {
    nonisolated(unsafe) static var baseURLString = "http://localhost"

    case recipes(tag: String, page: Int)
    case recipe(id: Int)
    case add(parameters: [String: String])
    case replace(id: Int, parameters: Parameters)
    case remove(id: Int)
    case signIn(name: String, password: String)

    var baseURL: String { Self.baseURLString }

    var path: String {
        switch self {
        case .recipes, .add: return "/recipes"
        case .recipe(let id), .replace(let id, _), .remove(let id): return "/recipes/\(id)"
        case .signIn: return "/sign-in"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .recipes, .recipe: return .get
        case .add, .signIn: return .post
        case .replace: return .put
        case .remove: return .delete
        }
    }
}

extension RecipeRouter: URLRequestConvertible {
    func asURLRequest() throws -> URLRequest {
        let url = try baseURL.asURL().appendingPathComponent(path)
        var request = URLRequest(url: url)
        request.method = method
        request.timeoutInterval = TimeInterval(10 * 1000)

        switch self {
        case let .recipes(tag, page):
            request = try URLEncodedFormParameterEncoder().encode(["tag": tag, "page": "\(page)"], into: request)
        case .recipe, .remove:
            break
        case let .add(parameters):
            request = try JSONParameterEncoder().encode(parameters, into: request)
            request.setValue("application/json", forHTTPHeaderField: "Accept")
        case let .replace(_, parameters):
            request = try JSONEncoding.default.encode(request, with: parameters)
        case let .signIn(name, password):
            request.headers.add(.authorization(username: name, password: password))
            request = try URLEncoding.httpBody.encode(request, with: ["grant_type": "password", "remember": true])
        }
        return request
    }
}
