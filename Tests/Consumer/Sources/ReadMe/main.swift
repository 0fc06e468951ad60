import Afar

struct User: Decodable {
    let id: Int
    let name: String
}

let user = try await AF.request("https://api.example.com/users/1")
    .validate()
    .serializingDecodable(User.self)
    .value
print("Hello, \(user.name)")
