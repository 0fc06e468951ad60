import Afar
import HTTPTypes

struct SigningStage: ExchangeStage, StageRun {
    let signature: @Sendable (HTTPRequest) async -> String

    func begin(_ hop: Hop) -> (any StageRun)? { self }

    func before(_ hop: Hop) -> Reply<RequestAction> {
        let isAnswer = hop.exchange.request.headerFields[.authorization] != nil
        guard !hop.hasLeftOrigin, !isAnswer else { return .now(.send) }
        return .wait {
            var exchange = hop.exchange
            exchange.request.headerFields[.authorization] = await signature(exchange.request)
            return .change(exchange)
        }
    }
}

enum StageSamples {
    static func session(_ sign: @escaping @Sendable (HTTPRequest) async -> String) -> Session {
        let session = Session(stages: [SigningStage(signature: sign)])
        return session
    }
}
