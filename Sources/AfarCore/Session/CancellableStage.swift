import AfarTransport

/// A stage of a user's, whose waiting ends with the request whether or not its code heeds that.
struct CancellableStage: ExchangeStage {
    private let stage: any ExchangeStage

    init(_ stage: any ExchangeStage) { self.stage = stage }

    func begin(_ hop: Hop) -> (any StageRun)? { stage.begin(hop).map(Run.init) }

    private struct Run: StageRun {
        let run: any StageRun

        func before(_ hop: Hop) -> Reply<Departure> { run.before(hop).cancellable(otherwise: .send) }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<Disposition> {
            run.head(head, of: hop).cancellable(otherwise: .pass)
        }

        func failed(_ error: any Error, of hop: Hop) -> Reply<Rescue> {
            run.failed(error, of: hop).cancellable(otherwise: .fail(error))
        }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) { run.ended(hop, with: result) }
    }
}

extension Reply {
    fileprivate func cancellable(otherwise answer: Answer) -> Reply {
        switch self {
        case .now: self
        case .wait(let work): .wait { await withCancellableTask(ifCancelled: answer, work) }
        }
    }
}
