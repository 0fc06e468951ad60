import Foundation
import Servers

/// The command-line options.
struct Options {
    static let help = """
        Compares Afar with other HTTP clients, against servers on this machine.

        make bench [ARGS="…"]

          --only NAMES      comma-separated workloads: \(Workload.all.map(\.name).joined(separator: ", "))
          --clients NAMES   comma-separated clients: \(Client.names.joined(separator: ", "))
          --rounds N        number of rounds (default: 5, or 3 for large files); the table shows medians
          --quick           makes fewer requests and rounds; takes two minutes and is less precise
          --instructions    also counts instructions and allocations per request with valgrind; takes minutes
          --counts          only counts them for Afar, and compares them with Benchmarks/counts.json
          --write           with --counts, writes that file

        A full run, without any of the first four options, updates the tables and the chart in Docs. Go's client is
        included if go is installed, and AsyncHTTPClient after PEERS=1 make bench, which builds it.
        """

    var workloads = Workload.all
    var clients: [String]?
    var rounds: Int?
    var isQuick = false
    var countsInstructions = false
    /// Whether to compare Afar's counts with their limits instead of measuring clients.
    var checksCounts = false
    var writesLimits = false
    var asksForHelp = false

    /// Whether this is a full run: all workloads and clients, with the default number of rounds.
    var isWhole: Bool { workloads.count == Workload.all.count && clients == nil && rounds == nil && !isQuick }

    init(_ arguments: [String]) throws {
        var arguments = arguments[...]
        while let argument = arguments.popFirst() {
            func value() throws -> String {
                guard let value = arguments.popFirst() else { throw Failure("\(argument) requires a value") }
                return value
            }
            switch argument {
            case "--only": workloads = try Self.names(value(), of: Workload.all, \.name)
            case "--clients": clients = try Self.names(value(), of: Client.names + [Client.overLibcurl], \.self)
            case "--rounds":
                rounds = Int(try value())
                guard let rounds, rounds > 0 else { throw Failure("--rounds requires a positive number") }
            case "--quick": isQuick = true
            case "--instructions": countsInstructions = true
            case "--counts": checksCounts = true
            case "--write": writesLimits = true
            case "--help": asksForHelp = true
            default: throw Failure("unknown argument \(argument); see --help")
            }
        }
    }

    private static func names<Value>(
        _ list: String, of values: [Value], _ name: (Value) -> String
    ) throws -> [Value] {
        try list.split(separator: ",").map { wanted in
            guard let value = values.first(where: { name($0).lowercased() == wanted.lowercased() }) else {
                throw Failure("unknown name \(wanted); choose from \(values.map(name).joined(separator: ", "))")
            }
            return value
        }
    }
}
