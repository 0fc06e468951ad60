import AfarCore
import AfarSerializers
import AfarTesting

struct User: Codable, Sendable {
    let name: String
}

@main
struct Consumer {
    static func main() async throws {
        let session = Session(transport: MockTransport { _ in .json(User(name: "Ada")) })
        let user = try await session.request("http://mock/users/1").validate().serializingDecodable(User.self).value
        print("hello, \(user.name)")
    }
}
