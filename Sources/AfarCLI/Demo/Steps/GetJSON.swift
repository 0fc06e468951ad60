import Afar
import AfarTestServer

extension DemoStep {
    static let getJSON = DemoStep(
        "GET, and JSON decoded into a struct",
        code: """
            struct Person: Decodable {
                let name: String
                let tags: [String]
            }
            let person = try await AF.request(server.url("/json"))
                .validate()
                .serializingDecodable(Person.self)
                .value
            """
    ) { server in
        struct Person: Decodable {
            let name: String
            let tags: [String]
        }
        let person = try await AF.request(server.url("/json"))
            .validate()
            .serializingDecodable(Person.self)
            .value
        try expect(person.name == "Ada" && person.tags.count == 2, "\(person)")
        return "\(person)"
    }
}
