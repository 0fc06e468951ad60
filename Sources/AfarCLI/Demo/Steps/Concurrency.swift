import Afar
import AfarTestServer

extension DemoStep {
    static let concurrency = DemoStep(
        "Fifty requests at once",
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
        let result = "\(paths.count) answers over \(connections) connections"
        try expect(paths.count == 50 && (1...limit).contains(connections), result)
        return result
    }
}
