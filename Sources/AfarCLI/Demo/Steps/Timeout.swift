import Afar
import AfarTestServer

extension DemoStep {
    static let timeout = DemoStep(
        "A server that takes a minute, and a client that does not",
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
