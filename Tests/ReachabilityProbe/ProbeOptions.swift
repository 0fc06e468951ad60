import AfarReachability

/// The command-line options: `ReachabilityProbe [--host NAME] [--debounce MS] [--receive-buffer BYTES]`.
struct ProbeOptions {
    var target = NetworkMonitor.Target.internet
    var debounce = Duration.milliseconds(100)
    var receiveBuffer: Int32?

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let name = rest.popFirst(), let value = rest.popFirst() {
            switch name {
            case "--host": target = .host(value)
            case "--debounce": debounce = .milliseconds(Int(value) ?? 100)
            case "--receive-buffer": receiveBuffer = Int32(value)
            default: print("unknown option \(name)")
            }
        }
    }
}
