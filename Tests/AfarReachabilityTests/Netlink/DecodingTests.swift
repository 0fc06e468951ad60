#if os(Linux)
    import CNetlink
    import Testing

    @testable import AfarReachability

    struct DecodingTests {
        @Test func aRecordedNetworkIsDecoded() throws {
            let table = NetworkTable(messages: Recordings.all)
            let link = try #require(table.links.values.first)
            #expect(link.name == "v0" && link.driverKind == "veth" && link.lower == nil)
            #expect(link.isUp && link.hasCarrier && !link.isLoopback && !link.isPointToPoint)

            let addresses = table.addresses.filter { $0.link == link.index && $0.isGlobal }
            #expect(addresses.map(\.address.description) == ["192.0.2.2", "2001:db8::2"])
            #expect(addresses.map(\.prefixLength) == [24, 64])
            #expect(addresses.map(\.isUsable) == [true, true])

            let several = try #require(table.routes.first { $0.hops.count == 2 })
            #expect(several.destination.description == "10.0.0.0" && several.prefixLength == 8)
            #expect(several.hops.map(\.gateway?.description) == ["192.0.2.3", "192.0.2.4"])
            #expect(table.routes.contains { $0.refusal == .blackhole && $0.destination.description == "10.9.0.0" })
            #expect(table.routes.filter { $0.prefixLength == 0 }.map(\.metric) == [0, 1024])

            let rule = try #require(table.rules.first { $0.mark == 51820 && $0.family == .ipv4 })
            #expect(rule.isInverted && rule.markMask == .max && rule.action == .lookUp(table: 51820))
            #expect(!table.rules.contains { $0.isUnsupported })

            let path = table.path(to: Destination.internet)
            #expect(path.status == .satisfied && path.supportsIPv4 && path.supportsIPv6)
            #expect(path.gateways.map(\.description) == ["192.0.2.1", "fe80::1%v0"])
        }

        @Test(arguments: 0..<16)
        func truncatedMessagesAreIgnored(kept: Int) {
            #expect(NetworkTable(messages: Array(Recordings.links.prefix(kept))).links.isEmpty)
        }

        @Test(arguments: [0, 15, 5000, .max] as [UInt32])
        func wrongLengthsEndTheDecoding(length: UInt32) {
            let bytes = MessageBuilder.bytes(length) + Recordings.links.dropFirst(4) + Recordings.addresses
            #expect(NetworkTable(messages: bytes) == NetworkTable(messages: []))
        }

        @Test(arguments: [0, 3, 0xFFFF] as [UInt16])
        func wrongAttributeLengthsEndTheMessage(length: UInt16) {
            var link = MessageBuilder.link(7, "v7").finished(sequence: 0)
            // The name attribute follows both headers.
            link.replaceSubrange(32..<34, with: MessageBuilder.bytes(length))
            #expect(NetworkTable(messages: link).links.isEmpty)
        }

        @Test func longPrefixesAndUnknownFamiliesAreIgnored() {
            var message = MessageBuilder.address([192, 0, 2, 2], of: 1)
            message.body[1] = 33
            #expect(NetworkTable(messages: message.finished(sequence: 0)).addresses.isEmpty)
            message.body[1] = 32
            #expect(NetworkTable(messages: message.finished(sequence: 0)).addresses.count == 1)
            message.body[0] = 28
            #expect(NetworkTable(messages: message.finished(sequence: 0)).addresses.isEmpty)
        }

        @Test func aTentativeAddressIsNotUsable() {
            let tentative = MessageBuilder.address([192, 0, 2, 2], of: 1, flags: 0xC0).finished(sequence: 0)
            let optimistic = MessageBuilder.address([192, 0, 2, 2], of: 1, flags: 0x44).finished(sequence: 0)
            let duplicate = MessageBuilder.address([192, 0, 2, 2], of: 1, flags: 0x88).finished(sequence: 0)
            let table = NetworkTable(messages: tentative + optimistic + duplicate)
            #expect(table.addresses.map(\.isUsable) == [false, true, false])
        }

        @Test func routesToOtherDestinationsAreIgnored() {
            func isRelevant(_ message: MessageBuilder, for destinations: [Destination]) -> Bool {
                message.finished(sequence: 0).withUnsafeBytes { buffer in
                    NetlinkMessages(NetlinkBytes(buffer)).contains { KernelEvents.isRelevant($0, for: destinations) }
                }
            }
            var route = MessageBuilder.defaultRoute([192, 0, 2, 1], over: 2, metric: 1)
            #expect(isRelevant(route, for: Destination.internet))
            route.body[1] = 24
            route.add(1, [198, 51, 100, 0])
            #expect(!isRelevant(route, for: Destination.internet))
            #expect(isRelevant(route, for: [.address(IPAddress(family: .ipv4, bits: 0xC633_6407 << 96))]))
            #expect(!isRelevant(route, for: [.address(IPAddress(family: .ipv4, bits: 0xC633_6507 << 96))]))
            #expect(isRelevant(.link(2, "v0"), for: Destination.internet))
        }

        /// Arbitrary bytes cause no crash, no infinite loop and no access beyond the end.
        @Test func aHundredThousandModifiedMessagesAreHandled() {
            var generator = SplitMix(state: 20_260)
            let originals = [
                Recordings.links, Recordings.addresses, Recordings.routes, Recordings.rules, Recordings.all,
            ]
            var understood = 0
            for number in 0..<100_000 {
                var bytes = originals[number % originals.count]
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let place = Int.random(in: 0..<bytes.count, using: &generator)
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                    case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                    case 2: bytes.removeSubrange(place..<min(bytes.count, place + 4))
                    default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 4)], at: place)
                    }
                    if bytes.isEmpty { break }
                }
                let table = NetworkTable(messages: bytes)
                if !table.links.isEmpty || !table.addresses.isEmpty || !table.routes.isEmpty { understood += 1 }
                // Evaluating a table is slower than decoding it.
                if number.isMultiple(of: 10) {
                    _ = table.path(to: Destination.internet + [.address(IPAddress(family: .ipv4, bits: 10 << 120))])
                }
            }
            #expect(understood > 10_000)
        }
    }

    extension NetworkTable {
        /// Creates the table from a kernel's messages.
        init(messages bytes: [UInt8]) {
            self.init()
            rules = []
            bytes.withUnsafeBytes { buffer in
                for message in NetlinkMessages(NetlinkBytes(buffer)) {
                    switch Int(message.type) {
                    case RTM_NEWLINK: Link(message.payload).map { links[$0.index] = $0 }
                    case RTM_NEWADDR: LinkAddress(message.payload).map { addresses.append($0) }
                    case RTM_NEWROUTE: TableRoute(message.payload).map { routes.append($0) }
                    case RTM_NEWRULE: RoutingRule(message.payload).map { rules.append($0) }
                    default: break
                    }
                }
            }
        }
    }
#endif
