import Afar
import AfarTestServer

/// A step of the demo: the displayed code, and the same code to run.
struct DemoStep: Sendable {
    /// The error of a step with an unexpected result.
    struct Unexpected: Error {
        var result: String
    }

    var title: String
    /// The displayed code. The closure after it contains the same lines. A test compares them.
    var code: String
    /// Runs the code and returns a description of its result.
    var run: @Sendable (_ server: TestServer) async throws -> String

    init(_ title: String, code: String, run: @escaping @Sendable (_ server: TestServer) async throws -> String) {
        self.title = title
        self.code = code
        self.run = run
    }

    /// The steps in the order of the demo.
    static let all = [getJSON, postJSON, propertyList, validation, timeout, concurrency]

    static func expect(_ condition: Bool, _ result: @autoclosure () -> String) throws {
        if !condition { throw Unexpected(result: result()) }
    }
}

extension DemoStep {
    static let getJSON = DemoStep(
        "GET JSON and decode it into a struct",
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

extension DemoStep {
    static let postJSON = DemoStep(
        "POST a struct as JSON to a server that echoes it",
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

extension DemoStep {
    static let propertyList = DemoStep(
        "Decode a binary property list with another decoder",
        code: """
            struct Member: Decodable {
                let id: Int
                let active: Bool
            }
            let member = try await AF.request(server.url("/plist/binary"))
                .serializingDecodable(Member.self, decoder: PropertyListDecoder())
                .value
            """
    ) { server in
        struct Member: Decodable {
            let id: Int
            let active: Bool
        }
        let member = try await AF.request(server.url("/plist/binary"))
            .serializingDecodable(Member.self, decoder: PropertyListDecoder())
            .value
        try expect(member.id == 7 && member.active, "\(member)")
        return "\(member)"
    }
}

extension DemoStep {
    static let validation = DemoStep(
        "Reject a status with validation, and print the error",
        code: """
            let missing = await AF.request(server.url("/status/404"))
                .validate()
                .serializingString()
                .result
            let message = missing.error?.localizedDescription
            """
    ) { server in
        let missing = await AF.request(server.url("/status/404"))
            .validate()
            .serializingString()
            .result
        let message = missing.error?.localizedDescription
        try expect(missing.error?.responseCode == 404, "\(missing)")
        return message ?? ""
    }
}

extension DemoStep {
    static let timeout = DemoStep(
        "Time out while the server takes a minute",
        code: """
            let late = await AF.request(server.url("/delay/60")) { $0.timeoutInterval = 0.2 }
                .serializingString()
                .result
            let isTimeout = (late.error?.underlyingError as? URLError)?.code == .timedOut
            """
    ) { server in
        let late = await AF.request(server.url("/delay/60")) { $0.timeoutInterval = 0.2 }
            .serializingString()
            .result
        let isTimeout = (late.error?.underlyingError as? URLError)?.code == .timedOut
        try expect(isTimeout, "\(late)")
        return late.error?.localizedDescription ?? ""
    }
}

extension DemoStep {
    static let concurrency = DemoStep(
        "Send fifty requests concurrently",
        code: """
            struct Echo: Decodable {
                let path: String
            }
            let session = Session()
            let paths = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 1...50 {
                    let request = session.request(server.url("/anything/\\(number)"))
                    group.addTask { try await request.serializingDecodable(Echo.self).value.path }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            """
    ) { server in
        let connectionsBefore = server.connectionCount
        struct Echo: Decodable {
            let path: String
        }
        let session = Session()
        let paths = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 1...50 {
                let request = session.request(server.url("/anything/\(number)"))
                group.addTask { try await request.serializingDecodable(Echo.self).value.path }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        let connections = server.connectionCount - connectionsBefore
        let limit = session.configuration.httpMaximumConnectionsPerHost
        let result = "\(paths.count) responses over \(connections) connections"
        try expect(paths.count == 50 && (1...limit).contains(connections), result)
        return result
    }
}
