#if os(Linux)
    import Testing

    @testable import AfarReachability

    struct KernelReaderTests {
        private static let wirelessFamily: UInt16 = 0x1C

        /// A laptop: a wireless card that looks like any Ethernet, and a modem.
        private static let laptop = PretendKernel { type, _ in
            switch type {
            case 18:
                [
                    .link(1, "lo", hardware: 772, flags: 0x1_0049), .link(2, "enp1s0"), .link(3, "wlp2s0"),
                    .link(4, "wwan0", hardware: 519, maker: "wwan", flags: 0x1_00D1),
                    .link(5, "wlp2s0.7", maker: "vlan", lower: 3),
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
                [family(named: wirelessFamily)]
            case wirelessFamily:
                [wirelessInterface(3)]
            default:
                nil
            }
        }

        private static func family(named number: UInt16) -> MessageBuilder {
            var message = MessageBuilder(type: 16, body: [1, 2, 0, 0])
            message.add(2, Array("nl80211".utf8) + [0])
            message.add(1, MessageBuilder.bytes(number))
            return message
        }

        private static func wirelessInterface(_ index: UInt32) -> MessageBuilder {
            var message = MessageBuilder(type: Int(wirelessFamily), body: [7, 1, 0, 0])
            message.add(1, MessageBuilder.bytes(UInt32(0)))
            message.add(3, MessageBuilder.bytes(index))
            return message
        }

        @Test func wirelessAndMobileNetworksAreKnown() throws {
            let path = try Self.laptop.reader.table(for: Destination.internet).path(to: Destination.internet)
            #expect(path.status == .satisfied)
            #expect(path.interfaces.map(\.name) == ["wlp2s0", "wwan0", "wlp2s0.7"])
            #expect(path.interfaces.map(\.kind) == [.wifi, .cellular, .wifi])
            #expect(path.gateways.first == IPAddress("198.51.100.1"))
            #expect(path.usesInterfaceKind(.cellular) && !path.usesInterfaceKind(.ethernet))
        }

        @Test func aKernelWithoutRulesGoesByTheUsualOnes() throws {
            #expect(try Self.laptop.reader.table().rules == RoutingRule.defaults)
        }

        @Test func whatChangesWhileItIsReadIsReadAnew() throws {
            let kernel = PretendKernel { type, number in
                var link = MessageBuilder.link(2, number < 2 ? "old" : "new")
                if number < 2 { link.flags |= 0x10 }
                return type == 18 ? [link] : []
            }
            let table = try kernel.reader.table()
            #expect(table.isSettled)
            #expect(table.links[2]?.name == "new")
        }

        @Test func whatChangesAllTheTimeIsTakenAsItIs() throws {
            let kernel = PretendKernel { type, number in
                var link = MessageBuilder.link(2, "v\(number)")
                link.flags |= 0x10
                return type == 18 ? [link] : []
            }
            let table = try kernel.reader.table()
            #expect(!table.isSettled)
            #expect(table.links[2]?.name == "v\(KernelReader.attempts - 1)")
        }

        @Test func aKernelThatRefusesIsAnError() {
            let error = #expect(throws: ReachabilityError.self) { try PretendKernel { _, _ in nil }.reader.table() }
            #expect(error?.errorNumber == 95)
            #expect(error?.description == "Could not read the kernel's tables: Operation not supported")
        }

        @Test func messagesLongerThanTheBufferAreRead() throws {
            let kernel = PretendKernel { type, _ in
                var link = MessageBuilder.link(2, "v0")
                for _ in 1...4 { link.add(900, [UInt8](repeating: 7, count: 30_000)) }
                link.add(10, MessageBuilder.bytes(Int32(9)))
                return type == 18 ? [link] : []
            }
            #expect(try kernel.reader.table().links[2]?.master == 9)
        }

        @Test func theRealKernelTellsOfTheLoopbackInterface() throws {
            let interfaces = try NetworkInterface.all()
            #expect(interfaces.contains { $0.kind == .loopback && $0.name == "lo" && $0.index == 1 })
            #expect(throws: Never.self) { try NetworkRoute.all() }
        }
    }
#endif
