import Afar

struct User: Decodable {
    let id: Int
    let name: String
}

enum ReadMeSamples {
    static func handler() {
        AF.request("https://api.example.com/users/1").validate().responseDecodable(of: User.self) { response in
            switch response.result {
            case .success(let user): print("Hello, \(user.name)")
            case .failure(let error): print(error)
            }
        }
    }

    static func awaiting() async throws {
        let user = try await AF.request("https://api.example.com/users/1")
            .validate()
            .serializingDecodable(User.self)
            .value
        print("Hello again, \(user.name)")
    }
}
