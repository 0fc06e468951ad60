import Afar

extension Trial {
    /// Successful requests: tiny GETs over persistent connections.
    static func answers(_ stage: Stage, requests: Int) -> Trial {
        Trial(title: "Tiny GETs", requests: requests, warmUp: requests / 10) { number, ledger in
            await stage.session.request(stage.url("/record")).validate().observe(as: number, in: ledger) {
                (result: AFResult<Record>) in
                switch result {
                case .success(let record) where record.answer == Record.answer: .expected("answered")
                case .success(let record): .unexpected("the answer was \(record.answer)")
                case .failure(let error): .unexpected("\(error.localizedDescription)")
                }
            }
        }
    }
}
