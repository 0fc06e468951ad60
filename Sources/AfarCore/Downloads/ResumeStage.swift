import HTTPTypes

/// A stage that requests the rest of a file that a download resumes. After a response that doesn't fit, it requests the whole
/// file, or only the last byte if the part is the whole file.
struct ResumeStage: ExchangeStage {
    let delivery: DownloadDelivery

    func begin(_ hop: Hop) -> (any StageRun)? { Run(delivery) }

    private final class Run: StageRun {
        private let delivery: DownloadDelivery
        /// The head of the last response that doesn't fit.
        private let misfit = Locked<ResponseHead?>(nil)

        init(_ delivery: DownloadDelivery) { self.delivery = delivery }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            if let head = misfit.withLock({ $0.take() }) {
                do { try delivery.prepareRetry(after: head) } catch { return .now(.fail(error)) }
            }
            guard let rest = delivery.rest else { return .now(.send) }
            var exchange = hop.exchange
            for field in rest.part.fields(from: rest.start) {
                guard let name = HTTPField.Name(field.name) else { continue }
                exchange.request.headerFields[name] = field.value
            }
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard !delivery.accepts(head) else { return .now(.pass) }
            misfit.withLock { $0 = head }
            return .now(.follow(hop.exchange, .validation))
        }
    }
}
