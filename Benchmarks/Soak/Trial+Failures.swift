import Afar

extension Trial {
    /// Requests that fail in all known ways, in rotation.
    static func failures(_ stage: Stage, requests: Int) -> Trial {
        Trial(title: "Failing requests", requests: requests, warmUp: requests / 2) { number, ledger in
            let kind = FailureKind.allCases[number % FailureKind.allCases.count]
            await kind.request(on: stage).observe(as: number, in: ledger) { (result: AFResult<Record>) in
                switch result {
                case .success: .unexpected("\(kind): no error")
                case .failure(let error) where kind.isExpected(error): .expected("\(kind)")
                case .failure(let error): .unexpected("\(kind): \(error.localizedDescription)")
                }
            }
        }
    }
}
