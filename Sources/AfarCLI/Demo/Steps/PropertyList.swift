import Afar
import AfarTestServer

extension DemoStep {
    static let propertyList = DemoStep(
        "A binary property list, decoded by another decoder",
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
