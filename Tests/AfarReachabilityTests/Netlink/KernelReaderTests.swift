#if os(Linux)
    import Testing

    @testable import AfarReachability

    struct KernelReaderTests {
        private static let wirelessFamily: UInt16 = 0x1C

        /// A laptop with a wireless card that looks like Ethernet, and a modem.
        private static let laptop = FakeKernel { type, _ in
            switch type {
            case 18:
                [
                    .link(1, "lo", hardware: 772, flags: 0x1_0049), .link(2, "enp1s0"), .link(3, "wlp2s0"),
                    .link(4, "wwan0", hardware: 519, driverKind: "wwan", flags: 0x1_00D1),
                    .link(5, "wlp2s0.7", driverKind: "vlan", lower: 3),
                ]
            case 22:
                [
                    .address([192, 0, 2, 2], of: 2), .address([198, 51, 100, 2], of: 3),
                    .address([10, 0, 0, 2], of: 4),
                    .address([203, 0, 113, 2], of: 5),
                ]
            case 26:
                [
                    .defaultRoute([198, 51, 100, 1], over: 3, metric: 600),
                    .defaultRoute([10, 0, 0, 1], over: 4, metric: 700),
                    .defaultRoute([203, 0, 113, 1], over: 5, metric: 800),
                ]
            case 16:
                [family("nlctrl", 16), family("nl80211", wirelessFamily), family("ovpn", 0x1D)]
            case wirelessFamily:
                [wirelessInterface(3)]
            default:
                nil
            }
        }

        private static func family(_ name: String, _ number: UInt16) -> MessageBuilder {
            var message = MessageBuilder(type: 16, body: [1, 2, 0, 0])
            message.add(2, Array(name.utf8) + [0])
            message.add(1, MessageBuilder.bytes(number))
            return message
        }

        private static func wirelessInterface(_ index: UInt32) -> MessageBuilder {
            var message = MessageBuilder(type: Int(wirelessFamily), body: [7, 1, 0, 0])
            message.add(1, MessageBuilder.bytes(UInt32(0)))
            message.add(3, MessageBuilder.bytes(index))
            return message
        }

        @Test func wirelessAndMobileNetworksAreRecognized() throws {
            let path = try Self.laptop.reader.table(for: Destination.internet).path(to: Destination.internet)
            #expect(path.status == .satisfied)
            #expect(path.interfaces.map(\.name) == ["wlp2s0", "wwan0", "wlp2s0.7"])
            #expect(path.interfaces.map(\.kind) == [.wifi, .cellular, .wifi])
            #expect(path.gateways.first == IPAddress("198.51.100.1"))
            #expect(path.usesInterfaceKind(.cellular) && !path.usesInterfaceKind(.ethernet))
        }

        /// Requesting a family by name would load its kernel module.
        @Test func lookingForWirelessInterfacesLoadsNoModule() {
            let request = NetlinkRequest.families
            #expect(request.bytes.count == 20)
            #expect(request.bytes[4..<8] == [16, 0, 1, 3])
        }

        @Test func theWirelessFamilyIsCached() throws {
            let searches = Locked(0)
            let kernel = FakeKernel { type, _ in
                switch type {
                case 18: return [.link(2, "eth0"), .link(3, "wlan0")]
                case 16:
                    searches.withLock { $0 += 1 }
                    return [Self.family("nl80211", Self.wirelessFamily)]
                case Self.wirelessFamily: return [Self.wirelessInterface(3)]
                default: return type == 0x99 ? nil : []
                }
            }
            let reader = kernel.reader
            // The number of a module that is no longer loaded.
            reader.wirelessFamily.number = 0x99
            for _ in 1...3 {
                let links = try reader.table().links
                #expect(links[3]?.isWireless == true && links[2]?.isWireless == false)
            }
            #expect(searches.withLock { $0 } == 1)
        }

        @Test func aLackOfDescriptorsIsNotReportedAsNoWirelessInterfaces() throws {
            let kernel = Self.laptop.reader
            let error = Locked<Int32>(24)
            let reader = KernelReader(
                connect: { number throws(ReachabilityError) in
                    if number == 16 { throw ReachabilityError("open a socket", error.withLock { $0 }) }
                    return try kernel.connect(number)
                }, wirelessFamily: WirelessFamily())
            #expect(#expect(throws: ReachabilityError.self) { try reader.table() }?.errorNumber == 24)
            // An unsupported protocol is a permanent error.
            error.withLock { $0 = 93 }
            #expect(try reader.table().links[3]?.isWireless == false)
        }

        @Test func aKernelWithoutRulesUsesTheDefaults() throws {
            let rules = try Self.laptop.reader.table().rules
            #expect(rules.count == 6)
            for family in IPAddress.Family.allCases {
                #expect(rules.filter { $0.family == family } == RoutingRule.defaults.filter { $0.family == family })
            }
        }

        @Test func aFamilyWithoutRulesUsesTheDefaults() throws {
            let kernel = FakeKernel { type, number in
                guard type == 34 else { return [] }
                return number == 0 ? [MessageBuilder(type: 32, body: [2, 0, 0, 0, 7, 0, 0, 1, 0, 0, 0, 0])] : nil
            }
            let rules = try kernel.reader.table().rules
            #expect(rules.filter { $0.family == .ipv4 }.map(\.action) == [.lookUp(table: 7)])
            #expect(rules.filter { $0.family == .ipv6 } == RoutingRule.defaults.filter { $0.family == .ipv6 })
        }

        @Test func tablesChangedDuringReadingAreReadAgain() throws {
            let kernel = FakeKernel { type, number in
                var link = MessageBuilder.link(2, number < 2 ? "old" : "new")
                if number < 2 { link.flags |= 0x10 }
                return type == 18 ? [link] : []
            }
            let table = try kernel.reader.table()
            #expect(table.isSettled)
            #expect(table.links[2]?.name == "new")
        }

        @Test func constantlyChangingTablesAreUsedAnyway() throws {
            let kernel = FakeKernel { type, number in
                var link = MessageBuilder.link(2, "v\(number)")
                link.flags |= 0x10
                return type == 18 ? [link] : []
            }
            let table = try kernel.reader.table()
            #expect(!table.isSettled)
            #expect(table.links[2]?.name == "v\(KernelReader.attempts - 1)")
        }

        @Test func anErrorOfTheKernelIsReported() {
            let error = #expect(throws: ReachabilityError.self) { try FakeKernel { _, _ in nil }.reader.table() }
            #expect(error?.errorNumber == 95)
            #expect(error?.description == "Could not read the kernel's tables: Operation not supported")
        }

        @Test func messagesLongerThanTheBufferAreRead() throws {
            let kernel = FakeKernel { type, _ in
                var link = MessageBuilder.link(2, "v0")
                for _ in 1...4 { link.add(900, [UInt8](repeating: 7, count: 30_000)) }
                link.add(10, MessageBuilder.bytes(Int32(9)))
                return type == 18 ? [link] : []
            }
            #expect(try kernel.reader.table().links[2]?.master == 9)
        }

        @Test func theRealKernelReportsTheLoopbackInterface() throws {
            let interfaces = try NetworkInterface.all()
            #expect(interfaces.contains { $0.kind == .loopback && $0.name == "lo" && $0.index == 1 })
            #expect(throws: Never.self) { try NetworkRoute.all() }
        }
    }
#endif
