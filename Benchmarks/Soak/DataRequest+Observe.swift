import Afar
import Foundation

extension DataRequest {
    /// Tells a ledger of both ways in which the request is over, and returns then.
    ///
    /// - Parameter judge: Says what a value or an error means.
    func observe<Value: Decodable & Sendable>(
        as number: Int, in ledger: Ledger, _ judge: @escaping @Sendable (AFResult<Value>) -> Ledger.Outcome
    ) async {
        responseDecodable(of: Value.self, queue: ledger.queue) { response in
            ledger.note(.handler, of: number, judge(response.result))
        }
        ledger.note(.awaited, of: number, judge(await serializingDecodable(Value.self).result))
    }
}
