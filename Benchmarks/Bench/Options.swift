import Foundation
import Servers

/// What the command line asks for.
struct Options {
    static let help = """
        Compares Afar with other HTTP clients, against nginx on this machine.

        make bench [ARGS="…"]

          --only NAMES      workloads, with commas between: \(Workload.all.map(\.name).joined(separator: ", "))
          --clients NAMES   clients, with commas between: \(Client.names.joined(separator: ", "))
          --rounds N        rounds instead of 5, or 3 for large files; the table shows medians
          --quick           fewer requests and rounds: less exact, done in two minutes
          --instructions    also counts instructions per request, by valgrind; takes minutes

        A run of all, without any of the first four options, writes the tables and the chart into Docs. Go's client takes
        part where go is installed, AsyncHTTPClient after PEERS=1 make bench, which builds it.
        """

    var workloads = Workload.all
    var clients: [String]?
    var rounds: Int?
    var isQuick = false
    var countsInstructions = false
    var asksForHelp = false

    /// Whether all is measured, as well as it can be.
    var isWhole: Bool { workloads.count == Workload.all.count && clients == nil && rounds == nil && !isQuick }

    init(_ arguments: [String]) throws {
        var arguments = arguments[...]
        while let argument = arguments.popFirst() {
            func value() throws -> String {
                guard let value = arguments.popFirst() else { throw Failure("\(argument) needs a value") }
                return value
            }
            switch argument {
            case "--only": workloads = try Self.names(value(), of: Workload.all, \.name)
            case "--clients": clients = try Self.names(value(), of: Client.names + [Client.overLibcurl], \.self)
            case "--rounds":
                rounds = Int(try value())
                guard let rounds, rounds > 0 else { throw Failure("--rounds needs a number") }
            case "--quick": isQuick = true
            case "--instructions": countsInstructions = true
            case "--help": asksForHelp = true
            default: throw Failure("there is no \(argument); --help lists what there is")
            }
        }
    }

    private static func names<Value>(
        _ list: String, of values: [Value], _ name: (Value) -> String
    ) throws -> [Value] {
        try list.split(separator: ",").map { wanted in
            guard let value = values.first(where: { name($0).lowercased() == wanted.lowercased() }) else {
                throw Failure("there is no \(wanted), but \(values.map(name).joined(separator: ", "))")
            }
            return value
        }
    }
}
