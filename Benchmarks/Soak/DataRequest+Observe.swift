import Afar
import Foundation

extension DataRequest {
    /// Records both completions of the request, the handler's and the task's, in a ledger. Returns after the task's
    /// completion.
    ///
    /// - Parameter classify: Classifies a result as expected or unexpected.
    func observe<Value: Decodable & Sendable>(
        as number: Int, in ledger: Ledger, _ classify: @escaping @Sendable (AFResult<Value>) -> Ledger.Outcome
    ) async {
        responseDecodable(of: Value.self, queue: ledger.queue) { response in
            ledger.note(.handler, of: number, classify(response.result))
        }
        ledger.note(.awaited, of: number, classify(await serializingDecodable(Value.self).result))
    }
}
