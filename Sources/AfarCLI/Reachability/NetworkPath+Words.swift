import Afar

extension NetworkPath {
    /// The status without its reason.
    var statusWord: String {
        switch status {
        case .satisfied: "satisfied"
        case .unsatisfied: "unsatisfied"
        case .unknown: "unknown"
        }
    }

    /// Why there is no way, or why nobody knows.
    var reason: String? {
        switch status {
        case .satisfied: nil
        case .unsatisfied(let reason): "\(reason)"
        case .unknown(let reason): "\(reason)"
        }
    }
}

extension NetworkInterface {
    /// The kind, and what it runs over where that is another.
    var kindInWords: String { underlyingKind == kind ? "\(kind)" : "\(kind) over \(underlyingKind)" }
}
