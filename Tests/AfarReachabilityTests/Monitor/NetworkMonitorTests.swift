import Testing

@testable import AfarReachability

struct NetworkMonitorTests {
    private let monitor = NetworkMonitor(target: .host("127.0.0.1"))

    @Test func theCurrentPathIsFirst() async {
        #expect(monitor.currentPath.status == .satisfied)
        var iterator = monitor.paths.makeAsyncIterator()
        #expect(await iterator.next() == monitor.currentPath)
    }

    @Test func everyConsumerHasASeparateStream() async {
        let paths = [monitor.paths, monitor.paths, monitor.paths]
        for stream in paths {
            var iterator = stream.makeAsyncIterator()
            #expect(await iterator.next()?.status == .satisfied)
        }
    }

    @Test func aStreamRetainsItsMonitor() async {
        weak var weakMonitor: NetworkMonitor?
        var stream: AsyncStream<NetworkPath>?
        do {
            let monitor = NetworkMonitor(target: .host("::1"))
            weakMonitor = monitor
            stream = monitor.paths
        }
        #expect(weakMonitor != nil)
        var iterator = stream?.makeAsyncIterator()
        #expect(await iterator?.next()?.status == .satisfied)
        iterator = nil
        stream = nil
        #expect(weakMonitor == nil)
    }

    @Test func cancellingATaskEndsItsStream() async {
        let (firsts, first) = AsyncStream<NetworkPath>.makeStream()
        let task = Task { [monitor] in
            for await path in monitor.paths { first.yield(path) }
            return true
        }
        for await path in firsts {
            #expect(path.status == .satisfied)
            break
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test func aConsumerReceivesNoPathTwice() async {
        let (stream, continuation) = AsyncStream<NetworkPath>.makeStream()
        let (offline, online) = (NetworkPath(status: .unsatisfied(.noRoute)), NetworkPath(status: .satisfied))
        for path in [offline, offline, online, online, offline] { continuation.yield(path) }
        continuation.finish()
        let paths = DistinctPaths(stream)
        #expect(await paths.next() == offline)
        #expect(await paths.next() == online)
        #expect(await paths.next() == offline)
        #expect(await paths.next() == nil)
    }

    @Test(
        arguments: [
            (.internet, nil, nil), (.host("example.org"), nil, "example.org"), (.host("192.0.2.1"), "192.0.2.1", nil),
            (.host("[2001:db8::1]"), "2001:db8::1", nil), (.host("LOCALHOST"), "127.0.0.1", nil),
            (.host("a.localhost"), "127.0.0.1", nil), (.host("::ffff:10.0.0.1"), "10.0.0.1", nil), (.host(""), nil, ""),
        ] as [(NetworkMonitor.Target, String?, String?)])
    func hostsAreNamesOrAddresses(target: NetworkMonitor.Target, address: String?, name: String?) {
        #expect(target.address?.description == address)
        #expect(target.name == name)
    }

    @Test func aNameIsLookedUp() async {
        let resolver = HostResolver(name: "localhost")
        let (changes, change) = AsyncStream<Void>.makeStream()
        resolver.onChange { change.yield() }
        resolver.refresh()
        for await _ in changes { break }
        let addresses = resolver.addresses ?? []
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0.isThisMachine })
    }

    /// The end of the first lookup is always reported, even if the lookup fails. This one fails, because a name can't
    /// contain a zero byte.
    @Test func theEndOfTheFirstLookupIsReported() async {
        let resolver = HostResolver(name: "a\0b")
        let (changes, change) = AsyncStream<Void>.makeStream()
        resolver.onChange { change.yield() }
        #expect(resolver.addresses == nil)
        resolver.refresh(after: .seconds(3600))
        for await _ in changes { break }
        #expect(resolver.addresses == [])
        resolver.onChange(nil)
    }

    @Test(arguments: [NetworkTable(), .twoUplinks])
    func theStatusIsUnknownUntilTheNameIsResolved(table: NetworkTable) async throws {
        let target = PathTarget(.host("a\0b"))
        let destinations = target.destinations
        #expect(target.path(to: destinations, in: table).status == .unknown(.nameNotResolved("a\0b")))
        let resolver = try #require(target.resolver)
        let (changes, change) = AsyncStream<Void>.makeStream()
        resolver.onChange { change.yield() }
        resolver.refresh()
        for await _ in changes { break }
        resolver.onChange(nil)
        let status = target.path(to: destinations, in: table).status
        #expect(status == (table.links.isEmpty ? .unsatisfied(.noInterface) : .unknown(.nameNotResolved("a\0b"))))
    }

    @Test func descriptionsAreReadable() {
        let interface = NetworkInterface(
            name: "wlan0", index: 3, kind: .wifi,
            addresses: [InterfaceAddress(IPAddress(family: .ipv4, bits: 0xC000_0202 << 96), prefixLength: 24)])
        let path = NetworkPath(status: .satisfied, interfaces: [interface], supportsIPv4: true)
        #expect(path.description == "satisfied, IPv4, wlan0 (Wi-Fi) 192.0.2.2/24")
        #expect(
            NetworkPath(status: .unsatisfied(.routeRefused(.blackhole))).description
                == "unsatisfied: a route blocks packets: dropped silently (blackhole)")
        #expect(NetworkPath(status: .unknown(.refused(errorNumber: 1))).isOnline)
        #expect(!NetworkPath(status: .unsatisfied(.noCarrier)).isOnline)
    }
}
