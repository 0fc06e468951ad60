import AfarStages
import Testing

@Suite struct ConnectivityTests {
    @Test func unknownConnectivityCountsAsOnline() {
        #expect(Connectivity(.online, identity: 1).isOnline)
        #expect(Connectivity(.unknown, identity: 1).isOnline)
        #expect(!Connectivity(.offline, identity: 1).isOnline)
    }

    @Test func equalPartsMakeEqualIdentities() {
        let one = Connectivity.Identity(["eth0", "192.0.2.1"])
        #expect(one == Connectivity.Identity(["eth0", "192.0.2.1"]))
        #expect(one.hashValue == Connectivity.Identity(["eth0", "192.0.2.1"]).hashValue)
        #expect(one != Connectivity.Identity(["eth0", "192.0.2.2"]))
        #expect(one != Connectivity.Identity("eth0"))
    }

    @Test func networksDifferInEachOfTheirParts() {
        let network = Connectivity(.online, interfaceTypes: [.wifi], identity: 1)
        #expect(network == Connectivity(.online, interfaceTypes: [.wifi], identity: 1))
        #expect(network != Connectivity(.online, interfaceTypes: [.wifi], identity: 2))
        #expect(network != Connectivity(.online, interfaceTypes: [.cellular], identity: 1))
        #expect(network != Connectivity(.offline, interfaceTypes: [.wifi], identity: 1))
    }
}
