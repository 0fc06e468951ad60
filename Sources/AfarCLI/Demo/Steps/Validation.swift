import Afar
import AfarTestServer

extension DemoStep {
    static let validation = DemoStep(
        "A status that validation refuses, and the error in words",
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
