import Afar

/// A chart of the time that a request spent in each phase.
struct Waterfall {
    let style: Style
    let isUTF8: Bool
    /// The number of characters in a line.
    let columns: Int

    init(style: Style, isUTF8: Bool, columns: Int) {
        self.style = style
        self.isUTF8 = isUTF8
        self.columns = columns
    }

    init(style: Style, output: OutputFacts) {
        self.init(style: style, isUTF8: output.isUTF8, columns: output.columns)
    }

    /// Returns the charts of all requests that were sent.
    func text(_ metrics: TaskMetrics, isSecure: Bool) -> String {
        let transactions = metrics.transactionMetrics
        return transactions.enumerated().map { index, transaction in
            let title = transactions.count > 1 ? ["Request \(index + 1) of \(transactions.count)"] : []
            let isSecure = isSecure || transaction.tlsProtocolVersion != nil
            let lines = title + lines(transaction, isSecure: isSecure) + facts(transaction, isSecure: isSecure)
            return "\n" + lines.map { "  \($0)\n" }.joined()
        }.joined()
    }

    func lines(_ metrics: TransactionMetrics, isSecure: Bool) -> [String] {
        let total = metrics.duration
        let timeWidth = Quantity.milliseconds(total).count
        // Leaves room for the name and the time. Longer bars add no detail.
        let width = min(60, max(10, columns - Self.nameWidth - timeWidth - 5))
        func line(_ name: String, _ middle: String, used: Int, _ time: String) -> String {
            let space = String(repeating: " ", count: max(0, width - used))
            return Self.padded(name) + middle + space + "  " + Self.aligned(time, timeWidth)
        }
        let phases = metrics.phases(isSecure: isSecure).map { phase in
            switch phase.time {
            case .none(let reason):
                return Self.padded(phase.name.rawValue) + style.paint(reason, .dim)
            case .measured(let time):
                let (space, bar) = bar(time, of: total, width: width)
                let time = Quantity.milliseconds(time.upperBound - time.lowerBound)
                let middle = String(repeating: " ", count: space) + style.paint(bar, phase.name.paint)
                return line(phase.name.rawValue, middle, used: space + bar.count, time)
            }
        }
        let amount = Self.amount(metrics)
        return phases + [line("Total", amount, used: amount.count, Quantity.milliseconds(total))]
    }

    /// Returns the measurements that aren't phases: the connection, and the bytes sent and received.
    private func facts(_ metrics: TransactionMetrics, isSecure: Bool) -> [String] {
        var facts: [(String, String)] = []
        if let connection = ConnectionSummary(metrics, isSecure: isSecure).connection {
            facts.append(("Server", connection))
        }
        if metrics.resendCount > 0 { facts.append(("Resent", "\(metrics.resendCount) times")) }
        let (sent, received) = (metrics.countOfRequestHeaderBytesSent, metrics.countOfResponseHeaderBytesReceived)
        if sent > 0 { facts.append(("Sent", Self.amounts(head: sent, body: metrics.countOfRequestBodyBytesSent))) }
        if received > 0 { facts.append(("Received", Self.amounts(head: received, body: metrics.transferredBodyBytes))) }
        return facts.map { Self.padded($0) + style.paint($1, .dim) }
    }

    private static func amounts(head: Int64, body: Int64) -> String {
        "head \(Quantity.bytes(head)), body \(Quantity.bytes(body))"
    }

    private static let nameWidth = 9

    private static func padded(_ name: String) -> String {
        name + String(repeating: " ", count: max(1, nameWidth - name.count))
    }

    private static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// Returns the bar of a phase and the space before it.
    private func bar(_ time: ClosedRange<Double>, of total: Double, width: Int) -> (space: Int, bar: String) {
        let scale = total > 0 ? Double(width) / total : 0
        let space = Int(min(Double(width - 1), time.lowerBound * scale))
        let room = Double(width - space)
        let length = min(room, time.upperBound * scale - Double(space))
        guard isUTF8 else { return (space, String(repeating: "#", count: max(1, Int(length.rounded())))) }
        return (space, BlockBar.text(max(1 / 8, length)))
    }

    /// Returns the size of the response body as transferred and as decoded.
    private static func amount(_ metrics: TransactionMetrics) -> String {
        let (transferred, decoded) = (metrics.transferredBodyBytes, metrics.countOfResponseBodyBytesAfterDecoding)
        guard transferred > 0 else { return "no body" }
        let decodedSize = decoded > 0 && decoded != transferred ? " (\(Quantity.bytes(decoded)) decoded)" : ""
        let rate = Quantity.rate(transferred, in: metrics.duration).map { ", \($0)" } ?? ""
        return Quantity.bytes(transferred) + decodedSize + rate
    }
}

extension TransactionPhase.Name {
    fileprivate var paint: Style.Paint {
        switch self {
        case .queued: .dim
        case .lookup: .cyan
        case .connect: .blue
        case .tlsHandshake: .magenta
        case .awaitingResponse: .yellow
        case .body: .green
        }
    }
}
