import Afar

struct Recipe: Codable, Equatable, Sendable {
    let id: Int
    var name: String
    var servings: Int?
}

/// The object that all of the app's screens use.
class RecipeManager {
    let interceptor = RecipeInterceptor()
    let logger = RecipeLogger()

    lazy var sessionManager: Session = {
        let configuration = URLSessionConfiguration.af.default
        configuration.timeoutIntervalForRequest = 30
        configuration.requestCachePolicy = .returnCacheDataElseLoad
        return Session(configuration: configuration, interceptor: interceptor, eventMonitors: [logger])
    }()

    func fetchRecipes(tag: String, page: Int, completion: @escaping @Sendable ([Recipe]) -> Void) {
        sessionManager.request(RecipeRouter.recipes(tag: tag, page: page))
            .responseDecodable(of: [Recipe].self) { response in
                guard let items = response.value else {
                    return completion([])
                }
                completion(items)
            }
    }

    func fetchRecipe(id: Int, completion: @escaping @Sendable (Result<Recipe, AFError>) -> Void) {
        sessionManager.request(RecipeRouter.recipe(id: id)).validate().responseDecodable {
            (response: AFDataResponse<Recipe>) in
            completion(response.result)
        }
    }

    func add(name: String, completion: @escaping @Sendable (Recipe?, Error?) -> Void) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        sessionManager.request(RecipeRouter.add(parameters: ["name": name]))
            .validate(statusCode: 200..<300)
            .validate(contentType: ["application/json"])
            .responseDecodable(of: Recipe.self, decoder: decoder) { response in
                switch response.result {
                case .success(let recipe):
                    completion(recipe, nil)
                case let .failure(error):
                    completion(nil, error)
                }
            }
    }

    func remove(id: Int, completion: @escaping @Sendable (Int?) -> Void) {
        sessionManager.request(RecipeRouter.remove(id: id)).response { response in
            completion(response.response?.statusCode)
        }
    }

    func signIn(name: String, password: String, completion: @escaping @Sendable (Bool) -> Void) {
        sessionManager.request(RecipeRouter.signIn(name: name, password: password)).responseJSON { response in
            guard case .success(let value) = response.result, let json = value as? [String: Any],
                let token = json["access_token"] as? String
            else {
                return completion(false)
            }
            TokenStore.shared.addAccessToken(token)
            completion(true)
        }
    }
}
