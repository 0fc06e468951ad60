import Afar
import AfarTestServer

extension DemoStep {
    static let postJSON = DemoStep(
        "POST of a struct as JSON; the server sends back what it read",
        code: """
            struct Login: Codable, Equatable {
                let user: String
                let remember: Bool
            }
            struct Echo: Decodable {
                let method: String
                let json: Login
            }
            let login = Login(user: "ada", remember: true)
            let echo = try await AF.request(
                server.url("/post"), method: .post, parameters: login, encoder: JSONParameterEncoder.default
            )
            .serializingDecodable(Echo.self)
            .value
            """
    ) { server in
        struct Login: Codable, Equatable {
            let user: String
            let remember: Bool
        }
        struct Echo: Decodable {
            let method: String
            let json: Login
        }
        let login = Login(user: "ada", remember: true)
        let echo = try await AF.request(
            server.url("/post"), method: .post, parameters: login, encoder: JSONParameterEncoder.default
        )
        .serializingDecodable(Echo.self)
        .value
        try expect(echo.method == "POST" && echo.json == login, "\(echo)")
        return "The server read a \(echo.method) of \(echo.json)"
    }
}
