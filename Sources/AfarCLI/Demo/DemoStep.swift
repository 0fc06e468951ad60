import AfarTestServer

/// One thing to see: the code, and the same code to run.
struct DemoStep: Sendable {
    /// Thrown by a step whose result is not what it should be.
    struct Unexpected: Error {
        var result: String
    }

    var title: String
    /// What is shown. In the step's file the same lines stand below it as code; a test compares them.
    var code: String
    /// Runs the code and returns what is to be said about its result.
    var run: @Sendable (_ server: TestServer) async throws -> String

    init(_ title: String, code: String, run: @escaping @Sendable (_ server: TestServer) async throws -> String) {
        self.title = title
        self.code = code
        self.run = run
    }

    /// The walk.
    static let all = [getJSON, postJSON, propertyList, validation, timeout, concurrency]

    static func expect(_ condition: Bool, _ result: @autoclosure () -> String) throws {
        if !condition { throw Unexpected(result: result()) }
    }
}
