import Afar

enum ReachabilitySamples {
    static func watching() async {
        for await path in NetworkMonitor.shared.paths {
            print(path.isOnline ? "online" : "offline", path)
        }
    }

    static func manager() {
        NetworkReachabilityManager.default?.startListening { status in
            switch status {
            case .reachable(.cellular): print("mobile")
            case .reachable(.ethernetOrWiFi): print("cable or Wi-Fi")
            case .notReachable: print("offline")
            case .unknown: print("unknown")
            }
        }
    }
}

func waitUntilOnline() async {
    for await path in NetworkMonitor.shared.paths where path.isOnline { return }
}

func whenAddressesChange(_ reconnect: () async -> Void) async {
    var last: [InterfaceAddress]?
    for await path in NetworkMonitor.shared.paths {
        let addresses = path.primaryInterface?.addresses ?? []
        if let last, last != addresses { await reconnect() }
        last = addresses
    }
}
